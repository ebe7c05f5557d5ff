"""The Pareto front of a sweep, and the choice of points to build."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fleet.sweep.records import ModelRecord, Quality, SweptPoint

_SAME = 1e-9
"""Relative difference below which two figures count as equal."""


def objectives(points: Sequence[SweptPoint]) -> tuple[str, ...]:
    """Return the figures that all points have, by which they are compared, in words."""
    models = [p.model for p in points if p.model is not None and not p.model.refused]
    if not models:
        return ()
    found = ["time"]
    if all(_quality(m) is not None for m in models):
        first = _quality(models[0])
        assert first is not None
        found.append(first.name)
    if all(m.energy for m in models):
        found.append("energy")
    found += [kind for kind in models[0].cells if all(kind in m.cells for m in models)][:1]
    return tuple(found)


def _quality(model: ModelRecord) -> Quality | None:
    return model.quality.figures[0] if model.quality is not None and model.quality.figures else None


def _costs(model: ModelRecord, names: Sequence[str]) -> tuple[float, ...]:
    """Return a point's figures, less is better."""
    found: list[float] = []
    quality = _quality(model)
    for name in names:
        if name == "time":
            found.append(model.microseconds)
        elif name == "energy":
            found.append(model.microjoules)
        elif quality is not None and name == quality.name:
            found.append(-quality.value if quality.higher else quality.value)
        else:
            found.append(model.cells[name])
    return tuple(found)


def _no_worse(a: Sequence[float], b: Sequence[float]) -> bool:
    return all(x <= y + _SAME * max(abs(x), abs(y)) for x, y in zip(a, b, strict=True))


def with_front(points: Sequence[SweptPoint], names: Sequence[str]) -> tuple[SweptPoint, ...]:
    """Return the points with `front` set. A memory model is an assumption and no choice, so each has a front of its own.

    Of points with the same figures only the first is on it: what they differ in changes nothing.
    """
    costs = {p.key: _costs(p.model, names) for p in points if p.model is not None and not p.model.refused}
    place = {key: i for i, key in enumerate(costs)}

    def beaten(p: SweptPoint, o: SweptPoint) -> bool:
        equal = _no_worse(costs[p.key], costs[o.key])
        return _no_worse(costs[o.key], costs[p.key]) and (not equal or place[o.key] < place[p.key])

    def on_front(p: SweptPoint) -> bool:
        rivals = (o for o in points if o.key in costs and o.key != p.key and o.point.memory == p.point.memory)
        return p.key in costs and not any(beaten(p, o) for o in rivals)

    return tuple(replace(p, front=on_front(p)) for p in points)


def best(points: Sequence[SweptPoint], count: int) -> tuple[SweptPoint, ...]:
    """Return the points to build, of the memory model named last: of the front by time, then others by time.

    Points whose hardware is another one come first, because they show more of how far the cost model is off.
    points: with `front` set, in the order of the axes.
    """
    able = [p for p in points if p.model is not None and not p.model.refused]
    if not able:
        return ()
    memory = able[-1].point.memory
    mine = sorted((p for p in able if p.point.memory == memory), key=_rank)
    chosen: list[SweptPoint] = []
    for front in (True, False):
        first: dict[str, SweptPoint] = {}
        group = [p for p in mine if p.front == front]
        for p in group:
            first.setdefault(p.point.device, p)
        chosen += [*first.values(), *(p for p in group if p is not first[p.point.device])]
    return tuple(chosen[:count])


def _rank(p: SweptPoint) -> float:
    return p.model.microseconds if p.model is not None else 0.0
