"""Operations that xDSL lacks, as classes made by name: all of a dialect have the same form."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from xdsl.irdl import IRDLOperation, irdl_op_definition


@lru_cache(maxsize=512)
def operation_class(base: type[IRDLOperation], name: str) -> type[IRDLOperation]:
    """Return the operation of a name, "tosa.add", with the form of `base`."""
    word = "".join(part.title() for part in name.replace(".", "_").split("_"))
    made: Any = type(f"{word}Op", (base,), {"name": name, "__doc__": f"`{name}`.", "__module__": __name__})
    return irdl_op_definition(made)
