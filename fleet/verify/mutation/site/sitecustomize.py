"""Imported by Python before anything else, where this folder is first on the path: makes the process that of a mutant."""

from __future__ import annotations

from fleet.verify.mutation import python_hook, rtl_hook

python_hook.install()
rtl_hook.install()
