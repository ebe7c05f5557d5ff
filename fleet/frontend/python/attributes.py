"""Attributes of every kind of value."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from fleet.frontend.arrays import foreign
from fleet.frontend.python import complexes, imports
from fleet.frontend.python.classes import objects, records
from fleet.frontend.python.containers import builtin
from fleet.frontend.python.names import resolve
from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import (
    BoundMethod,
    ByteArray,
    Class,
    Complex,
    Dict,
    ForeignArray,
    Generator,
    Lazy,
    Library,
    List,
    Method,
    NamedTupleValue,
    Namespace,
    NumberValue,
    ObjectInstance,
    Partial,
    RangeValue,
    Set,
    Slice,
    SourceFunction,
    Super,
    TracedArray,
    Value,
    is_scalar_type,
    scalar_type,
)
from fleet.frontend.reading.wording import words

_PARTS = ("start", "stop", "step")


def attribute(ev: Evaluator, node: ast.Attribute, owner: Value) -> Value:
    """`owner.name`."""
    owner = ev.settled(owner)
    match owner:
        case ObjectInstance() | Class() | Super():
            return objects.load(ev, node, owner, objects.mangled(ev, node.attr))
        case NamedTupleValue() if not builtin.has_method(owner, node.attr):
            return Method(owner, node.attr) if node.attr in records.NAMED_METHODS else objects.load(ev, node, owner, node.attr)
        case Library() if builtin.has_unbound(owner.path, node.attr):
            return Library(f"{owner.path}.{node.attr}")
        case Library() if node.attr != "__name__" or not owner.path.startswith(("builtins.", "numpy.", "math.")):
            return resolve(ev, node, f"{owner.path}.{node.attr}")
        case Namespace():
            return imports.attribute(ev, node, owner, node.attr)
        case ForeignArray():
            return foreign.attribute(ev, node, owner)
        case Library() if node.attr == "__name__" and owner.path.startswith(("builtins.", "numpy.", "math.")):
            return owner.path.rpartition(".")[2]
        case TracedArray():
            return ev.domain.attribute(ev, node, owner)
        case np.dtype() if node.attr == "__name__" and is_scalar_type(owner):
            return owner.type.__name__
        case np.dtype() if node.attr == "type":
            return scalar_type(owner)
        case np.dtype() if node.attr in ("itemsize", "name"):
            return NumberValue(owner.itemsize) if node.attr == "itemsize" else owner.name
        case Slice() if node.attr in _PARTS:
            return owner.parts[_PARTS.index(node.attr)]
        case RangeValue() if node.attr in _PARTS:
            return NumberValue(getattr(owner.values, node.attr))
        case List() | Dict() | Set() | Slice() | str() | bytes() | ByteArray() | Generator() | tuple() | RangeValue():
            if builtin.has_method(owner, node.attr) or isinstance(owner, Generator):
                return Method(owner, node.attr)
            names = ", ".join(builtin.methods(owner))
            what, hint = f"{words(owner)} has no supported attribute `{node.attr}`", f"it has {names}" if names else None
            return stand_ins.refuse(ev, "F206", node, what, lambda v: getattr(v, node.attr), owner, hint=hint)
        case np.dtype() if node.attr in ("shape", "ndim", "alignment", "fields", "base", "subdtype", "isnative", "byteorder"):
            return dtype_attribute(owner, node.attr)
        case np.dtype() if node.attr in ("kind", "names", "char", "str"):
            found: Any = getattr(owner, node.attr)
            return found
        case Lazy() if builtin.has_method(owner, node.attr):
            return Method(owner, node.attr)
        case Partial() if owner.results is not None and node.attr in ("cache_clear", "cache_info"):
            return Method(owner, node.attr)
        case Partial() if owner.results is not None and node.attr == "__wrapped__":
            return owner.function
        case SourceFunction() if node.attr in owner.attributes:
            return owner.attributes[node.attr]
        case SourceFunction() if node.attr == "__doc__":
            return docstring(owner)
        case SourceFunction() if node.attr == "__qualname__":
            return owner.qualname
        case SourceFunction() if node.attr == "__module__":
            return owner.frame.module().variables.get("__name__")
        case BoundMethod(function=SourceFunction() as function) if node.attr in ("__self__", "__func__"):
            return function if node.attr == "__func__" else owner.owner
        case BoundMethod(function=SourceFunction() as function):
            return attribute(ev, node, function)
        case SourceFunction() if node.attr == "__name__":
            return owner.title or (owner.node.name if isinstance(owner.node, ast.FunctionDef) else "<lambda>")
        case NumberValue() if node.attr == "real" or (node.attr == "numerator" and owner.whole):
            return owner
        case NumberValue() if node.attr == "imag" or (node.attr == "denominator" and owner.whole):
            return NumberValue(1 if node.attr == "denominator" else 0 if owner.whole else 0.0)
        case NumberValue() if builtin.has_method(owner, node.attr) and hasattr(int if owner.whole else float, node.attr):
            return Method(owner, node.attr)
        case Complex() if node.attr != "conjugate":
            return complexes.attribute(ev, node, owner, node.attr)
        case Complex():
            return Method(owner, node.attr)
        case _:
            what = f"{words(owner)} has no attribute `{node.attr}` here"
            return stand_ins.refuse(ev, "F206", node, what, lambda v: getattr(v, node.attr), owner)


def dtype_attribute(owner: np.dtype, name: str) -> Value:
    """Return an attribute of a dtype that is not a string: shape, fields, alignment and others."""
    found: Any = getattr(owner, name)
    if name == "fields":
        fields = {} if found is None else {n: (f[0], NumberValue(f[1])) for n, f in found.items()}
        return None if found is None else Dict(dict(fields))
    if name == "shape":
        return tuple(map(NumberValue, found))
    if name == "subdtype":
        return None if found is None else (found[0], tuple(map(NumberValue, found[1])))
    return NumberValue(found) if isinstance(found, bool | int) else found


def docstring(function: SourceFunction) -> Value:
    """Return `__doc__` of a function, or None."""
    if "__doc__" in function.attributes:
        return function.attributes["__doc__"]
    return ast.get_docstring(function.node, clean=False) if isinstance(function.node, ast.FunctionDef) else None
