"""Faults in how the harness keeps what it built, starts processes and ends: each is held by a test."""

from __future__ import annotations

from planting import Edit, by_test

FAULTS = (
    by_test(
        "orphans",
        "child processes: the supervisor does not kill the group when its owner is gone",
        "tests/core/test_processes.py",
        "test_children_of_children_die_with_the_owner",
        Edit("fleet/core/processes.py", 'read -r end; kill -9 0"', 'read -r end"'),
        nightly=True,
    ),
    by_test(
        "half-objects",
        "build: what a killed make left of the executable is taken for a whole one",
        "tests/engines/rtl/test_part.py",
        "test_only_whole_files_are_gone_on_with",
        Edit("fleet/engines/rtl_sim/part.py", 'path.suffix not in (".o", ".gch")', 'path.suffix in (".part",)'),
        nightly=True,
    ),
    by_test(
        "signal-hidden",
        "exit codes: a command that was ended by SIGTERM leaves with the code of what it had done",
        "tests/cli/test_exit_codes.py",
        "test_a_signal_that_code_hides",
        Edit(
            "fleet/cli/main.py",
            "        if signals.first is None:\n            return code\n",
            "        if code != ExitCode.INTERRUPTED or signals.first is None:\n            return code\n",
        ),
        nightly=True,
    ),
    by_test(
        "plugin-leaves",
        "plug-ins: SystemExit at an engine's import is not caught",
        "tests/cli/test_failing_plugins.py",
        "test_an_engine_that_leaves_at_import",
        Edit("fleet/core/plugins.py", "isinstance(error, Exception | SystemExit)", "isinstance(error, Exception)"),
        Edit(
            "fleet/cli/main.py",
            "        return _unexpected(error, program)\n    except OSError",
            "        return int(error.code or 0)\n    except OSError",
        ),
        nightly=True,
    ),
    by_test(
        "cache-tampered",
        "build cache: a simulation that was patched after it was built is used",
        "tests/engines/rtl/test_build_cache.py",
        "test_what_was_changed_is_built_again",
        Edit("fleet/core/sealed.py", "if digest != file.sha256:", "if len(digest) != len(file.sha256):"),
    ),
    by_test(
        "cache-tampered-kernel",
        "cache of compiled kernels and quantised weights: the seal is not held against the content",
        "tests/core/test_sealed.py",
        "test_damage_is_said_and_not_used",
        Edit("fleet/core/sealed.py", "if seal == _seal(key, body):", "if len(seal) == len(_seal(key, body)):"),
    ),
    by_test(
        "cache-tampered-at-start",
        "launcher: an executable that was patched between build and start is started",
        "tests/engines/rtl/test_build_cache.py",
        "test_nothing_is_started_that_was_changed_since",
        Edit(
            "fleet/engines/rtl_sim/process.py",
            "self._executable, self._key = built(executable).sha256, ",
            'self._executable, self._key = "", ',
        ),
        nightly=True,
    ),
)
