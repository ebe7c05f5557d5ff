"""Statements and expressions of the supported subset, turned into operations one by one. Nothing is executed."""

from __future__ import annotations

import ast
import builtins
import difflib
import operator
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from xdsl.ir import SSAValue

from fleet.errors import SourceError
from fleet.frontend import _indexing, _inlining, _numpy
from fleet.frontend._builder import Builder
from fleet.frontend._errors import Source
from fleet.frontend._module import Module
from fleet.frontend._values import Function, Library, Method, Number, Poison, Tensor, Value, words
from fleet.frontend._words import kind

MAX_DEPTH = 200
MAX_ERRORS = 20

_BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.Pow: "pow",
}
_PYTHON: Mapping[str, Callable[[float, float], float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "pow": operator.pow,
}
_SIGNS: Mapping[type[ast.operator], str] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*"},
    **{ast.Div: "/", ast.Pow: "**", ast.MatMult: "@"},
}
_STATIC: Mapping[type[ast.operator], Callable[[float, float], float]] = {ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod}
_STATEMENTS = "assignments, calls of functions of the same file, print and return"
_EXPRESSIONS = "names, numbers, + - * / ** @, unary -, calls of NumPy and of functions of the same file, slices and tuples"


class Poisoned(Exception):
    """Raised while evaluating what depends on a value whose error is already recorded."""


@dataclass
class Frame:
    """The variables of one call (or of the script)."""

    function: str
    depth: int
    assigned: frozenset[str]
    variables: dict[str, Value] = field(default_factory=dict)


class Evaluator:
    """Walks one function (or script) and what it calls; operations go to the builder, errors are collected."""

    def __init__(self, module: Module, builder: Builder) -> None:
        self.module = module
        self.source: Source = module.source
        self.builder = builder
        self.errors: list[SourceError] = []
        self._seen: set[str] = set()
        self.calls: list[str] = []
        self.inlined = 0
        self._depth = 0
        self._globals_in_work: list[str] = []
        self._globals: dict[str, Value] = {}
        self.script: Frame | None = None
        self.frame = Frame("", 0, frozenset())

    # ---- functions and statements

    def run(self, body: Sequence[ast.stmt], frame: Frame) -> tuple[ast.Return | None, Value]:
        """Executes statements in `frame`; the return statement reached, if any, and its value."""
        outer, self.frame = self.frame, frame
        try:
            for statement in body:
                try:
                    if isinstance(statement, ast.Return):
                        return statement, None if statement.value is None else self.expression(statement.value)
                    self._statement(statement)
                except Poisoned:
                    self._poison(statement)
                except SourceError as error:
                    self._record(error)
                    self._poison(statement)
                if isinstance(statement, ast.Return):
                    return statement, Poison()
            return None, None
        finally:
            self.frame = outer

    def _record(self, error: SourceError) -> None:
        key = str(error)
        if key in self._seen:
            return
        self._seen.add(key)
        self.errors.append(error)
        if len(self.errors) >= MAX_ERRORS:
            raise TooManyErrors

    def _poison(self, statement: ast.stmt) -> None:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.frame.variables[node.id] = Poison()

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign():
                value = self.expression(node.value)
                for target in node.targets:
                    self._assign(target, value)
            case ast.AnnAssign(target=ast.Name(), value=ast.expr()):
                assert node.value is not None
                self._assign(node.target, self.expression(node.value))
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                pass
            case ast.Expr(value=ast.Call()):
                self.expression(node.value)
            case ast.Expr():
                self.source.fail(node, "an expression whose value is not used", "assign it, print it or remove it")
            case ast.AugAssign(target=ast.Name() as target):
                sign = _SIGNS.get(type(node.op), "op")
                hint = f"write {target.id} = {target.id} {sign} (...)"
                self.source.fail(node, f"`{sign}=` changes an array in place, which is not supported", hint)
            case _:
                self.source.fail(node, f"{kind(node)} is not supported", f"supported statements are {_STATEMENTS}")

    def _assign(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name():
                self.frame.variables[target.id] = value
                name = target.id if self.frame.depth == 0 else f"{self.frame.function}.{target.id}"
                if isinstance(value, Tensor):
                    self.builder.name(value.ssa, name, self.frame.depth)
                elif isinstance(value, Number):
                    value.variable = value.variable or (self.frame.depth, name)
                    if value.ssa is not None:
                        self.builder.name(value.ssa, name, self.frame.depth)
            case ast.Tuple() | ast.List():
                if any(isinstance(e, ast.Starred) for e in target.elts):
                    self.source.fail(target, "a starred target is not supported", "name every part")
                if isinstance(value, Poison):
                    raise Poisoned
                if not isinstance(value, tuple):
                    self.source.fail(target, f"cannot unpack {words(value)}", "only tuples with a known length are unpacked")
                if len(value) != len(target.elts):
                    self.source.fail(target, f"{len(target.elts)} targets for {len(value)} values")
                for part, v in zip(target.elts, value, strict=True):
                    self._assign(part, v)
            case _:
                self.source.fail(
                    target, "assignment to a part of an array or object is not supported", "make a new array (np.concatenate)"
                )

    # ---- expressions

    def expression(self, node: ast.expr) -> Value:
        """The value of an expression. Raises SourceError at its place; Poisoned for what is already known to be wrong."""
        with self._deeper(node):
            value = self._expression(node)
        if isinstance(value, Poison):
            raise Poisoned
        return value

    @contextmanager
    def _deeper(self, node: ast.expr) -> Generator[None]:
        self._depth += 1
        try:
            if self._depth > MAX_DEPTH:
                self.source.fail(node, f"nested deeper than {MAX_DEPTH} levels", "split it over several assignments")
            yield
        finally:
            self._depth -= 1

    def _expression(self, node: ast.expr) -> Value:
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name():
                return self.lookup(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return _indexing.subscript(self, node)
            case ast.Tuple() | ast.List():
                return tuple(self.expression(e) for e in node.elts)
            case _:
                return self.source.fail(node, f"{kind(node)} is not supported", f"supported expressions are {_EXPRESSIONS}")

    def _constant(self, node: ast.Constant) -> Value:
        if isinstance(node.value, bool | int | float):
            return Number(node.value, place=node)
        if node.value is None or isinstance(node.value, str):
            return node.value
        if node.value is ...:
            return Library("builtins.Ellipsis")
        return self.source.fail(node, f"a {type(node.value).__name__} literal is not supported", "numbers are ints and floats")

    def lookup(self, node: ast.Name) -> Value:
        """A variable, argument, function, imported library or builtin, in Python's order."""
        name = node.id
        if name in self.frame.variables:
            return self.frame.variables[name]
        if name in self.frame.assigned:
            self.source.fail(node, f"`{name}` is used before it is assigned")
        if self.script is not None and name in self.script.variables:
            return self.script.variables[name]
        if name in self.module.functions:
            return Function(self.module.functions[name])
        if name in self.module.imports:
            return _numpy.resolve(self, node, self.module.imports[name])
        if self.script is None and name in self.module.globals:
            return self._global(node)
        if name in _numpy.BUILTINS:
            return Library(f"builtins.{name}")
        if hasattr(builtins, name):
            self.source.fail(node, f"the builtin `{name}` is not supported", f"supported are {', '.join(sorted(_numpy.BUILTINS))}")
        known = {*self.frame.variables, *self.module.functions, *self.module.imports, *self.module.globals, *_numpy.BUILTINS}
        close = difflib.get_close_matches(name, sorted(known), 1)
        return self.source.fail(node, f"`{name}` is not defined", f"did you mean `{close[0]}`?" if close else None)

    def _global(self, node: ast.Name) -> Value:
        name = node.id
        assigned = self.module.globals[name]
        if assigned is None:
            self.source.fail(node, f"global `{name}` is assigned more than once or not by a plain assignment")
        if name in self._globals_in_work:
            self.source.fail(node, f"global `{name}` is defined by itself")
        if name not in self._globals:
            self._globals_in_work.append(name)
            try:
                with self.at_module_level():
                    self._globals[name] = self.expression(assigned)
            finally:
                self._globals_in_work.pop()
        return self._globals[name]

    def operand(self, node: ast.expr, value: Value) -> Tensor | Number:
        """`value` as something to calculate with. SourceError at `node` for anything else."""
        if isinstance(value, Tensor | Number):
            return value
        if isinstance(value, Poison):
            raise Poisoned
        return self.source.fail(node, f"expected an array or a number, found {words(value)}")

    def _binary(self, node: ast.BinOp) -> Value:
        left, right = self.expression(node.left), self.expression(node.right)
        if isinstance(node.op, ast.Add) and isinstance(left, tuple) and isinstance(right, tuple):
            return left + right
        lhs, rhs = self.operand(node.left, left), self.operand(node.right, right)
        if isinstance(node.op, ast.MatMult):
            return _numpy.matmul(self, node, lhs, rhs)
        if isinstance(lhs, Number) and isinstance(rhs, Number):
            return self._numbers(node, lhs, rhs)
        if type(node.op) not in _BINARY:
            self.source.fail(node, f"the operator of {kind(node.op)} is not supported on arrays", "operators are + - * / ** @")
        if isinstance(node.op, ast.Pow) and _squares_bool(lhs, rhs):
            squared = self.builder.tensor(node, "cast", [lhs.ssa], dtype=np.dtype(np.int8)) if isinstance(lhs, Tensor) else lhs
            return self.builder.elementwise(node, "mul", [squared, squared])
        return self.builder.elementwise(node, _BINARY[type(node.op)], [lhs, rhs])

    def _numbers(self, node: ast.BinOp, lhs: Number, rhs: Number) -> Number:
        a, b = lhs.value, rhs.value
        name = _BINARY.get(type(node.op))
        calculate = _PYTHON[name] if name else _STATIC.get(type(node.op))
        if calculate is None:
            self.source.fail(node, f"the operator of {kind(node.op)} is not supported", "operators are + - * / // % ** @")
        if name == "pow" and isinstance(a, int) and isinstance(b, int) and abs(a) > 1 and b > 64:
            self.source.fail(node, f"{a} ** {b} needs more than 64 bits")
        try:
            value = calculate(a, b)
        except (ArithmeticError, ValueError) as error:
            self.source.fail(node, f"{a!r} and {b!r}: {error}")
        if isinstance(value, complex):
            self.source.fail(node, f"{a!r} ** {b!r} is a complex number")
        return self.builder.arithmetic(node, name, [lhs, rhs], value) if name else Number(value)

    def _unary(self, node: ast.UnaryOp) -> Value:
        value = self.operand(node.operand, self.expression(node.operand))
        if isinstance(node.op, ast.UAdd) and not (isinstance(value, Number) and isinstance(value.value, bool)):
            return value
        if not isinstance(node.op, ast.USub):
            self.source.fail(node, f"{kind(node.op)} is not supported", "the unary operators are - and +")
        if isinstance(value, Tensor):
            return self.builder.elementwise(node, "neg", [value])
        if isinstance(node.operand, ast.Constant):
            return Number(-value.value, place=node)
        return self.builder.arithmetic(node, "neg", [value], -value.value)

    def _attribute(self, node: ast.Attribute) -> Value:
        value = self.expression(node.value)
        if isinstance(value, Library):
            return _numpy.library_attribute(self, node, value)
        if isinstance(value, Tensor):
            return _numpy.array_attribute(self, node, value)
        return self.source.fail(node, f"{words(value)} has no attribute `{node.attr}` here")

    # ---- calls

    def _call(self, node: ast.Call) -> Value:
        function = self.expression(node.func)
        if isinstance(function, np.dtype | Library | Method):
            arguments = [self.expression(a) for a in _inlining.plain(self, node.args)]
            keywords = {_inlining.keyword(self, k): self.expression(k.value) for k in node.keywords}
            return _numpy.call(self, node, function, arguments, keywords)
        if isinstance(function, Function):
            return _inlining.inline(self, node, function.node)
        return self.source.fail(node.func, f"{words(function)} cannot be called")

    def new_frame(self, callee: ast.FunctionDef) -> Frame:
        """An empty frame for a call out of the present one."""
        return Frame(callee.name, self.frame.depth + 1, assigned_names(callee.body))

    @contextmanager
    def at_module_level(self) -> Generator[None]:
        """Expressions in it see the module's names only."""
        outer, self.frame = self.frame, self.script or Frame("<module>", 1, frozenset())
        try:
            yield
        finally:
            self.frame = outer

    # ---- what handlers of calls need

    def array(self, node: ast.expr, value: Value) -> Tensor:
        """`value` as an array; a number becomes a NumPy scalar of the dtype that numpy.asarray gives it."""
        number = self.operand(node, value)
        if isinstance(number, Tensor):
            return number
        dtype = np.asarray(number.value).dtype
        return self.builder.filled(node, (), number.value, dtype)

    def integer(self, node: ast.AST, value: Value, what: str) -> int:
        """`value` as a static integer."""
        if isinstance(value, Number) and isinstance(value.value, int):
            return int(value.value)
        return self.source.fail(node, f"{what} must be an integer that is known from the source, found {words(value)}")

    def integers(self, node: ast.AST, value: Value, what: str) -> tuple[int, ...]:
        """`value` as a static integer or tuple of them."""
        parts: tuple[Value, ...] = value if isinstance(value, tuple) else (value,)
        return tuple(self.integer(node, v, what) for v in parts)


def _squares_bool(lhs: Tensor | Number, rhs: Tensor | Number) -> bool:
    """`bools ** 2` is numpy.square, the one power that NumPy gives as int8 instead of int64."""
    two = isinstance(rhs, Number) and type(rhs.value) is int and rhs.value == 2
    return two and isinstance(lhs, Tensor) and lhs.dtype.kind == "b" and len(lhs.shape) > 0


class TooManyErrors(Exception):
    """Enough has been said."""


def assigned_names(body: Sequence[ast.stmt]) -> frozenset[str]:
    """Names that a function body assigns: they are local in all of it."""
    return frozenset(
        n.id for statement in body for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    )


def final_values(frame: Frame) -> dict[str, SSAValue]:
    """The IR value that each variable holds at the end, for those that hold one."""
    found: dict[str, SSAValue] = {}
    for name, value in frame.variables.items():
        if isinstance(value, Tensor):
            found[name] = value.ssa
        elif isinstance(value, Number):
            if value.ssa is not None:
                found[name] = value.ssa
            elif len(value.constants) == 1:
                found[name] = next(iter(value.constants.values()))
    return found
