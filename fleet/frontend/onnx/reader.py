"""A file as a `OnnxModel`: parsed by protobuf, checked, sorted. Nothing is computed and nothing is executed."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import defs

from fleet.core.file_kinds import refuse_foreign
from fleet.core.notice import notice
from fleet.core.room import check_room
from fleet.frontend.onnx.graph import Graph, OnnxFunction, OnnxModel, OnnxNode, OnnxPort
from fleet.frontend.onnx.limits import MAX_DEPTH, MAX_FILE, MAX_NAME, MAX_NODES, OLDEST_OPSET
from fleet.frontend.onnx.older import modernised
from fleet.frontend.onnx.problems import refuse
from fleet.frontend.onnx.tensors import read_sparse, read_tensor
from fleet.frontend.onnx.texts import SPELLED

DOMAINS: Mapping[str, int] = {"": OLDEST_OPSET, "ai.onnx.ml": 1}
"""Domains of operators that ONNX defines, with the oldest opset that is read."""

_A = onnx.AttributeProto

_WORDS = frozenset({"cats_strings", "keys_strings", "pool_strings", "value_string", "value_strings", "values_strings"})
"""Attributes whose texts are compared with text of the run."""


def read_file(path: Path) -> OnnxModel:
    """Reads a model. Raises ModelError for anything that is no model, or asks for more than the limits allow."""
    refuse_foreign(path, "an ONNX model", ("onnx", "text", "empty", "unknown", "special"))
    try:
        status = path.stat()
        return _cached(str(path), status.st_mtime_ns, status.st_size)
    except OSError as error:
        refuse(str(path), f"cannot be read ({error.strerror})", "an ONNX model is given as path.onnx")


@lru_cache(maxsize=2)
def _cached(path: str, _changed: int, size: int) -> OnnxModel:
    """One run asks for signature, inputs and program of one file."""
    if size > MAX_FILE:
        refuse(path, f"larger than {MAX_FILE} bytes", "keep the weights in external data")
    check_room(size, "the file", where=path)
    return read_model(Path(path).read_bytes(), path, Path(path).parent)


def read_model(data: bytes, name: str, folder: Path | None = None) -> OnnxModel:
    """A model out of bytes; `folder` is where external data may lie. Raises ModelError."""
    try:
        proto = onnx.ModelProto.FromString(data)
    except DecodeError:
        refuse(name, "is no ONNX model, or a damaged one: protobuf cannot read it", "export it again")
    except RecursionError:
        refuse(name, "is nested too deeply")
    if not proto.HasField("graph") or not proto.opset_import:
        refuse(name, "is no ONNX model: it has no graph, or says no opset")
    proto = modernised(proto, name)
    opsets = _opsets(proto.opset_import, name)
    reading = _Reading(name, folder)
    functions: dict[tuple[str, str], OnnxFunction] = {}
    for f in proto.functions:
        own = {**opsets, **_opsets(f.opset_import, name)}
        functions[_domain(f.domain), f.name] = read_function(f, f"{name}:function {f.name}", own, reading)
    graph = reading.graph(proto.graph, name, frozenset(), 0)
    return OnnxModel(name, graph, opsets, functions, reading.words)


def read_function(
    proto: onnx.FunctionProto, where: str, opsets: Mapping[str, int], reading: _Reading | None = None
) -> OnnxFunction:
    """A function's nodes. Raises ModelError."""
    reading = reading or _Reading(where, None)
    for text in (proto.name, proto.domain, *proto.input, *proto.output):
        reading.name_of(text, where)
    names = frozenset(proto.input) | {o for n in proto.node for o in n.output}
    nodes = [reading.node(n, i, where, 1, names) for i, n in enumerate(proto.node)]
    defaults = {a.name: reading.attribute(a, where, 1) for a in proto.attribute_proto}
    ordered = _sorted(nodes, set(proto.input), set(proto.input), where)
    return OnnxFunction(tuple(proto.input), tuple(proto.output), ordered, opsets, defaults)


def _domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _opsets(imports: Iterable[onnx.OperatorSetIdProto], name: str) -> dict[str, int]:
    found: dict[str, int] = {}
    newest = {"": defs.onnx_opset_version(), "ai.onnx.ml": 1 << 30}
    for entry in imports:
        domain = _domain(entry.domain)
        if not isinstance(domain, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            refuse(name, "the name of an opset's domain is not UTF-8")
        found[domain] = entry.version
        if domain in DOMAINS and not DOMAINS[domain] <= entry.version <= newest[domain]:
            hint = f"opsets {DOMAINS[domain]} to {newest[domain]} are read; convert it with onnx.version_converter"
            refuse(name, f"its opset {domain or 'ai.onnx'} {entry.version} is not supported", hint)
    return found


class _Reading:
    """One file: where it is, how many nodes it had so far, and how many bytes of weights."""

    def __init__(self, name: str, folder: Path | None) -> None:
        self.name, self.folder, self.count, self.bytes = name, folder, 0, 0
        self.words: dict[str, int] = {}

    def graph(self, proto: onnx.GraphProto, where: str, outer: frozenset[str], depth: int) -> Graph:
        """A graph with all its subgraphs; `outer` are the names that it may use from around it."""
        if depth > MAX_DEPTH:
            refuse(where, f"graphs nested deeper than {MAX_DEPTH}")
        weights: dict[str, Any] = {}
        part = _NumericPart.whole(proto) if depth else _numeric_part(proto, where)
        for tensor in part.initializers:
            self.name_of(tensor.name, where)
            if tensor.name in weights:
                refuse(where, f"the initializer {tensor.name!r} stands twice")
            found = self.tensor(tensor, f"{self.name}:initializer {tensor.name}")
            self.bytes += found.nbytes
            check_room(self.bytes, f"the weights up to {tensor.name}", where=self.name)
            weights[tensor.name] = found
        for sparse in proto.sparse_initializer:
            name = sparse.values.name
            self.name_of(name, where)
            if name in weights:
                refuse(where, f"the initializer {name!r} stands twice")
            weights[name] = self.sparse(sparse, f"{self.name}:initializer {name}")
        inputs = tuple(self.port(p, where) for p in proto.input if p.name not in weights or depth)
        outputs = tuple(self.port(p, where) for p in part.outputs)
        if len({p.name for p in inputs}) < len(inputs):
            refuse(where, "two inputs have one name")
        known = outer | weights.keys() | {p.name for p in inputs}
        made = {o for _, n in part.nodes for o in n.output}
        names = known | made
        nodes = [self.node(n, i, where, depth, names) for i, n in part.nodes]
        ordered = _sorted(nodes, known, weights.keys() | {p.name for p in inputs}, where)
        for port in outputs:
            if port.name not in known and port.name not in made:
                refuse(where, f"the output {port.name!r} is not defined")
        texts = frozenset(t.name for t in part.initializers if t.data_type == onnx.TensorProto.STRING)
        replaceable = tuple(self.port(p, where) for p in proto.input if p.name in weights and not depth)
        return Graph(inputs, outputs, ordered, weights, texts, replaceable)

    def port(self, proto: onnx.ValueInfoProto, where: str) -> OnnxPort:
        """An input or output."""
        self.name_of(proto.name, where)
        if not proto.name:
            refuse(where, "an input or output has no name")
        kind = proto.type.optional_type.elem_type if proto.type.HasField("optional_type") else proto.type
        if not kind.HasField("tensor_type"):
            return OnnxPort(proto.name, None, None, sequence=bool(kind.WhichOneof("value")))
        tensor = kind.tensor_type
        for d in tensor.shape.dim:
            self.name_of(d.dim_param, where)
        dims = tuple(_dim(d) for d in tensor.shape.dim) if tensor.HasField("shape") else None
        if dims is not None and any(isinstance(d, int) and d < -1 for d in dims):
            refuse(where, f"{proto.name!r} has the shape {list(dims)}")
        if dims is not None:  # -1 is what some exporters write for a dimension of no known size
            dims = tuple("" if d == -1 else d for d in dims)
        return OnnxPort(proto.name, tensor.elem_type, dims)

    def node(self, proto: onnx.NodeProto, index: int, where: str, depth: int, names: frozenset[str] = frozenset()) -> OnnxNode:
        """A node with its attributes."""
        self.count += 1
        if self.count > MAX_NODES:
            refuse(self.name, f"has more than {MAX_NODES} nodes")
        for text in (proto.name, proto.op_type, proto.domain, *proto.input, *proto.output):
            self.name_of(text, where)
        label = proto.name or next((o for o in proto.output if o), "") or f"{proto.op_type}.{index}"
        place = f"{where}:node {index} ({proto.op_type} {label})"
        for a in proto.attribute:
            self.name_of(a.name, place)
            self.name_of(a.ref_attr_name, place)
        attributes = {a.name: self.attribute(a, place, depth, names) for a in proto.attribute if not a.ref_attr_name}
        references = {a.name: a.ref_attr_name for a in proto.attribute if a.ref_attr_name}
        return OnnxNode(
            proto.op_type,
            _domain(proto.domain),
            label,
            place,
            tuple(proto.input),
            tuple(proto.output),
            attributes,
            references,
            proto,
            frozenset(a.name for a in proto.attribute if a.name in _WORDS or a.t.data_type == onnx.TensorProto.STRING),
        )

    def tensor(self, proto: onnx.TensorProto, where: str) -> np.ndarray:
        """A tensor's array; of texts their numbers."""
        if proto.data_type != onnx.TensorProto.STRING:
            return read_tensor(proto, where, self.folder)
        shape, found = tuple(proto.dims), [v.decode(errors="replace") for v in proto.string_data]
        if any(d < 0 for d in shape) or math.prod(shape) != len(found):
            refuse(where, f"of shape {list(shape)} has {len(found)} texts")
        return np.array([self.words.setdefault(text, len(self.words)) for text in found], np.int64).reshape(shape)

    def sparse(self, proto: onnx.SparseTensorProto, where: str) -> np.ndarray:
        """A sparse tensor's array, dense."""
        found = read_sparse(proto, where, self.folder)
        self.bytes += found.nbytes
        check_room(self.bytes, f"the weights up to {where}", where=self.name)
        return found

    def attribute(self, proto: onnx.AttributeProto, where: str, depth: int, names: frozenset[str] = frozenset()) -> Any:
        """An attribute's value."""
        match proto.type:
            case _A.INT:
                return int(proto.i)
            case _A.FLOAT:
                return float(proto.f)
            case _A.STRING:
                found = proto.s.decode(errors="replace")
                if proto.name in _WORDS:
                    self.words.setdefault(found, len(self.words))
                return found
            case _A.INTS:
                return [int(v) for v in proto.ints]
            case _A.FLOATS:
                return [float(v) for v in proto.floats]
            case _A.STRINGS:
                texts = [v.decode(errors="replace") for v in proto.strings]
                for text in texts if proto.name in _WORDS else ():
                    self.words.setdefault(text, len(self.words))
                return texts
            case _A.TENSOR:
                return self.tensor(proto.t, f"{where}: attribute {proto.name}")
            case _A.SPARSE_TENSOR:
                return self.sparse(proto.sparse_tensor, f"{where}: attribute {proto.name}")
            case _A.GRAPH:
                return self.graph(proto.g, where, names, depth + 1)
            case _:
                return Unread(_A.AttributeType.Name(proto.type) if proto.type in _A.AttributeType.values() else "unknown")

    def name_of(self, name: str, where: str) -> None:
        """Refuse names that are not UTF-8: protobuf gives bytes for them."""
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            refuse(where, "a name that is not UTF-8")
        if len(name) > MAX_NAME:
            refuse(where, f"a name of {len(name)} characters, at most {MAX_NAME} are read")


class Unread:
    """An attribute of a kind that no operator here takes (types, lists of graphs)."""

    def __init__(self, kind: str) -> None:
        self.kind = kind


def _dim(dim: onnx.TensorShapeProto.Dimension) -> int | str:
    return int(dim.dim_value) if dim.HasField("dim_value") else dim.dim_param


def _used(node: OnnxNode) -> set[str]:
    """Names that a node needs: its inputs, and what its bodies take from around them."""
    found = {n for n in node.inputs if n}
    for body in node.subgraphs():
        own = {p.name for p in body.inputs} | body.weights.keys() | {o for n in body.nodes for o in n.outputs}
        found |= {name for n in body.nodes for name in _used(n)} - own
        found |= {p.name for p in body.outputs} - own
    return found


def _sorted(nodes: Sequence[OnnxNode], known: Iterable[str], own: Collection[str], where: str) -> list[OnnxNode]:
    """The nodes in an order in which all is defined before it is used. Raises ModelError for cycles and unknown names."""
    known = set(known)
    makers: dict[str, int] = {}
    for i, node in enumerate(nodes):
        for name in node.outputs:
            if name and (name in makers or name in own):
                refuse(node.where, f"{name!r} is defined twice")
            if name:
                makers[name] = i
    needs: list[set[int]] = []
    users: list[list[int]] = [[] for _ in nodes]
    for i, node in enumerate(nodes):
        used = _used(node)
        if missing := sorted(n for n in used if n not in makers and n not in known):
            refuse(node.where, f"takes {missing[0]!r}, which nothing defines")
        needs.append({makers[n] for n in used if n in makers})
        for j in needs[i]:
            users[j].append(i)
    if all(max(n, default=-1) < i for i, n in enumerate(needs)):
        return list(nodes)
    left = [len(n) for n in needs]
    ready = [i for i, n in enumerate(left) if n == 0]
    order: list[int] = []
    for i in ready:
        order.append(i)
        for j in users[i]:
            left[j] -= 1
            if left[j] == 0:
                ready.append(j)
    if len(order) < len(nodes):
        stuck = next(n for i, n in enumerate(nodes) if left[i])
        refuse(stuck.where, "its nodes form a cycle", f"in {where}")
    return [nodes[i] for i in order]


@dataclass(frozen=True)
class _NumericPart:
    """What of a graph leads to tensors of numbers.

    Attributes:
        outputs: those that are left. nodes: with their places in the file. initializers: those that a node that is left may use.
    """

    outputs: Sequence[onnx.ValueInfoProto]
    nodes: Sequence[tuple[int, onnx.NodeProto]]
    initializers: Sequence[onnx.TensorProto]

    @staticmethod
    def whole(graph: onnx.GraphProto) -> _NumericPart:
        """All of it."""
        return _NumericPart(graph.output, list(enumerate(graph.node)), graph.initializer)


def _numeric_part(graph: onnx.GraphProto, where: str) -> _NumericPart:
    """The whole graph, unless one of its outputs is text or made by ZipMap; what became of these is said in one line each.

    Exporters of classifiers write the label as text where classes have names, and the scores as a dictionary for each row (ZipMap).

    Text that is made of letters stays, and where nothing but text would be left, the graph stays whole.
    """
    made_of_letters = {o for n in graph.node if n.op_type in SPELLED for o in n.output}
    maps = {o: n for n in graph.node for o in n.output if n.op_type == "ZipMap" and len(n.input) == 1}
    outputs: list[onnx.ValueInfoProto] = []
    lines: list[str] = []
    for port in graph.output:
        made = maps.get(port.name)
        if made is not None:
            if not isinstance(made.input[0], str):  # pyright: ignore[reportUnnecessaryIsInstance]
                refuse(where, "a name that is not UTF-8")
            outputs.append(onnx.ValueInfoProto(name=made.input[0]))
            lines.append(f"output {port.name} is a dictionary for each row: {made.input[0]} is given, {_columns(made)}")
        elif port.type.tensor_type.elem_type == onnx.TensorProto.STRING and port.name not in made_of_letters:
            lines.append(f"output {port.name} is text, which fleet does not compute: it is left out")
        else:
            outputs.append(port)
    if not lines or not outputs:
        return _NumericPart.whole(graph)
    for line in lines:
        notice(f"{where}: {line}")
    makers = {o: i for i, n in enumerate(graph.node) for o in n.output if o}
    waiting, seen, kept = [p.name for p in outputs], set[str](), set[int]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if (index := makers.get(name)) is not None and index not in kept:
            kept.add(index)
            waiting += _taken(graph.node[index])
    nodes = [(i, n) for i, n in enumerate(graph.node) if i in kept]
    return _NumericPart(outputs, nodes, [t for t in graph.initializer if t.name in seen])


def _taken(node: onnx.NodeProto) -> list[str]:
    """Names that a node may take, also those of its bodies."""
    found = list(node.input)
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            found += [name for inner in attribute.g.node for name in _taken(inner)]
            found += [port.name for port in attribute.g.output]
    return found


def _columns(node: onnx.NodeProto) -> str:
    """What stands in which column, by the node's labels."""
    names: list[str] = []
    for attribute in node.attribute:
        names += [t.decode(errors="replace") for t in attribute.strings] + [str(i) for i in attribute.ints]
    words = ", ".join(names[:8]) + (" and more" if len(names) > 8 else "")
    return f"a column each for {words}" if names else "a column each class"
