"""The scores (logits) of all engines for the samples whose predicted class changed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fleet.cosim.result import CosimResult
from fleet.report.frame.text import engine_title

_CLASSES = 12
"""Most classes of a table; if there are more, those with the highest score of any engine."""


@dataclass(frozen=True)
class Scores:
    """One sample. classes: of the columns. rows: (engine's title, its score of each class, the class that it predicted)."""

    index: int
    label: int | None
    classes: tuple[int, ...]
    rows: tuple[tuple[str, tuple[float, ...], int], ...]


def scores(result: CosimResult, most: int) -> tuple[Scores, ...]:
    """Return at most `most` samples, in order; empty if the result does not hold them."""
    indexes = result.arrays.get("flipped/index")
    if indexes is None:
        return ()
    labels = {f.index: f.label for task in result.tasks for f in task.flips}
    golden = {f.index: f.golden for task in result.tasks for f in task.flips}
    flipped = {(task.engine, f.index): f.other for task in result.tasks for f in task.flips}
    engines = {e.name: a for e in result.engines if (a := result.arrays.get(f"flipped/scores/{e.name}")) is not None}
    made: list[Scores] = []
    for i, index in enumerate(int(n) for n in indexes[:most]):
        values = {name: np.asarray(array[i], dtype=np.float64) for name, array in engines.items()}
        if not values:
            break
        highest = np.max([np.nan_to_num(v, nan=-np.inf) for v in values.values()], axis=0)
        classes = sorted(int(c) for c in np.argsort(-highest, kind="stable")[:_CLASSES])
        rows = tuple(
            (engine_title(n), tuple(float(v[c]) for c in classes), flipped.get((n, index), golden.get(index, int(np.argmax(v)))))
            for n, v in values.items()
        )
        made.append(Scores(index, labels.get(index), tuple(classes), rows))
    return tuple(made)
