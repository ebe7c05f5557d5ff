"""Options common to all commands: `--quiet`, `--json`, durations, words that a shell completes, and old spellings.

    -o, --output FILE     the output is a file               --report FOLDER   the output is a folder
    --engines a,b         --device NAME                      --memory MODEL    --seed N
    --jobs N              --budget 90s|5m|1h                 --json, --quiet

`equip` adds them to a command; `fleet.cli.main` calls it for each command that it loads. Old spellings work for one version, with a
hint on standard error: they are hidden options that pass their value to the new option.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from fleet.core.codec import Json
from fleet.core.plugins import installed
from fleet.errors import ExitCode, FleetError

ENGINES = "--engines"

_OLD: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "run": {"--engine": (ENGINES, ""), "--out": ("--output", "")},
    "compile": {"--out": ("--output", "")},
    "report": {"--out": ("--report", ""), "-o": ("--report", "")},
    "why": {"--html": ("--output", "")},
    "shrink": {"--out": ("--report", ""), "--seconds": ("--budget", "")},
    "fuzz": {"--seconds": ("--budget", "")},
    "isa fuzz": {"--seconds": ("--budget", "")},
    "isa coverage": {"--minutes": ("--budget", "m")},
    "isa export": {"--output": ("--report", ""), "-o": ("--report", "")},
    "case add": {"--devices": ("--device", ""), "--memories": ("--memory", "")},
    "host run": {"--engine": (ENGINES, "")},
}
"""Command -> old spelling -> the present option and the unit of the old value. Removed in the next version."""

_PATTERN = re.compile(r"([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*(s|m|min|h)?")
_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_JSON = "fleet.cli.json"


class Duration(click.ParamType):
    """A duration in seconds, from "90", "90s", "5m" or "1h".

    zero: whether 0 is allowed.
    """

    name = "duration"

    def __init__(self, *, zero: bool = False) -> None:
        self.zero = zero

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the seconds. Fails if the value is not a duration, is infinite or negative, or 0 without `zero`."""
        if isinstance(value, float):
            return value
        found = _PATTERN.fullmatch(str(value).strip().lower())
        seconds = float(found[1]) * _UNITS[found[2] or "s"] if found else math.nan
        if not math.isfinite(seconds) or (seconds <= 0 and not self.zero):
            words = "0 or more" if self.zero else "more than 0"
            self.fail(f"{value!s:.40} is not a duration of {words}: give 90, 90s, 5m or 1h", param, ctx)
        return seconds


class CompletedText(click.ParamType):
    """Text that a shell completes from a list.

    listed: returns the names; several: whether the text is a comma-separated list.
    """

    name = "text"

    def __init__(self, listed: Callable[[], list[str]], *, several: bool = False) -> None:
        self._listed, self._several = listed, several

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text unchanged: the command reports what is wrong with it."""
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin with the text."""
        before, comma, begin = incomplete.rpartition(",") if self._several else ("", "", incomplete)
        try:
            names = self._listed()
        except (FleetError, OSError, ValueError):
            return []
        taken = before.split(",")
        return [CompletionItem(f"{before}{comma}{n}") for n in names if n.startswith(begin) and n not in taken]


class _OrFile(CompletedText):
    """A name from the list, or a file."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin with the text, and the shell's files."""
        return [*super().shell_complete(ctx, param, incomplete), CompletionItem(incomplete, type="file")]


def engines() -> list[str]:
    """Return the installed engines without loading them."""
    return sorted({point.name for point in installed("fleet.engines")})


def devices() -> list[str]:
    """Return the devices of installed sets."""
    from fleet.isa.registry import instruction_sets

    return sorted(d for s in instruction_sets(tell=False).values() for d in s.devices)


def sets() -> list[str]:
    """Return the installed instruction sets and their devices."""
    from fleet.isa.registry import instruction_sets

    return sorted({*instruction_sets(tell=False), *devices()})


def instructions() -> list[str]:
    """Return the instructions of installed sets."""
    from fleet.isa.registry import instruction_sets

    return sorted({name for s in instruction_sets(tell=False).values() for name in s.instructions})


def cases() -> list[str]:
    """Return the names of the cases below sim/cases."""
    from fleet.regress.cases import names_of

    return sorted(names_of(Path("sim/cases")).values())


def _memories() -> list[str]:
    return ["ideal", "fixed", "stall", "timed"]


def _topics() -> list[str]:
    from fleet.cli.looking.help import pages

    return list(pages())


_OPTIONS: Mapping[str, click.ParamType] = {
    "--device": CompletedText(devices),
    ENGINES: CompletedText(engines, several=True),
    "--memory": CompletedText(_memories),
    "--like": CompletedText(instructions),
    "--instruction": CompletedText(instructions),
}
"""Option -> type with completion; applied to options that take any text."""

_ARGUMENTS: Mapping[str, click.ParamType] = {
    "case run": CompletedText(cases), "case accept": CompletedText(cases), "golden update": CompletedText(cases),
    "help": CompletedText(_topics), "inspect": _OrFile(sets), "try": _OrFile(sets),
    **{f"isa {n}": _OrFile(sets) for n in ("check", "coverage", "fuzz", "mutants", "doc", "export", "generate", "add", "diff")},
    "stream run": _OrFile(devices), "why": _OrFile(cases), "shrink": _OrFile(cases),
    **{n: _OrFile(list) for n in ("cosim", "compile", "run", "quantise", "bisect-pass")},
}  # fmt: skip
"""Command -> type with completion of its first argument."""


def equip(command: click.Command, words: str) -> click.Command:
    """Add the common options to a command and its subcommands, once, and return it. words: its name, "isa fuzz"."""
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            equip(below, f"{words} {name}".strip())
        return command
    known = {word for p in command.params for word in p.opts}
    if "--quiet" in known:
        return command
    if "--json" not in known:
        command.params.append(
            click.Option(["--json"], is_flag=True, expose_value=False, callback=_note_json, help="Print the result as JSON.")
        )
        command.callback = _enveloped(command.callback, words)
    command.params.append(
        click.Option(["--quiet"], is_flag=True, expose_value=False, callback=_silence, help="Print nothing but errors.")
    )
    for old, (new, unit) in _OLD.get(words, {}).items():
        command.params.append(_old_option(old, new, unit, next(p for p in command.params if new in p.opts)))
    first = True
    for p in command.params:
        if isinstance(p, click.Option):
            given = next((_OPTIONS[word] for word in p.opts if word in _OPTIONS), None)
        else:
            given, first = (_ARGUMENTS.get(words) if first else None), False
        if given is not None and type(p.type) is type(click.STRING):
            p.type = given
    return command


def _old_option(old: str, new: str, unit: str, today: click.Parameter) -> click.Option:
    """Make a hidden option for an old spelling. It is read first, and its value becomes the default of the present option."""

    def moved(context: click.Context, _: click.Parameter, value: Any) -> None:
        if value is None or context.resilient_parsing:
            return
        click.echo(f"fleet: {old} is {new} now; the old word goes with the next version", err=True)
        assert today.name is not None
        given = tuple(f"{v}{unit}" for v in value) if today.multiple else f"{value}{unit}"
        context.default_map = {**(context.default_map or {}), today.name: given}

    return click.Option(
        [old, f"old_{old.strip('-')}"], hidden=True, is_eager=True, expose_value=False, callback=moved, multiple=False, default=None
    )


def _silence(context: click.Context, _: click.Parameter, value: bool) -> None:
    """Discard all output of the command. Errors are printed after the command has ended, when the streams are restored."""
    if value and not context.resilient_parsing:
        nothing = context.with_resource(open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        context.with_resource(redirect_stdout(nothing))
        context.with_resource(redirect_stderr(nothing))


def _note_json(context: click.Context, _: click.Parameter, value: bool) -> None:
    context.meta[_JSON] = value


def _enveloped(callback: Callable[..., object] | None, words: str) -> Callable[..., Any] | None:
    """Wrap a command without JSON of its own: collect its lines, exit code and error in one object."""
    if callback is None:
        return None

    @wraps(callback)
    def run(*arguments: object, **named: object) -> Any:
        context = click.get_current_context()
        if not context.meta.get(_JSON):
            return callback(*arguments, **named)
        told: dict[str, Json] = {"command": words, "exit_code": int(ExitCode.INTERNAL), "error": None}
        ours, text = sys.stdout, io.StringIO()
        try:
            with redirect_stdout(text):
                code = callback(*arguments, **named)
            told["exit_code"] = code if isinstance(code, int) else 0
            return code
        except FleetError as error:
            told |= {"exit_code": int(error.exit_code), "error": str(error)}
            raise
        except click.UsageError as error:
            told |= {"exit_code": int(ExitCode.BAD_INPUT), "error": error.format_message()}
            raise
        finally:
            print(json.dumps({**told, "lines": click.unstyle(text.getvalue()).splitlines()}, indent=1), file=ours)

    return run
