"""Python imports this module first if this folder is first on the path. It turns the process into that of a mutant."""

from __future__ import annotations

from fleet.verify.mutation import python_hook, rtl_hook

python_hook.install()
rtl_hook.install()
