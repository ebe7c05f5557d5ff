"""Runs a compiled graph from Python: `mod.run(inputs)` on an engine, with a KV cache that persists between runs.

Example:
    >>> mod = build(typed_graph, name="decoder")  # doctest: +SKIP
    >>> out = mod.run({"x": rows}, engine="iss", token=5, last_token=0)  # doctest: +SKIP
    >>> out = mod.run({"x": row}, token=1, last_token=5)["output"]  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, cast

import numpy as np

from fleet.core.scratch import Scratch
from fleet.engines.backend import Backend
from fleet.engines.base import RunOptions
from fleet.engines.trace import Commit
from fleet.errors import DeviceError, ModelError
from fleet.ir.accel.nodes import Node
from fleet.isa.memory import MappedMemory
from fleet.targets.accel.build import build as build_module
from fleet.targets.accel.module import Module


def device_backend(engine: str) -> Backend:
    """Return the backend that executes instructions for an engine's name. Raises DeviceError for other engines."""
    if engine == "iss":
        from fleet.engines.iss import IssBackend

        return IssBackend()
    if engine == "rtl":
        from fleet.engines.rtl import RtlBackend

        return RtlBackend()
    raise DeviceError(f"no engine '{engine}' runs instructions", where="run", hint="iss or rtl")


class ModuleRunner:
    """A module on one engine: memory with its constants, and an open backend.

    Attributes:
        commits: of the last run.
    """

    def __init__(self, module: Module, engine: str = "iss", *, memory: str = "ideal", seed: int = 0) -> None:
        """memory, seed: of the simulation.

        Raises ModelError if a constant has no data, DeviceError, or what opening the engine raises.
        """
        for place in module.constants.places:
            if not module.constants.has_data(place):
                hint = "give the constant an array or a file"
                raise ModelError("no data, only a shape", where=f"constant '{place.name}'", hint=hint)
        self.module, self.commits = module, tuple[Commit, ...]()
        self._backend = device_backend(engine)
        self._folder = Scratch("run")
        self._memory = MappedMemory.fresh(module.device, self._folder.path / "memory", module.images(), module.registers)
        self._seq = 0
        options = RunOptions(device=module.device.name, memory=memory, seed=seed, workdir=self._folder.path)
        self._backend.open(module.instruction_set, module.device, self._memory, options)

    def run(self, inputs: Mapping[str, np.ndarray], **dims: int) -> dict[str, np.ndarray]:
        """Run one step.

        Args:
            inputs: every input by name, (heads, tokens, channels); rounded to FP16.
            dims: `token`, `last_token` and any other dynamic dimensions.

        Returns:
            Every output: float16 (heads, tokens, channels), or uint32 indices (1, tokens).

        Raises:
            ModelError: an input is missing, unknown, or has another shape; or the step exceeds the plan.
        """
        module, memory = self.module, self._memory
        if not isinstance(cast("object", inputs), Mapping):
            raise ModelError(f"inputs are {inputs!r}, expected a dict", where=f"model '{module.name}'")
        unknown = [name for name in inputs if name not in module.inputs]
        missing = [name for name in module.inputs if name not in inputs]
        if unknown or missing:
            words = f"no input '{unknown[0]}'" if unknown else f"input '{missing[0]}' is missing"
            raise ModelError(words, where=f"model '{module.name}'", hint=f"inputs are {', '.join(module.inputs) or 'none'}")
        for name, array in {n: _numbers(module, n, a) for n, a in inputs.items()}.items():
            shape = module.shape_of(name, **dims)
            if tuple(array.shape) != shape:
                raise ModelError(f"input '{name}' is {list(array.shape)}, expected {list(shape)}", where=f"model '{module.name}'")
            module.write_input(memory, name, array, **dims)
        calls, binaries = module.prepare(memory, **dims)
        self.commits = tuple(self._backend.execute(calls, self._seq, binaries))
        self._seq += len(calls)
        return {name: module.read_output(memory, name, **dims) for name in module.outputs}

    def close(self) -> None:
        """Close the engine; may be called twice."""
        self._backend.close()
        self._memory.close()
        self._folder.close()


def _numbers(module: Module, name: str, given: object) -> np.ndarray:
    try:
        array = np.asarray(given)
        if array.dtype.kind in "fiub":
            return array
    except ValueError:  # rows of different lengths
        pass
    raise ModelError(f"input '{name}' is no array of numbers", where=f"model '{module.name}'")


@dataclass(frozen=True)
class RunnableModule(Module):
    """A module with `run`. The engine stays open and keeps the KV cache until another engine is named, or `reset`."""

    def run(
        self, inputs: Mapping[str, np.ndarray], *, engine: str = "iss", memory: str = "ideal", seed: int = 0, **dims: int
    ) -> dict[str, np.ndarray]:
        """Run one step on an engine ("iss" or "rtl"), as `ModuleRunner.run` does."""
        kept: dict[tuple[str, str, int], ModuleRunner] = self._runners()
        key = (engine, memory, seed)
        if key not in kept:
            self.reset()
            kept[key] = ModuleRunner(self, engine, memory=memory, seed=seed)
        return kept[key].run(inputs, **dims)

    def reset(self) -> None:
        """Close the engine and discard the caches."""
        kept = self._runners()
        for runner in kept.values():
            runner.close()
        kept.clear()

    def _runners(self) -> dict[tuple[str, str, int], ModuleRunner]:
        return vars(self).setdefault("_kept", {})


def build(graph: Node, *arguments: Any, **options: Any) -> RunnableModule:
    """Build a module with `run`; arguments as for `fleet.targets.accel.build.build`."""
    made = build_module(graph, *arguments, **options)
    return RunnableModule(**{f.name: getattr(made, f.name) for f in fields(made)})
