"""What `fleet sweep` may change in a device, and what is known of the results: one TOML file for the devices of a set.

A device file names it (`sweep = "../sweep.toml"`, relative to itself). Expressions are of the hardware's parameters: integers,
names, + - * //, comparisons, `and`, `or`, `power_of_two(...)`.

[parameters]                    # parameter -> other names of its axis
Tin = []
HbmPorts = ["ports"]
[options]                       # compile option (`fleet.ir.lowering_options`) -> the integers that it may have
group = [32, 64, 128]
[limits]                        # those of the device file's [limits] that follow from parameters, as expressions
macs_per_cycle = "Tin * Tout"
[[rules]]                       # the hardware can only be built where all of them hold
holds = "HbmPorts == Tout"
why = "every HBM port feeds one output channel"
[[cost_error]]                  # of the cost model against the hardware, in percent
memory = "ideal"                # first word of the memory model
median = 0.0
p95 = 0.0
worst = 0.4                     # may be left out
source = "docs/performance.md, Cycles"
[[energy]]                      # what one count costs
what = "a MAC"
counter = "macs_issued"         # of the counters of `fleet.engines.accel_counters`
picojoules = 1.5
source = "..."
[[area]]                        # measured by synthesis: `count` times `cells`
what = "a lane of the array"
count = "Tin * Tout"
cells = { LUT = 157, DSP = 2 }
source = "..."
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from fleet.core.toml_file import TomlTable, read_toml
from fleet.errors import DeviceError
from fleet.sdk.hardware.state import evaluated

_COMPARISONS: Mapping[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


@dataclass(frozen=True)
class HardwareRule:
    """A condition of the hardware. condition: an expression of parameters; why: the reason, for messages."""

    condition: str
    why: str


@dataclass(frozen=True)
class CostError:
    """The error of the cost model of an instruction against the hardware, in percent of its cycles.

    memory: first word of the memory model. median, p95, worst: over the calls that were measured; None where the source does not
    say. source: where that is stated.
    """

    memory: str
    median: float
    p95: float
    worst: float | None
    source: str


@dataclass(frozen=True)
class EnergyCost:
    """What one count of a counter costs. counter: a name of `fleet.engines.accel_counters`; picojoules: of one count."""

    what: str
    counter: str
    picojoules: float
    source: str


@dataclass(frozen=True)
class CellCount:
    """Cells of a part that was synthesised. count: how often the device has it, an expression; cells: kind -> number of one."""

    what: str
    count: str
    cells: Mapping[str, float]
    source: str


@dataclass(frozen=True)
class Sweepable:
    """The content of the file at `path`, in its order; the module's text describes its keys."""

    path: Path
    parameters: Mapping[str, tuple[str, ...]]
    options: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    limits: Mapping[str, str] = field(default_factory=dict[str, str])
    rules: tuple[HardwareRule, ...] = ()
    errors: tuple[CostError, ...] = ()
    energy: tuple[EnergyCost, ...] = ()
    area: tuple[CellCount, ...] = ()

    def broken_rule(self, parameters: Mapping[str, int]) -> HardwareRule | None:
        """Return the first rule that parameters break, or None. Raises DeviceError if a rule cannot be evaluated."""
        return next((rule for rule in self.rules if not holds(rule.condition, parameters)), None)


def sweepable_of(device_file: Path) -> Sweepable | None:
    """Return what the device of a file lets `fleet sweep` change; None if it names nothing. Raises DeviceError."""
    file = read_toml(device_file, DeviceError)
    named = file.optional_text("sweep")
    if named is None:
        return None
    path = device_file.parent / named
    if not path.is_file():
        raise file.wrong("sweep", f"sweep is '{named}', expected a file relative to this one")
    return read_sweepable(path)


def read_sweepable(path: Path) -> Sweepable:
    """Read the file. Raises DeviceError with file, line and key."""
    file = read_toml(path, DeviceError)
    file.only("parameters", "options", "limits", "rules", "cost_error", "energy", "area")
    file.need("parameters")
    parameters, options, limits = (_table(file, name) for name in ("parameters", "options", "limits"))
    return Sweepable(
        path,
        {name: _other_names(parameters, name) for name in parameters.values} if parameters else {},
        {name: options.integers(name, 0, ()) for name in options.values} if options else {},
        {name: limits.text(name) for name in limits.values} if limits else {},
        tuple(HardwareRule(t.text("holds"), t.text("why")) for t in _rows(file, "rules", "holds", "why")),
        tuple(_cost_error(t) for t in _rows(file, "cost_error", "memory", "median", "p95", "source", optional=("worst",))),
        tuple(
            EnergyCost(t.text("what"), t.text("counter"), t.number("picojoules"), t.text("source"))
            for t in _rows(file, "energy", "what", "counter", "picojoules", "source")
        ),
        tuple(
            CellCount(t.text("what"), t.text("count"), _cells(t), t.text("source"))
            for t in _rows(file, "area", "what", "count", "cells", "source")
        ),
    )


def _table(file: TomlTable, name: str) -> TomlTable | None:
    return file.table(name) if name in file else None


def _rows(file: TomlTable, name: str, *keys: str, optional: tuple[str, ...] = ()) -> tuple[TomlTable, ...]:
    found = file.tables(name) if name in file else ()
    for table in found:
        table.only(*keys, *optional)
        table.need(*keys)
    return found


def _other_names(table: TomlTable, name: str) -> tuple[str, ...]:
    return () if table.values[name] == [] else table.texts(name)


def _cost_error(table: TomlTable) -> CostError:
    median, p95 = (table.number(key, zero=True) for key in ("median", "p95"))
    worst = table.number("worst", zero=True) if "worst" in table else None
    return CostError(table.text("memory"), median, p95, worst, table.text("source"))


def _cells(table: TomlTable) -> dict[str, float]:
    cells = table.table("cells")
    return {kind: cells.number(kind) for kind in cells.values}


def holds(condition: str, parameters: Mapping[str, int]) -> bool:
    """Return whether a condition of parameters holds. Raises DeviceError if it is no such expression."""
    try:
        return _holds(ast.parse(condition, mode="eval").body, parameters)
    except SyntaxError as error:
        raise DeviceError(f"'{condition}' is no condition ({error.msg})") from error


def _holds(node: ast.expr, parameters: Mapping[str, int]) -> bool:
    match node:
        case ast.BoolOp(op=ast.And(), values=values):
            return all(_holds(value, parameters) for value in values)
        case ast.BoolOp(op=ast.Or(), values=values):
            return any(_holds(value, parameters) for value in values)
        case ast.Compare(left=left, ops=ops, comparators=others) if all(type(op) in _COMPARISONS for op in ops):
            numbers = [evaluated(ast.unparse(side), parameters) for side in (left, *others)]
            return all(_COMPARISONS[type(op)](*pair) for op, pair in zip(ops, pairwise(numbers), strict=True))
        case ast.Call(func=ast.Name(id="power_of_two"), args=[argument], keywords=[]):
            number = evaluated(ast.unparse(argument), parameters)
            return number > 0 and number & (number - 1) == 0
        case _:
            raise DeviceError(f"'{ast.unparse(node)}' is no comparison", hint="write comparisons, `and`, `or`, power_of_two(...)")
