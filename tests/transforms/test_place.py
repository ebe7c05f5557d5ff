"""Placement with views and reasons; `tests/targets/accel/test_matching.py` has the rest by way of a real set."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "targets" / "accel"))
import numpy as np
from blocks import Builder

from fleet.frontend.source import load
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.lowering_options import LoweringOptions
from fleet.ir.program import Program
from fleet.isa.registry import find_device
from fleet.sdk import Device
from fleet.sdk.lowering import EmitContext, Match, Missed
from fleet.transforms.place import Placement, place

DEVICE = find_device("hbm_small")[1]


class Some:
    """Takes operations by id; says why not of others."""

    name = "some"

    def __init__(self, *ids: str, views: tuple[str, ...] = (), why: str | None = None) -> None:
        self.ids, self.views, self.why = ids, views, why

    def match(self, op: FleetOp, program: Program, device: Device, options: Mapping[str, Any]) -> Match | Missed | None:
        if op_id(op) in (*self.ids, *self.views):
            return Match(self, (op,), tuple(op.operands), (), (op.results[0],), None, view=op_id(op) in self.views)
        return None if self.why is None else Missed(self.why)

    def emit(self, match: Match, context: EmitContext) -> None:
        raise NotImplementedError


def chain() -> Program:
    b = Builder({"x": (4, 64)}, {})
    b("a", "neg", "x")
    b("b", "slice", "a", start=[0, 32], size=[4, 32])
    b("c", "slice", "b", start=[0, 0], size=[4, 32])
    return b.done(b("d", "neg", "c"))


def placed(*patterns: Some) -> Placement:
    return place(chain(), patterns, DEVICE, LoweringOptions())


def test_views_of_what_the_device_makes_stay_there() -> None:
    found = placed(Some("a", "d", views=("b", "c")))
    assert found.where() == dict.fromkeys("abcd", "device")
    assert found.missed == {}


def test_views_of_what_the_host_makes_go_to_the_host_one_after_the_other() -> None:
    found = placed(Some("d", views=("b", "c")))
    assert found.where() == {"a": "host", "b": "host", "c": "host", "d": "device"}
    assert found.missed == {
        "a": "hbm_small has no instruction for neg",
        "b": "what it is a part of stands with the host",
        "c": "what it is a part of stands with the host",
    }


def test_reasons_of_all_patterns_once_each() -> None:
    found = placed(Some("d", why="too wide"), Some(why="too high"), Some(why="too wide"))
    assert found.missed["a"] == "too wide; too high"
    assert "d" not in found.missed


def test_a_function_of_numpy_is_named(tmp_path: Path) -> None:
    source = tmp_path / "model.py"
    source.write_text('import numpy as np\n\n\ndef forward(x: "float32[4, 16]"):\n    return np.sort(x, axis=-1)\n')
    program = load(f"{source}:forward", {}, {"x": np.zeros((4, 16), np.float32)})
    (why,) = place(program, (), DEVICE, LoweringOptions()).missed.values()
    assert why == "hbm_small has no instruction for numpy.sort"
