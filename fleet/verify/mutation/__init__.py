"""Mutants: small changes of hardware, functional model and compiler, which the checks of every night must find."""

from __future__ import annotations

__all__: list[str] = []
