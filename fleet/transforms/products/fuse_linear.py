"""Fuses linear layers: a product with a weight, and the following bias, activation and residual, become one operation."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import BlockArgument, SSAValue

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import shape_of
from fleet.transforms.edit import Edit
from fleet.transforms.passes import plain
from fleet.transforms.raising.search import RaisingSite
from fleet.transforms.raising.views import view_of
from fleet.transforms.simplify.numbers import known_number


class _Chain(NamedTuple):
    """The operations after the product so far; `root` is the last one."""

    root: FleetOp
    bias: SSAValue | None = None
    activation: str = "none"
    residual: SSAValue | None = None


def fuse_linear(site: RaisingSite) -> None:
    """Fuse as many of the operations after products with weights as possible."""
    for op in site.operations(d.MatmulOp):
        if not site.alive(op) or len(shape_of(op.operands[1].type)) != 2 or not _is_weight(site.edit, op.operands[1]):
            continue
        chains = [_Chain(op)]
        while (following := _next(chains[-1])) is not None:
            chains.append(following)
        for chain in reversed(chains[1:]):
            why = _place(site, op, chain)
            if why is None:
                break
            site.miss("linear", chain.root, why)


def _is_weight(edit: Edit, value: SSAValue) -> bool:
    base = view_of(value).base
    return isinstance(base, BlockArgument) and edit.arguments[base.index].kind == "weight"


def _next(chain: _Chain) -> _Chain | None:
    """Return the chain extended by the only user of its result, if a linear layer can contain it; else None."""
    value = chain.root.results[0]
    uses = [use.operation for use in value.uses]
    if len(uses) != 1 or not isinstance(op := uses[0], FleetOp) or chain.residual is not None:
        return None
    if isinstance(op, d.AddOp):
        other = op.rhs if op.lhs is value else op.lhs
        if shape_of(op.result.type) != shape_of(value.type):
            return None
        if chain.bias is None and chain.activation == "none" and _is_bias(other):
            return chain._replace(root=op, bias=other)
        return chain._replace(root=op, residual=other) if shape_of(other.type) == shape_of(value.type) else None
    if chain.activation != "none":
        return None
    if isinstance(op, d.GeluOp) and attributes_of(op)["approximate"] == "tanh":
        return chain._replace(root=op, activation="gelu_tanh")
    if isinstance(op, d.SiluOp):
        return chain._replace(root=op, activation="silu")
    if isinstance(op, d.MaximumOp) and known_number(op.rhs if op.lhs is value else op.lhs) == 0:
        return chain._replace(root=op, activation="relu")
    return None


def _is_bias(value: SSAValue) -> bool:
    """Return whether the value changes along the last axis only."""
    shape = shape_of(value.type)
    return bool(shape) and all(size == 1 for size in shape[:-1])


def _place(site: RaisingSite, product: FleetOp, chain: _Chain) -> str | None:
    extra = [v for v in (chain.bias, chain.residual) if v is not None]
    return site.compose(
        chain.root,
        "linear",
        lambda dtype: [site.widened(chain.root, product.operands[0], dtype), product.operands[1], *extra],
        bias=chain.bias is not None,
        residual=chain.residual is not None,
        activation=chain.activation,
    )


def _apply(edit: Edit) -> None:
    fuse_linear(RaisingSite(edit))


PASS = plain(
    "fuse-linear", "put bias, activation and residual into the product with a weight", "rounding", _apply, adds_weights=False
)
