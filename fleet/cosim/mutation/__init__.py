"""Mutants: small changes of hardware, functional model and compiler, drawn by operators, that the checks of every night must find."""

from __future__ import annotations

__all__: list[str] = []
