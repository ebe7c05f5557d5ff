"""How a model's name says that it is MLIR, and which function of the file."""

from __future__ import annotations


def is_mlir(spec: str) -> bool:
    """Return whether a model's name is that of an MLIR file, with or without a function."""
    return parts(spec)[0].endswith(".mlir")


def parts(spec: str) -> tuple[str, str | None]:
    """Return path and function of "path.mlir:function", None without one."""
    path, colon, name = spec.rpartition(":")
    return (path, name) if colon and path.endswith(".mlir") else (spec, None)
