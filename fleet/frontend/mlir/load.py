"""MLIR files as models: `load` and `signature` as `fleet.frontend.source` has them, of "path.mlir" or "path.mlir:function"."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from fleet.core.unique import Taken
from fleet.errors import ModelError
from fleet.frontend.live.arguments import bound_arguments, check_finite
from fleet.frontend.mlir import own
from fleet.frontend.mlir.build import MlirArray, MlirBuild
from fleet.frontend.mlir.choice import parts
from fleet.frontend.mlir.element_types import is_bfloat16, rounded, rounded_values
from fleet.frontend.mlir.importer import MlirReader, declared, function_of
from fleet.frontend.mlir.text import MlirText, parse_text, text_of
from fleet.ir.program import Program
from fleet.symbols.dims import Declared


def signature(spec: str) -> list[Declared]:
    """Return the declared arguments. Raises ModelError."""
    found, function = _opened(spec)
    if isinstance(found, ModuleOp):
        return own.declared(found, _own_names(spec, found))
    assert function is not None
    return declared(found, function)


def load(
    spec: str, weights: Mapping[str, np.ndarray], inputs: Mapping[str, np.ndarray], *, dynamic: Collection[str] | bool = ()
) -> Program:
    """Read a model; unknown dimensions are those of the arrays. Raises ModelError with file and line."""
    if dynamic:
        raise ModelError("dimensions of an MLIR file cannot stay unknown", where=spec, hint="give arrays of the sizes meant")
    text, function = _opened(spec)
    if isinstance(text, ModuleOp):
        return own.program(text, _own_names(spec, text), parts(spec)[0], weights, inputs)
    assert function is not None
    arguments, symbols = bound_arguments(spec, declared(text, function), weights, inputs)
    b = MlirBuild(text)
    bound = {a.name: np.asarray(weights[a.name], order="C") for a in arguments if a.kind == "weight"}
    check_finite(spec, bound)
    given: list[MlirArray] = []
    for argument, value in zip(arguments, function.body.block.args, strict=True):
        array = b.argument(argument)
        if is_bfloat16(value.type):
            if argument.name in bound:
                bound[argument.name] = rounded_values(bound[argument.name])
            else:
                array = rounded(b, array)
        given.append(array)
    b.weights.update(bound)
    results = MlirReader(b).call(function, given)
    last = function.body.block.last_op
    assert last is not None
    taken = Taken()
    written = text.names(last, len(last.operands), r"%([\w.$#-]+)")
    names = [taken.unique(f"out{n}" if name.startswith("arg") or "#" in name else name) for n, name in enumerate(written)]
    return b.program(function.sym_name.data, dict(zip(names, results, strict=True)), symbols)


def _own_names(spec: str, module: ModuleOp) -> list[str]:
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    found = re.finditer(r"%([\w.$-]+)\s*:", text_of(parts(spec)[0]))
    names = [one[1] for one, _ in zip(found, function.body.block.args, strict=False)]
    cut = [name for name in names if re.search(r"_\d+$", name)]
    if cut:  # xDSL numbers names anew: `w_1` and `w` may have changed places
        what = f"its text does not say which argument %{cut[0]} is: numbers behind names are lost in it"
        raise ModelError(what, where=parts(spec)[0], hint="write it with --emit mlir, which keeps them")
    return [f"arg{name}" if name[:1].isdigit() else name for name in names]


def _opened(spec: str) -> tuple[MlirText | ModuleOp, FuncOp | None]:
    path, name = parts(spec)
    try:
        status = Path(path).stat()
    except OSError as error:
        raise ModelError(f"cannot be read ({error.strerror})", where=path, hint="check the path") from None
    found = _parsed(path, status.st_mtime_ns, status.st_size)
    return (found, None) if isinstance(found, ModuleOp) else (found, function_of(found, name))


@lru_cache(maxsize=2)
def _parsed(path: str, _time: int, _size: int) -> MlirText | ModuleOp:
    text = text_of(path)
    return own.parsed(text, path) if own.MARK in text else parse_text(text, path)
