"""Rows that several work items compute together, with the bits that one item would give them.

A launch with an item a row becomes one with a team of items a row. Rounds of loops that carry nothing are shared out among it. Of a
loop that carries values, the team computes what does not depend on them and lays it into memory that the group shares, a tile at a
time; then one item a row goes over the tile in order. Maxima and minima, whose order does not matter, are first taken by every item
of its own elements. So neighbouring items read neighbouring elements, and sums keep their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from llvmlite import ir

from fleet.targets.gpu.builder import LaunchBody
from fleet.targets.gpu.statements import (
    CallStatement,
    Choice,
    CountedLoop,
    Expression,
    FaultStop,
    Pointer,
    Raw,
    StatementBlock,
    StatementItem,
    StoreStatement,
    TextOperand,
    When,
    WhileLoop,
    operands_of,
)
from fleet.targets.gpu.surface import Surface
from fleet.targets.riscv.kernels.kernel import F64, I1, I64

_SHORT = 32
"""Elements of a row below which one item computes it."""
_GROUP, _ALONE = 256, 128
"""Items of a group: of several rows, of one."""
_ADJACENT = 8
"""Rows of a group whose elements lie side by side: as many as memory moves together."""
_BUSY = 264
"""Groups that keep a GPU busy: rows share a group only if there are more."""
_ROOM, _MOST = 1 << 14, 48 << 10
"""Bytes of shared memory for the tiles of a loop; for all that a kernel declares."""
_BYTES = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "float": 4, "double": 8}
_AHEAD = 32
"""Elements that are on their way from shared memory while a row is summed."""
_LIGHT, _AT_ONCE, _HEAVY = 8, 16, 8
"""Statements of a light round; light and other rounds that an item runs at once, so that their loads are on their way together."""
_AGAIN = 32
"""Elements of an item which the compiler keeps in registers from pass to pass, if all rounds are written out; rounds may then have
twice the statements."""


class CannotShareError(Exception):
    """The statements of a row cannot be shared out: one item computes it."""


def in_teams(launch: LaunchBody, surface: Surface, *, across: bool) -> LaunchBody:
    """Return a launch of rows with a team a row. Raises CannotShareError; the statements must then be made anew.

    across: elements of a row lie apart, and side by side those of one row and the next, so that a group has many short teams.
    """
    if launch.groups is not None or max((loop.count for loop in _loops(launch.block)), default=0) < _SHORT:
        raise CannotShareError
    if across and launch.items > _BUSY * _GROUP:
        raise CannotShareError
    rows = _ADJACENT if across else next(r for r in (8, 4, 2, 1) if r == 1 or launch.items // r >= _BUSY)
    local = _ALONE if rows == 1 else _GROUP
    block = _Team(surface, rows, local // rows, across).shared_out(launch)
    return LaunchBody(launch.items, block, -(-launch.items // rows), local)


def _loops(block: StatementBlock) -> Iterator[CountedLoop]:
    for item in block.items:
        if isinstance(item, CountedLoop):
            yield item
        for body in operands_of(item)[1]:
            yield from _loops(body)


def _is_light(block: StatementBlock, most: int) -> bool:
    """Return whether a round is short and computes nothing in float64, as functions do."""
    return len(block.items) <= most and not any(isinstance(item, Expression) and item.type == F64 for item in block.items)


def _named(name: str) -> Expression:
    return Expression(I64, None, index=True, name=name)


_INSIDE, _ROW, _LANE = _named("inside"), _named("row"), _named("lane")
"""An item's place in the group; the row in the group that its team computes; its place in the team."""


class _Lines(StatementBlock):
    """A block with methods that append to it."""

    def add(self, item: Any) -> Any:
        """Append a statement; return it."""
        self.items.append(item)
        return item

    def index(self, form: str, *operands: TextOperand) -> TextOperand:
        """Append a number of an element."""
        return self.add(Expression(I64, form, operands, index=True, counts=True))

    def load(self, pointer: Pointer, offset: TextOperand) -> TextOperand:
        """Append a load."""
        return self.add(Expression(pointer.type, f"{pointer.name}[{{0}}]", (offset,), counts=True, reads=True))

    def store(self, pointer: Pointer, offset: TextOperand, value: TextOperand) -> None:
        """Append a store."""
        self.items.append(StoreStatement(replace(pointer, offset=offset), value))

    def when(self, condition: str) -> _Lines:
        """Append an `if`; return its body."""
        body = _Lines()
        self.items.append(When(self.add(Expression(I1, f"({condition})", counts=True)), body))
        return body

    def loop(self, count: int, init: Sequence[TextOperand] = (), ahead: int = 0) -> tuple[CountedLoop, _Lines]:
        """Append a loop; return it and its body."""
        carried, body = [Expression(v.type, None) for v in init], _Lines()
        return self.add(CountedLoop(count, 1, Expression(I64, None, index=True), init, carried, body, unrolled=ahead)), body


class _Team:
    """Shares out the statements of a row. rows: of a group; size: items of a row; across: as in `in_teams`."""

    def __init__(self, surface: Surface, rows: int, size: int, across: bool) -> None:
        self._surface, self._rows, self._size, self._across = surface, rows, size, across
        self._tiles: dict[tuple[str, int], tuple[Pointer, int]] = {}
        self._totals = self._bytes = 0
        self._head = _Lines()
        self._only: Expression | None = None
        self._again = False

    def shared_out(self, launch: LaunchBody) -> StatementBlock:
        """Return a row's statements as the team runs them; teams without a row read the last one and write nothing."""
        passes = [loop for loop in _loops(launch.block) if not any(True for _ in _loops(loop.body))]
        short = all(loop.count <= _AGAIN * self._size and _is_light(loop.body, 2 * _LIGHT) for loop in passes)
        self._again = short and len(passes) > 1
        whole = launch.items % self._rows == 0
        if not whole:
            self._only = _named("real")
            self._only.type, self._only.index = I1, False
        body = self._block(launch.block)
        for pointer, count in self._tiles.values():
            self._declare(pointer, count)
        surface = self._surface
        row, lane = f"inside / {self._size}", f"inside % {self._size}"
        if self._across:
            row, lane = f"inside % {self._rows}", f"inside / {self._rows}"
        self._head.add(Raw(f"const int inside = {surface.inside}, row = {row}, lane = {lane};"))
        number = f"{surface.group} * {self._rows} + row"
        if not whole:
            self._head.add(Raw(f"const bool real = {number} < {launch.items};"))
            number = f"real ? {number} : {launch.items - 1}"
        self._head.add(Raw(f"const int i = {number};"))
        return StatementBlock([*self._head.items, *body.items])

    def _declare(self, pointer: Pointer, count: int) -> None:
        type_ = self._surface.types[str(pointer.type)]
        self._bytes += _BYTES[str(pointer.type)] * count
        if self._bytes > _MOST:
            raise CannotShareError
        self._head.add(Raw(self._surface.shared.format(type=type_, name=pointer.name, count=count, align=16)))

    def _block(self, block: StatementBlock) -> _Lines:
        found = _Lines()
        for item in block.items:
            match item:
                case StoreStatement():
                    self._own(found.when("lane == 0")).add(item)
                    self._wait(found)
                case CountedLoop() if item.step != 1:
                    raise CannotShareError
                case CountedLoop() if any(True for _ in _loops(item.body)):
                    body = self._block(item.body)
                    self._wait(body)  # the next round writes what this one read
                    found.add(replace(item, body=body))
                case CountedLoop() if not item.carried:
                    self._each(self._own(found), item.count, partial(_round, item))
                    self._wait(found)
                case CountedLoop():
                    self._carried(found, item)
                case Choice() if any(True for _ in _loops(item.body)):
                    self._choice(found, item)
                case When() | WhileLoop() | FaultStop():
                    raise CannotShareError
                case _:
                    found.add(item)
        return found

    def _choice(self, lines: _Lines, choice: Choice) -> None:
        """Append a choice that is entered by the whole group if one of its rows enters it; the others then change nothing."""
        before = self._only
        if not isinstance(choice.condition, Expression):
            raise CannotShareError
        entered = lines.add(Expression(I1, f"{self._surface.any}({{0}})", (choice.condition,)))
        self._only = choice.condition
        if before is not None:
            self._only = lines.add(Expression(I1, "({0} && {1})", (before, choice.condition)))
        body = self._block(choice.body)
        self._only = before
        value = body.add(Expression(choice.variable.type, "({0} ? {1} : {2})", (choice.condition, choice.value, choice.otherwise)))
        lines.add(Choice(entered, choice.variable, choice.otherwise, body, value))

    def _own(self, lines: _Lines) -> _Lines:
        """Return where statements go that only teams run that have a row and entered the choice around; else `lines` itself."""
        if self._only is None:
            return lines
        body = _Lines()
        lines.add(When(self._only, body))
        return body

    def _wait(self, lines: _Lines) -> None:
        lines.add(Raw(self._surface.barrier))

    def _each(
        self, lines: _Lines, count: int, body: Callable[[_Lines, TextOperand, TextOperand], None], start: TextOperand | None = None
    ) -> None:
        """Append `body(lines, start + k, k)` for k in 0..count-1, of which an item takes every `size`-th."""
        full, rest = divmod(count, self._size)

        def one(inner: _Lines, turn: TextOperand) -> None:
            k = inner.index(f"(({{0}} * {self._size}) + {{1}})", turn, _LANE)
            body(inner, k if start is None else inner.index("({0} + {1})", start, k), k)

        if full:
            loop, inner = lines.loop(full)
            one(inner, loop.variable)
            at_once, light = (_AGAIN, 2 * _LIGHT) if self._again else (_AT_ONCE, _LIGHT)
            loop.unrolled = min(full, at_once if _is_light(inner, light) else _HEAVY)
        if rest:
            one(lines.when(f"lane < {rest}"), ir.Constant(I64, full))

    # ---- loops that carry values

    def _carried(self, lines: _Lines, loop: CountedLoop) -> None:
        chain = _Chain(loop, self._surface)
        whole = chain.free and loop.count % self._size == 0
        totals: list[Pointer] = []
        for value in loop.carried:
            totals.append(Pointer(f"total{self._totals}", value.type, space="shared"))
            self._declare(totals[-1], self._rows * (self._size if whole else 1))
            self._totals += 1
        if whole:
            self._extremes(lines, loop, chain, totals)
        else:
            first = lines.when("lane == 0")
            for total, value in zip(totals, loop.init, strict=True):
                first.store(total, _ROW, value)
            self._in_order(lines, loop, chain, totals)
        at = lines.index(f"({{0}} * {self._size})", _ROW) if whole else _ROW
        for total, value in zip(totals, loop.carried, strict=True):  # those after the loop find their value there
            value.form, value.operands, value.counts, value.reads = f"{total.name}[{{0}}]", (at,), True, True
            lines.add(value)

    def _extremes(self, lines: _Lines, loop: CountedLoop, chain: _Chain, totals: Sequence[Pointer]) -> None:
        """Let every item go over its own elements, then one item a row over what they found."""
        own, body = lines.loop(loop.count // self._size, loop.init, _AT_ONCE)
        k = body.index(f"(({{0}} * {self._size}) + {{1}})", own.variable, _LANE)
        names: dict[Expression, TextOperand] = {loop.variable: k, **dict(zip(loop.carried, own.carried, strict=True))}
        body.items.extend(_copied(loop.body, names))
        own.after = [_renamed(v, names) for v in loop.after]
        mine = lines.index(f"(({{0}} * {self._size}) + {{1}})", _ROW, _LANE)
        for total, value in zip(totals, own.carried, strict=True):
            lines.store(total, mine, value)
        self._wait(lines)
        alone = lines.when(f"inside < {self._rows}")
        start = alone.index(f"({{0}} * {self._size})", _INSIDE)
        merge, body = alone.loop(self._size, [alone.load(total, start) for total in totals], _AHEAD)
        at = body.index("({0} + {1})", start, merge.variable)
        loads = [body.load(total, at) for total in totals]
        merge.after = [body.add(chain.step(n, s, v)) for n, (s, v) in enumerate(zip(merge.carried, loads, strict=True))]
        for total, value in zip(totals, merge.carried, strict=True):
            alone.store(total, start, value)
        self._wait(lines)

    def _in_order(self, lines: _Lines, loop: CountedLoop, chain: _Chain, totals: Sequence[Pointer]) -> None:
        """Let the team fill tiles, and one item a row go over them in order."""
        each = max(1, sum(_BYTES[str(v.type)] for v in chain.crossing))
        room = 2 * _ROOM if self._again and len(chain.crossing) == 1 else _ROOM
        most = max(self._size, 1 << ((room // (self._rows * each)).bit_length() - 1))
        full, rest = divmod(loop.count, most)
        if full == 1:
            self._tile(lines, loop, chain, totals, most, None)
        elif full:
            tiles, body = lines.loop(full)
            start = body.index(f"({{0}} * {most})", tiles.variable)
            self._tile(body, loop, chain, totals, most, start)
        if rest:
            self._tile(lines, loop, chain, totals, rest, ir.Constant(I64, full * most) if full else None)

    def _tile(
        self, lines: _Lines, loop: CountedLoop, chain: _Chain, totals: Sequence[Pointer], count: int, start: TextOperand | None
    ) -> None:
        tiles = self._memory(chain.crossing, count)

        def place(inner: _Lines, row: TextOperand, pitch: int, k: TextOperand) -> TextOperand:
            return k if self._rows == 1 else inner.index(f"(({{0}} * {pitch}) + {{1}})", row, k)

        def fill(inner: _Lines, k: TextOperand, near: TextOperand) -> None:
            names: dict[Expression, TextOperand] = {loop.variable: k}
            inner.items.extend(_copied(StatementBlock(chain.apart), names))
            for value, (pointer, pitch) in zip(chain.crossing, tiles, strict=True):
                inner.store(pointer, place(inner, _ROW, pitch, near), _renamed(value, names))

        self._each(self._own(lines), count, fill, start)
        self._wait(lines)
        alone = lines.when(f"inside < {self._rows}")
        walk, inner = alone.loop(count, [alone.load(total, _INSIDE) for total in totals], _AHEAD)
        names: dict[Expression, TextOperand] = dict(zip(loop.carried, walk.carried, strict=True))
        names[loop.variable] = walk.variable if start is None else inner.index("({0} + {1})", start, walk.variable)
        for value, (pointer, pitch) in zip(chain.crossing, tiles, strict=True):
            names[value] = inner.load(pointer, place(inner, _INSIDE, pitch, walk.variable))
        inner.items.extend(_copied(StatementBlock(chain.serial), names))
        walk.after = [_renamed(v, names) for v in loop.after]
        for total, value in zip(totals, walk.carried, strict=True):
            alone.store(total, _INSIDE, value)
        self._wait(lines)

    def _memory(self, values: Sequence[Expression], count: int) -> list[tuple[Pointer, int]]:
        """Return a tile for each value, and the elements from row to row: rows begin in different banks."""
        found: list[tuple[Pointer, int]] = []
        for n, value in enumerate(values):
            key = (str(value.type), sum(str(v.type) == str(value.type) for v in values[:n]))
            pitch = count + 16 // _BYTES[key[0]]
            pointer, size = self._tiles.get(key, (Pointer(f"tile{len(self._tiles)}", value.type, space="shared"), 0))
            self._tiles[key] = pointer, max(size, self._rows * pitch)
            found.append((pointer, pitch))
        return found


class _Chain:
    """What of a loop's body depends on the values that it carries.

    serial: that; apart: the rest; crossing: values that `serial` takes from outside. free: whether the order of rounds is.
    """

    def __init__(self, loop: CountedLoop, surface: Surface) -> None:
        self._loop = loop
        depends: set[Any] = set(loop.carried)
        self.serial: list[StatementItem] = []
        self.apart: list[StatementItem] = []
        for item in loop.body.items:
            if not any(o in depends for o in _mentioned(item)):
                self.apart.append(item)
            elif isinstance(item, Expression):
                depends.add(item)
                self.serial.append(item)
            else:
                raise CannotShareError
        used = [o for item in self.serial for o in operands_of(item)[0]] + list(loop.after)
        crossing = [o for o in used if isinstance(o, Expression) and o not in depends and o is not loop.variable]
        self.crossing = list(dict.fromkeys(crossing))
        self._forms = {f"{surface.function(n, t)}({{0}}, {{1}})" for n in ("maxnum", "minnum") for t in ("float", "double")}
        self.free = all(self._is_extreme(n, value) for n, value in enumerate(loop.after))

    def _is_extreme(self, n: int, value: TextOperand) -> bool:
        if not isinstance(value, Expression) or value.form not in self._forms:
            return False
        return value.operands[0] is self._loop.carried[n] and value.operands[1] not in self.serial

    def step(self, n: int, before: TextOperand, value: TextOperand) -> Expression:
        """Return the n-th value after a round of a loop whose order is free."""
        return replace(self._loop.after[n], operands=(before, value), name="")


def _round(loop: CountedLoop, lines: _Lines, k: TextOperand, _near: TextOperand) -> None:
    lines.items.extend(_copied(loop.body, {loop.variable: k}))


def _mentioned(item: StatementItem) -> Iterator[TextOperand]:
    before, bodies, ends = operands_of(item)
    yield from (*before, *ends)
    for body in bodies:
        for inner in body.items:
            yield from _mentioned(inner)


def _renamed(value: TextOperand, names: Mapping[Expression, TextOperand]) -> TextOperand:
    return names.get(value, value) if isinstance(value, Expression) else value


def _copied(block: StatementBlock, names: dict[Expression, TextOperand]) -> list[StatementItem]:
    """Return copies of statements. names: what stands for values from outside; those of the statements are added."""

    def inner(body: StatementBlock) -> StatementBlock:
        return StatementBlock(_copied(body, names))

    def new(variable: Expression) -> Expression:
        names[variable] = replace(variable, name="")
        return names[variable]

    def of(value: TextOperand) -> TextOperand:
        return _renamed(value, names)

    found: list[StatementItem] = []
    for item in block.items:
        match item:
            case Expression():
                found.append(replace(item, operands=tuple(map(of, item.operands)), name=""))
                names[item] = found[-1]
            case StoreStatement():
                offset = None if item.pointer.offset is None else of(item.pointer.offset)
                found.append(StoreStatement(replace(item.pointer, offset=offset), of(item.value)))
            case CountedLoop():
                init = [of(v) for v in item.init]
                variable, carried = new(item.variable), [new(v) for v in item.carried]
                body = inner(item.body)
                found.append(
                    replace(item, variable=variable, init=init, carried=carried, body=body, after=[of(v) for v in item.after])
                )
            case WhileLoop():
                init, variable, test = of(item.init), new(item.variable), inner(item.test)
                holds, body = of(item.holds), inner(item.body)
                found.append(WhileLoop(init, variable, test, holds, body, of(item.after)))
            case Choice():
                condition, otherwise, body = of(item.condition), of(item.otherwise), inner(item.body)
                found.append(Choice(condition, new(item.variable), otherwise, body, of(item.value)))
            case When():
                found.append(When(of(item.condition), inner(item.body)))
            case FaultStop():
                raise CannotShareError
            case CallStatement():
                found.append(CallStatement(item.form, tuple(map(of, item.operands))))
            case Raw():
                found.append(item)
    return found
