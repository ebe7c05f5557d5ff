"""`@jit`: a Python function of NumPy that is compiled when it is called.

Example:
    >>> import numpy as np
    >>> from fleet import jit
    >>> @jit
    ... def double(x):
    ...     return x + x
    >>> double(np.ones(3))
    array([2., 2., 2.])
"""

from __future__ import annotations

import inspect
import textwrap
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import update_wrapper
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from fleet.compiler.executables import Executable, executable, find_target
from fleet.compiler.model import Compiled
from fleet.errors import FleetError
from fleet.frontend.function import Given, Traceable, Traced, given, locate, trace

if TYPE_CHECKING:
    from fleet.ir.program import Program

__all__ = ["JitFunction", "Lowered", "jit"]

_SIGNATURES = 128
"""Compiled signatures that one function keeps; the oldest go first."""
_VERSIONS = 4
"""Compiled programs of one signature, for globals that change and change back."""


@dataclass(frozen=True)
class Lowered(Compiled):
    """What a function is compiled to; stages and files as `Compiled` has them, "token" and "ast" of the function alone.

    Attributes:
        source: the function's text, dedented.
        engine: what `@jit` runs it on.
    """

    source: str = ""
    engine: str = "vm"

    def text(self, stage: str, *, device: str | None = None, lowering: Mapping[str, Any] | None = None) -> str:
        """See `Compiled.text`."""
        if stage in ("token", "ast"):
            from fleet.frontend.dump import tokens, tree

            return (tokens if stage == "token" else tree)(self.source, self.program.source_name)
        return super().text(stage, device=device, lowering=lowering)


@dataclass(frozen=True, eq=False)
class _Version:
    traced: Traced
    code: Executable


class JitFunction(Traceable):
    """A function that `jit` has taken over. Calling it compiles it for arguments like these, once, and runs the code.

    Attributes:
        target: as given to `jit`.
    """

    def __init__(self, python: FunctionType, target: str) -> None:
        super().__init__(python)
        self.target = target
        self._engine = find_target(target)
        update_wrapper(self, python)
        self._signature = inspect.signature(python)
        self._names = tuple(self._signature.parameters)
        self._plain = all(p.kind is p.POSITIONAL_OR_KEYWORD for p in self._signature.parameters.values())
        self._where = f"{python.__code__.co_filename}:{python.__code__.co_firstlineno}"
        self._versions: OrderedDict[Hashable, tuple[_Version, ...]] = OrderedDict()
        self._lock = threading.RLock()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs compiled code; returns what Python would return, as new arrays.

        Raises TypeError for a call that does not fit the function, as Python does; SourceError for a source outside what is
        supported, ModelError for arguments and data that do not fit, DeviceError for what the target cannot hold.
        """
        call = self._given(args, kwargs)
        version = self._version(call)
        return version.traced.result.build(version.code.run(call.inputs))

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        """A method, when it stands in a class."""
        return self if owner is None else MethodType(self, owner)

    def __repr__(self) -> str:
        return f"<fleet.jit {self.python.__qualname__} for {self.target}>"

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs that are kept compiled, in the order in which their signatures were last compiled."""
        with self._lock:
            return tuple(v.traced.program for versions in self._versions.values() for v in versions)

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """What a call with these arguments is compiled to: IR, MLIR, bytecode, RISC-V assembler. Nothing is run.

        Raises as a call does.
        """
        call = self._given(args, kwargs)
        version = self._version(call)
        program = version.traced.program
        file, node = locate(self.python)
        first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        source = textwrap.dedent("\n".join(file.source.lines[first - 1 : node.end_lineno]) + "\n")
        spec = f"{program.source_name}:{self.python.__qualname__}"
        inputs = {name: np.asarray(array, order="C") for name, array in call.inputs.items()}
        return Lowered(spec, program, inputs, source=source, engine=version.code.engine)

    def _given(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Given:
        if self._plain and not kwargs and len(args) == len(self._names):
            return given(self._where, self._names, args)
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return given(self._where, tuple(bound.arguments), tuple(bound.arguments.values()))

    def _version(self, call: Given) -> _Version:
        for version in self._versions.get(call.key, ()):
            if version.traced.watched.hold():
                return version
        with self._lock:
            kept = self._versions.get(call.key, ())
            for version in kept:  # another thread may have compiled it in the meantime
                if version.traced.watched.hold():
                    return version
            traced = trace(self.python, call)
            version = _Version(traced, executable(traced.program, self._engine))
            self._versions[call.key] = (version, *kept)[:_VERSIONS]
            self._versions.move_to_end(call.key)
            while len(self._versions) > _SIGNATURES:
                self._versions.popitem(last=False)
            return version


@overload
def jit(function: Callable[..., Any], /) -> JitFunction: ...
@overload
def jit(function: str | None = None, /, *, target: str = "cpu") -> Callable[[Callable[..., Any]], JitFunction]: ...
def jit(function: Callable[..., Any] | str | None = None, /, *, target: str = "cpu") -> Any:
    """Compiles a function of NumPy code when it is called: `@jit`, or `@jit(target="vm")`.

    The function's source is parsed by fleet's front end; the function itself is never run. It is compiled once for every
    combination of its arrays' shapes and dtypes and of its other arguments' values.

    Args:
        function: the function, where `jit` stands without parentheses; a target's name is taken too (`@jit("vm")`).
        target: a key of `fleet.compiler.executables.TARGETS`. "cpu": this processor's machine code, or the VM where an
            operation has none; "vm": NumPy, equal to Python in every bit; "riscv": RISC-V code in an emulator.

    Raises:
        FleetError: a target that fleet has no code for; what is decorated is no function written with `def`.
    """
    if isinstance(function, str):
        function, target = None, function
    find_target(target)

    def taken_over(python: Callable[..., Any]) -> JitFunction:
        if isinstance(python, JitFunction):
            return JitFunction(python.python, target)
        if not isinstance(python, FunctionType) or python.__name__ == "<lambda>":
            kind = "a lambda" if isinstance(python, FunctionType) else f"an object of type {type(python).__name__}"
            code = getattr(python, "__code__", None)
            where = "@jit" if code is None else f"{code.co_filename}:{code.co_firstlineno}"
            raise FleetError(f"{kind} cannot be compiled", where=where, hint="jit takes a function written with def")
        return JitFunction(python, target)

    return taken_over if function is None else taken_over(function)
