"""Elementwise operations become kernels: the same bits, no result lost, nothing read before it is made."""

from __future__ import annotations

import numpy as np
import pytest
from same_results import assert_same_bits, outputs, passed
from spelled import data, kinds, trace
from xdsl.dialects.builtin import DenseArrayBase, i64

from fleet.engines.base import RunOptions
from fleet.engines.vm import ENGINE
from fleet.errors import FleetError
from fleet.ir.dialect import FusedOp, WhileOp, op_id
from fleet.ir.program import Program
from fleet.ir.shapes import InferenceError
from fleet.transforms.fuse_loops import fuse_loops
from fleet.transforms.passes import find_pass


def kernels(program: Program) -> list[list[str]]:
    """The ids of every kernel's operations."""
    return [
        [op_id(o).removesuffix(".fused") for o in op.body.block.ops if o.name != "fleet.yield"]
        for op in program.module.walk()
        if isinstance(op, FusedOp)
    ]


def test_two_additions_are_one_kernel() -> None:
    before = trace(lambda m, a, b: (a + b) + a, a=(3, 4), b=(3, 4))
    after = passed(before, "fuse-loops")
    assert kinds(after) == ["fused", "element"]
    assert len(kernels(after)[0]) == 2
    assert_same_bits(before, after, data(before))


def test_what_is_kept_comes_from_the_same_kernel() -> None:
    before = trace(lambda m, a, b: m.tanh(a + b) * a, a=(3, 4), b=(4,))
    after = fuse_loops(before, keep=True)
    assert kinds(after) == ["fused", "element", "element", "element"]
    ids = [op_id(op) for op in before.operations()]
    assert [op_id(op) for op in after.operations()][1:] == ids
    assert passed(before, "fuse-loops{keep=yes}").module.is_structurally_equivalent(after.module)
    assert_same_bits(before, after, data(before))


def test_a_kernel_ends_where_something_else_reads_it() -> None:
    def model(m, a, w):
        b = a + 1.0
        c = b * a
        d = c @ w
        return (c - d) * c

    before = trace(model, a=(4, 4), w=(4, 4))
    after = passed(before, "fuse-loops")
    assert [len(k) for k in kernels(after)] == [2, 2]
    assert_same_bits(before, after, data(before))


def softmax(m, x):
    e = m.exp(x - m.max(x, axis=-1, keepdims=True))
    return e / m.sum(e, axis=-1, keepdims=True)


def norm(m, x, g, b):
    c = x - m.mean(x, axis=-1, keepdims=True)
    return c / m.sqrt(m.mean(c * c, axis=-1, keepdims=True) + 1e-5) * g + b


ROWS = {
    "softmax of a scaled sum": (lambda m, x, y: softmax(m, (x + y) * 0.5), {"x": (3, 8), "y": (8,)}, 7),
    "norm, then its activation": (lambda m, x, g, b: m.tanh(norm(m, x, g, b)), {"x": (3, 8), "g": (8,), "b": (8,)}, 10),
    "a sum over the first axis": (lambda m, x, g: m.sum(x * g, axis=0) * 2.0, {"x": (3, 8), "g": (8,)}, 3),
    "two sides that meet": (lambda m, x, y: (x + y) * (x - y), {"x": (3, 8), "y": (3, 8)}, 3),
    "two totals that meet": (
        lambda m, x: (x - m.mean(x, axis=1, keepdims=True)) / m.max(x, axis=1, keepdims=True),
        {"x": (3, 8)},
        4,
    ),
    "one number": (lambda m, x: x / m.max(x, axis=(0, 1)), {"x": (3, 8)}, 2),
}
"""Name -> model, shapes, and the operations of its one kernel."""


@pytest.mark.parametrize("name", ROWS)
def test_rows_are_one_kernel(name: str) -> None:
    model, shapes, count = ROWS[name]
    before = trace(model, **shapes)
    after = passed(before, "fuse-loops")
    assert [len(k) for k in kernels(after)] == [count]
    assert set(kinds(after)) <= {"fused", "element", "constant"}
    assert_same_bits(before, after, data(before))
    kept = fuse_loops(before, keep=True)
    ids = [op_id(op) for op in before.operations() if op.name != "fleet.constant"]
    assert {op_id(op) for op in kept.operations()} >= set(ids)
    assert_same_bits(before, kept, data(before))


def test_a_total_that_broadcasts_along_other_axes_is_read_from_memory() -> None:
    before = trace(lambda m, x: m.exp(x) - m.sum(m.exp(x), axis=1), x=(4, 4))
    after = passed(before, "fuse-loops")
    assert sorted([k.split(".")[0] for k in kernel] for kernel in kernels(after)) == [["exp", "reduce_sum"], ["exp", "sub"]]
    assert_same_bits(before, after, data(before))
    before = trace(lambda m, x: m.sum(x * 2.0, axis=1, keepdims=True) * m.sum(x * 3.0, axis=0, keepdims=True), x=(4, 4))
    after = passed(before, "fuse-loops")
    assert sorted(len(k) for k in kernels(after)) == [2, 3]  # a row of one is no row of the other: it is read from memory
    assert_same_bits(before, after, data(before))


def test_a_kernel_of_other_loops_is_refused() -> None:
    after = passed(trace(*ROWS["one number"][:1], **ROWS["one number"][1]), "fuse-loops")
    (kernel,) = (op for op in after.module.walk() if isinstance(op, FusedOp))
    kernel.check()
    total = kernel.operations[0]
    total.properties["axes"] = DenseArrayBase.from_list(i64, [1])
    with pytest.raises(InferenceError, match=r"in a kernel of loops over \(3, 8\) with rows along \[1\]"):
        kernel.check()


def test_other_shapes_and_products_are_other_kernels() -> None:
    def model(m, a, b):
        row = b * 2.0 + 1.0
        return (a + row) @ m.tanh(a * row).T

    before = trace(model, a=(3, 4), b=(4,))
    after = passed(before, "fuse-loops")
    assert_same_bits(before, after, data(before))
    for op in after.operations():
        if isinstance(op, FusedOp):
            assert len({str(r.type) for o in op.body.block.ops for r in o.results}) == 1
    assert "matmul" in kinds(after)


def test_the_target_says_what_it_can_fuse() -> None:
    before = trace(lambda m, a: m.tanh(a + 1.0) * a - a, a=(3, 4))
    after = fuse_loops(before, keep=False, fusable=lambda op: op.name != "fleet.tanh")
    assert kinds(after).count("tanh") == 1
    assert [len(k) for k in kernels(after)] == [2]
    assert_same_bits(before, after, data(before))


def test_large_kernels_are_split() -> None:
    def model(m, a):
        for _ in range(60):
            a = a * 1.5 + 0.25
        return a

    before = trace(model, a=(3, 4))
    after = passed(before, "fuse-loops")
    assert max(len(k) for k in kernels(after)) == 24
    assert_same_bits(before, after, data(before))


def test_bodies_of_loops_are_fused_and_keep_nothing(tmp_path) -> None:
    from fleet.frontend.source import load

    source = tmp_path / "loop.py"
    source.write_text(
        "import numpy as np\n\n\ndef forward(x: 'float32[8]'):\n"
        "    while x.max() > 0.5:\n        x = (x * 0.5 + 0.1) * 0.9\n    return x\n"
    )
    before = load(f"{source}:forward", {}, {"x": np.ones(8, np.float32)})
    after = fuse_loops(before, keep=True)
    (loop,) = (op for op in after.module.walk() if isinstance(op, WhileOp))
    kernel = next(op for op in loop.walk() if isinstance(op, FusedOp) and len(op.operations) == 3)
    assert len(kernel.result.type.types.data) == 1
    assert_same_bits(before, after, {"x": np.linspace(0, 9, 8, dtype=np.float32)})


def test_the_vm_runs_the_operations_of_a_kernel() -> None:
    before = trace(lambda m, a, b: (m.tanh(a + b) * a - b, m.sum(a + b, axis=0)), a=(3, 4), b=(4,))
    after = passed(before, "fuse-loops")
    assert kernels(after)
    inputs = data(before)
    found = ENGINE.run(after, inputs, RunOptions()).outputs.values()
    for a, b in zip(outputs(before, inputs), found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_an_option_that_it_has_not_is_refused() -> None:
    with pytest.raises(FleetError, match="option keep of pass fuse-loops is 'maybe'"):
        find_pass("fuse-loops{keep=maybe}")
    with pytest.raises(FleetError, match="pass fuse-loops has no option all"):
        find_pass("fuse-loops{all=yes}")
