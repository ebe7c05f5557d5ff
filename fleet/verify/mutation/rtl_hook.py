"""Runs any test of the regression on a mutant of the hardware: in its process, a device's design is the instrumented one.

`environment` returns the variables of such a process; `site/sitecustomize.py` calls `install` before anything of fleet is imported.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypedDict

from fleet.verify.changed_modules import change_modules

if TYPE_CHECKING:
    from fleet.engines.rtl_sim.build import Design
    from fleet.sdk import Device, InstructionSet

_VARIABLE = "FLEET_HARDWARE_MUTANT"
_SITE = Path(__file__).parent / "site"


class _Chosen(TypedDict):
    """Content of the variable, as JSON."""

    device: str
    sources: list[str]
    cpp: list[str]
    argument: str


def environment(device: str, design: Design, argument: str) -> dict[str, str]:
    """Return the environment of a process in which `device` is built from `design`, and simulations get `argument`."""
    path = os.pathsep.join(p for p in (str(_SITE), os.environ.get("PYTHONPATH", "")) if p)
    chosen: _Chosen = {
        "device": device,
        "sources": [str(p.absolute()) for p in design.sources],
        "cpp": [str(p.absolute()) for p in design.cpp],
        "argument": argument,
    }
    return {**os.environ, "PYTHONPATH": path, "FLEET_DEVICES": device, _VARIABLE: json.dumps(chosen)}


def install() -> None:
    """Install the change that the variable describes, if it is set."""
    text = os.environ.get(_VARIABLE)
    if text:
        chosen: _Chosen = json.loads(text)
        changes: dict[str, Callable[[Any], None]] = {
            "fleet.engines.rtl_sim.build": lambda module: _change_design(module, chosen),
            "fleet.engines.rtl_sim.process": lambda module: _change_command(module, chosen),
        }
        change_modules(lambda spec, own: _Changed(own, changes[spec.name]) if spec.name in changes else None)


class _Changed(Loader):
    """Loads a module with its own loader, then changes it."""

    def __init__(self, loader: Loader, change: Callable[[Any], None]) -> None:
        self._loader, self._change = loader, change

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._change(module)


def _change_design(module: Any, chosen: _Chosen) -> None:
    design_of = module.design_of

    def instrumented(instruction_set: InstructionSet, device: Device) -> Design:
        design: Design = design_of(instruction_set, device)
        if device.name != chosen["device"]:
            return design
        return replace(design, sources=tuple(map(Path, chosen["sources"])), cpp=tuple(map(Path, chosen["cpp"])))

    module.design_of = instrumented


def _change_command(module: Any, chosen: _Chosen) -> None:
    command = module._command

    def with_argument(*arguments: object) -> list[str]:
        return [*command(*arguments), chosen["argument"]]

    module._command = with_argument
