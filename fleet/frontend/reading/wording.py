"""Values as text: in the words of a message, and as the pieces of a string."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fleet.frontend.reading.tensor import TracedArray
from fleet.frontend.reading.values import (
    BoundMethod,
    ByteArray,
    Class,
    Complex,
    Descriptor,
    Dict,
    DictView,
    ForeignArray,
    Generator,
    Lazy,
    Library,
    List,
    Marker,
    Method,
    NamedTupleValue,
    Namespace,
    NumberValue,
    ObjectInstance,
    Partial,
    RangeValue,
    Set,
    SourceFunction,
    Super,
    Text,
    TextPart,
    Value,
    is_scalar_type,
)


def words(value: Value) -> str:
    """What a value is, for messages."""
    match value:
        case TracedArray():
            return f"an array {value.dtype}[{', '.join('?' if d < 0 else str(d) for d in value.shape)}]"
        case NumberValue():
            return (
                f"the number {value.value!r}"
                if not value.symbolic
                else f"a {'size' if value.sized else 'number'} that only the run knows"
            )
        case Complex():
            return f"the number {value.value!r}"
        case ForeignArray():
            return f"an array {value.array.dtype}[{', '.join(map(str, value.array.shape))}]"
        case Library():
            return f"`{value.path.removeprefix('builtins.')}`"
        case Namespace():
            return f"the module `{value.name}`"
        case Method():
            return f"the method `{value.name}`"
        case SourceFunction():
            return f"the function `{value.name}`"
        case Class():
            return f"the class `{value.name}`"
        case ObjectInstance() | NamedTupleValue():
            return f"an object of the class `{value.kind.name}`"
        case BoundMethod() | Descriptor():
            return f"the method `{value.function.name}`" if isinstance(value.function, SourceFunction) else "the method `__init__`"
        case Partial():
            return f"a partial of {words(value.function)}"
        case Super():
            return "`super()`"
        case None:
            return "None"
        case str() | Text():
            return "a string"
        case bytes():
            return f"{len(value)} bytes"
        case ByteArray():
            return f"a bytearray of {len(value.data)}"
        case tuple():
            return f"a tuple of {len(value)}"
        case List():
            return f"a {value.kind} of {len(value.items)}"
        case Dict():
            return f"a {value.kind} of {len(value.items)}"
        case DictView():
            return f"the {value.kind} of {words(value.owner)}"
        case Set():
            return f"a {'frozen ' if value.frozen else ''}set of {len(value.items)}"
        case RangeValue():
            return repr(value.values)
        case Lazy():
            return f"a {value.kind}"
        case Generator():
            return "a random generator"
        case Marker():
            return f"`{value.name}`"
        case np.dtype():
            return f"the {'class' if is_scalar_type(value) else 'dtype'} {value}"
        case _:
            return f"a {type(value).__name__.lower()}"


def numbered(pieces: Sequence[TextPart]) -> tuple[str, list[TracedArray | NumberValue]]:
    """Pieces as a format string with numbered places ("loss {0:.3f}"), and the values in them."""
    text: list[str] = []
    values: list[TracedArray | NumberValue] = []
    for piece in pieces:
        if isinstance(piece, str):
            text.append(piece.replace("{", "{{").replace("}", "}}"))
            continue
        value, conversion, spec = piece
        text.append(f"{{{len(values)}{'!' + conversion if conversion else ''}{':' + spec if spec else ''}}}")
        values.append(value)
    return "".join(text), values
