"""Checks of a co-simulation before anything runs: a wrong name, a missing tool, a device that is too small."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fleet.compare.compiled_stream import open_stream
from fleet.compare.tasks import METRICS, check_labels, class_output
from fleet.cosim.result import ROUNDED
from fleet.engines.accel import check_work
from fleet.engines.base import Engine
from fleet.errors import DeviceError, FleetError, ModelError, SetupError
from fleet.ir.program import Program

if TYPE_CHECKING:
    from fleet.cosim.options import CosimOptions


def known_engines(options: CosimOptions) -> Mapping[str, Engine]:
    """Return name -> engine: those of the options, else the installed ones."""
    return options.engines if options.engines is not None else installed_engines()


def installed_engines() -> Mapping[str, Engine]:
    """Return name -> engine for all installed engines. Each is loaded when read, so a broken one does not affect the others."""
    return _Installed()


class _Installed(Mapping[str, "Engine"]):
    def __init__(self) -> None:
        from fleet.engines.registry import engines as registered

        self._infos = registered()

    def __getitem__(self, name: str) -> Engine:
        return self._infos[name].engine

    def __contains__(self, name: object) -> bool:
        return name in list(self._infos) or (isinstance(name, str) and "@" in name and name.partition("@")[0] in list(self._infos))

    def __iter__(self) -> Iterator[str]:
        return iter(self._infos)

    def __len__(self) -> int:
        return len(self._infos)


def _option(option: str, name: str) -> str:
    del name
    return option


def check_request(
    program: Program, labels: np.ndarray | None, engines: Sequence[str], options: CosimOptions, known: Mapping[str, Engine],
    at: Callable[[str, str], str] = _option,
) -> None:  # fmt: skip
    """Raise FleetError if the run as a whole makes no sense: unknown names, no device, labels or a metric that do not fit.

    at: (option, name) -> where the name was given, for messages: the option itself, or a line of a case.
    """
    hint = f"choose among {', '.join(sorted(known))}"
    if unknown := [e for e in engines if e not in known]:
        raise FleetError(f"no engine '{unknown[0]}'", where=at("--engines", unknown[0]), hint=hint)
    if not engines:
        raise FleetError("no engine was named", where=at("--engines", ""), hint=hint)
    accelerated = _accelerated(engines, known)
    if accelerated and options.device is None:
        raise FleetError(
            f"engine '{accelerated[0]}' needs a device",
            where=at("--device", accelerated[0]),
            hint="name one, for example hbm_small",
        )
    if accelerated and options.device is not None:
        _check_device(options.device, at("--device", options.device))
    if options.rtl_sample and "rtl" not in engines:
        raise FleetError(
            "a sample of rtl, which does not run", where=at("--rtl", options.rtl_sample), hint="name rtl, or leave it out"
        )
    if (options.rtl_jobs > 1 or options.rtl_sample) and not options.stop:
        option = "--rtl" if options.rtl_sample else "--rtl-jobs"
        raise FleetError(
            "a run in legs ends at its first commit that differs: the legs behind it start from the functional model's state",
            where=at(option, options.rtl_sample or str(options.rtl_jobs)), hint=f"leave out --no-stop, or {option}",
        )  # fmt: skip
    if options.metric not in {None, *METRICS}:
        raise FleetError(f"no metric '{options.metric}'", where=at("--metric", ""), hint=f"choose among {', '.join(METRICS)}")
    if labels is not None:
        check_labels(program, labels, options.data.labels or "labels")
    if options.metric and class_output(program) is None:
        raise ModelError(
            "the model returns no argmax, so it has no accuracy", where=program.source_name, hint="leave the metric out"
        )
    if options.metric and labels is None:
        raise ModelError(f"metric {options.metric} needs labels", where=at("--metric", ""), hint="give labels, or leave it out")


def check_ready(program: Program, engines: Sequence[str], options: CosimOptions) -> None:
    """Raise FleetError if an engine of a checked request would fail at its start.

    Reasons: a missing tool (SetupError, naming the engine), an unknown device or memory model, a model that does not fit the device
    or of which it computes nothing. Compiles for the device; the cached stream is used by the run.
    """
    known = known_engines(options)
    for name in dict.fromkeys(engines):
        missing = known[name].available()
        if missing is not None:
            raise SetupError(missing, where=f"engine {name}")
    if _accelerated(engines, known):
        from fleet.engines.rtl import memory_model, memory_timing
        from fleet.isa.registry import find_device

        assert options.device is not None
        memory_timing(memory_model(options.memory, options.seed), find_device(options.device)[1])
        check_work(open_stream(program, options.device, options.lowering).compiled)


def _check_device(device: str, where: str) -> None:
    from fleet.isa.registry import find_device

    try:
        find_device(device)
    except DeviceError as error:
        raise DeviceError(error.what, where=error.where or where, hint=error.hint) from error


def _accelerated(engines: Sequence[str], known: Mapping[str, Engine]) -> list[str]:
    return [e for e in dict.fromkeys(engines) if known[e].target == "accel"]


def bounded_comparisons(engines: Sequence[str], known: Mapping[str, Engine]) -> tuple[str, ...]:
    """Return the names of the comparisons with a bound that `cosim` makes of these engines; an unknown engine makes none."""
    made: list[str] = []
    for name in dict.fromkeys(engines):
        target = known[name].target if name in known else None
        if target == "source":
            made.append(f"vm-vs-{name}")
        elif target == "accel":
            made.append(f"iss-vs-{ROUNDED}")
        elif target is not None and name != "vm":
            made.append(f"{name}-vs-vm")
    return tuple(dict.fromkeys(made))
