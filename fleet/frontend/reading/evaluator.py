"""Reads a source as Python would run it: scopes, calls, names, and values as something particular.

What the syntax means is up to a `Language`, what arrays do to a `Domain`. Nothing of the source is executed: no `exec`, no `eval`,
no attribute of a Python object that the tables do not name.
"""

from __future__ import annotations

import ast
import builtins
import difflib
import os
import random
import weakref
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from xdsl.ir import SSAValue

from fleet.errors import SourceError
from fleet.frontend.reading.domain import Domain
from fleet.frontend.reading.ending import Flow
from fleet.frontend.reading.errors import SourceText, expression_at
from fleet.frontend.reading.findings import Findings, Poisoned
from fleet.frontend.reading.imported import ImportedModules
from fleet.frontend.reading.module import SourceModule
from fleet.frontend.reading.rounds import RoundDraws, RoundTables
from fleet.frontend.reading.scopes import Scope, ScopeNode, scope_of
from fleet.frontend.reading.values import (
    ELLIPSIS,
    NOT_IMPLEMENTED,
    Broken,
    ByteArray,
    CallFrame,
    Class,
    Complex,
    Dict,
    DictView,
    Library,
    List,
    NamedTupleValue,
    NumberValue,
    ObjectInstance,
    Poison,
    RangeValue,
    Set,
    SizeUsed,
    SourceFunction,
    Text,
    TextPart,
    TracedArray,
    Value,
    ValueOperand,
    number_behind,
)
from fleet.frontend.reading.wording import numbered, words
from fleet.ir.operations.program_ops import read_options
from fleet.ir.program import DataFile
from fleet.ir.weights import RandomStream

_MARKERS = {marker.name: marker for marker in (NOT_IMPLEMENTED, ELLIPSIS)}
LINALG_ERROR = "numpy.linalg.LinAlgError"
FROZEN_ERROR = "dataclasses.FrozenInstanceError"
LIBRARY_ERRORS = {
    LINALG_ERROR: "ValueError",
    FROZEN_ERROR: "AttributeError",
    "decimal.DecimalException": "ArithmeticError",
    "decimal.InvalidOperation": "decimal.DecimalException",
    "decimal.DivisionByZero": "ZeroDivisionError",
}
"""Path of a library's exception -> the class of Python that it inherits from."""
MAX_DEPTH = 200


@dataclass(frozen=True)
class Language:
    """What the evaluator asks of the modules that know Python, which are built on it (`fleet.frontend.python.reader`).

    Attributes:
        expression: evaluates an expression; the evaluator counts its depth.
        block: runs statements until one of them leaves the block.
        iterate: the elements of a value, lazily. collect: all of them, which must not be too many.
        call: calls a function, class, method, dtype or function of a library.
        parts: a value as `str` shows it, in pieces of text and values of the run.
        special: what an object's class answers by a method like `__len__`; None if the class lacks it, or it gives NotImplemented.
        builtins: the names of Python's builtin functions that are known.
    """

    expression: Callable[[Evaluator, ast.expr], Value]
    block: Callable[[Evaluator, Sequence[ast.stmt]], Flow]
    iterate: Callable[[Evaluator, ast.expr, Value], Iterator[Value]]
    collect: Callable[[Evaluator, ast.expr, Value], list[Value]]
    call: Callable[[Evaluator, ast.Call, Value, list[Value], Mapping[str, Value]], Value]
    parts: Callable[[Evaluator, Value, ast.AST], list[TextPart]]
    special: Callable[..., tuple[Value] | None]
    builtins: Collection[str]


class Suspended(Protocol):
    """A generator of the source whose body waits at a `yield`."""

    def give(self, node: ast.AST, value: Value) -> Value:
        """Hand a value over and wait until somebody asks for the next; what is sent with that."""
        ...

    def close(self) -> None:
        """End the thread of the body."""
        ...


class Evaluator(Findings):
    """Follows statements and what they call; operations go to the domain, errors are collected.

    Attributes:
        tolerant: a statement that cannot be evaluated breaks the names it binds, and is no error by itself.
        evaluated: with `tolerant`, the top-level statements that were evaluated whole.
    """

    def __init__(self, module: SourceModule, domain: Domain[Evaluator], language: Language, *, main: str = "__main__") -> None:
        super().__init__(module)
        self.domain = domain
        self.language = language
        self.calls: list[tuple[SourceFunction, Value]] = []
        """Functions that are being followed, and what the methods among them are called on."""
        self.inlined = self.kernels = 0
        """How many calls were followed; how many kernels (`fleet.kernel`) are being followed: their loops stay loops."""
        self.inside = self.checks = 0
        """How many parts that only the run enters or repeats are around the present statement; there errors are raised at once."""
        self.exceptions: dict[str, Class] = {}
        """Python's own classes of exceptions, as far as the source names them."""
        self.catching: list[int] = []
        """For each `try` with `except` around the present statement: the value of `inside` at its beginning."""
        self.handled: list[ObjectInstance] = []
        """Exceptions whose `except` is being followed."""
        self.handlers: set[str] = set()
        """The `except`s that were followed, as file and line: "model.py:12"."""
        self.files: dict[Path, DataFile] = {}
        """The data files that were read, by path."""
        self.written: set[Path] = set()
        """What the source would have written: files, and folders that were not there."""
        self.decided: SourceError | None = None
        self.python_generators: weakref.WeakKeyDictionary[ObjectInstance, random.Random] = weakref.WeakKeyDictionary()
        self.shadows: weakref.WeakKeyDictionary[TracedArray, np.ndarray] = weakref.WeakKeyDictionary()
        """Arrays of numbers that show a part of an array of records -> that part, as NumPy has it."""
        """The last error that left a part that only the run enters."""
        self.streams: set[RandomStream] = set()
        """Generators that were made in the innermost of them."""
        self.spent: dict[RandomStream, SourceError] = {}
        """Generators of which nobody knows how much they have drawn -> the error for who draws on."""
        self.repeats = 1
        """How often the loops around the present statement repeat it, within the innermost such part."""
        self.generators: list[Suspended] = []
        self.generating: list[Suspended] = []
        """Generators of the source, and those among them whose bodies are being followed."""
        self.outer: list[CallFrame] = []
        """The frames that wait for the present one."""
        self.depth = 0
        """Expressions around the present one, in the function that is being followed."""
        self._scopes: dict[ast.AST, Scope] = {}
        self.globals = CallFrame("<module>", 1, self.scope(module.tree))
        self.globals.variables |= {"__name__": main, "__doc__": ast.get_docstring(module.tree, clean=False)}
        if module.source.name.endswith(".py"):
            self.globals.variables["__file__"] = os.path.abspath(module.source.name)
        self.argv = List([module.source.name])
        """`sys.argv`: a model is run without arguments."""
        self.imports = ImportedModules()
        self.frame = self.globals
        self.tolerant = False
        self.evaluated: list[ast.stmt] = []
        self.breaks = 0
        """Statements and defaults so far that could not be evaluated: a statement around one of them is not whole."""
        self.random: Any = None
        """The stream behind `np.random`, once it is seeded; `lost`: the error that hides how much was drawn."""
        self.python_random: random.Random | None = None
        """Python's own generator, once it is seeded."""
        self.rounds: dict[SSAValue, tuple[int, int]] = {}
        """Number of a round -> its first and last value, for loops of the run whose number of rounds is known."""
        self.turns: dict[SSAValue, set[int]] = {}
        """Number of a round, of the same loops -> the rounds in which a decision that depends on it alone changes."""
        self.tables: RoundTables | None = None
        """Lists and dicts by the number of a round, in the innermost loop of the run."""
        self.drawing: RoundDraws | None = None
        """What the rounds of the innermost loop of the run draw; None in other parts that only the run enters or repeats."""
        self.ticks = 0
        """How often the clock was read."""
        self.lost: SourceError | None = None
        self.printing = ""
        """The options of `np.set_printoptions` at present, as JSON; "" for NumPy's own."""
        self.formatter: Mapping[str, Value] = {}
        """Functions of the source that show elements of printed arrays: `formatter` of `np.set_printoptions`."""
        self.fp_errors = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
        """What `np.geterr` gives. No warning is printed."""
        self.worded = False
        """True once a string with an array was made: its print would format it, under later options than Python used."""
        self.unprinted: ast.AST | None = None
        """The `np.printoptions` around the present statement, or None."""
        self.identities: dict[int, tuple[Value, ObjectInstance]] = {}
        """Objects whose `id` was asked for, and what that is."""
        self.decimals: ObjectInstance | None = None
        """The context of `decimal`, once the source asks for it."""
        self.followed: dict[str, Class] = {}
        """Classes of libraries that the source uses and that are followed like its own."""

    def present(self) -> SourceText | None:
        """The source of the function that is being read, where it is another file's than the model's."""
        return self.imports.texts.get(self.frame.module())

    def close(self) -> None:
        """End the threads of suspended generators."""
        for generator in self.generators:
            generator.close()
        self.generators.clear()

    # ---- frames

    def scope(self, node: ScopeNode) -> Scope:
        """The scope of a function, comprehension or module."""
        if node not in self._scopes:
            self._scopes[node] = scope_of(node)
        return self._scopes[node]

    @contextmanager
    def within(self, frame: CallFrame) -> Generator[None]:
        """Evaluates in another frame."""
        outer, self.frame = self.frame, frame
        self.outer.append(outer)
        try:
            yield
        finally:
            self.frame = outer
            self.outer.pop()

    def run(self, body: list[ast.stmt], frame: CallFrame) -> Flow:
        """Executes statements in `frame`."""
        with self.within(frame):
            return self.block(body)

    def block(self, body: Sequence[ast.stmt]) -> Flow:
        """Execute statements in the present frame until one of them leaves the block."""
        return self.language.block(self, body)

    def bind(self, name: str, value: Value, *, quiet: bool = False) -> None:
        """Assigns a variable by the rules of the present scope."""
        frame = self.frame.target(name)
        frame.variables[name] = value
        if not quiet:
            self.called(frame, name, value)

    def called(self, frame: CallFrame, name: str, value: Value) -> None:
        """Tells the domain that a variable has a value."""
        if isinstance(value, TracedArray | NumberValue):
            own = frame.depth == 0 or (frame.parent is None and frame not in self.imports.packages)
            spelled = name if own else f"{frame.function}.{name}"
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
        if name in self.language.builtins:
            return Library(f"builtins.{name}")
        if name in _MARKERS:
            return _MARKERS[name]
        if name in module.scope.local:
            self.fail("F202", node, f"`{name}` is used before it is assigned")
        if (kind := self.exception_class(name)) is not None:
            return kind
        if hasattr(builtins, name):
            supported = ", ".join(sorted(self.language.builtins))
            self.fail("F203", node, f"the builtin `{name}` is not supported", f"supported are {supported}")
        known = {*self.frame.variables, *module.variables, *self.language.builtins}
        close = difflib.get_close_matches(name, sorted(known), 1)
        return self.fail("F201", node, f"`{name}` is not defined", f"did you mean `{close[0]}`?" if close else None)

    def exception_class(self, name: str) -> Class | None:
        """One of Python's own classes of exceptions, or of `LIBRARY_ERRORS`, with those that it inherits from; None for other
        names."""
        if name in LIBRARY_ERRORS:
            module, _, own = name.rpartition(".")
            return self.exceptions.setdefault(name, Class(own, self.exception_class(LIBRARY_ERRORS[name]), module=module))
        kind = getattr(builtins, name, None)
        if not isinstance(kind, type) or not issubclass(kind, BaseException):
            return None
        if name not in self.exceptions:
            base = kind.__base__
            above = None if base is None or base is object else self.exception_class(base.__name__)
            self.exceptions[name] = Class(name, above, module="builtins")
        return self.exceptions[name]

    def advice(self) -> str:
        """What to do about a size that only the run knows: compute less, if it would be known but for the limit."""
        return self.domain.spent or super().advice()

    def _whole(self, value: Value) -> Value:
        if isinstance(value, Broken):
            raise value.error
        return value

    # ---- expressions

    def expression(self, node: ast.expr) -> Value:
        """The value of an expression. Raises SourceError at its place, Poisoned if its error is already recorded."""
        self.depth += 1
        self.step(node)
        try:
            if self.depth > MAX_DEPTH:
                self.fail("F602", node, f"nested deeper than {MAX_DEPTH} levels", "split it over several assignments")
            value = self.language.expression(self, node)
        except SizeUsed:
            self.unknown(node)
        finally:
            self.depth -= 1
        if isinstance(value, Poison):
            raise Poisoned
        return value

    # ---- values as something particular

    @contextmanager
    def caught(self) -> Generator[None]:
        """What is raised within goes on to whoever catches it, in place of being recorded."""
        self.catching.append(self.inside)
        try:
            yield
        finally:
            self.catching.pop()

    def settled(self, value: Value) -> Value:
        """A text with places as the string that it is, where all that stands in them is known; else the value itself."""
        if not isinstance(value, Text):
            return value
        template, held = numbered(value.parts)
        plain = [self._settled(v) for v in held]
        if any(p is None for p in plain):
            return value
        with np.printoptions(**(read_options(self.printing) if self.printing else {})):
            return template.format(*plain)

    def _settled(self, value: TracedArray | NumberValue) -> Any:
        if isinstance(value, NumberValue):
            return self.static(value)
        found = self.domain.elements_of(value)
        return found if found is None or not value.scalar else found[()]

    def operand(self, node: ast.AST, value: Value) -> ValueOperand:
        """`value` as something to calculate with. SourceError at `node` for anything else."""
        value = number_behind(value)
        if isinstance(value, TracedArray | NumberValue):
            return value
        if isinstance(value, Poison):
            raise Poisoned
        return self.fail("F408", node, f"expected an array or a number, found {words(value)}")

    def truth(self, node: ast.AST, value: Value) -> bool:
        """Whether `if` takes it for true. SourceError for arrays whose values are known only at run time."""
        match value:
            case NumberValue():
                found = self.static(value)
                if found is None:
                    self.unknown(node, "a size that only the run knows decides what is computed")
                return bool(found)
            case Complex():
                return bool(value.value)
            case None:
                return False
            case str() | bytes() | tuple() if not isinstance(value, NamedTupleValue):
                return bool(value)
            case List() | Dict() | DictView() | Set():
                return bool(value.items)
            case ByteArray():
                return bool(value.data)
            case RangeValue():
                return bool(value.values)
            case ObjectInstance() | NamedTupleValue():
                for method in ("__bool__", "__len__"):
                    answer = self.language.special(self, expression_at(node), value, method)
                    if answer is not None:
                        return self.truth(node, answer[0])
                return bool(value) if isinstance(value, tuple) else True
            case TracedArray():
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
        value = number_behind(value)
        if isinstance(value, NumberValue):
            return self.domain.known_number(value) if value.symbolic else value.value
        return self.domain.known(value) if isinstance(value, TracedArray) else None

    def integer(self, node: ast.AST, value: Value, what: str) -> int:
        """`value` as a static integer."""
        found = self.static(value)
        if found is None and isinstance(value, NumberValue):
            self.unknown(node, f"{what} must be known from the source, found {words(value)}")
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
            case RangeValue():
                self.bounded(self.module.tree, len(value.values), "a range")
                return tuple(NumberValue(i) for i in value.values)
            case _:
                return None

    def iterate(self, node: ast.expr, value: Value) -> Iterator[Value]:
        """What `for` goes over."""
        return self.language.iterate(self, node, value)

    def collect(self, node: ast.expr, value: Value) -> list[Value]:
        """All elements of an iterable. SourceError F607 for too many."""
        return self.language.collect(self, node, value)

    def parts(self, node: ast.AST, value: Value) -> list[TextPart]:
        """A value as `str` shows it, in pieces of text and values of the run. SourceError F408 if it cannot be printed."""
        return self.language.parts(self, value, node)

    def call(self, node: ast.Call, function: Value, args: list[Value], keywords: Mapping[str, Value]) -> Value:
        """Calls a value. Poisoned if what it returns could not be evaluated."""
        found = self.language.call(self, node, function, args, keywords)
        if isinstance(found, Poison):
            raise Poisoned
        return found
