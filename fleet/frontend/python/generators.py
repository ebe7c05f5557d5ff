"""Functions with `yield`: the body runs in a thread of its own and waits between values."""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias
from weakref import WeakKeyDictionary

from fleet.errors import SourceError
from fleet.frontend.python.flow import exceptions
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import CallFrame, Class, Lazy, Library, ObjectInstance, SourceFunction, Value
from fleet.frontend.reading.wording import words

_KNOWN: WeakKeyDictionary[ast.AST, bool] = WeakKeyDictionary()
"""Function -> whether it gives a generator: asked at every call."""


def yields(function: ast.AST) -> bool:
    """Return whether calling a function gives a generator."""
    if function not in _KNOWN:
        _KNOWN[function] = _has_yield(function)
    return _KNOWN[function]


def _has_yield(function: ast.AST) -> bool:
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)
    return False


def made(ev: Evaluator, callee: SourceFunction, receiver: Value, frame: CallFrame) -> Lazy:
    """The generator that a call gives; nothing of its body has run."""
    return Lazy(Yielding(ev, callee, receiver, frame), "generator")


class _Ended(BaseException):
    """Raised at a `yield` to end the body."""


class Yielding(Iterator[Value]):
    """The values of a generator of the source. returned: what its body returned at its end."""

    def __init__(self, ev: Evaluator, callee: SourceFunction, receiver: Value, frame: CallFrame) -> None:
        self._ev, self._callee, self._inside = ev, callee, ev.inside
        self._frame, self._start = frame, frame
        self._calls: list[tuple[SourceFunction, Value]] = [(callee, receiver)]
        self._outer: list[CallFrame] = []
        self._depth = 0
        self._thread: threading.Thread | None = None
        self._go, self._back = threading.Semaphore(0), threading.Semaphore(0)
        self._value: Value = None
        self._error: BaseException | None = None
        self._thrown: SourceError | None = None
        self._sent: Value = None
        self._done = self._closed = False
        self.returned: Value = None
        ev.generators.append(self)

    def __next__(self) -> Value:
        if self._done:
            raise StopIteration
        ev = self._ev
        if self in ev.generating:
            ev.fail("F408", self._callee.node, f"the generator `{self._callee.name}` asks itself for a value")
        frame, calls, outer, depth = ev.frame, len(ev.calls), len(ev.outer), ev.depth
        ev.depth = self._depth
        ev.calls += self._calls
        ev.outer += self._outer
        ev.frame = self._frame
        ev.generating.append(self)
        self._turn()
        ev.generating.pop()
        self._calls, self._outer, self._frame, self._depth = ev.calls[calls:], ev.outer[outer:], ev.frame, ev.depth
        del ev.calls[calls:], ev.outer[outer:]
        ev.frame, ev.depth = frame, depth
        if self._error is not None:
            error, self._error = self._error, None
            raise error
        if self._done:
            raise StopIteration
        return self._value

    def _turn(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"generator {self._callee.name}", daemon=True)
            self._thread.start()
        self._go.release()
        self._back.acquire()

    def _run(self) -> None:
        self._go.acquire()
        try:
            node = self._callee.node
            assert isinstance(node, ast.FunctionDef)
            flow = self._ev.run(node.body, self._start)
            if flow.flags:
                self._ev.fail("F511", node, "a generator that ends where the run decides", "end it behind a known number of values")
            self.returned = flow.value if flow.kind == "return" else None
        except _Ended:
            pass
        except BaseException as error:
            self._error = error
        self._done = True
        self._back.release()

    def send(self, node: ast.AST, value: Value) -> Value:
        """Go on with what the `yield` gives. SourceError F703 for a generator that waits at none, or that ends."""
        if self._thread is None and value is not None:
            self._ev.fail("F703", node, "a value other than None is sent to a generator that has not begun", "call next(...) first")
        self._sent = value
        try:
            return next(self)
        except StopIteration:
            return exceptions.throw(self._ev, "F703", node, "the generator has ended", self.ended())

    def ended(self) -> ObjectInstance:
        """The exception at its end, which holds what it returned."""
        return exceptions.made(self._ev, "StopIteration", *(() if self.returned is None else (self.returned,)))

    def give(self, node: ast.AST, value: Value) -> Value:
        """Hand a value over, wait until somebody asks for the next; what is sent. SourceError F511 if the run decides about it."""
        if self._ev.inside != self._inside:
            self._ev.fail("F511", node, "a `yield` in a part that only the run enters or repeats", "yield before or behind it")
        self._value = value
        self._back.release()
        self._go.acquire()
        if self._closed:
            raise _Ended
        if self._thrown is not None:
            thrown, self._thrown = self._thrown, None
            raise thrown
        sent, self._sent = self._sent, None
        return sent

    def throw(self, error: SourceError) -> None:
        """Raise an exception of the source at the `yield` where the body waits, once the next value is asked for."""
        self._thrown = error

    def end(self) -> None:
        """`close()` of the source: the body ends at the `yield` where it waits."""
        if self._thread is None or self._done:
            self._done = True
            return
        ev, node = self._ev, self._callee.node
        leaving = exceptions.made(ev, "GeneratorExit")
        with ev.caught():
            try:
                exceptions.throw(ev, "F703", node, "the generator is closed", leaving)
            except exceptions.Thrown as thrown:
                self._thrown = thrown
            try:
                next(self)
            except StopIteration:
                return
            except SourceError as error:
                if exceptions.thrown_by(ev, error) is leaving:
                    return
                raise
        ev.fail("F703", node, f"the generator `{self._callee.name}` goes on when it is closed")

    def close(self) -> None:
        """Ends the thread."""
        if self._thread is not None and not self._done:
            self._closed = True
            self._turn()
            self._thread.join()


def yield_(ev: Evaluator, node: ast.Yield | ast.YieldFrom) -> Value:
    """`yield x`, which gives what is sent, and `yield from x`, which gives what that generator returns and hands nothing on."""
    if not ev.generating:
        ev.fail("F503", node, "`yield` outside of a function")
    generator = ev.generating[-1]
    if isinstance(node, ast.YieldFrom):
        source = ev.expression(node.value)
        for value in ev.iterate(node.value, source):
            generator.give(node, value)
        inner = source.values if isinstance(source, Lazy) else None
        return inner.returned if isinstance(inner, Yielding) else None
    return generator.give(node, None if node.value is None else ev.expression(node.value))


# ---- methods


def _next(ev: Evaluator, node: ast.Call, owner: Lazy, _args: list[Value]) -> Value:
    return ev.call(node, Library("builtins.next"), [owner], {})


def _throw(ev: Evaluator, node: ast.Call, owner: Lazy, args: list[Value]) -> Value:
    """Raise an exception at the `yield` where the generator waits; what it gives next."""
    value = ev.call(node, args[0], [], {}) if isinstance(args[0], Class) else args[0]
    if not isinstance(value, ObjectInstance) or not exceptions.is_exception(ev, value.kind):
        ev.fail("F408", node, f"{words(value)} is thrown", "throw an exception: ValueError(...)")
    body = _body(ev, node, owner)
    with ev.caught():
        try:
            exceptions.throw(ev, "F701", node, f"the source throws {value.kind.name} into a generator", value)
        except exceptions.Thrown as thrown:
            body.throw(thrown)
    return body.send(node, None)


def _body(ev: Evaluator, node: ast.Call, owner: Lazy) -> Yielding:
    if not isinstance(owner.values, Yielding):
        ev.fail("F206", node, f"{words(owner)} takes nothing that is sent", "send to generators of the file")
    return owner.values


def _send(ev: Evaluator, node: ast.Call, owner: Lazy, args: list[Value]) -> Value:
    return _body(ev, node, owner).send(node, args[0])


def _close(ev: Evaluator, node: ast.Call, owner: Lazy, _args: list[Value]) -> Value:
    _body(ev, node, owner).end()
    return None


_Method: TypeAlias = Callable[[Evaluator, ast.Call, Lazy, list[Value]], Value]
METHODS: Mapping[str, tuple[_Method, int, int]] = {
    "send": (_send, 1, 1), "throw": (_throw, 1, 1), "close": (_close, 0, 0), "__next__": (_next, 0, 0),
}  # fmt: skip
"""Method of a generator -> (what it does, fewest arguments, most)."""
