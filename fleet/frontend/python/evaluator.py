"""Reads a source as Python would run it: scopes, calls, errors and limits. What arrays do is up to a `Domain`.

Nothing of the source is executed: no `exec`, no `eval`, no attribute of a Python object that the tables do not name.
"""

from __future__ import annotations

import ast
import builtins
import difflib
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NoReturn

from fleet.errors import SourceError
from fleet.frontend.python import expressions, library, statements
from fleet.frontend.python.builtins import registry
from fleet.frontend.python.classes import objects
from fleet.frontend.python.containers import iterables
from fleet.frontend.python.domain import Domain
from fleet.frontend.python.errors import Source, expression_at
from fleet.frontend.python.flow import exceptions
from fleet.frontend.python.flow.ending import Flow
from fleet.frontend.python.generators import Yielding
from fleet.frontend.python.module import Module
from fleet.frontend.python.scopes import Scope, scope_of
from fleet.frontend.python.values import (
    Broken,
    Class,
    Dict,
    Frame,
    Function,
    Instance,
    Library,
    List,
    Number,
    Operand,
    Poison,
    Range,
    Set,
    SizeUsed,
    Tensor,
    Value,
    words,
)
from fleet.ir.weights import Stream

MAX_DEPTH = 200
MAX_ERRORS = 20
MAX_STEPS = 600_000
"""Expressions and statements that are followed; an endless loop ends here, after some seconds."""
MAX_ITEMS = 1_000_000
"""Elements of a list, tuple, dict or string made by the source."""


class Poisoned(Exception):
    """Raised while evaluating what depends on a value whose error is already recorded."""


class TooManyErrors(Exception):
    """Enough has been said."""


class Evaluator:
    """Walks statements and what they call; operations go to the domain, errors are collected.

    Attributes:
        tolerant: a statement that cannot be evaluated breaks the names it binds, and is no error by itself.
        evaluated: with `tolerant`, the top-level statements that were evaluated whole.
    """

    def __init__(self, module: Module, domain: Domain, *, main: str = "__main__") -> None:
        self.module = module
        self.source: Source = module.source
        self.domain = domain
        domain.ev = self
        self.errors: list[SourceError] = []
        self._seen: set[str] = set()
        self.calls: list[tuple[Function, Value]] = []
        """Functions that are being followed, and what the methods among them are called on."""
        self.inlined = 0
        self.inside = self.checks = 0
        """Parts around what is followed that only the run enters or repeats: errors in them are raised at once."""
        self.exceptions: dict[str, Class] = {}
        """Python's own classes of exceptions, as far as the source names them."""
        self.catching: list[int] = []
        """For each `try` with `except` around what is followed: how many parts that only the run enters are around it."""
        self.handled: list[Instance] = []
        """Exceptions whose `except` is being followed."""
        self.decided: SourceError | None = None
        """The last error that left a part that only the run enters."""
        self.streams: set[Stream] = set()
        """Generators that were made in the innermost of them."""
        self.repeats = 1
        """How often loops around what is followed will follow it, in the innermost of them."""
        self.generators: list[Yielding] = []
        self.generating: list[Yielding] = []
        """Generators of the source, and those among them whose bodies are being followed."""
        self.outer: list[Frame] = []
        """The frames that wait for the present one."""
        self.depth = 0
        """Expressions around the present one, in the function that is being followed."""
        self._steps = 0
        self._scopes: dict[ast.AST, Scope] = {}
        self.globals = Frame("<module>", 1, self.scope(module.tree))
        self.globals.variables["__name__"] = main
        self.frame = self.globals
        self.tolerant = False
        self.evaluated: list[ast.stmt] = []
        self.breaks = 0
        """Statements and defaults so far that could not be evaluated: a statement around one of them is not whole."""
        self.random: Any = None
        """The stream behind `np.random`, once it is seeded; `lost` where an error hides how much was drawn."""
        self.lost: SourceError | None = None
        self.printing = ""
        """The options of `np.set_printoptions` at present, as JSON; "" for NumPy's own."""
        self.worded = False
        """True once a string with an array was made: its print would format it, under later options than Python used."""
        self.unprinted: ast.AST | None = None
        """The `np.printoptions` around what is read now, which changes how arrays are printed."""

    def close(self) -> None:
        """Ends the threads of generators that nobody asks any more."""
        for generator in self.generators:
            generator.close()
        self.generators.clear()

    # ---- errors and limits

    def fail(self, code: str, node: ast.AST, what: str, hint: str | None = None) -> NoReturn:
        """Raises the SourceError for a node."""
        self.source.fail(code, node, what, hint)

    def unknown(self, node: ast.AST, what: str = "a size that only the run knows is needed here") -> NoReturn:
        """Raises the SourceError F510 for what a dimension that is not known before the run leaves open."""
        self.fail("F510", node, what, "leave the dimension out of --dynamic, or compute with the whole array")

    def step(self, node: ast.AST) -> None:
        """Counts one expression or statement. SourceError after too many."""
        self._steps += 1
        if self._steps > MAX_STEPS:
            self._steps = 0  # what is left to say must still be sayable
            raise self.stop(
                node, f"following the source takes more than {MAX_STEPS} steps: an endless loop, or too much to unroll",
                "shorten the loop, or compute with arrays instead",
            )  # fmt: skip

    def stop(self, node: ast.AST, what: str, hint: str | None = None) -> TooManyErrors:
        """Records an error after which nothing more is read."""
        try:
            self.fail("F601", node, what, hint)
        except SourceError as error:
            self.errors.append(error)
        return TooManyErrors()

    def record(self, error: SourceError) -> None:
        """Notes an error once. TooManyErrors when enough has been said."""
        key = str(error)
        if key in self._seen:
            return
        self._seen.add(key)
        self.errors.append(error)
        if len(self.errors) >= MAX_ERRORS:
            raise TooManyErrors

    def bounded(self, node: ast.AST, count: int, what: str) -> None:
        """Refuses containers and strings that would exhaust memory."""
        if count > MAX_ITEMS:
            self.fail("F607", node, f"{what} of {count} elements, at most {MAX_ITEMS} are followed", "use an array")

    # ---- frames

    def scope(self, node: Any) -> Scope:
        """The scope of a function, comprehension or module."""
        if node not in self._scopes:
            self._scopes[node] = scope_of(node)
        return self._scopes[node]

    @contextmanager
    def within(self, frame: Frame) -> Generator[None]:
        """Evaluates in another frame."""
        outer, self.frame = self.frame, frame
        self.outer.append(outer)
        try:
            yield
        finally:
            self.frame = outer
            self.outer.pop()

    def run(self, body: list[ast.stmt], frame: Frame) -> Flow:
        """Executes statements in `frame`."""
        with self.within(frame):
            return statements.block(self, body)

    def bind(self, name: str, value: Value, *, quiet: bool = False) -> None:
        """Assigns a variable by the rules of the present scope."""
        frame = self.frame.target(name)
        frame.variables[name] = value
        if not quiet:
            self.called(frame, name, value)

    def called(self, frame: Frame, name: str, value: Value) -> None:
        """Tells the domain that a variable has a value."""
        if isinstance(value, Tensor | Number):
            spelled = name if frame.depth == 0 or frame.parent is None else f"{frame.function}.{name}"
            self.domain.named(value, spelled, frame.depth)

    def lookup(self, node: ast.Name) -> Value:
        """A variable, argument, function, imported library or builtin, in Python's order."""
        name = node.id
        owner = self.frame.owner(name)
        if owner is not None:
            if name not in owner.variables:
                self.fail("F202", node, f"`{name}` is used before it is assigned")
            return self._whole(owner.variables[name])
        module = self.frame.module()
        if name in module.variables:
            return self._whole(module.variables[name])
        if name in registry.BUILTINS:
            return Library(f"builtins.{name}")
        if name == "NotImplemented":
            return objects.NOT_IMPLEMENTED
        if name in module.scope.local:
            self.fail("F202", node, f"`{name}` is used before it is assigned")
        if (kind := exceptions.class_of(self, name)) is not None:
            return kind
        if hasattr(builtins, name):
            supported = ", ".join(sorted(registry.BUILTINS))
            self.fail("F203", node, f"the builtin `{name}` is not supported", f"supported are {supported}")
        known = {*self.frame.variables, *module.variables, *registry.BUILTINS}
        close = difflib.get_close_matches(name, sorted(known), 1)
        return self.fail("F201", node, f"`{name}` is not defined", f"did you mean `{close[0]}`?" if close else None)

    def _whole(self, value: Value) -> Value:
        if isinstance(value, Broken):
            raise value.error
        return value

    # ---- expressions

    def expression(self, node: ast.expr) -> Value:
        """The value of an expression. Raises SourceError at its place; Poisoned for what is already known to be wrong."""
        self.depth += 1
        self.step(node)
        try:
            if self.depth > MAX_DEPTH:
                self.fail("F602", node, f"nested deeper than {MAX_DEPTH} levels", "split it over several assignments")
            value = expressions.evaluate(self, node)
        except SizeUsed:
            self.unknown(node)
        finally:
            self.depth -= 1
        if isinstance(value, Poison):
            raise Poisoned
        return value

    # ---- values as something particular

    def operand(self, node: ast.AST, value: Value) -> Operand:
        """`value` as something to calculate with. SourceError at `node` for anything else."""
        if isinstance(value, Tensor | Number):
            return value
        if isinstance(value, Poison):
            raise Poisoned
        return self.fail("F408", node, f"expected an array or a number, found {words(value)}")

    def truth(self, node: ast.AST, value: Value) -> bool:
        """Whether `if` takes it for true. SourceError for arrays whose values are known only at run time."""
        match value:
            case Number():
                if value.symbolic:
                    self.unknown(node, "a size that only the run knows decides what is computed")
                return bool(value.value)
            case None:
                return False
            case str() | tuple():
                return bool(value)
            case List() | Dict() | Set():
                return bool(value.items)
            case Range():
                return bool(value.values)
            case Instance():
                for method in ("__bool__", "__len__"):
                    answer = objects.special(self, expression_at(node), value, method)
                    if answer is not None:
                        return self.truth(node, answer[0])
                return True
            case Tensor():
                known = self.domain.known(value)
                if known is None:
                    self.fail(
                        "F501", node, f"{words(value)} decides what is computed, but its values are known only when the model runs",
                        "compute both and choose with np.where(condition, a, b)",
                    )  # fmt: skip
                return bool(known)
            case _:
                return bool(value.items) if hasattr(value, "items") else True  # pyright: ignore[reportAttributeAccessIssue]

    def static(self, value: Value) -> bool | int | float | None:
        """A number that is known while the source is read."""
        if isinstance(value, Number):
            return None if value.symbolic else value.value
        return self.domain.known(value) if isinstance(value, Tensor) else None

    def integer(self, node: ast.AST, value: Value, what: str) -> int:
        """`value` as a static integer."""
        if isinstance(value, Number) and value.symbolic:
            self.unknown(node, f"{what} must be known from the source, found {words(value)}")
        found = self.static(value)
        if isinstance(found, int):
            return int(found)
        return self.fail("F404", node, f"{what} must be an integer that is known from the source, found {words(value)}")

    def integers(self, node: ast.AST, value: Value, what: str) -> tuple[int, ...]:
        """`value` as a static integer or sequence of them."""
        parts = self.sequence(value)
        return tuple(self.integer(node, v, what) for v in ((value,) if parts is None else parts))

    def flag(self, node: ast.AST, value: Value, what: str) -> bool:
        """`value` as a static True or False."""
        found = self.static(value)
        if isinstance(found, bool | int):
            return bool(found)
        return self.fail("F404", node, f"{what} must be True or False, found {words(value)}")

    def sequence(self, value: Value) -> tuple[Value, ...] | None:
        """The elements of a tuple, list or range; None for anything else."""
        match value:
            case tuple():
                return value
            case List():
                return tuple(value.items)
            case Range():
                self.bounded(self.module.tree, len(value.values), "a range")
                return tuple(Number(i) for i in value.values)
            case _:
                return None

    def iterate(self, node: ast.expr, value: Value) -> Iterator[Value]:
        """What `for` goes over."""
        return iterables.iterate(self, node, value)

    def collect(self, node: ast.expr, value: Value) -> list[Value]:
        """All elements of what can be iterated over, which must not be too many."""
        return iterables.collect(self, node, value)

    def call(self, node: ast.Call, function: Value, args: list[Value], keywords: Mapping[str, Value]) -> Value:
        """Calls a value."""
        return library.call(self, node, function, args, keywords)


Handler = Callable[[Evaluator, Any], Value]
