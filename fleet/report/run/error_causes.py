"""The sources of a device's error, in sentences: one per class of operations, from the measured split.

Quantisation is the error of an operation alone with the weights as the device stores them. `OperationRow.parts` splits the rest:
operands and results in the device's dtype, and what the unit computes differently. The powers (mean squares) of these differences
are added, which assumes that they are independent, so shares are stated in whole percents.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fleet.compare.measured import OperationRow
from fleet.cosim.result import CosimResult
from fleet.report.run.accuracy import causes, sqnr
from fleet.report.run.gaps import fused_into

_CLASSES: tuple[tuple[str, frozenset[str]], ...] = (
    ("Products by weights", frozenset({"matmul", "linear"})),
    ("Attention", frozenset({"attention"})),
    ("Norms", frozenset({"layer_norm", "rms_norm"})),
    ("Softmax", frozenset({"softmax"})),
    ("Activations", frozenset({"gelu", "silu", "sigmoid", "tanh", "maximum"})),
    ("Rotary embeddings", frozenset({"rope"})),
)
_OTHERS = "Elementwise operations"
_PARTS: Mapping[str, str] = {
    "weights": "weights as they are stored",
    "operands": "operands as they stand in device memory",
    "result": "storing the result",
    "unit": "what the unit computes differently",
}


_LEAST = 0.005
"""Smallest share that is mentioned."""


@dataclass
class ClassOfOperations:
    """Device groups of one kind.

    groups: ids of their last operations, in program order. power: part (see `_PARTS`) -> sum of mean squares.
    quantisation, arithmetic: finite local SQNRs in dB, one per group that has it. words: part -> its causes, in words.
    """

    title: str
    groups: list[str] = field(default_factory=list[str])
    power: dict[str, float] = field(default_factory=lambda: dict.fromkeys(_PARTS, 0.0))
    quantisation: list[float] = field(default_factory=list[float])
    arithmetic: list[float] = field(default_factory=list[float])
    words: dict[str, dict[str, None]] = field(default_factory=dict[str, dict[str, None]])

    @property
    def shares(self) -> dict[str, float]:
        """Part -> its share of the class's power; empty if there is no error."""
        total = sum(self.power.values())
        return {part: power / total for part, power in self.power.items()} if total else {}

    def sentence(self) -> str:
        """Return what was measured, as a sentence."""
        number = f"{len(self.groups)} on the device" if len(self.groups) > 1 else self.groups[0]
        shares = self.shares
        if not shares:
            return f"{self.title} ({number}): no error at all."
        ranked = sorted(((share, part) for part, share in shares.items() if share >= _LEAST), reverse=True)
        (share, first), rest = ranked[0], ranked[1:]
        text = f"{self.title} ({number}): {share:.0%} of the error's power comes from {self._words(first)}"
        if rest:
            text += "; " + ", ".join(f"{share:.0%} from {self._words(part)}" for share, part in rest)
        local = [f"{_range(values)} for {what}" for what, values in self._figures() if values]
        return text + (f". On the golden's own operands they reach {' and '.join(local)}." if local else ".")

    def _figures(self) -> Iterable[tuple[str, list[float]]]:
        counts = self.shares.get("weights", 0.0) >= _LEAST
        return ("the weights' rounding", self.quantisation if counts else []), ("the arithmetic", self.arithmetic)

    def _words(self, part: str) -> str:
        return _PARTS[part] + (f" ({'; '.join(self.words[part])})" if part in self.words else "")


def classes_of_operations(result: CosimResult) -> tuple[ClassOfOperations, ...]:
    """Return the classes that ran on the device, those with most groups first; empty if the split was not measured."""
    found, rows = causes(result)
    if found.arithmetic is None or found.quantisation is None:
        return ()
    quantised = {row.op: row for row in found.quantisation.operations}
    into = fused_into(result.engine(found.arithmetic.other))
    classes: dict[str, ClassOfOperations] = {}
    for row in (r.arithmetic for r in rows if r.arithmetic is not None and r.arithmetic.parts):
        members = [quantised[op] for op in (*(op for op, last in into.items() if last == row.op), row.op) if op in quantised]
        names = {member.name for member in members} | {row.name}
        title = next((title for title, kinds in _CLASSES if kinds & names), _OTHERS)
        one = classes.setdefault(title, ClassOfOperations(title))
        one.groups.append(row.op)
        _add(one, row, members)
    return tuple(sorted(classes.values(), key=lambda c: -len(c.groups)))


def _add(one: ClassOfOperations, row: OperationRow, members: Sequence[OperationRow]) -> None:
    for part, rms in row.parts.items():
        if part in one.power:
            one.power[part] += rms * rms
    for member in members:
        if member.local is not None and math.isfinite(member.local.rms):
            one.power["weights"] += member.local.rms**2
    # The member whose weights cost most; a bias costs next to nothing.
    one.quantisation += _finite([min(_finite([sqnr(member, "local") for member in members]), default=None)])
    one.arithmetic += _finite([sqnr(row, "local")])
    for part, words in row.causes.items():
        one.words.setdefault(part, {})[words] = None


def _finite(values: Sequence[float | None]) -> list[float]:
    return [v for v in values if v is not None and math.isfinite(v)]


def sentences(result: CosimResult) -> tuple[str, ...]:
    """Return one sentence per class of operations, and one about the last operation; empty if nothing was split."""
    classes = classes_of_operations(result)
    if not classes:
        return ()
    return (*(c.sentence() for c in classes), *_at_the_end(result))


def _at_the_end(result: CosimResult) -> Iterable[str]:
    _, rows = causes(result)
    both = [r for r in rows if r.quantisation is not None and r.arithmetic is not None and sqnr(r.arithmetic) is not None]
    if not both or both[-1].quantisation is None or both[-1].arithmetic is None:
        return
    last = both[-1]
    quantisation, arithmetic = both[-1].quantisation.cumulative.rms ** 2, both[-1].arithmetic.cumulative.rms ** 2
    if quantisation + arithmetic > 0:
        yield (
            f"What reaches {last.op}, the last operation: {quantisation / (quantisation + arithmetic):.0%} of the error's power "
            f"from weights as they are stored ({_decibels(sqnr(last.quantisation))}), the rest from arithmetic "
            f"({_decibels(sqnr(last.arithmetic))}); both together {_decibels(sqnr(last.total))}."
        )


def _decibels(value: float | None) -> str:
    return "no figure" if value is None else "no error" if math.isinf(value) else f"{value:.1f} dB"


def _range(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.1f} dB" if high - low < 0.05 else f"{low:.1f} to {high:.1f} dB"
