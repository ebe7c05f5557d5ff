"""What a user says of an ONNX model besides its file: a part of it, sizes of named dimensions, inputs whose values are known.

It stands behind the file's name, as in an address: "model.onnx?known=attention_mask&from=a&to=b&dim=batch:4". So whatever takes
a model's name (commands, cases, bundles) takes these too. Names are percent-encoded where they hold "&", "%", "#", "+" or spaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

from fleet.errors import ModelError

_KEYS = ("from", "to", "known", "dim")
_SAFE = "/:.,_-()[]{}$@!*'"


def is_onnx(spec: str) -> bool:
    """Whether a model's name is that of an ONNX file, with or without choices behind it."""
    return spec.partition("?")[0].endswith(".onnx")


@dataclass(frozen=True)
class ModelChoice:
    """A file and what is said of it.

    Attributes:
        path: the file's.
        first: values (by their names in the graph) that become inputs; what leads to them is left out.
        last: values that become the outputs, instead of the graph's own.
        known: inputs that are bound to the values that are given.
        dims: (name, size) of named dimensions.
    """

    path: str
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    dims: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, spec: str) -> ModelChoice:
        """Reads "path.onnx?key=value&...". Raises ModelError if a key is unknown or a size is not a number."""
        path, _, query = spec.partition("?")
        found: dict[str, list[str]] = {key: [] for key in _KEYS}
        for part in query.split("&") if query else ():
            key, mark, value = part.partition("=")
            if key not in found or not mark or not value:
                raise ModelError(
                    f"{part!r:.80} says nothing of an ONNX model",
                    where=path,
                    hint=f"expected {', '.join(k + '=...' for k in _KEYS)}",
                )
            found[key].append(unquote(value))
        return cls(
            path, tuple(found["from"]), tuple(found["to"]), tuple(found["known"]), tuple(_dim(path, d) for d in found["dim"])
        )

    @property
    def spec(self) -> str:
        """The name that `of` reads."""
        parts = [("from", n) for n in self.first] + [("to", n) for n in self.last] + [("known", n) for n in self.known]
        parts += [("dim", f"{name}:{size}") for name, size in self.dims]
        query = "&".join(f"{key}={quote(value, safe=_SAFE)}" for key, value in parts)
        return f"{self.path}?{query}" if query else self.path


def with_choice(spec: str, first: Sequence[str], last: Sequence[str], known: Sequence[str], dims: Sequence[str]) -> str:
    """A model's name with what a command's options say (dims: "batch=4"). Raises ModelError where it is no ONNX model."""
    if not (first or last or known or dims):
        return spec
    if not is_onnx(spec):
        raise ModelError("is no ONNX model", where=spec, hint="--from, --to, --known and --dim are for path.onnx")
    c = ModelChoice.of(spec)
    sizes = tuple(_dim(c.path, d) for d in dims)
    return ModelChoice(c.path, (*c.first, *first), (*c.last, *last), (*c.known, *known), (*c.dims, *sizes)).spec


def _dim(path: str, text: str) -> tuple[str, int]:
    name, mark, size = text.replace("=", ":").rpartition(":")
    if not mark or not name or not size.isascii() or not size.isdigit() or not 0 <= int(size[:10]) < 1 << 31 or len(size) > 10:
        raise ModelError(f"{text!r:.80} is no size of a dimension", where=path, hint="expected NAME=SIZE, for instance batch=4")
    return name, int(size)
