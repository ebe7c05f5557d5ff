"""Runs drawn programs by name. A program that cannot be drawn or run is reported with its name and does not end the run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote

from fleet.core.plugins import raised_by_code, reason
from fleet.engines.rtl_sim.build import BuildError
from fleet.errors import FleetError, SetupError
from fleet.sdk import NoRoomError
from fleet.streams.case import Setting, StreamCase, StreamOutcome
from fleet.streams.run import StreamRunner
from fleet.streams.undefined import NothingDefinedError
from fleet.verify.conformance.suite import make_case


@dataclass(frozen=True)
class DrawnOutcomes:
    """The result of a name: outcomes, or one of two messages.

    left_out: the device's memory is too small for the program, or nothing in it is defined; neither a pass nor a failure.
    failure: the program could not be drawn, or the functional model could not run it; a finding, with the command that shows it.
    seconds: time spent on drawing.
    """

    case: StreamCase | None = None
    outcomes: tuple[StreamOutcome, ...] = ()
    left_out: str = ""
    failure: str = ""
    seconds: float = 0.0


def run_drawn(runner: StreamRunner, name: str, settings: Sequence[Setting]) -> DrawnOutcomes:
    """Draw the case of a name and run it.

    Raises SetupError, BuildError, OSError or MemoryError, which do not depend on the program.
    """
    before = time.perf_counter()
    seconds = 0.0
    try:
        case = make_case(name)
        seconds = time.perf_counter() - before
        return DrawnOutcomes(case, tuple(runner.run(case, settings)), seconds=seconds)
    except (NoRoomError, NothingDefinedError) as error:
        return DrawnOutcomes(left_out=str(error))
    except (SetupError, BuildError, OSError, MemoryError):
        raise
    except BaseException as error:  # an instruction set's code may raise anything
        if not raised_by_code(error):
            raise
        said = str(error) if isinstance(error, FleetError) else reason(error)
        said = said if said.startswith(name) else f"{name}: {said}"
        return DrawnOutcomes(failure=f"{said}; fleet stream run {quote(name)}{_options(settings)}", seconds=seconds)


def _options(settings: Sequence[Setting]) -> str:
    """Return the options with which `fleet stream run` runs all of these settings."""
    memories, issues = list(dict.fromkeys(s.memory for s in settings)), list(dict.fromkeys(s.issue for s in settings))
    shown = [f" --memory {m}" for m in memories if memories != ["ideal"]] + [f" --issue {i}" for i in issues if issues != ["regs"]]
    return "".join(shown)
