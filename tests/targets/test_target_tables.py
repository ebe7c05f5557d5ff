"""Every operation of the dialect and every target: it has a row in the target's table, or stands below with the reason."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "ir"))
sys.path.insert(0, str(Path(__file__).parents[1] / "engines"))
from operations import CASES, Case
from riscv_models import model

import fleet
from fleet.compare.rules import table as bounds
from fleet.engines.base import RunOptions
from fleet.engines.riscv import ENGINE
from fleet.errors import DeviceError
from fleet.ir import dialect as d
from fleet.ir.dialect import kind_of
from fleet.ir.expand import expand
from fleet.ir.program import Program
from fleet.ir.types import element_type
from fleet.targets.bytecode import operators
from fleet.targets.gpu import kernels as gpu
from fleet.targets.gpu.module import generate_gpu
from fleet.targets.gpu.surface import OPENCL
from fleet.targets.mlir import export as mlir
from fleet.targets.onnx import export as onnx
from fleet.targets.riscv.kernels import operations as riscv
from fleet.targets.riscv.prepare import prepared
from fleet.targets.riscv.views import VIEWS

Op = type[d.FleetOp]


@dataclass(frozen=True)
class Target:
    """table: operations with code of their own. otherwise: what the target does instead. refused: why it does not take them."""

    table: frozenset[Op]
    otherwise: Mapping[Op, str]
    refused: Mapping[Op, str]


def of(*bases: type) -> list[Op]:
    return [op for op in d.OPERATIONS.values() if issubclass(op, bases)]


def expanded(table: Mapping[Op, object]) -> dict[Op, str]:
    return {op: "expanded" for op in of(d.CompositeOp, d.NumpyOp) if op not in table}


def decisions(how: str) -> dict[Op, str]:
    return dict.fromkeys((*of(d.RegionOp), d.ElementOp), how)


_EXPORTED = {**onnx.RULES, **onnx.COMPOSITES}
TARGETS = {
    "vm": Target(
        frozenset(operators.RULES),
        {d.ConstantOp: "bytecode loads it (`ldc`)", **dict.fromkeys(of(d.RegionOp), "bytecode jumps")},
        {},
    ),
    "mlir": Target(
        frozenset(mlir.RULES),
        {
            **expanded(mlir.RULES),
            d.PrintOp: "its operands become results",
            d.CheckOp: "refused: `test_a_check_is_refused_by_name`",
            **decisions("scf.if and scf.while, whose results are the parts"),
        },
        dict.fromkeys(of(d.SizedOp), "its sizes are the run's"),
    ),
    "onnx": Target(
        frozenset(_EXPORTED),
        {**expanded(_EXPORTED), d.PrintOp: "its operands become outputs", **decisions("If and Loop, whose outputs are the parts")},
        {},
    ),
    "riscv": Target(
        frozenset({*riscv.KERNELS, *VIEWS}),
        {**expanded(riscv.KERNELS), d.PrintOp: "the host prints its operands", d.ElementOp: "a part of the memory of its tuple"},
        dict.fromkeys(of(d.SizedOp), "supported are static shapes"),
    ),
    "gpu": Target(
        frozenset({*gpu.KERNELS, *VIEWS}),
        {
            **expanded(gpu.KERNELS),
            d.PrintOp: "the host prints its operands",
            d.ElementOp: "a part of its tuple",
            **dict.fromkeys(gpu.HOST, "the host decides what runs"),
        },
        dict.fromkeys(of(d.SizedOp), "a kernel has no place for"),
    ),
    "error bounds": Target(
        frozenset(bounds.RULES),
        {
            **dict.fromkeys((d.ArgmaxOp, d.ArgminOp), "compared by margin"),
            d.ConstantOp: "exact",
            d.PrintOp: "no value",
            **dict.fromkeys((*of(d.RegionOp), d.ElementOp), "a body is evaluated as a whole, on an engine's own operands"),
        },
        {},
    ),
}


@pytest.mark.parametrize("name", TARGETS)
def test_every_operation_has_a_place(name: str) -> None:
    target = TARGETS[name]
    stated = {**target.otherwise, **target.refused}
    gaps = [op.name for op in d.OPERATIONS.values() if op not in target.table and op not in stated]
    assert not gaps, f"{name} has no row for {', '.join(gaps)}: write one, or state here what it does instead"
    assert not target.table & stated.keys(), "a row and a reason for having none"
    assert not target.otherwise.keys() & target.refused.keys()
    assert target.table | stated.keys() <= set(d.OPERATIONS.values())


def case_of(op: Op) -> Case:
    return next(case for case in CASES if case.name == kind_of(op))


def program_of(case: Case) -> Program:
    arrays = {f"x{i}": np.asarray(v) for i, v in enumerate(case.operands) if isinstance(v, np.ndarray)}

    def body(m: Any, *values: Any) -> Any:
        given = iter(values)
        operands = [
            next(given) if isinstance(v, np.ndarray) else m.constant(v, element_type(np.asarray(v).dtype)) for v in case.operands
        ]
        return m(case.name, *operands, **case.attributes)

    return model(arrays, body)


@pytest.mark.parametrize("name", [name for name, target in TARGETS.items() if "expanded" in target.otherwise.values()])
def test_what_is_expanded_has_a_sequence_of_rows(name: str) -> None:
    target = TARGETS[name]
    for op in (op for op, what in target.otherwise.items() if what == "expanded"):
        (made,) = (o for o in program_of(case_of(op)).operations() if isinstance(o, op))
        sequence = {type(o) for o in expand(made)}
        assert sequence
        assert sequence <= target.table, f"{name} lacks {sequence - target.table} for {op.name}"


_REFUSING: Mapping[str, Callable[[Program], object]] = {
    "mlir": mlir.export_mlir,
    "riscv": lambda program: ENGINE.run(program, {}, RunOptions()),
    "gpu": lambda program: generate_gpu(prepared(program), OPENCL),
}


@pytest.mark.parametrize(("name", "op"), [(name, op) for name, target in TARGETS.items() for op in target.refused])
def test_what_is_refused_says_why(name: str, op: Op) -> None:
    with pytest.raises(DeviceError, match=TARGETS[name].refused[op]):
        _REFUSING[name](program_of(case_of(op)))


@pytest.mark.parametrize("name", ["mlir", "riscv", "onnx", "gpu"])
def test_a_call_without_a_sequence_is_refused_by_the_functions_name(name: str) -> None:
    refusing = {**_REFUSING, "onnx": onnx.export_onnx}
    case = next(case for case in CASES if case.by_numpy_alone)
    with pytest.raises(DeviceError, match=r"numpy\.linalg\.svd"):
        refusing[name](program_of(case))


def test_a_check_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text('def forward(x: "float32[4]"):\n    assert x.sum() > 0, "not above 0"\n    return x\n')
    program = fleet.compile(f"{path}:forward", inputs={"x": np.ones(4, np.float32)}).program
    with pytest.raises(DeviceError, match="check"):
        mlir.export_mlir(program)
