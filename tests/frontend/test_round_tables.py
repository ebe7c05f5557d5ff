"""Loops of the run that read and store elements of lists and dicts by their number, against Python."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from helpers_source import rolled, run_python, run_vm

from fleet.errors import SourceError
from fleet.frontend.arrays import builder

STATEMENTS = (
    "h = np.tanh(h * w + x[t])", "h = h * w + x[t]", "c = c * 0.5 + h.sum()", "h *= w", "h = h.copy()", "k = k + 1",
    "s = float(h[0])", "hs[t] = h", "hs[t] = h.copy()", "hs[t] = hs[t - 1] * 0.5 + x[t]", "hs[t] = np.zeros(4, np.float32)",
    "hs[t][1] = s", "hs[t][t % 4] = c", "h = h + hs[t - 1]", "hs[t + 1] = h * 2", "h = hs[t - 1]", "g = hs[t - 1]", "g = hs[t]",
    "g += 1", "g = g * 2", "out[t] = h", "out[t] = h * 3", "out[t] = hs[t]", "out[t] = hs[t - 1]",
    "out[t] = out[t - 1] if t else h", "hs[0] = h", "log[t] = s", "log[t] = float(c)", "log[t] = log[t - 1] + s", "log[t] = t",
    "s = s + log[t]", "s = log[t - 2] * 0.5", "pairs[t] = (h, s)", "pairs[t] = [h, s]", "h = h + pairs[t - 1][0]",
    "out[2 * t] = h", "hs[t - 1] = h", "c = c + hs[0].sum()", "n = len(out)", "hs[t] *= 2", "if c > 0: hs[t] = h",
    "hs[t] = h if c > 0 else h + 1", "app.append(hs[t])", "app.append(h)", "h = h + idx[t]", "h[idx[t]] = 1",
    "c = c + x[idx[t], 1]", "hs[t] = hs[t][::-1]", "hs[t] = w", "hs[t] = x[t]", "for j in range(2): hs[t] = hs[t] + j",
    "log[t] += 1", "if c > 2: break", "pairs[t - 1][1] = s", "p = [h, s]; pairs[t] = p; p[1] = 2.0",
    "pairs[t] = [h, s]; app.append(pairs[t][0])",
)  # fmt: skip
BACK = (
    "h = h * 0.5 + hs[t]", "h = h - hs[t - 1]", "c = c + hs[t].sum()", "s = s * 0.5 + log[t]", "a, b = pairs[t]; h = h + a * b",
    "grads[t] = h", "g = hs[t]", "g += 1", "c += out[t].sum() * c", "h = h + out[t] @ w", "hs[t] = h * 2", "out[t] += 1",
    "h = h * 0.5",
)  # fmt: skip
BEHIND = (
    "h += 1", "hs[3][0] = 5", "hs[T - 1][0] = 7", "g[0] = 3", "out[2] = h", "q = np.stack([v for v in hs.values()])", "h[0] = 4",
    "if app: app[-1] += 2", "del hs[T - 1]", "hs[5] += hs[4]",
)  # fmt: skip
TEXT = """import numpy as np
def forward(x, w):
    T = {rounds}
    h = g = q = np.zeros(4, np.float32) + w
    c, s, k, n = np.float32(0), 0.0, 0, 0
    hs = {hs}
    out, log, pairs, grads, app = {out}, {log}, {pairs}, [None] * T, []
    idx = [(3 * i) % 4 for i in range(T)]
    for t in range({first}, T):
        {body}
    for t in {order}:
        {back}
    {behind}
    r = np.float64(0)
    for v in [*hs.values()] + app + [u for u in list(out.values() if isinstance(out, dict) else out) + grads if u is not None]:
        r = r * 1.5 + np.sum(v * np.arange(1, 1 + np.size(v)))
    for v in log:
        r = r * 0.75 + v
    for v in pairs.values() if isinstance(pairs, dict) else pairs:
        if v is not None:
            r = r * 1.25 + v[0].sum() + v[1]
    return np.asarray(r), h, g, q, np.asarray(k), np.asarray(n), np.asarray(s), np.asarray(c)
"""


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let loops of a few rounds stay loops."""
    monkeypatch.setattr(builder, "_MAX_UNROLLED", 8)
    monkeypatch.setattr(builder, "_MAX_WITH_PRODUCTS", 8)


def random_text(seed: int) -> str:
    rng = random.Random(seed)
    return TEXT.format(
        hs=rng.choice(["{-1: h}", "{-1: h.copy(), 0: w}", "dict(enumerate(np.ones((14, 4), np.float32)))", "{-1: h, 5: h}"]),
        out=rng.choice(["[None] * T", "{}", "[0] * T", "[h] * T", "[np.ones(4, np.float32) for _ in range(2 * T)]"]),
        log=rng.choice(["[0] * T", "[0.0] * T", "[1.5] * (T + 2)"]), pairs=rng.choice(["{}", "[None] * T"]),
        rounds=rng.randrange(6, 12), first=rng.choice([0, 0, 0, 1, 2]),
        body="\n        ".join(rng.choices(STATEMENTS, k=rng.randrange(2, 7))),
        order=rng.choice(["reversed(range(T))", "range(T - 1, -1, -1)", "range(1, T)", "range(0, T, 2)"]),
        back="\n        ".join(rng.choices(BACK, k=rng.randrange(1, 4))),
        behind="\n    ".join(rng.choices(BEHIND, k=rng.randrange(1, 3))),
    )  # fmt: skip


def compared(folder: Path, seed: int) -> tuple[int, int, int]:
    """Programs that ran, loops of the run in them, and programs that were refused: none, or one program's."""
    text = random_text(seed)
    draw = np.random.default_rng(seed)
    given = {"x": draw.standard_normal((12, 4)).astype(np.float32), "w": draw.standard_normal(4).astype(np.float32)}
    try:
        expected = run_python(text, x=given["x"].copy(), w=given["w"].copy())
    except (IndexError, KeyError, TypeError, ValueError, AttributeError):  # what the text does, Python refuses too
        return 0, 0, 0
    try:
        found = list(run_vm(folder, text, **given).values())
    except SourceError as error:
        # An array that shares memory in a way that nobody knows; a dict that gets a key in a branch of the run alone.
        if error.code not in ("F504", "F511"):
            raise AssertionError(text) from error
        return 0, 0, 1
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6, err_msg=text)
    return 1, rolled(folder, text, **given), 0


@pytest.mark.parametrize("seeds", [range(50), pytest.param(range(50, 200), marks=pytest.mark.nightly)])
def test_random_loops_are_pythons(tmp_path: Path, seeds: range) -> None:
    seen, loops, refused = (sum(counts) for counts in zip(*(compared(tmp_path, seed) for seed in seeds), strict=True))
    assert seen > len(seeds) / 5
    assert loops > len(seeds) / 5
    assert refused < seen / 3


HEAD = """import numpy as np
def forward(x: 'float64[20, 4]', w):
    h, T, c = np.zeros(4), 20, 0.0
    hs, out, idx = {-1: h}, [None] * T, [(3 * i) % 4 for i in range(T)]
    for t in range(T):
        h = np.tanh(hs[t - 1] * w + x[t]); hs[t] = h; out[t] = (h * 2, c)
        c = c + float(h.sum())
"""


@pytest.mark.parametrize(
    ("text", "loops"),
    [
        ("return np.stack(list(hs.values()))", 1),
        ("for t in reversed(range(T)): c = c * 0.5 + hs[t].sum() - hs[t - 1].max()\n    return np.asarray(c)", 2),
        ("for t in range(T - 1, -1, -1):\n        a, b = out[t]; h = h * 0.9 + a * b\n    return h", 2),
        ("for t in range(T): h[idx[t]] += x[t, idx[t]] * 0.5\n    return h", 2),  # a list of known numbers is a table
        ("for t in range(T): hs[t] += 1; h = h * 0.5 + hs[t]\n    return h", 1),  # changes elements of an earlier loop in place
        ("for t in range(1, T): out[t] = hs[t - 1]; h = h * 0.5\n    out[3][0] = 9\n    return hs[2], h", 1),  # the same arrays
        ("for t in range(T): h = h * 0.5 + hs[t] * len(hs)\n    return h", 1),
        ("hs[5][1] = 3; h[0] = 2\n    for t in range(T): c = c * 0.9 + hs[t].sum()\n    return np.asarray(c)", 2),
    ],
)
def test_loops_stay_loops_where_rounds_have_their_own_elements(tmp_path: Path, text: str, loops: int) -> None:
    draw = np.random.default_rng(3)
    given = {"x": draw.standard_normal((20, 4)), "w": draw.standard_normal(4)}
    whole = f"{HEAD}    {text}\n"
    assert rolled(tmp_path, whole, **given) == loops
    for found, expected in zip(run_vm(tmp_path, whole, **given).values(), run_python(whole, **given), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "body",
    [
        "h = np.tanh(h + x[t]); a.append(h); b.append(h)\n    a[3][0] = 5",  # one array in two lists
        "g = a[-1]; h = np.tanh(h + x[t]); a.append(h)\n    g[0] = 5",  # an array of the list that a variable names
    ],
)
def test_a_change_that_two_places_show_is_refused_behind_the_loop(tmp_path: Path, body: str) -> None:
    text = f"""import numpy as np
def forward(x: 'float64[20, 4]'):
    h, g, a, b = np.zeros(4), np.zeros(4), [np.ones(4)], [np.ones(4)]
    for t in range(20):
        {body}
    return np.stack(a), np.stack(b)
"""
    with pytest.raises(SourceError, match="F504"):
        run_vm(tmp_path, text, x=np.ones((20, 4)))


def test_an_element_of_a_list_is_the_array_that_was_assigned(tmp_path: Path) -> None:
    """No loop: `d[0] = h` stores the array, not its value."""
    text = """import numpy as np
def forward(x: 'float64[4]'):
    h, d, e = x * 2, [0], {}
    d[0] = h; e[0] = d[0]
    h += 1; e[0][1] = 7
    return d[0], h
"""
    given = {"x": np.arange(4.0)}
    for found, expected in zip(run_vm(tmp_path, text, **given).values(), run_python(text, **given), strict=True):
        np.testing.assert_array_equal(found, expected)
