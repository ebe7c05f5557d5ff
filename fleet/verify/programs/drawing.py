"""Draws programs by statement. CPython runs each at once, so shapes are known; a statement that NumPy refuses is drawn again."""

from __future__ import annotations

import contextlib
import io
import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fleet.verify.programs.bins import Bin, BinCounts, aims, number_of
from fleet.verify.programs.parts.declarations import declaration, misgiven
from fleet.verify.programs.parts.hand import MOST_ELEMENTS, Hand, KnownExpression, Redraw
from fleet.verify.programs.parts.operations import EXPRESSIONS
from fleet.verify.programs.parts.refused import refused
from fleet.verify.programs.parts.statements import LANGUAGE, STATEMENTS
from fleet.verify.programs.parts.surroundings import surroundings
from fleet.verify.programs.parts.values import DTYPES, ProgramArray, draw_array, draw_shape, layout_of
from fleet.verify.programs.parts.wrong import wrong_text

FUNCTION = "forward"
HELPER = """def helper(v, k=2):
    table = np.array([1, 2, k])
    if k > 3:
        return v * table[-1:]
    return v * k if k > 2 else v + k
"""
_TRIES = 5
_LEAST_WIDE = 2


@dataclass(frozen=True)
class Shares:
    """Shares of programs: wrong: must be refused (planted: of these, by fleet's design, CPython may run them); unknown: with
    unknown sizes; weights: with weights; surrounded: with statements around the function; declared: with other declarations.
    language: share of statements of `LANGUAGE`.
    """

    wrong: float = 0.08
    planted: float = 0.3
    unknown: float = 0.05
    weights: float = 0.05
    surrounded: float = 0.03
    declared: float = 0.03
    language: float = 0.0


_USUAL = Shares()


@dataclass(frozen=True)
class DrawnStatement:
    """One statement (of one or more lines), the names that it assigns, and the bins that it meets."""

    text: str
    names: tuple[str, ...]
    bins: tuple[int, ...] = ()


@dataclass(frozen=True)
class DrawnProgram:
    """A program.

    wrong: it must be refused, because CPython raises in its last statement or, if `planted`, by fleet's design.
    account: bins that CPython refused.
    unknown: input -> axes whose sizes are known only at run time; equal sizes have one name.
    weights: inputs that are bound at compile time.
    head: lines around the function.
    declared: declarations of inputs, if not by dtype and shape.
    unfit: arrays passed instead of the inputs, which must be refused.
    """

    lines: tuple[DrawnStatement, ...]
    inputs: Mapping[str, ProgramArray]
    wrong: bool = False
    account: BinCounts = field(default_factory=BinCounts)
    unknown: Mapping[str, frozenset[int]] = field(default_factory=dict[str, frozenset[int]])
    weights: tuple[str, ...] = ()
    planted: bool = False
    head: str = ""
    declared: Mapping[str, str] = field(default_factory=dict[str, str])
    unfit: Mapping[str, ProgramArray] | None = None

    @property
    def arrays(self) -> Mapping[str, ProgramArray]:
        """The arrays that the program runs with."""
        return self.inputs if self.unfit is None else self.unfit

    @property
    def source(self) -> str:
        """The source file."""
        return source_of(self.lines, self.inputs, self.unknown, self.head, self.declared)

    @property
    def before(self) -> str:
        """The source file without the last statement; empty if there is no other statement."""
        return source_of(self.lines[:-1], self.inputs, self.unknown, self.head, self.declared) if len(self.lines) > 1 else ""


def source_of(
    lines: Sequence[DrawnStatement], inputs: Mapping[str, ProgramArray], unknown: Mapping[str, Collection[int]] | None = None,
    head: str = "", written: Mapping[str, str] | None = None,
) -> str:  # fmt: skip
    """Return a source file with a function of these statements, which returns all assigned names."""
    body = "\n".join("    " + row for line in lines for row in line.text.split("\n"))
    late = {name: (unknown or {}).get(name, ()) for name in inputs}
    dims = {name: ", ".join(f"n{d}" if i in late[name] else str(d) for i, d in enumerate(a.shape)) for name, a in inputs.items()}
    usual = {name: f': "{a.dtype.name}[{dims[name]}]"' for name, a in inputs.items()}
    declared = ", ".join(name + text for name, text in {**usual, **(written or {})}.items())
    names = dict.fromkeys(n for line in lines for n in line.names)
    helper = f"\n\n{HELPER}" if "helper(" in body else ""
    around = f"{head}\n" if head else ""
    return f"import numpy as np\n{around}{helper}\n\ndef {FUNCTION}({declared}):\n{body}\n    return {', '.join(names)}\n"


def draw_program(
    seed: Sequence[int], wanted: Sequence[int], avoided: Collection[int] = (), statements: int = 5, shares: Shares = _USUAL
) -> DrawnProgram:
    """Draw the program of a seed, aimed at some of the bins `wanted` (numbers in `bins.BINS`)."""
    rng = np.random.default_rng(list(seed))
    quiet = contextlib.redirect_stdout(io.StringIO())
    with quiet, np.errstate(all="ignore", invalid="warn"), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        return _Drawing(rng, said, _language(rng, aims(rng, wanted, statements, avoided), shares.language)).draw(shares)


def _language(rng: np.random.Generator, wanted: Sequence[Bin], share: float) -> list[Bin]:
    """Return the bins, a share of them with an operation of `LANGUAGE` instead."""
    return [(str(rng.choice(LANGUAGE)), b[1], b[2]) if share and rng.random() < share else b for b in wanted]


class _Drawing:
    def __init__(self, rng: np.random.Generator, said: list[warnings.WarningMessage], wanted: Sequence[Bin]) -> None:
        self._said, self._wanted = said, wanted
        self._account = BinCounts()
        dtypes = list(dict.fromkeys(b[1] for b in wanted))
        self._inputs: dict[str, ProgramArray] = {}
        for i, dtype in enumerate([*dtypes, *dtypes[:1], str(rng.choice(DTYPES))]):
            shape = draw_shape(rng)
            while i < _LEAST_WIDE and 0 in (*shape, len(shape)):  # the first inputs have elements and dimensions
                shape = draw_shape(rng)
            self._inputs["abcdefgh"[i]] = draw_array(rng, np.dtype(dtype), shape)
        self._pool = [KnownExpression(n, a.copy()) for n, a in self._inputs.items()]
        self._hand = Hand(rng, self._pool)
        self._space: dict[str, Any] = {"np": np, **{k.text: k.value for k in self._pool}}
        exec(HELPER, self._space)
        self._lines: list[DrawnStatement] = []

    def draw(self, shares: Shares) -> DrawnProgram:
        unknown = self._unknown() if self._hand.chance(shares.unknown) else {}
        for b in self._wanted:
            for _ in range(_TRIES):
                try:
                    line = self._late(b) if unknown and self._hand.chance(0.3) else self._drawn(b)
                except Redraw:
                    self._closed(b)
                else:
                    self._lines.append(line)
                    break
        if not self._lines:
            self._lines.append(self._bound(f"{self._pool[0].text} + 1", ()))
        head, refused = self._surrounded() if self._hand.chance(shares.surrounded) else ("", False)
        weights = self._weights() if not unknown and self._hand.chance(shares.weights) else ()
        declared = self._declared() if not unknown and self._hand.chance(shares.declared) else {}
        wrong = not refused and self._hand.chance(shares.wrong)
        planted = wrong and self._hand.chance(shares.planted)
        unfit: Mapping[str, ProgramArray] | None = None
        if planted and not unknown and self._hand.chance(0.15):
            declared = {}
            if self._hand.chance(0.4):
                name = self._hand.one(tuple(self._inputs))
                declared = {name: declaration(self._hand, self._inputs[name], wrong=True)}
            else:
                unfit, weights = misgiven(self._hand, self._inputs)
        elif planted:
            self._plant()
        wrong = refused or planted or (wrong and self._add_wrong())
        lines = tuple(self._lines)
        return DrawnProgram(lines, self._inputs, wrong, self._account, unknown, weights, planted or refused, head, declared, unfit)

    def _drawn(self, b: Bin) -> DrawnStatement:
        return self._statement(b) if b[0] in STATEMENTS else self._assignment(b)

    def _late(self, b: Bin) -> DrawnStatement:
        return self._statement(("sizes in statements", b[1], "contiguous"))

    def _surrounded(self) -> tuple[str, bool]:
        """Draw lines around the function and a statement that uses them. Return also whether fleet must refuse it."""
        base, v = self._hand.one(self._pool), f"v{len(self._lines)}"
        for _ in range(_TRIES):
            head, rows, refused = surroundings(self._hand, v, base)
            try:
                exec(head, self._space)
                self._lines.append(self._run([f"{v} = {base.text}.copy()", *rows], v, ()))
            except (Redraw, Exception):
                continue
            return head, refused
        return "", False

    def _declared(self) -> dict[str, str]:
        """Draw other declarations of some inputs."""
        return {n: declaration(self._hand, a) for n, a in self._inputs.items() if self._hand.chance(0.5)}

    def _unknown(self) -> dict[str, frozenset[int]]:
        """Choose the unknown dimensions: the first ones, or also others."""
        share = self._hand.one((0.0, 0.5))
        return {name: frozenset(i for i in range(a.ndim) if i == 0 or self._hand.chance(share)) for name, a in self._inputs.items()}

    def _weights(self) -> tuple[str, ...]:
        return tuple(n for n, a in self._inputs.items() if self._hand.chance(0.5) and bool(np.isfinite(a).all()))

    def _closed(self, b: Bin) -> None:
        number = number_of(b)
        assert number is not None
        self._account.closed[number] = self._account.closed.get(number, 0) + 1

    def _value(self, text: str) -> KnownExpression:
        """Evaluate an expression. Raises Redraw if CPython refuses it or its value does not suit programs."""
        del self._said[:]
        try:
            value = eval(text, self._space)
        except Exception as error:
            raise Redraw from error
        return self._held(text, value)

    def _held(self, text: str, value: object) -> KnownExpression:
        if any("in cast" in str(w.message) for w in self._said) or not isinstance(value, np.ndarray | np.generic):
            raise Redraw
        array = np.asarray(value)
        if array.dtype.name not in DTYPES or array.size > MOST_ELEMENTS or array.ndim > 6:
            raise Redraw
        return KnownExpression(text, array)

    def _operand(self, dtype: str, layout: str) -> KnownExpression:
        """Draw an expression of that dtype and layout."""
        hand = self._hand
        same = [k for k in self._pool if k.dtype.name == dtype]
        for _ in range(6):
            if same and not hand.chance(0.08):
                base = hand.one(same)
            else:
                other = hand.one(self._pool)
                base = self._value(EXPRESSIONS["astype"](hand, other))
                if base.dtype.name != dtype:
                    continue
            found = base if layout_of(base.value) == layout else self._value(_laid(hand, base, layout))
            if layout_of(found.value) == layout:
                return found
        raise Redraw

    def _assignment(self, b: Bin) -> DrawnStatement:
        name, dtype, layout = b
        x = self._operand(dtype, layout)
        found = self._value(EXPRESSIONS[name](self._hand, x))
        met = [b]
        if self._hand.chance(0.3):
            outer = self._hand.one(tuple(EXPRESSIONS))
            try:
                wrapped = self._value(EXPRESSIONS[outer](self._hand, found))
            except Redraw:
                pass
            else:
                met.append((outer, found.dtype.name, layout_of(found.value)))
                found = wrapped
        return self._bound(found.text, met)

    def _bound(self, text: str, met: Sequence[Bin]) -> DrawnStatement:
        name = f"v{len(self._lines)}"
        return self._run([f"{name} = {text}"], name, met)

    def _run(self, rows: Sequence[str], name: str, met: Sequence[Bin]) -> DrawnStatement:
        """Execute the statement; the assigned values are available from now on."""
        del self._said[:]
        text = "\n".join(rows)
        space = dict(self._space)
        try:
            exec(text, space)
        except Exception as error:
            raise Redraw from error
        new = [n for n in space if n not in self._space and n[0] in "uvw" and n != "v"]
        found = [self._held(n, space[n]) for n in dict.fromkeys([name, *new])]
        self._space = space
        self._pool += [KnownExpression(k.text, k.value) for k in found]
        numbers = [n for b in met if (n := number_of(b)) is not None]
        return DrawnStatement(text, tuple(k.text for k in found), tuple(numbers))

    def _statement(self, b: Bin) -> DrawnStatement:
        name, dtype, layout = b
        hand, v = self._hand, f"v{len(self._lines)}"
        base = self._operand(dtype, hand.one(("contiguous", "contiguous", "strided", "transposed")) if layout != "0-d" else layout)
        self._space[v] = base.value.copy() if base.ndim else np.array(base.value)
        try:
            part = KnownExpression(v, self._space[v])
            if layout_of(part.value) != layout:
                laid = self._value(_laid(hand, part, layout))
                part = KnownExpression(laid.text if laid.text.endswith("]") else f"{laid.text}[...]", laid.value)
            if layout_of(part.value) != layout:
                raise Redraw
            rows = STATEMENTS[name](hand, v, part)
        finally:
            del self._space[v]
        copied = f"{base.text}.copy()" if hand.chance(0.8) else f"np.array({base.text})"
        return self._run([f"{v} = {copied}", *rows], v, [b])

    def _plant(self) -> None:
        """Append a last statement that fleet refuses by design."""
        v = f"v{len(self._lines)}"
        text = refused(self._hand, self._hand.one(self._pool), tuple(self._inputs))
        self._lines.append(DrawnStatement(re.sub(r"\bv\b", v, text), (v,)))

    def _add_wrong(self) -> bool:
        """Append a last statement that CPython refuses. If CPython accepts it, it may become an ordinary statement."""
        for _ in range(_TRIES):
            v = f"v{len(self._lines)}"
            name, x = self._hand.one(tuple(EXPRESSIONS)), self._hand.one(self._pool)
            try:
                text = wrong_text(self._hand, x) if self._hand.chance(0.8) else EXPRESSIONS[name](self._hand, x)
            except Redraw:
                continue
            try:
                eval(text, dict(self._space))
            except Exception:
                self._lines.append(DrawnStatement(f"{v} = {text}", (v,)))
                return True
            if self._hand.chance(0.3):
                try:
                    self._lines.append(self._bound(text, ()))
                except Redraw:
                    continue
                return False
        return False


def _laid(hand: Hand, x: KnownExpression, layout: str) -> str:
    """Return the text of a part or view that may have the layout."""
    t, n = x.text, x.ndim
    if layout == "0-d":
        return f"{t}[{', '.join(str(hand.integer(-s, s)) for s in x.shape)}]" if n else t
    if layout == "empty":
        return hand.one((f"{t}[:0]", f"{t}[..., :0]", f"{t}[5:2]")) if n else f"{t}[None][:0]"
    if layout == "broadcast":
        return f"np.broadcast_to({t}, {(hand.integer(2, 4), *x.shape)})"
    if n == 0:
        raise Redraw
    if layout == "contiguous":
        return hand.one((f"{t}.copy()", f"{t}[:2].copy()", f"np.ravel({t})"))
    if layout == "strided":
        return hand.one((f"{t}[::2]", f"{t}[..., ::2]", f"{t}[..., 1:]", f"{t}[1::2]", f"{t}[..., ::3]"))
    if layout == "reversed":
        return hand.one((f"{t}[::-1]", f"{t}[..., ::-1]", f"{t}[::-2]", f"{t}[..., ::-2]"))
    return hand.one((f"{t}.T", f"{t}.swapaxes(0, -1)", f"{t}[::2].T"))
