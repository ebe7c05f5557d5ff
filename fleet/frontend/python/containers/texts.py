"""Methods of strings, bytes, `io.StringIO` and Python's numbers."""

from __future__ import annotations

import ast
import codecs
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from fleet.frontend.python.flow import exceptions
from fleet.frontend.python.text import formats
from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.plain import known, value_of
from fleet.frontend.reading.values import Dict, List, NumberValue, Text, Value
from fleet.frontend.reading.wording import words

_Method: TypeAlias = Callable[..., Value]
"""A method's implementation. Arguments: evaluator, call, owner, arguments."""


def _text_method(name: str) -> _Method:
    def method(ev: Evaluator, node: ast.Call, owner: str, args: list[Value]) -> Value:
        plain = [known(ev, node, a, f"an argument of `.{name}`") for a in args]
        if name in ("center", "ljust", "rjust", "zfill", "expandtabs") and plain and isinstance(plain[0], int):
            ev.bounded(node, plain[0] * (len(owner) if name == "expandtabs" else 1), "a string")
        if name in ("replace", "translate"):
            added = plain[0].values() if isinstance(plain[0], dict) else plain[1:]
            ev.bounded(node, len(owner) * (1 + max((len(str(a)) for a in added), default=0)), "a string")
        try:
            return value_of(getattr(owner, name)(*plain))
        except ValueError as error:
            exceptions.throw(ev, "F704", node, f"`.{name}`: {error}", exceptions.made(ev, "ValueError", str(error)))
        except TypeError as error:
            return ev.refuse("F408", node, f"`.{name}`: {error}", error)

    return method


def encoded(ev: Evaluator, node: ast.Call, owner: str | bytes, args: Sequence[Value]) -> Value:
    """`text.encode(...)` and `data.decode(...)`."""
    coding = args[0] if args else "utf-8"
    try:
        if not isinstance(coding, str) or codecs.lookup(coding).name not in ("utf-8", "ascii", "iso8859-1"):
            ev.fail("F408", node, f"the encoding {coding!r} is not supported", "use utf-8, ascii or latin-1")
        errors = args[1] if len(args) > 1 else "strict"
        if errors not in ("strict", "ignore", "replace", "backslashreplace"):
            ev.fail("F408", node, f"errors={errors!r} is not supported", "use strict, ignore, replace or backslashreplace")
        return owner.encode(coding, str(errors)) if isinstance(owner, str) else owner.decode(coding, str(errors))
    except (ValueError, LookupError) as error:
        return ev.fail("F703", node, str(error))


def _encoded(ev: Evaluator, node: ast.Call, owner: str | bytes, args: list[Value]) -> Value:
    return encoded(ev, node, owner, args)


def _maketrans(ev: Evaluator, node: ast.Call, _owner: Value, args: list[Value]) -> Value:
    """`str.maketrans(...)`: a dict of characters' numbers."""
    plain = [known(ev, node, a, "an argument of maketrans") for a in args]
    try:
        return Dict({k: value_of(v) for k, v in str.maketrans(*plain).items()})
    except (TypeError, ValueError) as error:
        return ev.fail("F703", node, str(error))


def _number_method(ev: Evaluator, node: ast.Call, owner: NumberValue, args: list[Value]) -> Value:
    """Call a method of a known number of Python. Raises SourceError F404 for a number of the run."""
    assert isinstance(node.func, ast.Attribute)
    plain = known(ev, node, owner, f"the number whose `.{node.func.attr}` is asked for")
    try:
        return value_of(getattr(plain, node.func.attr)(*(known(ev, node, a, "an argument") for a in args)))
    except (TypeError, ValueError, OverflowError) as error:
        return ev.fail("F703", node, f"`.{node.func.attr}`: {error}")


def _join_bytes(ev: Evaluator, node: ast.Call, owner: bytes, args: list[Value]) -> Value:
    values = list(ev.iterate(node, args[0]))
    parts = [v for v in values if isinstance(v, bytes)]
    ev.bounded(node, sum(map(len, parts)) + len(owner) * len(values), "bytes")
    if len(parts) < len(values):
        other = next(v for v in values if not isinstance(v, bytes))
        return ev.fail("F408", node, f"`.join` of bytes takes bytes, found {words(other)}")
    return owner.join(parts)


def _join(ev: Evaluator, node: ast.Call, owner: str, args: list[Value]) -> Value:
    values = list(stand_ins.iterated(ev, node, args[0], "".join, sized=True))
    parts = [v for v in values if isinstance(v, str)]
    ev.bounded(node, sum(map(len, parts)) + len(owner) * len(values), "a string")
    if len(parts) == len(values):
        return owner.join(parts)
    found = Text([])
    for i, v in enumerate(values):
        if not isinstance(v, str | Text):
            what, hint = f"join of {words(v)}", "make a string of it: str(x)"
            stand_ins.refuse(ev, "F408", node, what, lambda *all_: "".join(all_), *values, hint=hint)
        found.parts += [owner] if i else []
        found.parts += v.parts if isinstance(v, Text) else [v]
    return found


def _written(ev: Evaluator, node: ast.Call, owner: List, args: list[Value]) -> Value:
    """`write(text)` of a StringIO, whose items are its lines."""
    text = ev.settled(args[0])
    if not isinstance(text, str):
        ev.fail("F408", node, f"write of {words(text)} to a StringIO", "write text that is known from the source")
    last = owner.items.pop() if owner.items and not str(owner.items[-1]).endswith("\n") else ""
    owner.items += f"{last}{text}".splitlines(keepends=True)
    ev.bounded(node, len(owner.items), "a text")
    owner.at = len(owner.items)
    return NumberValue(len(text))


def rest(ev: Evaluator, node: ast.AST, owner: List) -> Iterator[Value]:
    """The lines of a StringIO that were not read yet, each read when it is asked for."""
    if ev.inside:
        ev.fail("F511", node, "a StringIO is read in a part that only the run enters or repeats", "read it before")
    while owner.at < len(owner.items):
        owner.at += 1
        yield owner.items[owner.at - 1]


def _read_line(ev: Evaluator, node: ast.Call, owner: List, _args: list[Value]) -> Value:
    return next(rest(ev, node, owner), "")


def _read(ev: Evaluator, node: ast.Call, owner: List, _args: list[Value]) -> Value:
    return "".join(str(line) for line in rest(ev, node, owner))


def _read_lines(ev: Evaluator, node: ast.Call, owner: List, _args: list[Value]) -> Value:
    return List(list(rest(ev, node, owner)))


def _whole_text(_ev: Evaluator, _node: ast.Call, owner: List, _args: list[Value]) -> Value:
    return "".join(str(line) for line in owner.items)


def _write_lines(ev: Evaluator, node: ast.Call, owner: List, args: list[Value]) -> Value:
    for line in ev.collect(node, args[0]):
        _written(ev, node, owner, [line])


def _sought(ev: Evaluator, node: ast.Call, owner: List, args: list[Value]) -> Value:
    if ev.integer(node, args[0], "a place in a text"):
        ev.fail("F506", node, "seek is supported to the beginning")
    owner.at = 0
    return args[0]


def _ended(_ev: Evaluator, _node: ast.Call, _owner: List, _args: list[Value]) -> Value:
    """`close` and `flush`."""


STRINGIO: Mapping[str, tuple[_Method, int, int]] = {
    "write": (_written, 1, 1), "getvalue": (_whole_text, 0, 0), "readline": (_read_line, 0, 0), "read": (_read, 0, 0),
    "readlines": (_read_lines, 0, 0), "writelines": (_write_lines, 1, 1), "seek": (_sought, 1, 1), "close": (_ended, 0, 0),
    "flush": (_ended, 0, 0),
}  # fmt: skip
STR: Mapping[str, tuple[_Method, int, int]] = {
    **{n: (_text_method(n), 0, 1) for n in ("strip", "lstrip", "rstrip", "splitlines", "expandtabs")},
    **{n: (_text_method(n), 0, 2) for n in ("split", "rsplit")},
    **{n: (_text_method(n), 0, 0) for n in ("upper", "lower", "title", "capitalize", "swapcase", "casefold")},
    **{n: (_text_method(n), 0, 0) for n in ("isdigit", "isalpha", "isalnum", "isspace", "isupper", "islower", "istitle")},
    **{n: (_text_method(n), 0, 0) for n in ("isdecimal", "isnumeric", "isidentifier", "isascii", "isprintable")},
    **{n: (_text_method(n), 1, 3) for n in ("startswith", "endswith", "find", "rfind", "count", "index", "rindex")},
    **{n: (_text_method(n), 1, 1) for n in ("zfill", "removeprefix", "removesuffix", "partition", "rpartition", "translate")},
    **{n: (_text_method(n), 1, 2) for n in ("center", "ljust", "rjust")},
    "replace": (_text_method("replace"), 2, 3), "join": (_join, 1, 1), "format": (formats.braces, 0, 0),
    "encode": (_encoded, 0, 2), "maketrans": (_maketrans, 1, 3),
}  # fmt: skip
BYTES: Mapping[str, tuple[_Method, int, int]] = {
    **{n: (_text_method(n), 1, 3) for n in ("startswith", "endswith", "find", "count", "index")},
    **{n: (_text_method(n), 0, 1) for n in ("strip", "lstrip", "rstrip", "split")},
    **{n: (_text_method(n), 0, 0) for n in ("upper", "lower")},
    "replace": (_text_method("replace"), 2, 3), "join": (_join_bytes, 1, 1),
    "hex": (_text_method("hex"), 0, 2), "decode": (_encoded, 0, 2),
}  # fmt: skip
NUMBER: Mapping[str, tuple[_Method, int, int]] = {
    **dict.fromkeys(("bit_length", "bit_count", "is_integer", "as_integer_ratio", "conjugate", "hex"), (_number_method, 0, 0)),
    "to_bytes": (_number_method, 0, 2),
}
"""Method -> (what it does, fewest arguments, most)."""
