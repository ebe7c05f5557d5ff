"""`time`: a clock that is read while the source is read. Each reading is a microsecond behind the last, on every machine."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import NumberValue, Value


def _read(scale: int) -> Callable[..., Value]:
    """scale: units a second; the clock of nanoseconds counts in integers."""

    def run(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        if args or keywords:
            ev.fail("F208", node, "a clock takes no arguments")
        if ev.inside:
            ev.fail("F511", node, "a clock that is read in a part that only the run enters or repeats", "read it before and behind")
        ev.ticks += 1
        return NumberValue(ev.ticks * 1000 if scale > 1 else ev.ticks * 1e-6)

    return run


def _sleep(_ev: Evaluator, _node: ast.Call, _args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    return None


_CLOCKS = ("time", "perf_counter", "monotonic", "process_time", "thread_time")
CALLS: Mapping[str, Callable[..., Value]] = {
    **{f"time.{name}": _read(1) for name in _CLOCKS},
    **{f"time.{name}_ns": _read(10**9) for name in _CLOCKS},
    "time.sleep": _sleep,
}
"""Function -> what it does."""
