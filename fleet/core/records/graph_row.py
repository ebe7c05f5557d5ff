"""A node of an operator graph, as pictures show it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GraphRow:
    """One input, call or result of a graph.

    Attributes:
        id: unique in the graph ("%3"). kind: "input", "call", "view" or "result".
        op: operator. name: the builder's, or "".
        shape: "(1, token, 64)"; "" before types are inferred. block: the memory of its value.
        weights: its constants ("wq (64, 64) int4"). args: ids of the rows that it reads.
    """

    id: str
    kind: str
    op: str
    name: str
    shape: str
    block: str
    weights: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
