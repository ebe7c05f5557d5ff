"""Faults in how the harness keeps what it built, starts processes and ends: each is held by a test."""

from __future__ import annotations

from compiler_faults import tests
from planting import Edit, Fault


def _fault(name: str, what: str, file: str, test: str, *edits: Edit, nightly: bool = False) -> Fault:
    return Fault(
        name, what, tests(file, "-k", test), f"FAILED {file}::{test}", (rf"FAILED {file}::{test}",), edits,
        at=test, kind="harness", nightly=nightly,
    )  # fmt: skip


FAULTS = (
    _fault(
        "cache-tampered",
        "build cache: a simulation that was patched after it was built is used",
        "tests/engines/rtl/test_build_cache.py",
        "test_what_was_changed_is_built_again",
        Edit("fleet/core/sealed.py", "if digest != file.sha256:", "if len(digest) != len(file.sha256):"),
    ),
    _fault(
        "cache-tampered-kernel",
        "cache of compiled kernels and quantised weights: the seal is not held against the content",
        "tests/core/test_sealed.py",
        "test_damage_is_said_and_not_used",
        Edit("fleet/core/sealed.py", "if seal == _seal(key, body):", "if len(seal) == len(_seal(key, body)):"),
    ),
    _fault(
        "cache-tampered-at-start",
        "launcher: an executable that was patched between build and start is started",
        "tests/engines/rtl/test_build_cache.py",
        "test_nothing_is_started_that_was_changed_since",
        Edit(
            "fleet/engines/rtl_sim/process.py",
            "self._executable = built(executable).sha256",
            'self._executable = ""',
        ),
        nightly=True,
    ),
)
