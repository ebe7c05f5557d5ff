"""`"%d of %s" % (...)` and `"{} of {name}".format(...)`: as f-strings, with places for values that only the run knows."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from string import Formatter

from fleet.frontend.arrays.emitting import computed
from fleet.frontend.python.flow import exceptions
from fleet.frontend.python.text import display
from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.errors import as_call, expression_at
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import Dict, Library, NumberValue, Text, TextPart, TracedArray, Value
from fleet.frontend.reading.wording import words

_PLACE = re.compile(r"%(?:\((?P<key>\w+)\))?(?P<flags>[-+ 0#]*)(?P<width>[0-9]*)(?:\.(?P<digits>[0-9]*))?(?P<kind>.)", re.DOTALL)
_FEW, _MANY = "not enough arguments for format string", "not all arguments converted during string formatting"
_INTEGERS, _FLOATS, _DIGITS = "diu", "eEfFgG", "xXo"


def _made(ev: Evaluator, node: ast.AST, parts: Sequence[TextPart]) -> Value:
    if all(isinstance(p, str) for p in parts):
        text = "".join(p for p in parts if isinstance(p, str))
        ev.bounded(node, len(text), "a string")
        return text
    return Text(list(parts))


def percent(ev: Evaluator, node: ast.AST, text: str, given: Value) -> Value:
    """`text % given`. SourceError F408 if they do not fit, F503 for a conversion that is not followed."""
    values = list(given) if isinstance(given, tuple) else [given]
    used, end = 0, 0
    parts: list[TextPart] = []
    for place in _PLACE.finditer(text):
        parts.append(text[end : place.start()])
        end = place.end()
        if place["kind"] == "%":
            parts.append("%")
        elif place["key"] is not None:
            if not isinstance(given, Dict) or place["key"] not in given.items:
                ev.fail("F408", node, f"{place[0]} of {words(given)}, which has no {place['key']!r}")
            parts += _placed(ev, node, place, given.items[place["key"]])
            used = len(values)
        else:
            if used == len(values):
                ev.refuse("F408", node, "not enough arguments for a format string", TypeError(_FEW))
            parts += _placed(ev, node, place, values[used])
            used += 1
    parts.append(text[end:])
    if "%" in text[end:]:
        ev.fail("F408", node, "an incomplete format")
    if used < len(values) and not isinstance(given, Dict):
        ev.refuse("F408", node, "not all arguments are converted by a format string", TypeError(_MANY))
    return _made(ev, node, parts)


def _placed(ev: Evaluator, node: ast.AST, place: re.Match[str], value: Value) -> list[TextPart]:
    kind, flags, width, digits = place["kind"], place["flags"], place["width"], place["digits"]
    if kind not in "sr" + _INTEGERS + _FLOATS + _DIGITS or "#" in flags or int(width or 0) > 999 or int(digits or 0) > 999:
        ev.fail("F503", node, f"the format {place[0]} is not supported", "use an f-string")
    left = "<" if "-" in flags else ">"
    if kind in "sr":
        precision = "" if digits is None else f".{digits or 0}"
        shown = _made(ev, node, display.parts(ev, value, quoted=kind == "r", node=node))
        shown = ev.settled(shown) if width or precision else shown
        if isinstance(shown, str):
            return [format(shown, f"{left}{width}{precision}")]
        if len(pieces := shown.parts if isinstance(shown, Text) else []) == 1 and isinstance(pieces[0], tuple):
            return [(pieces[0][0], kind, f"{left}{width}{precision}" if width or precision else "")]
        return list(pieces) if not width and not precision else _refused(ev, node, place)
    if not isinstance(value, NumberValue | TracedArray):
        text = place[0].replace(f"({place['key']})", "")
        stand_ins.refuse(ev, "F408", node, f"{place[0]} of {words(value)}", lambda v: text % (v,), value, hint="it takes a number")
    whole = value.whole if isinstance(value, NumberValue) else value.dtype.kind in "iub"
    known = ev.static(value)
    refused = kind in _DIGITS or (kind in _INTEGERS and (not whole or digits is not None))
    if known is not None and (refused or not computed(ev, value)):
        return [place[0].replace(f"({place['key']})", "") % known]
    if refused:
        return _refused(ev, node, place)
    sign = "+" if "+" in flags else " " if " " in flags else ""
    fill = "0" if "0" in flags and "-" not in flags else ""
    precision = "" if digits is None else f".{digits or 0}"
    align = "<" if "-" in flags else ""
    return display.converted(ev, node, value, "", f"{align}{sign}{fill}{width}{precision}{'d' if kind in _INTEGERS else kind}")


def _refused(ev: Evaluator, node: ast.AST, place: re.Match[str]) -> list[TextPart]:
    return ev.fail("F503", node, f"the format {place[0]} of a value that only the run knows is not supported", "use an f-string")


_STEP = re.compile(r"\.(?P<name>\w+)|\[(?P<key>[^\]]+)\]")


def _split(field: str) -> tuple[str, list[re.Match[str]] | None]:
    """The first name of a field, `0` of `0.a[1]`, and its attributes and keys; None for what is neither."""
    first = re.match(r"\w*", field)
    assert first is not None
    steps = list(_STEP.finditer(field, first.end()))
    whole = first[0] + "".join(step[0] for step in steps)
    return first[0], steps if whole == field else None


def _part(ev: Evaluator, node: ast.AST, value: Value, step: re.Match[str]) -> Value:
    """An attribute or element of a value in a field: keys are whole numbers or, without quotes, strings."""
    place = expression_at(node)
    if step["name"] is not None:
        return ev.call(as_call(place), Library("operator.attrgetter.made"), [(step["name"],), value], {})
    key: Value = NumberValue(int(step["key"])) if step["key"].isdigit() else step["key"]
    return ev.call(as_call(place), Library("operator.itemgetter.made"), [(key,), value], {})


def braces(ev: Evaluator, node: ast.AST, text: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`text.format(*args, **keywords)`. SourceError F408 if they do not fit, F503 for fields that are not followed."""
    parts: list[TextPart] = []
    count = 0
    try:
        fields = list(Formatter().parse(text))
    except ValueError as error:
        ev.fail("F408", node, f"the format {text!r}: {error}")
    for literal, field, given_spec, conversion in fields:
        spec = given_spec
        parts.append(literal)
        if field is None:
            continue
        first, steps = _split(field)
        name = first or str(count)
        count += not first
        if spec and "{" in spec:
            inner = spec.replace("{}", f"{{{count}}}")
            count += spec.count("{}")
            found = ev.settled(braces(ev, node, inner, args, keywords))
            spec = found if isinstance(found, str) else ev.fail("F503", node, "a format that only the run knows is not supported")
        if not re.fullmatch(r"\w+", name) or conversion == "a" or steps is None:
            ev.fail("F503", node, f"the field {field!r} of a format is not supported", "use an f-string")
        if name.isdigit():
            if int(name) >= len(args):
                what = f"the format {text!r} has a place {name}, and {len(args)} values are given"
                ev.refuse("F408", node, what, IndexError(f"Replacement index {name} out of range for positional args tuple"))
            value = args[int(name)]
        elif name in keywords:
            value = keywords[name]
        else:
            exceptions.lacks(ev, node, f"the format {text!r} has a place {name!r} that is not given", name, code="F408")
        for step in steps:
            value = _part(ev, node, value, step)
        parts += display.converted(ev, node, value, conversion or "", spec or "")
    return _made(ev, node, parts)
