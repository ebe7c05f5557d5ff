"""A part of a graph: what lies between some values and others, and its named dimensions with sizes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

from fleet.frontend.onnx.graph import Graph, OnnxModel, OnnxNode, OnnxPort
from fleet.frontend.onnx.problems import refuse
from fleet.frontend.onnx.sizes.names import with_sizes


def cut(model: OnnxModel, first: Sequence[str], last: Sequence[str]) -> OnnxModel:
    """The nodes that the values `last` need, as far back as the values `first`.

    Args:
        model: the whole model.
        first: names of values that become inputs, before those of the graph that are still needed. Type and shape are those of
            the array that is given.
        last: names of values that become the outputs; empty: the graph's own.

    Raises:
        ModelError: a name that the graph does not have, or a value in `first` that no output needs.
    """
    graph = model.graph
    made = {name: node for node in graph.nodes for name in node.outputs if name}
    ports = {p.name: p for p in graph.inputs}
    known = [*ports, *made]
    for name in (*first, *last):
        if name not in made and name not in ports:
            what = "is a weight" if name in graph.weights else "is no value of the graph"
            close = get_close_matches(name, known, 3, 0.5)
            refuse(
                model.name,
                f"{name!r:.120} {what}",
                f"perhaps {' or '.join(close)}" if close else "names are those of nodes' outputs",
            )
    ends = tuple(last) or tuple(p.name for p in graph.outputs)
    needed: set[int] = set()
    reached: set[str] = set()
    waiting = list(ends)
    while waiting:
        name = waiting.pop()
        if name in reached:
            continue
        reached.add(name)
        node = made.get(name)
        if name not in first and node is not None and id(node) not in needed:
            needed.add(id(node))
            waiting += used_names(node)
    if unused := [name for name in first if name not in reached]:
        refuse(model.name, f"{unused[0]!r:.120} is needed for none of the outputs", f"outputs are {', '.join(ends)[:300]}")
    inputs = [ports.get(name, OnnxPort(name, None, None)) for name in first]
    inputs += [p for p in graph.inputs if p.name in reached and p.name not in first]
    weights = {n: a for n, a in graph.weights.items() if n in reached and n not in first}
    outputs = {p.name: p for p in graph.outputs}
    nodes = tuple(n for n in graph.nodes if id(n) in needed)
    results = tuple(outputs.get(name, OnnxPort(name, None, None)) for name in ends)
    replaceable = tuple(p for p in graph.replaceable if p.name in weights)
    return replace(model, graph=Graph(tuple(inputs), results, nodes, weights, graph.texts & weights.keys(), replaceable))


def replaced(model: OnnxModel, given: Collection[str]) -> OnnxModel:
    """The model without the weights in whose places inputs of the same names are given, which are inputs then."""
    graph = model.graph
    new = [p for p in graph.replaceable if p.name in given]
    if not new:
        return model
    names = {p.name for p in new}
    weights = {n: a for n, a in graph.weights.items() if n not in names}
    rest = tuple(p for p in graph.replaceable if p not in new)
    texts = graph.texts & weights.keys()
    return replace(model, graph=replace(graph, inputs=(*graph.inputs, *new), weights=weights, texts=texts, replaceable=rest))


def used_names(node: OnnxNode) -> Iterable[str]:
    """All names that a node takes from outside, those that its bodies use too."""
    yield from (n for n in node.inputs if n)
    for body in node.subgraphs():
        own = {p.name for p in body.inputs} | set(body.weights) | {n for inner in body.nodes for n in inner.outputs}
        for inner in body.nodes:
            yield from (n for n in used_names(inner) if n not in own)
        yield from (p.name for p in body.outputs if p.name not in own)


def resized(model: OnnxModel, sizes: Mapping[str, int]) -> OnnxModel:
    """The model with sizes for named dimensions of its inputs. Raises ModelError for a name that no input has."""
    ports = model.graph.inputs
    names = dict.fromkeys(d for p in ports for d in p.dims or () if isinstance(d, str) and d)
    if unknown := [n for n in sizes if n not in names]:
        refuse(
            model.name,
            f"no dimension of an input is called {unknown[0]!r:.80}",
            f"there are {', '.join(names) or 'none with a name'}",
        )
    inputs = tuple(
        p if p.dims is None else replace(p, dims=tuple(with_sizes(d, sizes, list(names)) for d in p.dims)) for p in ports
    )
    return replace(model, graph=replace(model.graph, inputs=inputs))
