"""Chains of operations: the documented rule on models as NumPy writes them, and what a search must not do."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from xdsl.builder import Builder, InsertPoint
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

import fleet
from fleet.ir.constants import constant
from fleet.ir.program import Argument
from fleet.ir.types import tensor_type
from fleet.sdk.chain import ChainRule, Covered, Link, Start
from fleet.sdk.ir import FleetOp, Program, weight_name
from fleet.sdk.ir import dialect as d

DOCUMENT = Path(__file__).parents[2] / "docs" / "instruction-sets.md"
TYPE = tensor_type((4, 4), np.dtype(np.float32))


@pytest.fixture(scope="module")
def layer() -> ChainRule[tuple[SSAValue, str]]:
    """The rule of the page."""
    (text,) = re.findall(r"^```python chain\n(.*?)^```", DOCUMENT.read_text(), re.M | re.S)
    found = {"d": d, "ChainRule": ChainRule, "Link": Link, "Start": Start, "weight_name": weight_name}
    exec(compile(text, str(DOCUMENT), "exec"), found)
    rule = found["LAYER"]
    assert isinstance(rule, ChainRule)
    return rule


def last(folder: Path, expression: str) -> tuple[FleetOp, Program]:
    """The operation that a model returns. x and y are inputs, w and b weights."""
    path = folder / "model.py"
    parameters = 'x: "float32[3, 4]", y: "float32[4, 4]", w: "float32[4, 4]", b: "float32[4]"'
    path.write_text(f"import numpy as np\n\n\ndef forward({parameters}):\n    return {expression}\n")
    weights = {"w": np.eye(4, dtype=np.float32), "b": np.ones(4, np.float32)}
    inputs = {"x": np.ones((3, 4), np.float32), "y": np.ones((4, 4), np.float32)}
    program = fleet.compile(f"{path}:forward", weights=weights, inputs=inputs).program
    return list(program.operations())[-1], program


@pytest.mark.parametrize(
    ("expression", "links"),
    [
        ("x @ w", []),
        ("x @ w + b", ["bias"]),
        ("np.maximum(x @ w, 0)", ["relu"]),
        ("np.maximum(0, b + x @ w)", ["bias", "relu"]),
    ],
)
def test_the_documented_rule_finds_its_chains(
    layer: ChainRule[tuple[SSAValue, str]], expression: str, links: list[str], tmp_path: Path
) -> None:
    op, program = last(tmp_path, expression)
    found = layer.find(op, program)
    assert isinstance(found, Covered)
    assert [name for name, _ in found.sites] == links
    assert found.start[1] == "w"
    assert found.ops == tuple(o for o in program.operations() if not isinstance(o, d.ConstantOp))
    bias = found.site("bias")
    assert (bias and bias.weight) == ("b" if "bias" in links else None)


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("np.maximum(x @ w + b, 1)", "the device has no limit but 0"),
        ("np.maximum(x @ y + b, 0)", "its right side is no weight"),
        ("np.maximum(x @ y + b, 1)", "its right side is no weight"),  # two things are wrong: what it begins with comes first
        ("np.maximum(x, 1)", None),
        ("np.minimum(x @ w, 0)", None),
        ("np.maximum(x @ w, 0) + b", None),
    ],
)
def test_what_is_nearly_a_chain_says_why(
    layer: ChainRule[tuple[SSAValue, str]], expression: str, reason: str | None, tmp_path: Path
) -> None:
    assert layer.find(*last(tmp_path, expression)) == reason


class Net:
    """A program of tensors of one type: x (an input) and w (a weight)."""

    def __init__(self) -> None:
        self.block = Block(arg_types=[TYPE, TYPE])
        self.x, self.w = self.block.args
        self._builder = Builder(InsertPoint.at_end(self.block))

    def add(self, op: Operation) -> SSAValue:
        """Its result."""
        return self._builder.insert(op).results[0]

    def program(self, value: SSAValue) -> Program:
        """Returns it."""
        self.add_return(value)
        function = FuncOp("forward", FunctionType.from_lists([TYPE, TYPE], [TYPE]), Region([self.block]))
        shape, dtype = (4, 4), np.dtype(np.float32)
        arguments = Argument("x", shape, dtype, "input"), Argument("w", shape, dtype, "weight")
        return Program(ModuleOp([function]), arguments, {"w": np.eye(4, dtype=np.float32)}, ("y",), "", "net.py")

    def add_return(self, value: SSAValue) -> None:
        self._builder.insert(ReturnOp(value))


def tanh(op: FleetOp, _: Program) -> Start[None] | None:
    return Start(None, (op,)) if isinstance(op, d.TanhOp) else None


def find(rule: ChainRule[None], net: Net, value: SSAValue) -> Covered[None] | str | None:
    assert isinstance(value.owner, Operation)
    return rule.find(value.owner, net.program(value))


def test_a_chain_of_thousands_of_operations_is_found() -> None:
    net = Net()
    value = net.add(d.TanhOp([net.x], TYPE))
    for _ in range(1200):
        value = net.add(d.AddOp([value, net.add(constant(1.0, TYPE))], TYPE))
    found = find(ChainRule(tanh, Link("number", d.AddOp, when=lambda s: s.number is not None, most=None)), net, value)
    assert isinstance(found, Covered)
    assert len(found.ops) == 1201


def test_a_search_in_vain_ends_where_every_operation_has_two_ways() -> None:
    net = Net()
    value = net.add(d.NegOp([net.x], TYPE))
    for _ in range(60):
        value = net.add(d.AddOp([value, value], TYPE))
    asked: list[Operation] = []
    assert find(ChainRule(lambda op, _: asked.append(op), Link("any", d.AddOp, most=None)), net, value) is None
    assert len(asked) == 61


def test_what_the_chain_computes_is_no_other_operand_of_it() -> None:
    rule = ChainRule(tanh, Link("other", d.MulOp, most=None))
    for taken in (True, False):
        net = Net()
        root = net.add(d.TanhOp([net.x], TYPE))
        beside = net.add(d.NegOp([net.x if taken else root], TYPE))
        product = net.add(d.MulOp([root, net.x if taken else root], TYPE))
        found = find(rule, net, net.add(d.MulOp([product, beside], TYPE)))
        assert isinstance(found, Covered) == taken


def test_counts_order_and_links_that_a_start_excludes() -> None:
    neg, exp = Link("neg", d.NegOp), Link("exp", d.ExpOp, needed=True)
    without = Start[None](None, (), ("neg",))
    rules: dict[str, ChainRule[None]] = {
        "in order": ChainRule(tanh, neg, exp),
        "any order": ChainRule(tanh, (neg, exp)),
        "excluded": ChainRule(lambda op, p: None if (s := tanh(op, p)) is None else without._replace(ops=s.ops), (neg, exp)),
    }
    expected = {
        (d.NegOp, d.ExpOp): {"in order", "any order"},
        (d.ExpOp, d.NegOp): {"any order"},
        (d.ExpOp,): {"in order", "any order", "excluded"},
        (d.NegOp,): set[str](),
        (d.ExpOp, d.ExpOp): set[str](),
    }
    for kinds, names in expected.items():
        net = Net()
        value = net.add(d.TanhOp([net.x], TYPE))
        for kind in kinds:
            value = net.add(kind([value], TYPE))
        program = net.program(value)
        assert isinstance(value.owner, Operation)
        assert {name for name, rule in rules.items() if isinstance(rule.find(value.owner, program), Covered)} == names
