"""Dispatch hints: the name under which bytecode invokes an operator, with its types and attributes, in the seeds' form.

Grammar: ("device" | "python")_NAME_sig_INABI[_OUTABI]_ins_TYPE*[_outs_TYPE*](_KEY_VALUE+)*
ABI letters: d f h = f64 f32 f16, I i b = i64 i32 bool, r = tensor; fleet's own: c s = i8 i16, C S u U = u8 u16 u32 u64.
A TYPE is `i32`, `16x768xf32` or, fleet's own, `?x768xf32` with an unknown dimension. Values are numbers, True or False, or, fleet's
own, text in single quotes in which "_", "'" and "%" are written %5F, %27 and %25. Several values make a list; keys and names may
contain "_".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import numpy as np
from xdsl.ir import Attribute

from fleet.errors import ModelError
from fleet.ir.dialect import ElementOp, FleetOp, PrintOp, kind_of
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import is_tensor, spelling

_UNSIGNED = {"u8": "C", "u16": "S", "u32": "u", "u64": "U"}
_ABI = {"f64": "d", "f32": "f", "f16": "h", "i64": "I", "i32": "i", "i1": "b", "i8": "c", "i16": "s", **_UNSIGNED}
_DTYPES = {
    "f64": "float64", "f32": "float32", "f16": "float16", "i64": "int64", "i32": "int32", "i1": "bool", "i8": "int8",
    "i16": "int16", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "c64": "complex64",
    "c128": "complex128",
}  # fmt: skip
_TYPE = re.compile(r"(?:(?:[0-9]+|\?)x)*(?:f64|f32|f16|i64|i32|i16|i1|i8|u8|u16|u32|u64|c64|c128)\Z")
_VALUE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|inf|nan)\Z|True\Z|False\Z|'[^_']*'\Z")
_ESCAPES = {ord(c): f"%{ord(c):02X}" for c in "_'%"}
_KEPT_IN_TYPES = frozenset({"shape", "dtype"})


@dataclass
class DispatchInfo:
    """A parsed hint.

    Attributes:
        type: "device" or "python": where it may run.
        name: the operator ("reduce_sum").
        sig: ABI letters of inputs and of outputs (the second one is missing if there are no outputs).
        in_types, out_types: types as spelled ("16x768xf32", "i32").
        attrs: key -> number, bool, text or list of them.
        target: the bytecode module's, set by the VM.
    """

    type: str
    name: str
    sig: list[str]
    in_types: list[str]
    out_types: list[str] = field(default_factory=list)
    attrs: dict[str, Any] = field(default_factory=dict)
    target: str = "python"

    @property
    def python_result(self) -> bool:
        """Whether the result is a Python number (not an array or NumPy scalar)."""
        return len(self.sig) > 1 and self.sig[1] != "r"


def parse_type(text: str) -> tuple[tuple[int, ...], np.dtype]:
    """Parse "16x768xf32" to ((16, 768), float32); -1 for `?`. Raises ModelError."""
    if not _TYPE.match(text):
        raise ModelError(f'"{text}" is not a type such as 16x768xf32 or i32')
    *dims, element = text.split("x")
    return tuple(-1 if d == "?" else int(d) for d in dims), np.dtype(_DTYPES[element])


def info_of(op: FleetOp) -> DispatchInfo:
    """Return the dispatch of one IR operation; a part of a tuple is the content of its slot."""
    outs = [v.type for v in op.results]
    part = isinstance(op, ElementOp)
    ins = outs if part else [v.type for v in op.operands]
    attrs = {} if part else {k: v for k, v in attributes_of(op).items() if k not in _KEPT_IN_TYPES and v != []}
    sig = ["".join(_letter(t) for t in ins)] + (["".join(_letter(t) for t in outs)] if outs else [])
    kind = "python" if isinstance(op, PrintOp) else "device"
    return DispatchInfo(kind, kind_of(op), sig, [spelling(t) for t in ins], [spelling(t) for t in outs], attrs)


def hint_of(op: FleetOp) -> str:
    """Return the hint under which bytecode invokes this operation."""
    return print_hint(info_of(op))


def _letter(type_: Attribute) -> str:
    return "r" if is_tensor(type_) else _ABI[spelling(type_)]


def print_hint(info: DispatchInfo) -> str:
    """Write a hint; `DispatchHintParser` reads it back equal."""
    parts = [info.type, info.name, "sig", *info.sig, "ins", *info.in_types]
    if info.out_types:
        parts += ["outs", *info.out_types]
    for key, value in info.attrs.items():
        parts += [key, *(_word(v) for v in (value if _is_list(value) else [value]))]
    return "_".join(parts)


class DispatchHintParser:
    """Parses a hint."""

    def __init__(self, hint: str) -> None:
        self.hint = hint

    def parse(self) -> DispatchInfo:
        """Parse the hint. Raises ModelError if it does not match the grammar."""
        kind, _, rest = self.hint.partition("_")
        name, found, rest = rest.partition("_sig_")
        signature, found_ins, rest = rest.partition("_ins_")
        if kind not in ("device", "python") or not name or not found or not found_ins:
            self._fail("expected (device|python)_NAME_sig_..._ins_...")
        sig = signature.split("_")
        if len(sig) > 2 or not re.fullmatch(r"[dfhIibcsCSuUr]*(?:_[dfhIibcsCSuUr]+)?", signature):
            self._fail(f"its signature {signature} is not one or two groups of the letters d f h I i b c s C S u U r")
        words = rest.split("_") if rest else []
        in_types, words = self._types(words, len(sig[0]))
        out_types: list[str] = []
        if words[:1] == ["outs"]:
            out_types, words = self._types(words[1:], len(sig[1]) if len(sig) > 1 else 0)
        if len(out_types) != (len(sig[1]) if len(sig) > 1 else 0):
            self._fail("its signature has outputs whose types are missing")
        return DispatchInfo(kind, name, sig, in_types, out_types, self._attrs(words))

    def _types(self, words: list[str], count: int) -> tuple[list[str], list[str]]:
        types = words[:count]
        if len(types) < count or not all(_TYPE.match(t) for t in types):
            self._fail(f"expected {count} types, found {'_'.join(types)}")
        return types, words[count:]

    def _attrs(self, words: list[str]) -> dict[str, Any]:
        attrs: dict[str, Any] = {}
        while words:
            size = next((i for i, w in enumerate(words) if _VALUE.match(w)), 0)
            if size == 0:
                self._fail(f"attribute {'_'.join(words)} has no value or no name")
            end = next((i for i in range(size, len(words)) if not _VALUE.match(words[i])), len(words))
            values = [_value(w) for w in words[size:end]]
            attrs["_".join(words[:size])] = values if len(values) > 1 else values[0]
            words = words[end:]
        return attrs

    def _fail(self, why: str) -> None:
        raise ModelError(f'"{self.hint[:200]}" is not a dispatch hint: {why}')


def _word(value: bool | int | float | str) -> str:
    return "'" + value.translate(_ESCAPES) + "'" if isinstance(value, str) else str(value)


def _value(word: str) -> bool | int | float | str:
    if word in ("True", "False"):
        return word == "True"
    if word.startswith("'"):
        return unquote(word[1:-1])
    return int(word) if re.fullmatch(r"[+-]?[0-9]+", word) else float(word)


def sequence(attrs: Mapping[str, Any], key: str) -> tuple[int, ...]:
    """Return an attribute as a tuple: a list of one is written as a number, an empty one is not written."""
    value = attrs.get(key, ())
    return tuple(value) if _is_list(value) else (value,)


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
