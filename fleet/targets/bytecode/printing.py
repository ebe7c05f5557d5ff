"""The VM's `print`: its operands as Python shows them, or a text with numbered places for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from string import Formatter
from typing import Any

import numpy as np

from fleet.errors import ModelError
from fleet.ir.operations.program_ops import read_options
from fleet.targets.bytecode.hints import DispatchInfo
from fleet.targets.bytecode.operators import OperatorKernel

_PLACE = re.compile(r"[0-9]{1,6}\Z")
_TOO_WIDE = re.compile(r"[0-9]{4}|[{}]")


def _under(options: Mapping[str, Any], show: OperatorKernel) -> OperatorKernel:
    def shown(*values: Any) -> Any:
        with np.printoptions(**options):
            return show(*values)

    return shown


def printer(info: DispatchInfo, echo: OperatorKernel) -> OperatorKernel:
    """Return the function of one print. A format may only refer to operands by number, in at most 999 places.

    Raises ModelError for any other format; no front end writes one.
    """
    options = info.attrs.get("options")
    if options is not None:
        rest = {k: v for k, v in info.attrs.items() if k != "options"}
        return _under(read_options(str(options)), printer(replace(info, attrs=rest), echo))
    template = info.attrs.get("format")
    if template is None:
        return echo
    text = str(template)
    try:
        places = [(name, spec or "") for _, name, spec, _ in Formatter().parse(text) if name is not None]
    except ValueError as error:
        raise ModelError(f"the print format {text!r}: {error}") from error
    for name, spec in places:
        if not _PLACE.match(name) or int(name) >= len(info.in_types) or _TOO_WIDE.search(spec):
            raise ModelError(f"the print format {text!r} has a place that is not an operand, or too wide a one")
    return lambda *values: echo(text.format(*values), end="")
