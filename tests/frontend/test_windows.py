"""Windows at places that only the run knows: their shape is known where they are within the array."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers_source import program_of

from fleet.engines.base import RunOptions
from fleet.engines.vm import ENGINE
from fleet.frontend.python.flow.state import FlowState

LOOP = """
import fleet
import numpy as np
@fleet.kernel
def forward(x):
    y = np.zeros(({rows}, 40))
    for i in range({rows}):
        for j in range(40):
            y[i, j] = x[{window}].sum()
    return y
"""
X = np.random.default_rng(0).standard_normal((42, 42))


@pytest.mark.parametrize(
    ("rows", "window", "known"),
    [
        (40, "i : i + 3, j : j + 3", True),
        (20, "2 * i : 2 * i + 4, 1 + j : j + 2", True),
        (41, "i : i + 3, j : j + 3", False),  # the last one is cut off at the edge
        (40, "i : i + 3, j - 5 : j - 2", False),  # -1 is counted from the end
        (40, "i : j, j : j + 3", False),
    ],
)
def test_a_window_has_a_known_shape_where_it_is_within_the_array(tmp_path: Path, rows: int, window: str, known: bool) -> None:
    text = LOOP.format(rows=rows, window=window)
    program = program_of(tmp_path, text, x=X)
    program.module.verify()
    (found,) = ENGINE.run(program, {"x": X}, RunOptions()).outputs.values()
    namespace: dict[str, object] = {}
    exec(text, namespace)
    np.testing.assert_array_equal(found, namespace["forward"](X))  # pyright: ignore[reportCallIssue]
    assert ("?" not in str(program.module)) is known


def test_a_window_is_a_view(tmp_path: Path) -> None:
    text = """
import numpy as np
def forward(x):
    z = x.copy()
    for k in range(4):
        for i in range(40):
            for j in range(40):
                v = z[i : i + 3, j]
                v[0] += 1
    return z
"""
    program = program_of(tmp_path, text, x=X)
    (found,) = ENGINE.run(program, {"x": X}, RunOptions()).outputs.values()
    namespace: dict[str, object] = {}
    exec(text, namespace)
    np.testing.assert_array_equal(found, namespace["forward"](X))  # pyright: ignore[reportCallIssue]


def test_views_of_earlier_rounds_follow_no_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of 100 inner loops leaves a view behind that nothing reaches; restoring the state must not bring it back."""
    text = """
def forward(x):
    z = x.copy()
    for k in range(5):
        for i in range(20):
            for j in range(40):
                v = z[i : i + 3, j]
                v[0] += 1
    return z
"""
    sharing: list[int] = []
    put_back = FlowState.put_back

    def counted(state: FlowState) -> None:
        put_back(state)
        sharing.append(max((len(tensor.storage.members) for tensor in state.tensors), default=0))

    monkeypatch.setattr(FlowState, "put_back", counted)
    program_of(tmp_path, text, x=X)
    assert len(sharing) > 100
    assert max(sharing) < 40
