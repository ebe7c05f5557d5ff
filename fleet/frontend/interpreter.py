"""The AST interpreter: a source run by NumPy while its syntax tree is walked, without IR and without bytecode.

It takes the same subset under the same limits, refuses the same things, and executes nothing of the file by itself. What
hangs on the values of arrays (`if x.sum() > 0`) runs here, while the compiler refuses it: the values are there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fleet.errors import SourceError
from fleet.frontend.arrays.eager import Eager
from fleet.frontend.python.calls import bind_parameters
from fleet.frontend.python.reader import reader
from fleet.frontend.reading.errors import combined
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.findings import Poisoned, TooManyErrors
from fleet.frontend.reading.values import Broken, CallFrame, List, NumberValue, SourceFunction, TracedArray, Value
from fleet.frontend.source import MODEL, open_source


@dataclass(frozen=True)
class InterpreterRun:
    """Result of interpreting a source.

    Attributes:
        printed: the text that it printed.
        values: of a script, its variables at the end; of a function, its local variables. Arrays and numbers only.
        returned: what the function returned, as plain Python and NumPy objects; None for a script.
    """

    printed: str
    values: Mapping[str, Any]
    returned: Any = None


def run(spec: str, arguments: Mapping[str, np.ndarray] | None = None) -> InterpreterRun:
    """Runs "path.py" as a script, or calls "path.py:function" with these arguments.

    Raises SourceError for what is outside the subset, what Python would raise, and for a run without an end.
    """
    module, name = open_source(spec)
    domain = Eager()
    ev = reader(module, domain, main="__main__" if name is None else MODEL)
    frame, returned = ev.globals, None
    try:
        if name is None:
            ev.run(module.tree.body, frame)
        else:
            frame, returned = _call(ev, domain, name, arguments or {})
    except SourceError as error:
        ev.errors.append(error)
    except (TooManyErrors, Poisoned):
        pass
    except RecursionError:
        where = module.source.name
        raise SourceError("nested too deeply", where=where, hint="split it over several assignments", code="F602") from None
    finally:
        ev.close()
    if ev.errors:
        raise combined(ev.errors)
    values = {n: domain.plain(ev, module.tree, v) for n, v in frame.variables.items() if isinstance(v, TracedArray | NumberValue)}
    return InterpreterRun(domain.printed.getvalue(), values, returned)


def _call(ev: Evaluator, domain: Eager, name: str, arguments: Mapping[str, np.ndarray]) -> tuple[CallFrame, Any]:
    ev.tolerant = True
    try:
        ev.run(ev.module.tree.body, ev.globals)
    finally:
        ev.tolerant = False
    domain.printed.seek(0)
    domain.printed.truncate()
    function = ev.globals.variables.get(name)
    if isinstance(function, Broken):
        raise function.error
    assert isinstance(function, SourceFunction)
    frame = CallFrame(name, 0, ev.scope(function.node), ev.globals)
    given: dict[str, Value] = {n: domain.concrete(np.array(a)) for n, a in arguments.items()}
    bind_parameters(ev, function.node, function, frame, [], given)
    assert not isinstance(function.node.body, list) or function.node.body
    flow = ev.run(list(function.node.body), frame)  # pyright: ignore[reportArgumentType]
    if ev.errors:
        return frame, None
    value = tuple(flow.value.items) if isinstance(flow.value, List) else flow.value
    return frame, domain.plain(ev, function.node, value)
