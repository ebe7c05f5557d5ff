"""`argparse`: a model is run without arguments, so that each has its default; or with those that the source itself gives."""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from fleet.errors import SourceError
from fleet.frontend.python.standard.namespaces import PARSED
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.plain import known, value_of
from fleet.frontend.reading.values import Class, Library, List, ObjectInstance, Partial, Value
from fleet.frontend.reading.wording import words

_PARSER = "argparse.ArgumentParser"
_OPTIONS = frozenset({"action", "nargs", "const", "default", "type", "choices", "required", "help", "metavar", "dest"})
_TYPES: Mapping[str, type] = {"builtins.int": int, "builtins.float": float, "builtins.str": str, "builtins.bool": bool}
_CALLS = "argparse.ArgumentParser.calls"
_EXCLUDING = "argparse.ArgumentParser.excluding"
_METHODS = ("add_argument", "parse_args", "set_defaults", "add_argument_group", "add_mutually_exclusive_group")


class _Refused(argparse.ArgumentParser):
    """A parser that raises what it would print before it ends the process."""

    def error(self, message: str) -> NoReturn:
        """Refuse the arguments, as `argparse` does."""
        raise ValueError(message)


def _made(_ev: Evaluator, _node: ast.Call, _args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    return _adding("ArgumentParser", List([]))


def _adding(kind: str, calls: List, excluding: Value = None) -> ObjectInstance:
    """A parser, or a group of its arguments. excluding: of a group that allows one argument, a list; empty if none must be."""
    made = ObjectInstance(Class(kind), {_CALLS: calls, _EXCLUDING: excluding})
    for name in _METHODS:
        made.attributes[name] = Partial(Library(f"{_PARSER}.{name}"), (made,))
    return made


def _noted(parser: Value) -> List:
    assert isinstance(parser, ObjectInstance)
    found = parser.attributes[_CALLS]
    assert isinstance(found, List)
    return found


def _add(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`add_argument`: noted, and carried out by `argparse` itself when the arguments are parsed."""
    names = args[1:]
    if not all(isinstance(n, str) for n in names) or not names or keywords.keys() - _OPTIONS:
        ev.fail("F506", node, "add_argument with these arguments is not supported", f"known are {', '.join(sorted(_OPTIONS))}")
    assert isinstance(args[0], ObjectInstance)
    _noted(args[0]).items.append((tuple(names), List(list(keywords.items())), args[0].attributes[_EXCLUDING]))
    return None


def _set_defaults(_ev: Evaluator, _node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    _noted(args[0]).items.append(((), List(list(keywords.items())), None))
    return None


def _group(_ev: Evaluator, _node: ast.Call, args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    return args[0]


def _exclusive(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    required = "required" in keywords and bool(known(ev, node, keywords["required"], "required"))
    return _adding("_MutuallyExclusiveGroup", _noted(args[0]), List([args[0]] if required else []))


def _parse(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """The namespace. SourceError F506 for arguments that the source does not give."""
    given = args[1] if len(args) > 1 else keywords.get("args")
    words_given = [] if given is None else known(ev, node, given, "the arguments of parse_args")
    parser = _Refused(add_help=False)
    kept: dict[str, Value] = {}
    groups: dict[int, Callable[..., object]] = {}  # identity of a group's note -> its `add_argument`
    for item in _noted(args[0]).items:
        assert isinstance(item, tuple)
        names, options, excluding = item
        assert isinstance(names, tuple)
        assert isinstance(options, List)
        add: Callable[..., object] = parser.add_argument if names else parser.set_defaults
        if isinstance(excluding, List):
            if id(excluding) not in groups:
                groups[id(excluding)] = parser.add_mutually_exclusive_group(required=bool(excluding.items)).add_argument
            add = groups[id(excluding)]
        _declare(ev, node, add, names, {str(o[0]): o[1] for o in options.items if isinstance(o, tuple)}, kept)
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            found = vars(parser.parse_args(words_given))
    except (ValueError, TypeError, SystemExit, argparse.ArgumentError) as error:
        ev.fail("F506", node, f"parse_args: {error}", "a model is run without arguments: give each a default")
    return ObjectInstance(PARSED, {k: kept[v] if isinstance(v, str) and v in kept else value_of(v) for k, v in found.items()})


def _declare(
    ev: Evaluator, node: ast.Call, add: Callable[..., object], names: tuple[Value, ...], options: Mapping[str, Value],
    kept: dict[str, Value],
) -> None:  # fmt: skip
    """Tells `argparse` of one argument; kept: defaults that are no plain values, by what stands for them."""
    plain: dict[str, Any] = {}
    for key, value in options.items():
        if key == "type":
            path = value.path if isinstance(value, Library) else ""
            if path in _TYPES:
                plain[key] = _TYPES[path]
            elif isinstance(options.get("default"), str):
                ev.fail("F506", node, f"add_argument with type={words(value)} is not supported", "int, float and str are known")
        elif key == "default" or not names:
            try:
                plain[key] = known(ev, node, value, "a default")
            except SourceError:  # an array or object: it is handed on as it is
                plain[key] = mark = f"\0{len(kept)}"
                kept[mark] = value
        else:
            plain[key] = known(ev, node, value, f"add_argument's {key}")
    try:
        add(*(str(n) for n in names), **plain)
    except (ValueError, TypeError, argparse.ArgumentError) as error:
        ev.fail("F703", node, f"add_argument: {error}")


FORMATTERS: Mapping[str, Value] = {
    f"argparse.{n}HelpFormatter": Library(f"argparse.{n}HelpFormatter")
    for n in ("", "ArgumentDefaults", "RawDescription", "RawText", "MetavarType")
}
"""Classes that say how help is shown, which is never."""
CALLS = {
    _PARSER: _made,
    f"{_PARSER}.add_argument": _add,
    f"{_PARSER}.set_defaults": _set_defaults,
    f"{_PARSER}.add_argument_group": _group,
    f"{_PARSER}.add_mutually_exclusive_group": _exclusive,
    f"{_PARSER}.parse_args": _parse,
}
"""Function -> what it does."""
