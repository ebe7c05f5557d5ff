"""The `fleet` command: parses arguments, prints results, and turns errors into one line and an exit code.

Commands are loaded when they are called, so `fleet --help` stays quick.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import importlib
import io
import os
import re
import sys
import traceback
from collections.abc import Iterator
from signal import Signals

import click

from fleet.core.plugins import blamed, reason
from fleet.core.signals import EndingSignals, ending_signals
from fleet.core.version import __version__
from fleet.cosim.run_request import RunRequest
from fleet.errors import ExitCode, FleetError

GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    # heading -> name -> (module, one line for the overview; the full help is in the module)
    "Run": {
        "try": ("fleet.cli.running.try_file", "What a file is, whether vm and the best device agree on it, what to type next."),
        "run": ("fleet.cli.running.run", "Run a model or a bytecode file on one engine."),
        "cosim": ("fleet.cli.running.cosim", "Run a model on several engines, compare, report."),
        "generate": ("fleet.cli.running.generate", "Let a language model answer on several engines, compare every step, report."),
        "compile": ("fleet.cli.running.compile", "Compile a model: print a stage, run it, check it against CPython."),
        "export-app": ("fleet.cli.running.export_app", "A model as sources of a standalone program in C."),
        "sweep": ("fleet.cli.running.sweep", "Sweep a device's parameters: cycles, accuracy, energy, the Pareto front."),
        "build": ("fleet.cli.running.build", "Build a device's simulation: checked, fast or edit, by a profile if wanted."),
        "stream": ("fleet.cli.running.stream", "Run instruction streams without a model on iss and rtl."),
        "host": ("fleet.cli.running.host", "Build and run C++ host programs on the simulation."),
        "models": ("fleet.cli.running.models", "Models of other people: list, fetch weights, measure quantisation."),
        "quantise": (
            "fleet.cli.running.quantise",
            "What a device's quantisation costs a model, without and with calibration.",
        ),
    },
    "Look": {
        "inspect": ("fleet.cli.looking.inspect", "What a file is and holds, and what each device would run of it."),
        "why": ("fleet.cli.looking.why", "Explain the last failed comparison on one page."),
        "report": ("fleet.cli.looking.report", "Make the pages again from a stored result."),
        "diff": ("fleet.cli.looking.diff", "What changed between two runs."),
        "devices": ("fleet.cli.looking.devices", "Installed instruction sets and devices."),
        "doctor": ("fleet.cli.looking.doctor_command", "What is installed, what is missing and how to get it."),
        "help": ("fleet.cli.looking.help", "Pages of the documentation."),
        "completion": ("fleet.cli.completion", "Completion of commands, devices, engines, cases and instructions in a shell."),
    },
    "Regression": {
        "case": ("fleet.cli.regression.case", "Add or run a case of the regression."),
        "night": ("fleet.cli.regression.night", "Nights of the regression: history, gates, pages, comparisons."),
        "golden": ("fleet.cli.regression.golden", "Check or update a case's stored golden."),
        "fuzz": ("fleet.cli.regression.fuzz", "Random programs of NumPy, compared between CPython and the engines."),
        "shrink": ("fleet.cli.regression.shrink", "Make a failure small and keep it as a test."),
        "bisect-pass": ("fleet.cli.regression.bisect_pass", "Name the first pass of a pipeline after which a result differs."),
    },
    "Bring your own": {
        "init": ("fleet.cli.sets.init", "Make a workspace: models, cases, goldens, instruction sets of your own."),
        "isa": ("fleet.cli.sets.isa", "Make, extend, check and compare instruction sets."),
    },
}
_COMMANDS = {name: entry for group in GROUPS.values() for name, entry in group.items()}

_EPILOG = """\b
Examples:
  fleet try model.onnx
  fleet cosim examples/digits/model.py:forward --weights examples/digits/weights.npz \\
      --input examples/digits/test.npz --labels examples/digits/labels.npz \\
      --metric accuracy --engines vm,iss,rtl,riscv --device hbm_small --report reports/digits
  fleet compile --emit bytecode examples/add_sample.py
  fleet doctor

\b
Exit codes of every command:
""" + "\n".join(f"  {code:3} {code.meaning}" for code in ExitCode)


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        from fleet.cli.grammar import equip

        return equip(importlib.import_module(_COMMANDS[cmd_name][0]).command, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, group in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, line) for name, (_, line) in group.items()])


@click.group(cls=_Lazy, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="fleet")
def fleet() -> None:
    """A co-simulation harness for deep-learning accelerators: one model, several engines, every bit accounted for."""


def _streams() -> None:
    """Ensure writable standard streams, whatever the caller closed and whatever its terminal can show."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, so that no file opened later becomes standard output
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def _say(message: str, program: str = "fleet") -> None:
    try:
        sys.stdout.flush()
    except OSError:
        _drop_output()
    with contextlib.suppress(OSError):
        print(f"{program}: {message}", file=sys.stderr, flush=True)


def _drop_output() -> None:
    """Discard pending standard output, so that the interpreter does not report an error at exit."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _unread() -> int:
    """Return the exit code for a closed pipe (`fleet ... | head`). Prints nothing more, not even at the interpreter's exit."""
    _drop_output()
    return ExitCode.PIPE_CLOSED


def _usage(error: click.UsageError) -> str:
    """Join click's lines into one."""
    text = " ".join(error.format_message().split())
    command = error.ctx.command_path if error.ctx is not None else "fleet"
    if (unknown := _NO_COMMAND.match(text)) is not None and error.ctx is not None:
        meant = _meant(unknown[1], error.ctx)
        text = unknown[0]
        if meant:
            return f"{text}; did you mean `{meant}`? See `{command} --help`"
    return f"{text.rstrip('.')}; see `{command} --help`"


_NO_COMMAND = re.compile(r"No such command '(.+?)'")


def _meant(name: str, context: click.Context) -> str:
    """Return the command that an unknown name most likely means, "" if none is close.

    First the same name in another group, then a similar one in this group, then a similar one in any group.
    """
    root = context.find_root()
    known = list(_paths(root.command, root, (root.command_path,)))
    same = [path for path in known if path[-1] == name]
    here = tuple(context.command_path.split())
    for paths in (same, [path for path in known if path[:-1] == here], known):
        alike = difflib.get_close_matches(name, [path[-1] for path in paths], 1)
        if alike:
            return " ".join(next(path for path in paths if path[-1] == alike[0]))
    return ""


def _paths(command: click.Command, context: click.Context, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the words of all commands below a group, shorter ones first."""
    if not isinstance(command, click.Group):
        return
    found = [(name, command.get_command(context, name)) for name in command.list_commands(context)]
    yield from ((*path, name) for name, _ in found)
    for name, below in found:
        if below is not None:
            yield from _paths(below, context, (*path, name))


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit code (console script: `sys.exit(main())`)."""
    return run_command(fleet, "fleet", arguments)


def run_command(command: click.Command, program: str, arguments: list[str] | None) -> int:
    """Run a console script's command. Errors become one line with its name, and an exit code (`ExitCode`).

    Only the signals SIGINT, SIGTERM and SIGHUP give 128 plus their number: an exception in the code cannot imitate or hide them.
    """
    _streams()
    with ending_signals() as signals:
        try:
            code = _outcome(command, program, arguments, signals)
        except KeyboardInterrupt:  # raised while an error was printed
            code = ExitCode.INTERRUPTED
        if signals.first is None:
            return code
        cause = "interrupted" if signals.first is Signals.SIGINT else f"ended by {signals.first.name}"
        _say(f"{cause}; results that were already stored are untouched", program)
        return ExitCode(128 + signals.first)


def _outcome(command: click.Command, program: str, arguments: list[str] | None, signals: EndingSignals) -> int:
    """Return the exit code of a command; prints its errors. Signals are handled by the caller."""
    ours = sys.stdout
    try:
        given = sys.argv[1:] if arguments is None else arguments
        code = command.main(args=given, prog_name=program, standalone_mode=False, obj=RunRequest(program, tuple(given)))
        sys.stdout.flush()
        return code if isinstance(code, int) else ExitCode.AGREED
    except FleetError as error:
        _say(str(error), program)
        return error.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt) as error:
        return ExitCode.INTERRUPTED if signals.first is not None else _unexpected(_original(error), program)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return ExitCode.BAD_INPUT
    except click.UsageError as error:
        _say(_usage(error), program)
        return ExitCode.BAD_INPUT
    except click.ClickException as error:
        _say(error.format_message(), program)
        return ExitCode.BAD_INPUT
    except BrokenPipeError:
        return _unread()
    except SystemExit as error:
        if "_FLEET_COMPLETE" in os.environ:  # a shell asked for completions and got them
            return ExitCode.AGREED
        if sys.stdout is not ours:  # click replaces it before it exits because of a closed pipe
            return _unread()
        return _unexpected(error, program)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        if error.errno == errno.ENOSPC:
            _say(f"{place}the disk is full; free some space and run again (stored results are untouched)", program)
        else:
            _say(f"{place}{error.strerror or error}", program)
        return ExitCode.BAD_INPUT
    except MemoryError as error:
        what = str(error) or "the machine has no more memory"
        _say(f"out of memory: {what}; make the arrays smaller, or run on a machine that has more", program)
        return ExitCode.BAD_INPUT
    except RecursionError:
        _say("the input nests too deeply", program)
        return ExitCode.BAD_INPUT
    except Exception as error:
        return _unexpected(error, program)


def _original(error: BaseException) -> BaseException:
    """Return the exception that caused click's Abort."""
    return error.__context__ or error if isinstance(error, click.exceptions.Abort) else error


def _unexpected(error: BaseException, program: str) -> ExitCode:
    """Report a bug of fleet, or of the plug-in whose code raised the error."""
    if os.environ.get("FLEET_DEBUG"):
        traceback.print_exception(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    whose = blamed(error) or "fleet"
    _say(f"internal error, a bug of {whose}: {reason(error)}{place}; FLEET_DEBUG=1 shows the traceback", program)
    return ExitCode.INTERNAL


if __name__ == "__main__":
    sys.exit(main())
