"""Which matrices of a language model have sparse weights: so many of each block of 8 inputs, by the part of the model.

A strategy is a name of `STRATEGIES`, a number for every matrix ("4"), or a text such as "attention=4,mlp=2,down=4": parts in order,
of which the later ones win; what it does not name is dense. q, k and v are one part: a device multiplies by them as one matrix.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields

from fleet.errors import ModelError

KEPT = (4, 2, 1)
"""Weights that a sparse matrix keeps of each block of 8 inputs."""
STRATEGIES: Mapping[str, str] = {
    "mlp-half": "mlp=4",
    "half": "attention=4,mlp=4",
    "half-quarter": "attention=4,mlp=2",
    "quarter": "attention=2,mlp=2",
    "quarter-eighth": "attention=2,mlp=1",
}
"""Name -> what it says, from the densest to the sparsest. The head is dense in all of them."""
_PARTS: Mapping[str, tuple[str, ...]] = {
    "all": ("qkv", "o", "gate", "up", "down", "head"),
    "attention": ("qkv", "o"),
    "mlp": ("gate", "up", "down"),
}


@dataclass(frozen=True)
class Sparsity:
    """Weights kept of each block of 8 inputs, by part; 0: all.

    Attributes:
        qkv, o: of the attention. gate, up, down: of the feed-forward part. head: the product with the vocabulary.
    """

    qkv: int = 0
    o: int = 0
    gate: int = 0
    up: int = 0
    down: int = 0
    head: int = 0

    def __post_init__(self) -> None:
        """Raises ModelError if a number is none of `KEPT`."""
        for kept in astuple(self):
            if kept not in (0, *KEPT):
                raise ModelError(f"sparse is {kept!r}, expected 4, 2 or 1 of each 8 weights", where="quantisation")

    @property
    def group(self) -> int:
        """Inputs that share a scale, unless somebody chooses others: sparse weights come in groups of 128."""
        return 128 if self else 64

    @classmethod
    def of(cls, text: str) -> Sparsity:
        """Read a strategy. Raises ModelError for an unknown part or number."""
        found: dict[str, int] = {}
        text = STRATEGIES.get(text, text)
        for word in (f"all={text}" if "=" not in text and text else text).split(",") if text else ():
            part, _, number = word.strip().partition("=")
            names = _PARTS.get(part, (part,))
            if names[0] not in (f.name for f in fields(cls)):
                known = ", ".join((*_PARTS, *(f.name for f in fields(cls))))
                raise ModelError(f"no part '{part:.40}'", where="sparse weights", hint=f"parts are {known}")
            if not number.isascii() or not number.isdecimal():
                hint = f"give a number, parts as in mlp=4,down=2, or one of {', '.join(STRATEGIES)}"
                raise ModelError(f"'{word:.40}', expected 4, 2 or 1 of each 8 weights", where="sparse weights", hint=hint)
            found |= dict.fromkeys(names, int(number))
        return cls(**found)

    def kept(self, name: str) -> int:
        """Return the number for a matrix, by its canonical name ("blocks.3.ffn.up"), or that of several ("...attention.q+k+v")."""
        part = name.rpartition(".")[2].partition("+")[0]
        return int(getattr(self, "qkv" if part in {"q", "k", "v"} else part))

    def __bool__(self) -> bool:
        return any(astuple(self))

    def __str__(self) -> str:
        """The shortest text that `of` reads."""
        numbers = {f.name: int(getattr(self, f.name)) for f in fields(self)}
        found: list[str] = []
        for part, names in (*_PARTS.items(), *((name, (name,)) for name in numbers)):
            kept = {numbers[name] for name in names if name in numbers}
            if len(kept) == 1 and all(name in numbers for name in names):
                (one,) = kept
                found += [f"{part}={one}"] if one else []
                for name in names:
                    del numbers[name]
        return ",".join(found)


DENSE = Sparsity()
