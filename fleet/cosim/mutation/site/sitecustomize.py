"""Imported by Python before anything else, where this folder is first on the path: makes a module a mutant."""

from __future__ import annotations

from fleet.cosim.mutation.python_hook import install

install()
