"""Microseconds an operation of the IR, seconds that graphs and models take to compile. Prints two tables.

    python benchmarks/ir_speed.py [operations|graphs]

The first table is of one program of 20,000 operations of eight kinds: built, verified, cloned, printed, parsed, rewritten by a
pattern that turns operands round, and by one that matches nothing. "parse" is `parse_ir` without its verification.
The second is of the graphs of benchmarks/graph_compile.py, one of 7,500 nodes, and GPT-2.
Seconds of processor time, the least of three rounds; of one where xDSL parses or a graph is built.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeVar

import riscv_gpt2
from graph_compile import CARD, DEVICE, SHAPES, Shape, graph, nothing
from rich.console import Console
from rich.table import Table
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, FunctionType, ModuleOp
from xdsl.dialects.func import Func, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern

from fleet.dlavm import transform
from fleet.ir import dialect as d
from fleet.ir.accel.nodes import post_order
from fleet.ir.dialect import FLEET, FleetOp, kind_of
from fleet.ir.text import parse_ir, print_ir
from fleet.ir.types import tensor_type
from fleet.isa.registry import find_device
from fleet.targets.accel.build import build
from fleet.targets.bytecode.convert import ByteCodeConverter
from fleet.transforms.pipeline import run_pipeline

COUNT, NODES, ROUNDS = 20_000, 7_500, 3

T = TypeVar("T")


def program() -> ModuleOp:
    """`COUNT` operations on a few shapes, ten kinds in turn."""
    shape, wide = (16, 64), (16, 256)
    block = Block(arg_types=[tensor_type(s, "float32") for s in (shape, (64, 256), (256, 64), (64,))])
    x, up, down, bias = block.args
    made = 0

    def add(kind: type[FleetOp], operands: list[SSAValue], size: tuple[int, ...], **attributes: object) -> SSAValue:
        nonlocal made
        made += 1
        op = kind(operands, tensor_type(size, "float32"), **attributes)
        op.describe(id=f"{kind_of(op)}.{made}", var="x" if made % 3 else None, at=f"model.py:{made // 10 + 1}:{made % 80}")
        block.add_op(op)
        return op.results[0]

    value: SSAValue = x
    while made < COUNT:
        n = add(d.LayerNormOp, [value, bias, bias], shape, axis=1, eps=1e-5)
        h = add(d.MatmulOp, [n, up], wide)
        h = add(d.MaximumOp, [h, add(d.TanhOp, [h], wide)], wide)
        h = add(d.MatmulOp, [h, down], shape)
        s = add(d.ReduceMaxOp, [h], (16, 1), axes=[1], keepdims=True)
        t = add(d.TransposeOp, [h], (64, 16), permutation=[1, 0])
        h = add(d.SubOp, [add(d.TransposeOp, [t], shape, permutation=[1, 0]), s], shape)
        value = add(d.AddOp, [value, h], shape)
    block.add_op(ReturnOp(value))
    types = FunctionType.from_lists([a.type for a in block.args], [value.type])
    return ModuleOp([FuncOp("forward", types, Region([block]))])


class _Swap(RewritePattern):
    """Every addition by one of the operands the other way round, once each."""

    def __init__(self) -> None:
        self.matched = 0

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if isinstance(op, d.AddOp | d.SubOp | d.MaximumOp) and "var" in op.properties:
            self.matched += 1
            new = type(op)([op.rhs, op.lhs], op.result.type)
            new.describe(id=d.op_id(op))
            rewriter.replace(op, new)


class _Nothing(RewritePattern):
    """Looks at every operation."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        assert not isinstance(op, ModuleOp) or rewriter is not None


def taken(run: Callable[[], T], rounds: int = ROUNDS) -> tuple[float, T]:
    """Seconds of processor time, the least of so many rounds, garbage collected before each; and what was made."""
    found: list[tuple[float, T]] = []
    for _ in range(rounds):
        gc.collect()
        begun = time.process_time()
        made = run()
        found.append((time.process_time() - begun, made))
    return min(found, key=lambda one: one[0])


def parsed_by_xdsl(text: str) -> ModuleOp:
    """By the parser of xDSL as it is."""
    context = Context()
    for dialect in (Builtin, Func, FLEET):
        context.load_dialect(dialect)
    return Parser(context, text).parse_module()


def rewritten(module: ModuleOp, pattern: RewritePattern) -> float:
    """Seconds of one walk over a copy."""
    copy = module.clone()
    gc.collect()
    begun = time.process_time()
    PatternRewriteWalker(pattern, apply_recursively=False).rewrite_module(copy)
    return time.process_time() - begun


def operations() -> Table:
    """The table of the 20,000 operations."""
    table = Table("what", "us an operation", title=f"{COUNT:,} operations")
    built, module = taken(program)
    text = print_ir(module)
    rows = {"build": built}
    for name, run in {
        "verify": module.verify,
        "clone": module.clone,
        "print": partial(print_ir, module),
        "parse_ir, verified": partial(parse_ir, text),
        "parse (xDSL)": partial(parsed_by_xdsl, text),
    }.items():
        rows[name] = taken(run, 1 if "xDSL" in name else ROUNDS)[0]
    rows["parse"] = rows["parse_ir, verified"] - rows["verify"]
    for name, seconds in rows.items():
        table.add_row(name, f"{1e6 * seconds / COUNT:.0f}")
    swap = _Swap()
    matched = rewritten(module, swap)
    unmatched = min(rewritten(module, _Nothing()) for _ in range(ROUNDS))
    table.add_row("PatternRewriter, looks at each", f"{1e6 * unmatched / COUNT:.0f}")
    table.add_row("PatternRewriter, a match, besides", f"{1e6 * (matched - unmatched) / swap.matched:.0f}")
    return table


def _size(shape: Shape) -> int:
    return sum(1 for _ in post_order(graph(shape, nothing)))


def graphs() -> Table:
    """The table of graphs and models."""
    table = Table("what", "nodes", "types s", "build s")
    device = replace(find_device(DEVICE)[1], memory={"ddr": CARD["ddr"], "hbm": 4 * CARD["hbm"]})
    block = _size(replace(SHAPES[1], blocks=2)) - _size(replace(SHAPES[1], blocks=1))
    deep = replace(
        SHAPES[1], name=f"{NODES:,} nodes", blocks=NODES // block, channels=256, heads=2, kv_heads=2, ffn=512, vocabulary=1024
    )
    for s in (*SHAPES, deep):
        whole = graph(s, nothing)
        types, typed = taken(partial(transform.infer_type, whole, DEVICE))
        built, _ = taken(partial(build, typed, aux=True, build_config={"lite": s.lite}, device=device), 1)
        table.add_row(s.name, f"{_size(s):,}", f"{types:.2f}", f"{built:.2f}")
    model = riscv_gpt2.program(riscv_gpt2.weights(12), 12)
    compiled, _ = taken(lambda: ByteCodeConverter(run_pipeline(model, "vm")).convert())
    table.add_row("GPT-2, passes and bytecode", f"{len(list(model.operations())):,}", "-", f"{compiled:.2f}")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    tables = {"operations": operations, "graphs": graphs}
    parser.add_argument("table", nargs="?", choices=tables)
    chosen = parser.parse_args().table
    for name in tables if chosen is None else [chosen]:
        Console().print(tables[name]())


if __name__ == "__main__":
    main()
