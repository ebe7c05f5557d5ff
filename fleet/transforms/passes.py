"""Passes, and finding them by name.

A pass is a name, a one-line summary, and a function that changes an `Edit`. From outside, `Pass.run` is the whole contract: a
program in, a new program out. Passes of other packages register under the entry-point group `fleet.passes`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, cast

from fleet.core.plugins import installed, load_plugin
from fleet.errors import FleetError
from fleet.ir.program import Program
from fleet.transforms.edit import Edit
from fleet.transforms.simplify.bodies import everywhere

GROUP = "fleet.passes"

Exactness = Literal["bits", "rounding"]


@dataclass(frozen=True)
class Pass:
    """One change of the program.

    Attributes:
        name: on the command line ("fold-constants").
        summary: one line for tables.
        exact: "bits" if every result keeps every bit, "rounding" if results may change within float rounding.
        apply: changes the edit; deterministic; raises FleetError for a program that it does not support.
        adds_weights: whether it may call `Edit.add_weight` inside the body of a decision or loop (`Edit.inside`). If not, bodies
            are changed in place; otherwise in copies, and a body to which a weight was added keeps its old operations.
    """

    name: str
    summary: str
    exact: Exactness
    apply: Callable[[Edit], None]
    adds_weights: bool = True

    def everywhere(self, edit: Edit) -> None:
        """Apply it to an edit and to the bodies of the decisions and loops in it."""
        everywhere(self.apply, edit, adds_weights=self.adds_weights)

    def run(self, program: Program) -> Program:
        """Return a new program; the given one does not change."""
        edit = Edit(program)
        self.everywhere(edit)
        return edit.program()


PassFactory = Callable[[Mapping[str, str]], Pass]
"""Makes a pass from its options (`name{key=value,...}`). Raises FleetError for an unknown option."""

_OWN: Mapping[str, str] = {
    # name -> module in which `PASS` is the factory
    "inline": "simplify.inline",
    "infer-shapes": "simplify.infer_shapes",
    "expand-functions": "simplify.expand_functions",
    "split-groups": "products.split_groups",
    "turn-products": "products.turn_products",
    "integer-products": "products.integer_products",
    "canonicalise": "simplify.canonicalise",
    "fold-constants": "simplify.fold_constants",
    "cse": "simplify.cse",
    "fold-weights": "simplify.fold_weights",
    "fold-weight-views": "simplify.fold_weight_views",
    "raise-softmax": "raising.softmax",
    "raise-norm": "raising.norm",
    "raise-activation": "raising.activation",
    "raise-rope": "raising.rope",
    "raise-attention": "raising.attention",
    "fuse-linear": "products.fuse_linear",
    "dce": "simplify.dce",
    "drop-weights": "simplify.drop_weights",
    "widen-halves": "widen_halves",
    "fuse-loops": "fuse_loops",
}


def plain(name: str, summary: str, exact: Exactness, apply: Callable[[Edit], None], *, adds_weights: bool = True) -> PassFactory:
    """Return a factory of a pass without options."""

    def make(options: Mapping[str, str]) -> Pass:
        if options:
            raise FleetError(f"pass {name} has no option {', '.join(sorted(options))}", hint="it takes none")
        return Pass(name, summary, exact, apply, adds_weights)

    return make


def pass_names() -> list[str]:
    """Return every registered pass: the project's in pipeline order, then plug-ins by name."""
    return [*_OWN, *sorted({p.name for p in installed(GROUP)} - _OWN.keys())]


def find_pass(text: str) -> Pass:
    """Return the pass of `name` or `name{key=value,key=value}`. Raises FleetError if it is unknown."""
    name, brace, rest = text.strip().partition("{")
    if brace and not rest.endswith("}"):
        raise FleetError(f'"{text}" is not a pass', hint="options are written name{key=value,key=value}")
    options: dict[str, str] = {}
    for part in filter(None, rest.removesuffix("}").split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise FleetError(f'option "{part}" of pass {name} has no value', hint="options are written name{key=value,key=value}")
        options[key.strip()] = value.strip()
    return _factory(name)(options)


def _factory(name: str) -> PassFactory:
    if name in _OWN:
        return importlib.import_module(f"fleet.transforms.{_OWN[name]}").PASS
    for point in installed(GROUP, name):
        return cast("PassFactory", load_plugin(point, "pass"))
    raise FleetError(f"no pass is called {name or '(nothing)'}", hint=f"passes are {', '.join(pass_names())}")
