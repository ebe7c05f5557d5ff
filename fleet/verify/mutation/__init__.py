"""Mutants: small changes of hardware, functional model and compiler that the nightly checks must find."""

from __future__ import annotations
