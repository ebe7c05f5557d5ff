"""`tqdm`: a loop under a progress bar goes over what the bar is given; the bar itself changes no value."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from fleet.frontend.python.containers.iterables import iterate
from fleet.frontend.python.flow.series import series_of
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import Lazy, Library, List, Value


def _bar(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`tqdm(iterable, ...)`. Without an iterable, as of `tqdm(total=10)`, it is empty and the source moves it on."""
    over = args[0] if args else keywords.get("iterable")
    over = List([]) if over is None else over
    return Lazy(iterate(ev, node, over), "tqdm", series_of(ev, node, over))


def _range_bar(ev: Evaluator, node: ast.Call, args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    """`trange(...)`: the bar of a range."""
    return _bar(ev, node, [ev.call(node, Library("builtins.range"), list(args), {})], {})


def _write(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`tqdm.write(text)`: a print that the bar makes way for."""
    return ev.call(node, Library("builtins.print"), list(args[:1]), {k: v for k, v in keywords.items() if k == "end"})


_MODULES = ("tqdm", "tqdm.auto", "tqdm.std", "tqdm.notebook")
CALLS: Mapping[str, Callable[..., Value]] = {
    **{f"{module}.tqdm": _bar for module in _MODULES},
    **{f"{module}.tqdm.write": _write for module in _MODULES},
    **{f"{module}.trange": _range_bar for module in _MODULES},
    "tqdm.tnrange": _range_bar,
}
"""Function -> what it does."""
