"""vgemm with two faults in it, of which a plusarg takes one: `+planted=1` a wrong product, `+planted=2` a credit that leaks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fleet.engines.rtl_sim.build import Design, design_of
from fleet.isa.registry import find_device

DEVICE = "vgemm_small"
STEP = 77
"""Step of an outer loop of one iteration: it changes nothing, and names the product that is to be wrong."""
LEAK = 100
"""So many instructions after each of which one place of the queue of eight is lost."""
_SWITCH = '  int planted;\n  initial if ($value$plusargs("planted=%d", planted) == 0) planted = 0;\n'
_EDITS = {
    "vgemm_array.sv": [
        ("  word_t       word_q;\n", _SWITCH + "  word_t       word_q;\n"),
        ("acc_i[32*o+:32] + sum;", f"acc_i[32*o+:32] + (sum ^ 32'(planted == 1 && o == 2 && acc_step_out == 11'd{STEP}));"),
    ],
    "vgemm_dispatch.sv": [
        ("  logic [31:0] now_q;\n", _SWITCH + "  logic [31:0] now_q, gone_q;\n"
         "  always_ff @(posedge clk_i or negedge rst_ni) begin\n    if (!rst_ni) gone_q <= '0;\n"
         "    else if (commit_valid_o) gone_q <= gone_q + 32'd1;\n  end\n"),
        ("in_valid_q && settled && !full &&", f"in_valid_q && settled && !full && !(planted == 2 && gone_q >= 32'd{8 * LEAK}) &&"),
    ],
}  # fmt: skip


def planted(folder: Path) -> Design:
    """The design with the faults, its changed files in a folder."""
    design = design_of(*find_device(DEVICE))
    sources: list[Path] = []
    for path in design.sources:
        edits = _EDITS.get(path.name)
        if edits is None:
            sources.append(path)
            continue
        text = path.read_text(encoding="utf-8")
        for old, new in edits:
            assert text.count(old) == 1, (path.name, old)
            text = text.replace(old, new)
        sources.append(folder / path.name)
        sources[-1].write_text(text, encoding="utf-8")
    return replace(design, sources=tuple(sources))
