"""The text of `print` and f-strings, with places for values that are known only when the model runs."""

from __future__ import annotations

import ast
import re
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from fleet.frontend.arrays import foreign
from fleet.frontend.arrays.functions import print_options
from fleet.frontend.python.classes import enums, objects, records
from fleet.frontend.python.containers import views
from fleet.frontend.python.flow import exceptions
from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.errors import expression_at
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.keys import ObjectKey, RecordKey, check_order, from_key, in_order
from fleet.frontend.reading.values import (
    ByteArray,
    Class,
    Complex,
    Dict,
    DictView,
    ForeignArray,
    Library,
    List,
    Marker,
    NamedTupleValue,
    NumberValue,
    ObjectInstance,
    RangeValue,
    Set,
    Slice,
    SourceFunction,
    Text,
    TextPart,
    TracedArray,
    Value,
    is_scalar_type,
    number_behind,
)
from fleet.frontend.reading.wording import words

_MAX_WIDTH = 999


def parts(ev: Evaluator, value: Value, *, quoted: bool = False, node: ast.AST | None = None) -> list[TextPart]:
    """A value as `str` shows it (`repr` with `quoted`), in pieces."""
    ev.step(node or ev.module.tree)
    match value:
        case TracedArray():
            if ev.formatter and (value.shape or (quoted and not value.scalar)):
                return [print_options.text(ev, node or ev.module.tree, value, quoted=quoted)]
            check_printed(ev, node or ev.module.tree, value)
            return [(value, "r" if quoted else "s", "")]
        case Text():
            return _quoted(ev, value, node) if quoted else list(value.parts)
        case str():
            return [repr(value) if quoted else value]
        case NumberValue():
            return [(value, "r" if quoted else "s", "") if value.computed else repr(value.value)]
        case Complex():
            return [repr(value.value)]
        case bytes():
            return [repr(value)]
        case ByteArray():
            return [repr(value.data)]
        case ForeignArray():
            return [foreign.shown(ev, node or ev.module.tree, value, quoted=quoted)]
        case None:
            return ["None"]
        case ObjectInstance() | NamedTupleValue():
            return _of_object(ev, value, quoted=quoted, node=node)
        case tuple():
            inner = _joined(ev, value, node)
            return ["(", *inner, ",)" if len(value) == 1 else ")"]
        case List():
            items: list[TextPart] = ["[", *_joined(ev, value.items, node), "]"]
            most = "" if value.most is None else f", maxlen={value.most}"
            return items if value.kind == "list" else ["deque(", *items, f"{most})"]
        case Dict():
            return _of_dict(ev, value, node)
        case DictView():
            shown = _joined(ev, views.snapshot(ev, expression_at(node or ev.module.tree.body[0]), value), node)
            return [f"{'o' if value.owner.kind == 'OrderedDict' else ''}dict_{value.kind}([", *shown, "])"]
        case Set():
            check_order(ev, node or ev.module.tree, value)
            if any(isinstance(p, RecordKey | ObjectKey | ObjectInstance) for p in value.items):
                place = expression_at(node or ev.module.tree.body[0])
                inner = _joined(ev, [from_key(ev, place, p) for p in in_order(value.items)], node)
                return ["frozenset({" if value.frozen else "{", *inner, "})" if value.frozen else "}"]
            return [repr(frozenset(value.items) if value.frozen else value.items)]
        case RangeValue():
            return [repr(value.values)]
        case np.dtype() if is_scalar_type(value):
            return [repr(value.type)]
        case np.dtype():
            return [repr(value) if quoted else str(value)]
        case Slice():
            return ["slice", *parts(ev, value.parts, node=node)]
        case Marker():
            return [value.name]
        case Class() if any(k.kind == "enum" for k in value.chain()):
            return [f"<enum {value.name!r}>"]
        case Class() if value.module:
            return [f"<class '{'' if value.module == 'builtins' else f'{value.module}.'}{value.qualname}'>"]
        case Library() if value.path.startswith("builtins."):
            return [f"<class {value.path.removeprefix('builtins.')!r}>"]
        case _:
            return ev.fail("F408", node or ev.module.tree, f"{words(value)} cannot be printed")


def _quoted(ev: Evaluator, value: Text, node: ast.AST | None) -> list[TextPart]:
    """`repr` of a text: numbers of the run have no character that it escapes."""
    if any(isinstance(p, tuple) and isinstance(p[0], TracedArray) and p[0].shape for p in value.parts):
        what = "the repr of a string that holds an array, whose lines only the run knows"
        ev.fail("F503", node or ev.module.tree, what, "print the string itself")
    whole = "".join(p for p in value.parts if isinstance(p, str))
    double = "'" in whole and '"' not in whole
    other = "'" if double else '"'  # in front of a literal it decides in which quotes Python's repr puts it
    shown: list[TextPart] = [repr(other + p)[2:-1] if isinstance(p, str) else p for p in value.parts]
    return ['"', *shown, '"'] if double else ["'", *shown, "'"]


def _of_dict(ev: Evaluator, value: Dict, node: ast.AST | None) -> list[TextPart]:
    found: list[TextPart] = ["{"]
    pairs = list(value.items.items())
    if value.kind == "Counter":
        pairs.sort(key=lambda pair: -(ev.static(pair[1]) or 0))
    for i, (k, v) in enumerate(pairs):
        found += [", " if i else "", *_of_key(ev, k, node), ": ", *parts(ev, v, quoted=True, node=node)]
    found.append("}")
    if value.kind == "dict":
        return found
    if value.kind == "OrderedDict":
        return ["OrderedDict(", *(_pairs(ev, value, node) if _AS_PAIRS and pairs else found if pairs else []), ")"]
    if value.kind == "Counter":
        return ["Counter(", *(found if pairs else []), ")"]
    return ["defaultdict(", *parts(ev, value.default, quoted=True, node=node), ", ", *found, ")"]


_AS_PAIRS = "[" in repr(OrderedDict(a=1))
"""Whether this Python shows an OrderedDict as a list of pairs (before 3.12)."""


def _pairs(ev: Evaluator, value: Dict, node: ast.AST | None) -> list[TextPart]:
    shown: list[TextPart] = []
    for i, (k, v) in enumerate(value.items.items()):
        shown += [", " if i else "", "(", *_of_key(ev, k, node), ", ", *parts(ev, v, quoted=True, node=node), ")"]
    return ["[", *shown, "]"]


def _of_key(ev: Evaluator, plain: object, node: ast.AST | None) -> list[TextPart]:
    if isinstance(plain, tuple):
        inner = [p for i, k in enumerate(plain) for p in ([", "] if i else []) + _of_key(ev, k, node)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return ["(", *inner, ",)" if len(plain) == 1 else ")"]  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(plain, RecordKey | ObjectKey):
        return parts(ev, plain.owner, quoted=True, node=node)
    if isinstance(plain, ObjectInstance | SourceFunction | Class):
        return parts(ev, plain, quoted=True, node=node)
    return [repr(plain)]


def check_printed(ev: Evaluator, node: ast.AST, value: Value) -> None:
    """Refuses an array inside of `with np.printoptions`. SourceError F506."""
    if not isinstance(value, TracedArray) or not value.shape:
        return
    ev.worded = True
    if ev.unprinted is not None:
        ev.fail(
            "F506", node, "an array that is printed inside of np.printoptions is not supported", "print it outside, or its elements"
        )


def _shown_as_number(value: Value) -> bool:
    return isinstance(value, ObjectInstance) and any(k.numbers for k in value.kind.chain())


def _of_object(ev: Evaluator, value: ObjectInstance | NamedTupleValue, *, quoted: bool, node: ast.AST | None) -> list[TextPart]:
    """By `__str__` or `__repr__`, or as a dataclass or named tuple."""
    place = expression_at(node or ev.module.tree.body[0])
    for method in ("__repr__",) if quoted else ("__str__", "__repr__"):
        said = objects.special(ev, place, value, method)
        if said is not None:
            if not isinstance(said[0], str | Text):
                ev.fail("F408", place, f"`{method}` returns {words(said[0])}", "it must return a string")
            return parts(ev, said[0], node=node)
    member = enums.shown(value) if isinstance(value, ObjectInstance) else None
    if member is not None and not quoted and _shown_as_number(value):
        return parts(ev, number_behind(value), node=node)
    if member is not None:
        return ["<", member[0], ": ", *parts(ev, member[1], quoted=True, node=node), ">"] if quoted else [member[0]]
    fields = records.shown(value)
    if fields is None and isinstance(value, ObjectInstance) and exceptions.is_exception(ev, value.kind):
        if not quoted:
            return parts(ev, exceptions.said(ev, value), node=node)
        args = value.attributes["args"]
        assert isinstance(args, tuple)
        return [f"{value.kind.name}(", *_joined(ev, args, node), ")"]
    if fields is None and isinstance(value, NamedTupleValue):
        return parts(ev, tuple(value), quoted=True, node=node)
    if fields is None:
        ev.fail("F408", place, f"{words(value)} has no text of its own: Python shows its address", "define __repr__")
    of_fields = any(k.kind == "dataclass" for k in value.kind.chain())
    found: list[TextPart] = [f"{value.kind.qualname if of_fields else value.kind.name}("]
    for i, (name, v) in enumerate(fields):
        found += [f"{', ' if i else ''}{name}=", *parts(ev, v, quoted=True, node=node)]
    return [*found, ")"]


def _joined(ev: Evaluator, values: Sequence[Value], node: ast.AST | None) -> list[TextPart]:
    found: list[TextPart] = []
    for i, v in enumerate(values):
        found += [", " if i else "", *parts(ev, v, quoted=True, node=node)]
    return found


def joined(ev: Evaluator, node: ast.JoinedStr) -> Value:
    """An f-string: a text if all of it is known, else a text with places."""
    found: list[TextPart] = []
    for value in node.values:
        if isinstance(value, ast.Constant):
            found.append(str(value.value))
        elif isinstance(value, ast.FormattedValue):
            found += formatted(ev, value)
    if all(isinstance(p, str) for p in found):
        text = "".join(p for p in found if isinstance(p, str))
        ev.bounded(node, len(text), "a string")
        return text
    return Text(found)


def formatted(ev: Evaluator, node: ast.FormattedValue) -> list[TextPart]:
    """`{value!r:spec}`."""
    value = ev.expression(node.value)
    spec = "" if node.format_spec is None else joined(ev, node.format_spec) if isinstance(node.format_spec, ast.JoinedStr) else None
    if not isinstance(spec, str):
        ev.fail("F503", node, "a format that is known only when the model runs is not supported")
    if any(int(n) > _MAX_WIDTH for n in re.findall(r"[0-9]{1,18}", spec)) or re.search(r"[0-9]{19}", spec):
        ev.fail("F607", node, f"a width or precision above {_MAX_WIDTH}")
    conversion = chr(node.conversion) if node.conversion > 0 else ""
    if conversion == "a":
        ev.fail("F503", node, "the conversion !a is not supported", "use !r or !s")
    return converted(ev, node, value, conversion, spec)


def converted(ev: Evaluator, node: ast.AST, value: Value, conversion: str, spec: str) -> list[TextPart]:
    """A value as `format` shows it. conversion: "r", "s" or none; spec: as in an f-string. SourceError F408 for others."""
    value = ev.settled(value) if spec else value
    value = number_behind(value) if _shown_as_number(value) else value
    if isinstance(value, ObjectInstance) and not conversion:
        said = objects.special(ev, expression_at(node), value, "__format__", spec)
        if said is not None:
            return parts(ev, said[0], node=node)
    if isinstance(value, TracedArray) or (isinstance(value, NumberValue) and value.computed):
        if spec and isinstance(value, TracedArray) and value.shape:
            ev.fail("F408", node, f"{words(value)} takes no format {spec!r}", "format single numbers")
        if ev.formatter and isinstance(value, TracedArray) and value.shape:
            return parts(ev, value, quoted=conversion == "r", node=node)
        check_printed(ev, node, value)
        return [(value, conversion, spec)]
    if isinstance(value, NumberValue | Complex | str):
        plain = value if isinstance(value, str) else value.value
        try:
            shown = format(repr(plain) if conversion == "r" else str(plain) if conversion == "s" else plain, spec)
        except (TypeError, ValueError) as error:
            ev.refuse("F408", node, f"format {spec!r}: {error}", error)
        return [shown]
    if spec and not conversion and isinstance(value, ObjectInstance | List | Dict | tuple | None):
        what, hint = f"{words(value)} takes no format {spec!r}", "format its text: str(...)"
        stand_ins.refuse(ev, "F408", node, what, lambda v: format(v, spec), value, hint=hint)
    shown_parts = parts(ev, value, quoted=conversion == "r", node=node)
    plain = [p for p in shown_parts if isinstance(p, str)]
    if spec and len(plain) == len(shown_parts) and (conversion or isinstance(value, np.dtype)):
        return [format("".join(plain), spec)]
    if spec:
        ev.fail("F408", node, f"{words(value)} takes no format {spec!r}", "format its text: str(...)")
    return shown_parts
