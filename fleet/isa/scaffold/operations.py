"""Operations of a toy instruction, each in the words of the IR, of NumPy, of SystemVerilog and of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class ArithmeticOperation:
    """out[i] = f(a[i], b[i]) on int32, modulo 2^32.

    title, text: for people; ir_class, ir_name: of `fleet.ir.dialect`; numpy: on arrays a and b; verilog: of lane i of a_i and b_i;
    model: with places {a} and {b}, as a model says it.
    """

    title: str
    text: str
    ir_class: str
    ir_name: str
    numpy: str
    verilog: str
    model: str


_A, _B = "a_i[32*i +: 32]", "b_i[32*i +: 32]"


def _compared(sign: str) -> str:
    return f"$signed({_A}) {sign} $signed({_B}) ? {_A} : {_B}"


OPERATIONS: Mapping[str, ArithmeticOperation] = {
    "add": ArithmeticOperation("Sum", "a[i] + b[i]", "AddOp", "fleet.add", "a + b", f"{_A} + {_B}", "{a} + {b}"),
    "sub": ArithmeticOperation("Difference", "a[i] - b[i]", "SubOp", "fleet.sub", "a - b", f"{_A} - {_B}", "{a} - {b}"),
    "mul": ArithmeticOperation("Product", "a[i] * b[i]", "MulOp", "fleet.mul", "a * b", f"{_A} * {_B}", "{a} * {b}"),
    "maximum": ArithmeticOperation(
        "Larger one", "max(a[i], b[i])", "MaximumOp", "fleet.maximum", "np.maximum(a, b)", _compared(">"), "np.maximum({a}, {b})"
    ),
    "minimum": ArithmeticOperation(
        "Smaller one", "min(a[i], b[i])", "MinimumOp", "fleet.minimum", "np.minimum(a, b)", _compared("<"), "np.minimum({a}, {b})"
    ),
}
"""Name -> operation, as `--op` takes it."""
