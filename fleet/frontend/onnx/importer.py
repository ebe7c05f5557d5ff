"""Follows a graph node by node and makes the program. What nobody supports is named all at once, before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import onnx
from onnx import defs, helper

from fleet.core.notice import notice
from fleet.frontend.onnx.array import OnnxArray
from fleet.frontend.onnx.build import Build
from fleet.frontend.onnx.call import NodeCall, NodeValue
from fleet.frontend.onnx.casting import STEPWISE, cast, has_narrow, typed
from fleet.frontend.onnx.graph import Graph, OnnxFunction, OnnxModel, OnnxNode, OnnxPort
from fleet.frontend.onnx.limits import MAX_DEPTH, MAX_STEPS
from fleet.frontend.onnx.narrow import BY_CODE
from fleet.frontend.onnx.problems import refuse, unsupported
from fleet.frontend.onnx.reader import read_function
from fleet.frontend.onnx.registry import translation
from fleet.frontend.onnx.tensors import DTYPES
from fleet.frontend.onnx.texts import TEXT, check_texts
from fleet.ir.program import Argument, Program


def unsupported_operators(model: OnnxModel) -> list[tuple[str, list[str]]]:
    """Operators that nobody supports: "Foo" or "com.example.Foo", each with its nodes' names."""
    found: dict[str, list[str]] = {}

    def look(nodes: Sequence[OnnxNode], opsets: Mapping[str, int]) -> None:
        for node in nodes:
            if not _supported(model, node, opsets):
                found.setdefault(f"{node.domain}.{node.op}" if node.domain else node.op, []).append(node.label)
            for body in node.subgraphs():
                look(body.nodes, opsets)

    look(model.graph.nodes, model.opsets)
    for function in model.functions.values():
        look(function.nodes, function.opsets)
    return list(found.items())


def _supported(model: OnnxModel, node: OnnxNode, opsets: Mapping[str, int]) -> bool:
    if (node.domain, node.op) in model.functions:
        return True
    opset = opsets.get(node.domain)
    if opset is None:
        return False
    return translation(node.domain, node.op, opset) is not None or _schema(node.domain, node.op, opset) is not None


def _remedy(model: OnnxModel) -> str:
    """What to do about the first node of the graph that nobody supports; "" where nothing but another export helps."""
    node = next((n for n in model.graph.nodes if not _supported(model, n, model.opsets)), None)
    if node is None:
        return ""
    if node.domain == "com.microsoft.nchwc":
        return "onnxruntime wrote it for one machine: optimise up to ORT_ENABLE_EXTENDED, or take the file as it was before"
    behind = [name for name in node.outputs if name]
    if node.op.startswith("Random"):
        return f"it draws random numbers: give them with --from {behind[0]} and an array of that name in --input"
    made = {o for n in model.graph.nodes for o in n.outputs}
    before = [name for name in node.inputs if name in made]
    words = [f"end before it with {' '.join(f'--to {name}' for name in before)}"] if before else []
    if behind and not {p.name for p in model.graph.outputs} & set(behind):
        words.append(f"begin behind it with {' '.join(f'--from {name}' for name in behind)}")
    return ", or ".join(words)


@lru_cache(maxsize=1024)
def _schema(domain: str, op: str, opset: int) -> Any:
    """The operator's definition, where that has a body of other operators."""
    if not defs.has(op, opset, domain):
        return None
    schema: Any = defs.get_schema(op, opset, domain)
    return schema if schema.has_function or schema.has_context_dependent_function else None


@lru_cache(maxsize=1024)
def _attributes(domain: str, op: str, opset: int) -> Mapping[str, int] | None:
    """Names and types of an operator's attributes; None if ONNX does not define it."""
    if not defs.has(op, opset, domain):
        return None
    schema: Any = defs.get_schema(op, opset, domain)
    return {name: a.type.value for name, a in schema.attributes.items()}


def _check_attributes(node: OnnxNode, opset: int) -> None:
    """Refuses an attribute that would be ignored: one that the operator has not, or of another kind."""
    known = _attributes(node.domain, node.op, opset)
    if known is None or node.raw is None:
        return
    for a in node.raw.attribute:
        if not a.ref_attr_name and known.get(a.name) != a.type:
            kinds = onnx.AttributeProto.AttributeType
            words = {v: k for k, v in kinds.items()}
            if a.name not in known:
                refuse(node.where, f"{node.op} has no attribute {a.name!r}", f"it has {', '.join(sorted(known)) or 'none'}")
            expected = words.get(known[a.name], "?")
            refuse(node.where, f"its attribute {a.name} must be {expected}, found {words.get(a.type, a.type)}")


def import_model(
    model: OnnxModel,
    arguments: Sequence[Argument],
    bound: Mapping[str, np.ndarray],
    symbols: Mapping[str, int],
    inputs: Mapping[str, np.ndarray] | None,
    choices: list[tuple[str, object]] | None = None,
) -> Program:
    """The program.

    Args:
        model: the file.
        arguments: the inputs with their shapes.
        bound: values of inputs that decide shapes; those are no inputs of the program.
        symbols: sizes of named dimensions.
        inputs: values of the inputs, for a branch that nothing less decides; None for a program of other sizes.
        choices: gets what was chosen by values or sizes: (node, choice).

    Raises:
        ModelError: all operators that are not supported, or the first node that does not fit its inputs.
        NeedsInputs: inputs that must be bound.
    """
    if found := unsupported_operators(model):
        raise unsupported(model.name, found, _remedy(model))
    check_texts(model)
    build = Build(model.name, bound, inputs, model.words)
    walk = _Walk(model, build)
    scope: dict[str, NodeValue] = {n: build.known(a, n) for n, a in model.graph.weights.items()}
    codes = {p.name: p.code for p in model.graph.inputs}
    for argument in arguments:
        name = argument.name
        if name in bound:
            array = bound[name]
            value = build.known(build.spell(array) if array.dtype.kind == "U" else array)
        else:
            value = build.input(argument)
        narrow = BY_CODE.get(codes[name] or 0)
        scope[name] = value if narrow is None else cast(value, narrow.dtype)
    walk.nodes(model.graph.nodes, scope, model.opsets, 0)
    if choices is not None:
        choices[:] = build.choices
    outputs: dict[str, OnnxArray] = {}
    for port in model.graph.outputs:
        value = scope.get(port.name)
        if not isinstance(value, OnnxArray):
            refuse(model.name, f"the output {port.name!r} is no tensor", "sequences cannot leave a program")
        outputs[port.name] = value
        if inputs is not None and _contradicts(port, value):
            notice(
                f"{model.name}: the output {port.name} has the shape {list(value.shape)}, and the file declares "
                f"[{', '.join(str(d) or '?' for d in port.dims or ())}]: the file's declaration is wrong, or one of its nodes is"
            )
        if port.code == TEXT:
            notice(f"{model.name}: output {port.name} is text, given as numbers: {_meant(build.words, value)}")
    program = build.program(model.name, outputs, symbols)
    for line in build.said:
        notice(line)
    return program


class _Walk:
    """The nodes of one model, its functions and bodies."""

    def __init__(self, model: OnnxModel, build: Build) -> None:
        self.model, self.build, self.steps = model, build, 0

    def nodes(self, nodes: Sequence[OnnxNode], scope: dict[str, NodeValue], opsets: Mapping[str, int], depth: int) -> None:
        """Computes the nodes one after another; results go into the scope."""
        if depth > MAX_DEPTH:
            refuse(self.model.name, f"functions and bodies nested deeper than {MAX_DEPTH}")
        for node in nodes:
            self.steps += depth > 0
            if self.steps > MAX_STEPS:
                refuse(node.where, f"more than {MAX_STEPS} nodes of bodies and functions, counted each time")
            values = [scope[n] if n else None for n in node.inputs]
            while values and values[-1] is None:
                values.pop()
            self.build.at(node)
            results = self._node(node, values, scope, opsets, depth)
            self.build.at(node)
            if has_narrow(values):
                results = typed(node, opsets.get(node.domain, 0), values, results)
            self.build.finish(node, results)
            for i, name in enumerate(node.outputs):
                if name:
                    scope[name] = results[i] if i < len(results) else None

    def _node(
        self, node: OnnxNode, values: Sequence[NodeValue], scope: Mapping[str, NodeValue], opsets: Mapping[str, int], depth: int
    ) -> list[NodeValue]:
        function = self.model.functions.get((node.domain, node.op))
        if function is not None:
            return self._function(function, node, values, depth)
        opset = opsets.get(node.domain, 0)

        def body(graph: Graph, inputs: Sequence[NodeValue]) -> list[NodeValue]:
            inner: dict[str, NodeValue] = {**scope, **{n: self.build.known(a, n) for n, a in graph.weights.items()}}
            inner |= {p.name: v for p, v in zip(graph.inputs, inputs, strict=True)}
            self.nodes(graph.nodes, inner, opsets, depth + 1)
            self.build.at(node)
            return [inner[p.name] for p in graph.outputs]

        _check_attributes(node, opset)
        translate = translation(node.domain, node.op, opset)
        if node.op in STEPWISE and has_narrow(values) and _schema(node.domain, node.op, opset) is not None:
            translate = None
        if translate is None:
            try:
                defined = self._defined(node, values, opsets)
            except (ValueError, TypeError, RuntimeError) as error:
                refuse(node.where, f"does not fit its definition ({str(error).splitlines()[0][:200]})", _shapes(values))
            return self._function(defined, node, values, depth)
        try:
            results = translate(NodeCall(self.build, node, values, opset, body))
        except RecursionError:
            refuse(node.where, "is nested too deeply")
        except _CAUSES as error:
            refuse(node.where, f"does not fit its inputs ({str(error) or type(error).__name__})", _shapes(values))
        return [results] if isinstance(results, OnnxArray) else list(results or ())

    def _function(self, function: OnnxFunction, node: OnnxNode, values: Sequence[NodeValue], depth: int) -> list[NodeValue]:
        """A call of a function: its nodes in a scope of their own, attributes of the call put in."""
        given = [*values, *[None] * (len(function.inputs) - len(values))]
        if len(given) > len(function.inputs):
            refuse(node.where, f"takes {len(function.inputs)} inputs, {len(given)} are given")
        scope: dict[str, NodeValue] = dict(zip(function.inputs, given, strict=True))
        attributes = {**function.defaults, **node.attributes}
        self.build.finish(node, [])
        self.nodes([_bound(n, attributes, node) for n in function.nodes], scope, function.opsets, depth + 1)
        return [scope.get(name) for name in function.outputs]

    def _defined(self, node: OnnxNode, values: Sequence[NodeValue], opsets: Mapping[str, int]) -> OnnxFunction:
        """The body that ONNX's definition of the operator has. Raises ModelError."""
        opset = opsets.get(node.domain, 0)
        schema = _schema(node.domain, node.op, opset)
        if schema is None:  # in the body of another operator: only with the inputs is it known which body that is
            raise unsupported(node.where, [(f"{node.domain}.{node.op}" if node.domain else node.op, [node.label])])
        if schema.has_function:
            body = schema.function_body
        else:
            codes = {d: c for c, d in DTYPES.items()}
            types = [
                helper.make_tensor_type_proto(v.narrow.code if v.narrow else codes[v.dtype], v.shape).SerializeToString()
                if isinstance(v, OnnxArray)
                else b""
                for v in values
            ]
            if any(isinstance(v, list) for v in values):  # onnx's definition would read a type that is not there
                refuse(node.where, "is not supported with a sequence")
            names = [n if i < len(values) and values[i] is not None else "" for i, n in enumerate(node.inputs)]
            plain = helper.make_node(node.op, names, list(node.outputs), domain=node.domain)
            own = {a.name for a in node.raw.attribute if not a.ref_attr_name}
            plain.attribute.extend(a for a in node.raw.attribute if a.name in own)
            plain.attribute.extend(_attribute(n, v) for n, v in node.attributes.items() if n not in own)
            versions = [v for v in schema.context_dependent_function_opset_versions if v <= opset]
            if not versions:
                refuse(node.where, "is not supported with these inputs")
            made = schema.get_context_dependent_function_with_opset_version(max(versions), plain.SerializeToString(), types)
            body = onnx.FunctionProto.FromString(made) if made else None
        if body is None or not body.node:
            refuse(node.where, "is not supported with these inputs")
        defaults = {n: _plain(a.default_value) for n, a in schema.attributes.items() if not a.required and a.default_value.type}
        named = {e.domain: e.version for e in body.opset_import}  # the body is written for the opsets that it names
        function = read_function(body, node.where, {**opsets, **named})
        return OnnxFunction(function.inputs, function.outputs, function.nodes, function.opsets, defaults)


def _contradicts(port: OnnxPort, value: OnnxArray) -> bool:
    """Return whether an output's shape differs from the declared one. Some exporters declare an unknown size as 0."""
    dims = port.dims
    if dims is None:
        return False
    return len(dims) != value.rank or any(isinstance(d, int) and d not in (0, s) for d, s in zip(dims, value.shape, strict=True))


def _meant(words: Mapping[str, int], value: OnnxArray) -> str:
    """Which texts the numbers of an output are, the first 8 of them."""
    used = set(words.values()) if value.known is None else set(value.known.reshape(-1).tolist())
    named = [f"{number} is {word!r:.40}" for word, number in words.items() if number in used]
    return ", ".join(named[:8]) + (" and more" if len(named) > 8 else "")


_CAUSES: tuple[type[Exception], ...] = (ArithmeticError, ValueError, LookupError, TypeError, MemoryError)
"""What Python and NumPy raise where a node's attributes and inputs have ranks or values that its definition does not allow."""


def _shapes(values: Sequence[NodeValue]) -> str:
    words = [f"{v.dtype}{list(v.shape)}" if isinstance(v, OnnxArray) else "nothing" if v is None else "a sequence" for v in values]
    return f"they are {', '.join(words) or 'none'}"


def _attribute(name: str, value: object) -> onnx.AttributeProto:
    return helper.make_attribute(name, onnx.numpy_helper.from_array(value) if isinstance(value, np.ndarray) else value)


def _plain(attribute: onnx.AttributeProto) -> Any:
    found = helper.get_attribute_value(attribute)
    if isinstance(found, bytes):
        return found.decode(errors="replace")
    return list(found) if isinstance(found, list | tuple) else found


def _bound(node: OnnxNode, attributes: Mapping[str, object], caller: OnnxNode) -> OnnxNode:
    """A function's node with the caller's attributes for those that it refers to."""
    found = {n: attributes[r] for n, r in node.references.items() if r in attributes}
    where = f"{caller.where}: {node.where.rpartition(':')[2]}"
    return OnnxNode(
        node.op,
        node.domain,
        f"{caller.label}.{node.label}",
        where,
        node.inputs,
        node.outputs,
        {**node.attributes, **found},
        {},
        node.raw,
        node.texts,
    )
