"""The memory plan: results that share memory, views, and what stays readable."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "engines"))
from riscv_models import Maker, model

from fleet.engines.riscv import run_image
from fleet.targets.riscv.compile import compile_riscv


def chain(m: Maker, x: Any) -> list[Any]:
    """Many results, few of which live together; a view keeps its source alive."""
    first = m("mul", x, x, id="first")
    turned = m("transpose", first, permutation=[1, 0], id="turned")
    for i in range(12):
        x = m("add", m("tanh", x), x, id=f"step{i}")
    m.print(m("reduce_sum", x, axes=[0, 1], keepdims=False))
    for i in range(6):
        x = m("mul", x, x, id=f"late{i}")
    return [m("matmul", x, turned, id="end"), turned, m("slice", turned, start=[4, 0], size=[2, 4], step=[-2, 1], id="part")]


def test_shared_memory_gives_the_same_results_in_less_memory() -> None:
    x = np.random.default_rng(50).standard_normal((4, 5)).astype(np.float32)
    program = model({"x": x}, chain)
    kept, shared = (compile_riscv(program, keep_tensors=k) for k in (True, False))
    long, short = (run_image(c, c.elf, {"x": x}) for c in (kept, shared))
    assert {n: a.tobytes() for n, a in long.outputs.items()} == {n: a.tobytes() for n, a in short.outputs.items()}
    assert long.meta["stdout"] == short.meta["stdout"] != ""
    assert 0 <= kept.plan.unshared_bytes - kept.plan.result_bytes < 64
    assert shared.plan.result_bytes < kept.plan.result_bytes / 3
    assert short.counters["instructions"] < long.counters["instructions"], "what is not kept is not stored"
    np.testing.assert_array_equal(long.outputs["out1"], (x * x).T)
    np.testing.assert_array_equal(long.outputs["out2"], (x * x).T[4:0:-2])
    np.testing.assert_array_equal(long.tensors["part"], long.outputs["out2"])


def test_no_two_results_that_live_together_overlap_in_a_plan() -> None:
    program = model({"x": np.ones((4, 5), np.float32)}, chain)
    lives = compile_riscv(program, keep_tensors=False).plan.lives
    for i, (name, address, size, first, last) in enumerate(lives):
        for other, place, length, begin, end in lives[:i]:
            apart = last < begin or end < first or address + size <= place or place + length <= address
            assert apart, f"{name} and {other}"


def test_views_have_no_code_and_no_memory() -> None:
    x = np.arange(24, dtype=np.int64).reshape(2, 3, 4)

    def body(m: Maker, a: Any) -> list[Any]:
        turned = m("transpose", a, permutation=[2, 0, 1], id="turned")
        flat = m("reshape", a, shape=[6, 4], id="flat")
        copied = m("reshape", turned, shape=[8, 3], id="copied")
        wide = m("broadcast_to", flat, shape=[2, 6, 4], id="wide")
        part = m("slice", turned, start=[3, 0, 0], size=[2, 2, 2], step=[-2, 1, 2], id="part")
        return [turned, flat, copied, wide, part, m("add", part, part, id="sum")]

    compiled = compile_riscv(model({"x": x}, body))
    assert compiled.views == ("turned", "flat", "wide", "part")
    assert [life[0] for life in compiled.plan.lives] == ["copied", "sum"]
    got = list(run_image(compiled, compiled.elf, {"x": x}).outputs.values())
    turned = x.transpose(2, 0, 1)
    part = turned[3::-2, :, ::2]
    wants = [turned, x.reshape(6, 4), turned.reshape(8, 3), np.broadcast_to(x.reshape(6, 4), (2, 6, 4)), part, part + part]
    for array, want in zip(got, wants, strict=True):
        np.testing.assert_array_equal(array, want)
