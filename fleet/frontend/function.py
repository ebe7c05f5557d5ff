"""A live Python function, read into a program: its syntax tree, and the names that Python has around it. It is never called.

Globals and closure variables are taken as they are now: arrays become weights, numbers and strings constants, functions are
followed into their own sources. `Traced.watched` tells later whether all of that is still so.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from xdsl.ir import Block, SSAValue

from fleet.errors import SourceError
from fleet.frontend.arrays.builder import Builder
from fleet.frontend.arrays.tracing import Tracing
from fleet.frontend.live.arguments import bound_arguments
from fleet.frontend.live.given import Given, Input
from fleet.frontend.live.located import LocatedFile, locate
from fleet.frontend.live.names import LiveEvaluator
from fleet.frontend.live.results import KnownResult, ReturnedValue, taken_apart
from fleet.frontend.live.watch import Items, NamedItems, ObjectSnapshot, Record, Watched
from fleet.frontend.python.calls import bind_defaults, returned
from fleet.frontend.python.generators import yields
from fleet.frontend.python.standard.functions import is_kernel
from fleet.frontend.reading.ending import Flow
from fleet.frontend.reading.errors import combined
from fleet.frontend.reading.findings import Poisoned, TooManyErrors
from fleet.frontend.reading.places import SourcePlaces
from fleet.frontend.reading.static import Made
from fleet.frontend.reading.tensor import ArrayStorage
from fleet.frontend.reading.values import CallFrame, NumberValue, TracedArray, Value
from fleet.frontend.reading.wording import words
from fleet.frontend.source import assemble
from fleet.frontend.tensor import Tensor as Declaration
from fleet.ir.program import Program
from fleet.ir.types import tensor_type
from fleet.symbols.dims import DeclarationError, Declared, parse_declaration


@dataclass(frozen=True)
class Traced:
    """A function as a program.

    Attributes:
        program: its IR; arrays among the arguments are inputs, all other arrays weights.
        result: puts together what the function returns, of a run's outputs.
        watched: what the program depends on beside the arguments.
    """

    program: Program
    result: ReturnedValue
    watched: Watched


def trace(function: FunctionType, arguments: Given, dynamic: Collection[str] | bool = ()) -> Traced:
    """Reads a function for arguments like these.

    dynamic: names of declared dimensions that stay unknown until a run; True: all, and those that `Tensor` leaves open.

    Raises:
        SourceError: no source, or one that is outside what is supported, with file and line (up to 20 places in one error).
        ModelError: arguments that do not fit what is declared, or of a dtype that fleet does not carry.
    """
    file, node = locate(function)
    try:
        return _trace(function, file, node, arguments, dynamic)
    except RecursionError:
        where, hint = file.source.name, "split it over several assignments"
        raise SourceError("nested too deeply", where=where, hint=hint, code="F602") from None


def _trace(
    function: FunctionType, file: LocatedFile, node: ast.FunctionDef, arguments: Given, dynamic: Collection[str] | bool
) -> Traced:
    where = f"{file.source.name}:{node.lineno}"
    declared = _declared(function, file, node, arguments)
    inputs, symbols = bound_arguments(where, declared, {}, arguments.inputs, dynamic)
    block = Block(arg_types=[tensor_type(a.shape, a.dtype) for a in inputs])
    for argument, value in zip(inputs, block.args, strict=True):
        value.name_hint = argument.name if argument.name.isascii() and argument.name.replace(".", "_").isidentifier() else None
    reading: list[LiveEvaluator] = []
    places = SourcePlaces(
        file.source.text,
        file.source.name,
        files={id(file): file},
        present=lambda: reading[0].present() if reading else None,
    )
    made = Made(block)
    domain = Tracing(Builder(places, block), made)
    ev = LiveEvaluator(function, made, domain, places, file)
    reading.append(ev)
    try:
        frame, flow = _followed(ev, function, arguments, {a.name: v for a, v in zip(inputs, block.args, strict=True)})
        outputs: dict[str, SSAValue] = {}
        result = KnownResult(None) if ev.errors else _result(ev, domain.builder, node, flow, outputs)
        if not ev.errors:
            roots = ev.roots(frame.variables)
            returned = (list(outputs), list(outputs.values()))
            program = assemble(function.__name__, domain, inputs, {}, returned, frame.variables, roots, symbols)
            return Traced(program, result, ev.watched)
    except SourceError as error:
        ev.errors.append(error)
    except (TooManyErrors, Poisoned):
        pass
    finally:
        ev.close()
    raise combined(ev.errors)


def _followed(
    ev: LiveEvaluator, function: FunctionType, arguments: Given, values: Mapping[str, SSAValue]
) -> tuple[CallFrame, Flow]:
    """Follows the function's body; its frame at the end, and how it ended."""
    callee = ev.function(function, {})
    node = callee.node
    assert isinstance(node, ast.FunctionDef)
    if yields(node):
        ev.fail("F509", node, f"`{node.name}` is a generator", "return arrays, numbers, and tuples, lists and dicts of them")
    frame = CallFrame(function.__name__, 0, ev.scope(node), callee.frame)
    with ev.within(frame):
        for name, form in arguments.tree().items():
            frame.variables[name] = _argument(ev, node, name, form, values)
        bind_defaults(callee, frame)
        ev.kernels += is_kernel(callee)
        flow = ev.run(node.body, frame)
        ev.check_outside()
    return frame, flow


def _argument(ev: LiveEvaluator, node: ast.AST, name: str, form: ObjectSnapshot, values: Mapping[str, SSAValue]) -> Value:
    match form:
        case Input():
            return TracedArray(values[form.name], scalar=form.scalar, storage=ArrayStorage(outside=True))
        case Items():
            if isinstance(form, NamedItems):
                ev.watch_class(form.of)
            return ev.container(node, form, [_argument(ev, node, name, part, values) for part in form.parts])
        case Record():
            ev.watch_class(form.of)
            return ev.of_record(node, form, [_argument(ev, node, name, part, values) for part in form.attributes.values()])
        case _:
            return ev.argument(node, name, form)


# ---- declarations


def _declared(function: FunctionType, file: LocatedFile, node: ast.FunctionDef, arguments: Given) -> list[Declared]:
    """Every array's declaration. An annotation that declares no array ("int", a class) says nothing here."""
    spec = node.args
    found: dict[str, Declared] = {}
    for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
        declaration = _annotation(function, file, argument)
        if declaration is None:
            continue
        if argument.arg not in arguments.inputs:
            hint = f"give an array of {declaration.dtype}"
            file.source.fail(
                "F408", argument, f"`{argument.arg}` is declared {declaration}, and what is given is not an array", hint
            )
        found[argument.arg] = declaration
    return [found.get(name, Declared(name)) for name in arguments.inputs]


def _annotation(function: FunctionType, file: LocatedFile, argument: ast.arg) -> Declared | None:
    name, node = argument.arg, argument.annotation
    live = function.__annotations__.get(name)
    if isinstance(live, Declaration):
        return _of_tensor(name, live)
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and "[" in node.value and node.value[0].islower():
        if "." in node.value.partition("[")[0]:
            return None
        try:
            return parse_declaration(name, node.value)
        except DeclarationError as error:
            file.source.fail("F403", node, str(error))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):  # with postponed annotations
        called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        literals = _literals(node)
        if called == "Tensor" and literals is not None:
            return _of_tensor(name, Declaration(*literals[0], **literals[1]))
    return None


def _of_tensor(name: str, tensor: Declaration) -> Declared:
    """A size of None gets a name that no other declaration has."""
    return Declared(name, tensor.dtype, tuple(f"{name}.{i}" if d is None else d for i, d in enumerate(tensor.shape)))


def _literals(node: ast.Call) -> tuple[list[Any], dict[str, Any]] | None:
    try:
        keywords = {str(k.arg): ast.literal_eval(k.value) for k in node.keywords}
        return [ast.literal_eval(a) for a in node.args], keywords if keywords.keys() <= {"shape", "dtype"} else {}
    except (ValueError, TypeError):
        return None


# ---- results


def _result(ev: LiveEvaluator, builder: Builder, node: ast.FunctionDef, flow: Flow, outputs: dict[str, SSAValue]) -> ReturnedValue:
    statement = flow.statement
    place: ast.AST = statement or node

    def leaf(name: str, value: TracedArray | NumberValue) -> str:
        unique, count = name, 0
        while unique in outputs:
            count += 1
            unique = f"{name}.{count}"
        outputs[unique] = value.ssa if isinstance(value, TracedArray) else builder.number(place, value)
        return unique

    expression = statement.value if statement is not None else None
    name = expression.id if isinstance(expression, ast.Name) else "out0"
    names: list[str] = []
    if isinstance(expression, ast.Tuple | ast.List):
        names = [e.id if isinstance(e, ast.Name) else f"out{i}" for i, e in enumerate(expression.elts)]
    found = taken_apart(returned(ev, node, flow), name, leaf, names)
    if found is None:
        ev.fail("F509", place, f"{words(flow.value)} is returned", "return arrays, numbers, and tuples, lists and dicts of them")
    return found
