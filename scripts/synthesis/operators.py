"""Arithmetic operators of the RTL: each is synthesised once, and is a box wherever the RTL calls it.

The operators are functions of SystemVerilog packages, which a reader puts into every place that calls them. For the units their
bodies are replaced by a division of a width that no unit has: after reading, each such division is one call of that operator.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Operator:
    """An operator.

    Attributes:
        name: of the function. package: that has it.
        arguments: names and widths in bits. result: width in bits.
        marker: width of the division that stands for a call; above `result`, so that nothing cuts it.
        pipe: module of its stages with registers between them; "" if it takes one. Its operands and result are those of the
            function, beside those of `constants`, which are 0. parameters: of that module.
    """

    name: str
    package: str
    arguments: tuple[tuple[str, int], ...]
    result: int
    marker: int
    pipe: str = ""
    constants: tuple[str, ...] = ()
    parameters: str = ""

    @property
    def body(self) -> str:
        """The body that marks a call."""
        first, *others = [f"{self.marker}'($unsigned({name}))" for name, _ in self.arguments]
        second = others[0] if others else f"{self.marker}'d3"
        return f"    return {self.result}'({first} / {second});\n"

    @property
    def alone(self) -> str:
        """A module of the operator between registers."""
        call = f"{self.name}({', '.join(f'{n}_q' for n, _ in self.arguments)})"
        return self._behind_registers(f"{self.name}_alone", f"  always_ff @(posedge clk_i) y_o <= {call};\n")

    @property
    def staged(self) -> str:
        """A module of the operator's stages behind registers of its operands."""
        ports = "".join(f", .{n}_i({n}_q)" for n, _ in self.arguments) + "".join(f", .{n}_i('0)" for n in self.constants)
        pipe = f"{self.pipe} {self.parameters}u_pipe"
        return self._behind_registers(f"{self.pipe}_alone", f"  {pipe} (.clk_i, .en_i(1'b1){ports}, .y_o(y_o));\n")

    def _behind_registers(self, name: str, body: str) -> str:
        ports = "".join(f", input logic [{w - 1}:0] {n}_i" for n, w in self.arguments)
        registers = "".join(f"logic [{w - 1}:0] {n}_q; " for n, w in self.arguments)
        reads = " ".join(f"{n}_q <= {n}_i;" for n, _ in self.arguments)
        ports += f", output logic [{self.result - 1}:0] y_o"
        return (
            f"module {name} import {self.package}::*; (input logic clk_i{ports});\n"
            f"  {registers}\n  always_ff @(posedge clk_i) begin {reads} end\n{body}endmodule\n"
        )


_TWO = (("a", 32), ("b", 32))
OPERATORS = (
    Operator("fp32_add_inline", "fp_pkg", _TWO, 32, 83, "fp32_add_pipe"),
    Operator("fp32_mul_short", "fp_fn_pkg", _TWO, 32, 90, "fp32_mul_short_pipe"),
    Operator("fp32_mul_ftz", "fp_fn_pkg", _TWO, 32, 94, "fp32_mul_ftz_pipe"),
    Operator("fp16_to_fp32", "fp_pkg", (("x", 16),), 32, 85),
    Operator("fp32_to_fp16", "fp_pkg", (("x", 32),), 16, 86, "fp32_to_fp16_pipe"),
    Operator("fp16_to_fixed", "fp_pkg", (("x", 16),), 64, 87),
    Operator("word_to_fp32", "fp_fn_pkg", (("x", 64),), 32, 95, "word_to_fp32_pipe"),
    Operator("fixed_pair_to_fp32", "fp_fn_pkg", (("low", 64), ("high", 64)), 32, 89, "fixed_pair_to_fp32_pipe", ("special",)),
    Operator(
        "fixed_products_to_fp32",
        "fp_fn_pkg",
        (("low", 64), ("high", 64)),
        32,
        93,
        "fixed_pair_to_fp32_pipe",
        ("special",),
        "#(.Split(50)) ",
    ),
    Operator("fp16_mul", "fp_fn_pkg", (("a", 16), ("b", 16)), 32, 91, "fp16_mul_pipe"),
)
BY_MARKER = {o.marker: o for o in OPERATORS}


def marked(package: str, text: str) -> str:
    """Return a package's text with the bodies of its operators replaced. Raises ValueError if one is not in it."""
    for o in OPERATORS:
        if o.package == package:
            found = re.search(rf"  function automatic [^\n]*\b{o.name}\([^;]*\);\n(.*?)  endfunction", text, re.DOTALL)
            if found is None:
                raise ValueError(f"{package} has no function {o.name}")
            text = text[: found.start(1)] + o.body + text[found.end(1) :]
    return text
