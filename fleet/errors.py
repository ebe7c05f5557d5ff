"""The errors a user may see, each one line: what is wrong, where, what was expected, what to do.

Every exception that can be caused by bad input derives from `FleetError`; the command line prints
`str(error)` without a traceback and leaves with `exit_code`. A traceback that reaches a user is a bug.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of fleet's commands; there are no others. `meaning` is the table of `fleet --help` and the docs.

    130, 129, 143 and 141 are 128 plus the signal's number, as shells have it.
    """

    AGREED = 0
    DIFFERS = 1
    BAD_INPUT = 2
    INTERNAL = 3
    INCOMPLETE = 4
    CANNOT_RUN = 125
    HUNG_UP = 129
    INTERRUPTED = 130
    PIPE_CLOSED = 141
    TERMINATED = 143

    @property
    def meaning(self) -> str:
        """One clause in the words of the documentation."""
        return _MEANINGS[self]


_MEANINGS = {
    ExitCode.AGREED: "compared and agreed, or did what was asked",
    ExitCode.DIFFERS: "something differs or regresses",
    ExitCode.BAD_INPUT: "bad input or a missing tool",
    ExitCode.INTERNAL: "internal error: a bug of fleet or of a plug-in",
    ExitCode.INCOMPLETE: "incomplete: nothing differs, but something that was asked for was not run, not compared or not proved",
    ExitCode.CANNOT_RUN: "with --bisect: cannot be built or run here, so that `git bisect run` skips the commit",
    ExitCode.HUNG_UP: "ended by SIGHUP (the terminal went away)",
    ExitCode.INTERRUPTED: "interrupted (Ctrl-C, SIGINT)",
    ExitCode.PIPE_CLOSED: "nobody reads standard output any more (`fleet ... | head`)",
    ExitCode.TERMINATED: "ended by SIGTERM",
}


def heaviest(codes: Iterable[int]) -> ExitCode:
    """The exit code of a command that did several things: what differs, then a bug, then bad input, then what was left open."""
    found = set(codes)
    order = (ExitCode.DIFFERS, ExitCode.INTERNAL, ExitCode.BAD_INPUT, ExitCode.INCOMPLETE)
    return next((code for code in order if code in found), ExitCode.AGREED)


class FleetError(Exception):
    """Bad input. `where` is a file, `file:line`, an operation, an instruction or a command."""

    exit_code: ExitCode = ExitCode.BAD_INPUT

    def __init__(self, what: str, *, where: str | None = None, hint: str | None = None, detail: str | None = None) -> None:
        """Args:
        what: what is wrong and what was expected, in one clause.
        where: the place; printed first.
        hint: what to do about it.
        detail: further lines (a source line with a caret); printed below.
        """
        self.what, self.where, self.hint, self.detail = what, where, hint, detail
        line = f"{where}: {what}" if where else what
        if hint:
            line += f"; {hint}"
        if detail:
            line += "\n" + detail
        super().__init__(line)


class SourceError(FleetError):
    """The model's source text is outside what the front end understands.

    code: the stable number of the kind of error ("F301"); `fleet.frontend.codes` explains each. It stands before `what`.
    """

    def __init__(
        self, what: str, *, where: str | None = None, hint: str | None = None, detail: str | None = None, code: str | None = None
    ) -> None:
        self.code = code
        prefix = f"{code} " if code else ""
        super().__init__(what if what.startswith(prefix) else prefix + what, where=where, hint=hint, detail=detail)


class ModelError(FleetError):
    """Weights, inputs or labels do not fit the model (missing, truncated, shape, dtype, NaN)."""


class DeviceError(FleetError):
    """The device cannot hold or run what was asked."""


class SetupError(FleetError):
    """A tool is missing or too old; the hint always names `fleet doctor`."""

    def __init__(self, what: str, *, where: str | None = None, hint: str | None = None) -> None:
        doctor = "run `fleet doctor` for the whole picture"
        if "fleet doctor" in what:  # of a SetupError that is told again
            super().__init__(what, where=where, hint=hint)
        else:
            super().__init__(what, where=where, hint=f"{hint}; {doctor}" if hint else doctor)


class ComparisonFailure(FleetError):
    """Two things that must agree do not, nothing was compared, or an engine failed at what the golden computes."""

    exit_code = ExitCode.DIFFERS
