"""An operation's class is its record: what it must state, and that nothing else does."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block
from xdsl.irdl import irdl_op_definition, opt_prop_def
from xdsl.utils.exceptions import VerifyException

from fleet.ir import dialect as d
from fleet.ir.build import make
from fleet.ir.types import tensor_type

ROOM = Path(__file__).parents[2] / "fleet" / "ir"


def test_the_room_imports_nothing_late() -> None:
    """An import inside a function hides a circle: the record would need what needs the record."""
    late = [
        f"{path.name}:{node.lineno} imports {node.module}"
        for path in sorted(ROOM.glob("*.py"))
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fleet")
    ]
    assert not late, "\n".join(late)


@pytest.mark.parametrize("op", d.OPERATIONS.values(), ids=d.OPERATIONS)
def test_every_record_is_complete(op: type[d.FleetOp]) -> None:
    assert op.__doc__
    assert op.result_words()
    states_its_type = op._infer.__func__ is not d.FleetOp._infer.__func__
    assert states_its_type or op in (d.ConstantOp, d.PrintOp)
    if issubclass(op, d.ElementwiseOp | d.ReduceOp) and op is not d.CastOp:
        assert (op.NUMPY is None) == (op.LIKE is not None), "one function says the dtypes"
    assert set(op.UNWRITTEN) <= set(op.get_irdl_definition().properties)


def test_names_of_operations_stand_in_no_other_file_of_the_room() -> None:
    """No table beside the records: whoever adds an operation adds one class."""
    own = {
        "composite.py",
        "elementwise.py",
        "functions.py",
        "movement.py",
        "program_ops.py",
        "reductions.py",
        "sized.py",
        "expand.py",
    }
    tables = [
        f"{path.name}:{node.lineno} has a table of {len(names)} operations"
        for path in sorted(ROOM.glob("*.py"))
        if path.name not in own
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Dict | ast.Set | ast.Tuple | ast.List)
        and len(names := [k.value for k in _keys(node) if isinstance(k, ast.Constant) and k.value in d.OPERATIONS]) > 2
    ]
    assert not tables, "\n".join(tables)


def _keys(node: ast.Dict | ast.Set | ast.Tuple | ast.List) -> list[ast.expr]:
    return [k for k in node.keys if k is not None] if isinstance(node, ast.Dict) else node.elts


def test_an_operation_is_added_in_one_class() -> None:
    """Building, the verifier, evaluation, attributes and the page's words need nothing but the class."""

    @irdl_op_definition
    class HeavisideOp(d.BinaryOp):
        """`numpy.heaviside`."""

        name = "fleet.heaviside"
        scale = opt_prop_def(IntegerAttr)
        NUMPY: ClassVar = np.heaviside
        UNWRITTEN: ClassVar = {"scale": 1}

    x, n = Block(arg_types=[tensor_type((2, 3), "float32"), tensor_type((3,), "int8")]).args
    op = HeavisideOp([x, n], HeavisideOp.infer([x.type, n.type], {}), scale=2)
    op.describe(id="one")
    op.verify()
    assert op.result.type == tensor_type((2, 3), np.heaviside(np.float32(1), np.int8(1)).dtype)
    assert d.attributes_of(op) == {"scale": 2}
    assert d.attributes_of(HeavisideOp([x, n], op.result.type, scale=1)) == {}
    assert HeavisideOp.compute([np.float32(-1), np.int8(7)], {}) == 0
    assert HeavisideOp.result_words() == "broadcast; dtype of `numpy.heaviside`"
    wrong = HeavisideOp([x, n], tensor_type((2, 3), "float64"))
    wrong.describe(id="two")
    with pytest.raises(VerifyException, match='"two": result type'):
        wrong.verify()


def test_a_property_that_is_missing_is_named() -> None:
    (x,) = Block(arg_types=[tensor_type((2, 3), "float32")]).args
    with pytest.raises(KeyError, match="eps"):
        make("layer_norm", [x, x, x])
