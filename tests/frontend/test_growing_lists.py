"""Loops of the run that append to lists, against Python: random programs, and what stays unrolled."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from helpers_source import program_of, rolled, run_python, run_vm

from fleet.errors import SourceError
from fleet.frontend.arrays import builder

STATEMENTS = (
    "h = np.tanh(h * w + x[i])", "h = h * w + x[i]", "c = c * 0.5 + h.sum()", "h *= w", "h += x[i]", "k = k + 1", "s = float(h[0])",
    "h = h.copy()", "out.append(h)", "out.append(h.copy())", "out.append(h * 2)", "out.append((h, c))", "log.append(float(c))",
    "log.append(s)", "log.append(k)", "log.append(i)", "out += [h]", "out.extend([h, h + 1])", "h = h + out[-1]", "c = c + log[-1]",
    "h = h + out[-2]", "log.append(log[-1] + log[-2])", "if i % 4 == 0: log.append(s)", "if c > 0: h = h + 1", "g = h[1:]",
    "g += 1",
    "obj.hist.append(h[1])", "d['a'].append(h.max())", "out.append(h[::-1])", "out.append(g)", "ks.append([h, c])", "out.append(w)",
    "for j in range(2): log.append(s + j)", "out.append(x[i])", "k = len(log)", "prev = h", "h = prev * w - h",
    "out.append(h); h = h - 1",
)  # fmt: skip
BEHIND = (
    "h += 1", "r = np.stack([o for o in out if not isinstance(o, tuple)] or [h])", "q = np.array(log) if log else q",
    "out[-1][0] = 5", "h[0] = 7", "g[0] = 3", "log.reverse()",
)  # fmt: skip
TEXT = """import numpy as np
class Run:
    def __init__(self):
        self.hist = []
def forward(x, w):
    h = g = prev = r = q = np.zeros(4, np.float32) + w
    c, s, k = np.float32(0), 0.0, 0
    {out}
    {log}
    ks, obj, d = [], Run(), {{'a': []}}
    for i in range({rounds}):
        {body}
    {behind}
    t = np.float64(0)
    for o in out:
        for v in (o if isinstance(o, tuple) else (o,)):
            t = t * 1.5 + np.sum(v * np.arange(1, 1 + np.size(v)))
    for v in log + [v for v in obj.hist] + d['a']:
        t = t * 0.75 + v
    for a, b in ks:
        t = t * 1.25 + a.sum() + b
    return np.asarray(t), h, g, prev, r, q, np.asarray(k), np.asarray(len(out) + len(log))
"""


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let loops of a few rounds stay loops."""
    monkeypatch.setattr(builder, "_MAX_UNROLLED", 8)
    monkeypatch.setattr(builder, "_MAX_WITH_PRODUCTS", 8)


def test_random_loops_are_pythons(tmp_path: Path) -> None:
    seen = loops = refused = 0
    for seed in range(60):
        rng = random.Random(seed)
        text = TEXT.format(
            out=rng.choice(["out = []", "out = [h]", "out = [h, h + 1]"]), log=rng.choice(["log = []", "log = [0.5, 1.5]"]),
            rounds=rng.randrange(5, 12), body="\n        ".join(rng.choices(STATEMENTS, k=rng.randrange(2, 7))),
            behind="\n    ".join(rng.choices(BEHIND, k=rng.randrange(1, 3))),
        )  # fmt: skip
        draw = np.random.default_rng(seed)
        given = {"x": draw.standard_normal((12, 4)).astype(np.float32), "w": draw.standard_normal(4).astype(np.float32)}
        try:
            expected = run_python(text, x=given["x"].copy(), w=given["w"].copy())
        except (IndexError, TypeError, ValueError):  # what the text does, Python refuses too
            continue
        try:
            found = list(run_vm(tmp_path, text, **given).values())
        except SourceError as error:
            if error.code != "F504":  # an array that shares memory in a way that nobody knows
                raise
            refused += 1
            continue
        loops += rolled(tmp_path, text, **given)
        seen += 1
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6, err_msg=text)
    assert seen > 30
    assert loops > 15
    assert refused < seen / 3


HEAD = "import numpy as np\ndef forward(x: 'float32[20, 4]'):\n    h, out = np.zeros(4, np.float32), []\n    for i in range(20):\n"


@pytest.mark.parametrize(
    ("body", "behind", "loops"),
    [
        ("h = h * 0.5 + x[i]; out.append(h)", "np.stack(out)", 1),
        ("h = h * 0.5 + x[i]; out.append(float(h.sum()))", "np.array(out)", 1),
        ("h = h * 0.5 + x[i]; out += [h, h + 1]", "np.array(out)", 1),
        ("h = h * 0.5 + x[i] + (out[-1] if i else 0); out.append(h)", "np.array(out)", 1),
        ("h = h * 0.5 + x[i]; out.append((h, i))", "np.array([a * b for a, b in out])", 1),
        ("h += x[i]; out.append(h)", "np.stack(out)", 0),  # each element is the same array
        ("h += x[i]; out.append(h.copy())", "np.stack(out)", 1),
        ("h += x[i] * 0.5; out.append(h.sum()); out.sort()", "np.array(out)", 0),
        ("h = h * 0.5 + x[i]; out.append(h); h = h + len(out)", "np.stack(out)", 0),
        ("h = h * 0.5 + x[i]; out.append(h[: i % 4 + 1])", "np.concatenate(out)", 0),  # of several shapes
    ],
)
def test_loops_stay_loops_where_a_list_grows_alike(tmp_path: Path, body: str, behind: str, loops: int) -> None:
    text = f"{HEAD}        {body}\n    return {behind}\n"
    x = np.random.default_rng(1).standard_normal((20, 4)).astype(np.float32)
    assert min(rolled(tmp_path, text, x=x), 1) == loops
    (found,) = run_vm(tmp_path, text, x=x).values()
    np.testing.assert_allclose(found, run_python(text, x=x)[0], rtol=1e-6)


def test_rows_of_a_list_are_stacked_without_being_taken_apart(tmp_path: Path) -> None:
    text = f"{HEAD}        h = h * 0.5 + x[i]; out.append(h)\n    return np.stack(out)\n"
    program = program_of(tmp_path, text, x=np.ones((20, 4), np.float32))
    concat = [op for op in program.function.body.block.ops if op.name == "fleet.concat"]
    assert [len(op.operands) for op in concat] == [3]  # the first round, all others but the last, and the last


@pytest.mark.parametrize(
    ("power", "loops"),
    [
        ("0.9 ** (i + 1)", 1),
        ("2 ** (i % 5)", 1),
        ("(-2) ** (i // 3)", 1),
        ("0.5 ** (-i / 4)", 1),
        ("2 ** -i", 0),
        ("(-0.5) ** (i / 2)", 0),
    ],
)
def test_powers_of_a_rounds_number(tmp_path: Path, power: str, loops: int) -> None:
    text = f"{HEAD}        h = h * 0.5 + x[i] * abs({power}); out.append(h)\n    return np.stack(out)\n"
    x = np.random.default_rng(2).standard_normal((20, 4)).astype(np.float32)
    assert rolled(tmp_path, text, x=x) == loops
    (found,) = run_vm(tmp_path, text, x=x).values()
    np.testing.assert_array_equal(found, run_python(text, x=x)[0])
