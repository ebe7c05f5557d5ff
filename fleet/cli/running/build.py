"""`fleet build`: build a device's simulation before it is needed, in one of its modes, by a profile if wanted."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from fleet.cli.progress import ProgressLine
from fleet.errors import ComparisonFailure

if TYPE_CHECKING:
    from pathlib import Path

    from fleet.engines.rtl_sim.build import Design

_MODES = ("checked", "fast", "edit")
_PROGRAMS = 4
"""Random programs of a training run, beside two directed cases of every instruction."""
_EPILOG = """\b
Examples:
  fleet build hbm_small
  fleet build hbm_small --mode fast --pgo
  FLEET_RTL_BUILD=fast fleet cosim model.onnx --engines iss,rtl --device hbm_small

\b
checked  the RTL with its assertions; what runs take if FLEET_RTL_BUILD says nothing
fast     no assertions, no clock for idle parts where the RTL has gates, code for this processor
edit     with assertions, compiles sooner and runs slower

Bits and cycles are the same in all of them. FLEET_CXX names another compiler (clang++). Exit code 1 if a training run differs from
the functional model.
"""


def _train(device: str, executable: Path) -> int:
    """Run streams of the conformance suite on a simulation that counts; returns how many instructions it executed."""
    from fleet.streams.case import Setting
    from fleet.streams.run import StreamRunner
    from fleet.verify.conformance.drawn import run_drawn
    from fleet.verify.conformance.suite import names

    cases = [name for name in names(device) if name.endswith(("/directed/1", "/directed/6"))]
    cases += names(device, directed=False, programs=range(_PROGRAMS))
    executed = 0
    with StreamRunner(device, executable=executable) as runner, ProgressLine("training") as bar:
        for number, name in enumerate(cases):
            bar(number / len(cases), name)
            drawn = run_drawn(runner, name, [Setting("ideal")])
            for outcome in drawn.outcomes:
                if not outcome.passed:
                    raise ComparisonFailure(
                        f"the training run differs: {outcome.reasons[0]}", where=name, hint="fleet stream run it"
                    )
                executed += len(outcome.found)
    return executed


def _profile(device: str, design: Design) -> None:
    from fleet.engines.rtl_sim.build import train

    with ExitStack() as stack:
        with ProgressLine("build, counting") as bar:
            executable = stack.enter_context(train(design, progress=bar))
        executed = _train(device, executable)
    click.echo(f"{device}: profile of {executed:,} instructions")


@click.command(name="build", epilog=_EPILOG)
@click.argument("device")
@click.option("--mode", type=click.Choice(_MODES), help="Mode of the build; default: FLEET_RTL_BUILD, else checked.")
@click.option("--pgo", is_flag=True, help="Run the conformance suite first, and build by what it counted (g++; implies fast).")
def command(device: str, mode: str | None, pgo: bool) -> int:
    """Build the simulation of DEVICE, or take it from the cache, and print where it is and how it was built."""
    from fleet.engines.rtl_sim.build import build, design_of
    from fleet.engines.rtl_sim.modes.recipe import build_mode
    from fleet.isa.registry import find_device

    if pgo and mode not in {None, "fast"}:
        raise click.UsageError(f"--pgo is of fast builds, and --mode is {mode}")
    chosen = build_mode("fast" if pgo else mode)
    design = design_of(*find_device(device))
    if pgo:
        _profile(device, design)
    before = time.monotonic()
    with ProgressLine("build") as bar:
        executable = build(design, progress=bar, mode=chosen)
    info = json.loads((executable.parent / "info.json").read_text(encoding="utf-8"))
    words = [f"{info['mode']} build", info["compiler"], info["verilator"]]
    words += [f"processor {info['processor']}"] if info["processor"] else []
    words += [f"profile {info['profile']}"] if info["profile"] else []
    click.echo(f"{device}: {', '.join(words)}, {time.monotonic() - before:.1f} s")
    click.echo(str(executable))
    return 0
