"""Decisions and loops of the run: what CPython does, on the VM and by the IR bit for bit, on riscv nearly."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fleet
from fleet.errors import DeviceError, ModelError, SourceError
from fleet.ir import regions
from fleet.ir.dialect import IfOp, WhileOp, all_operations
from fleet.targets.bytecode import vm

SEEDS = range(3)


def reals(rng: np.random.Generator, *shape: int, dtype: str = "float64") -> np.ndarray:
    return rng.standard_normal(shape).astype(dtype)


PROGRAMS: dict[str, str] = {
    "generator_of_each_round": """
def forward(x: "float64[4]"):
    n = 0
    while np.abs(x).max() > 0.1 and n < 5:
        rng = np.random.default_rng(3)
        x = x * rng.uniform(size=4) * rng.random()
        n += 1
    return x, n
""",
    "drawn_loop_of_a_known_count": """
def forward(x: "float64[4]"):
    rng = np.random.default_rng(0)
    for i in range(400):
        a = x * rng.uniform(-1, 1)
        b = a + rng.normal(size=4)
        x = b / (1 + np.abs(b).sum())
    return x
""",
    "sorted": """
def forward(x: "float64[6]", i: "int64[5]"):
    s = sorted(x.tolist())
    t = sorted(list(x), reverse=True)
    order = sorted(range(5), key=lambda k: abs(i[k]) % 3, reverse=True)
    by = sorted(range(5), key=lambda k: abs(i[k]) % 3)
    v = [x[0], x[1], x[2]]
    v.sort(key=lambda a: -a)
    return s[len(s) // 2], t[0], np.array(order), np.array(by), np.array(v)
""",
    "bits_of_a_number": """
def forward(x: "float64[8]"):
    v = int(abs(x[0]) * 1000)
    ones, high = 0, 0
    while v > 0:
        ones += v & 1
        high = (high ^ v) | 4
        v >>= 1
    return ones, high
""",
    "generators": """
def windows(x, n):
    for i in range(0, len(x) - n + 1, n):
        yield x[i : i + n]

def forward(x: "float64[9]"):
    best = np.float64(-9)
    for w in windows(x, 3):
        if w.max() > best:
            best = w.max()
    return best, sum(w.mean() for w in windows(x, 2))
""",
    "recursion_to_a_known_depth": """
def halves(x):
    if len(x) == 1:
        return x[0]
    m = len(x) // 2
    a, b = halves(x[:m]), halves(x[m:])
    return a if a > b else b

def forward(x: "float64[8]"):
    return halves(x)
""",
    "by_name": """
def forward(x: "float64[8]"):
    found = {"mean": x.mean()}
    found["large"] = x[0] if x[0] > 0 else x[1]
    return found
""",
    "best_by_key": """
def forward(x: "float64[4]", y: "float64[3]"):
    best = max(range(4), key=lambda i: x[i])
    near = min([x[0], x[1], x[2]], key=lambda v: abs(v - y[0]))
    return x * best, near, max(float(x[0]), 0.5, key=lambda v: -v)
""",
    "return_on_one_way": """
def forward(x: "float64[8]"):
    if x.sum() > 0:
        return x * 2
    return -x
""",
    "break_of_a_range": """
def forward(x: "float64[8]"):
    total = np.float64(0)
    for i in range(100):
        total = total + x[i % 8] ** 2
        if total > 3:
            break
    return total, i
""",
    "continue_and_two_returns": """
def forward(x: "float64[8]"):
    s = 0.0
    n = 0
    for v in x:
        if v < 0:
            continue
        s += v
        n += 1
    if n == 0:
        return 0.0
    return s / n
""",
    "return_out_of_a_loop_in_a_function": """
def find(x, t):
    for i in range(len(x)):
        if x[i] > t:
            return i
    return -1

def forward(x: "float64[50]"):
    return find(x, 1.5), find(x, 100.0)
""",
    "collatz": """
def forward(x: "int64[1]"):
    n = int(x[0])
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps
""",
    "bubble_sort": """
def forward(x: "float64[20]"):
    a = x.copy()
    n = len(a)
    for i in range(n):
        swapped = False
        for j in range(0, n - i - 1):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1].copy(), a[j].copy()
                swapped = True
        if not swapped:
            break
    return a
""",
    "naive_convolution": """
def forward(x: "float32[16, 16]"):
    out = np.zeros((14, 14), np.float32)
    k = np.arange(9, dtype=np.float32).reshape(3, 3)
    for i in range(14):
        for j in range(14):
            s = np.float32(0)
            for a in range(3):
                for c in range(3):
                    s += x[i + a, j + c] * k[a, c]
            out[i, j] = s
    return out
""",
    "best_begins_as_none": """
def forward(x: "float64[6]"):
    best = None
    at = -1
    for i, v in enumerate(x):
        if best is None or v > best:
            best = v
            at = i
    return best, at
""",
    "newton_on_python_numbers": """
def sqrt(v, tol=1e-12):
    g = v / 2
    while abs(g * g - v) > tol:
        g = 0.5 * (g + v / g)
    return g
def forward(x: "float64[3]"):
    return sqrt(float(x[0])), sqrt(x[1]), max(x[0], x[1]), min(float(x[2]), 0.5)
""",
    "while_true_with_else": """
def forward(x: "float64[5]", y: "float64[5]"):
    while True:
        x = x * 0.5
        if np.linalg.norm(x) < 1e-3:
            break
        y = y + x
    else:
        y = y * 0
    return x, y
""",
    "object_with_state": """
class Opt:
    def __init__(self, lr):
        self.lr = lr
        self.m = np.zeros(3)
    def step(self, w, g):
        self.m = 0.9 * self.m + g
        return w - self.lr * self.m
def forward(x: "float64[3]"):
    o = Opt(0.1)
    w = x
    for k in range(200):
        g = 2 * w
        w = o.step(w, g)
        if np.abs(g).max() < 1e-3:
            return w, k
    return w, k
""",
    "change_through_another_name": """
def forward(x: "float64[4]"):
    y = x.copy()
    z = y
    if x.sum() > -100:
        z[0] = 5
    return y, z
""",
    "two_names_of_one_array": """
def forward(x: "float64[6]"):
    new = np.zeros_like(x)
    err = 1.0
    n = 0
    while err > 1e-3 and n < 20:
        new[1:-1] = 0.5 * (x[:-2] + x[2:])
        err = np.abs(new - x).max()
        x = new
        n += 1
    return x, n
""",
    "two_buffers_change_places": """
def forward(x: "float64[6]"):
    cur = x.copy()
    new = x.copy()
    n = 0
    while n < 50:
        new[1:-1] = 0.5 * (cur[:-2] + cur[2:])
        if np.abs(new - cur).max() < 1e-3:
            break
        cur, new = new, cur
        n += 1
    return cur, new, n
""",
    "variable_that_nobody_reads": """
def forward(x: "float64[4]"):
    if x.sum() > 0:
        y = x
        t = 3
    return x
""",
    "function_that_changes_its_argument": """
def f(a):
    n = 0
    while a[0] < 10:
        a[0] = a[0] + 1
        n += 1
    return n
def forward(x: "float64[4]"):
    y = x.copy()
    n = f(y)
    return y, n
""",
    "gcd_and_chained_comparisons": """
def forward(x: "int64[5]"):
    a, b = int(x[0]), int(x[1])
    while b:
        a, b = b, a % b
    ok = a > 3 and not (b > 0 or a == 7)
    big = 0 < a < 100
    return a, ok, big, 1 if a > 2 else 0
""",
    "for_with_else": """
def forward(x: "float64[5]"):
    s = 0.0
    for i in range(5):
        for j in range(5):
            if x[i] > x[j]:
                s += 1.0
                continue
            if x[i] == x[j] and i != j:
                break
        else:
            s += 100.0
    return s
""",
    "bisection": """
def forward(x: "float64[5]"):
    lo, hi = 0, len(x)
    x = np.sort(x)
    while lo < hi:
        mid = (lo + hi) // 2
        if x[mid] < 0.1:
            lo = mid + 1
        else:
            hi = mid
    return lo
""",
    "recursive_filter": """
def forward(x: "float64[30000]"):
    acc = 0.0
    prev = x[0]
    for i in range(1, 30000):
        acc = acc * 0.99 + x[i] - prev
        prev = x[i]
    return acc
""",
    "tuple_that_is_carried": """
def forward(x: "float64[5]", h: "float64[3]"):
    state = (h, 0)
    while state[1] < 10 and state[0].sum() < 1e6:
        a, k = state
        state = (a * 2 + 1, k + 1)
    return state[0], state[1]
""",
    "dict_that_is_changed": """
def forward(x: "float64[5]"):
    d = {"a": x, "n": 0}
    while d["n"] < 4:
        if d["a"][0] > 0:
            d["a"] = d["a"] + 1
        d["n"] += 1
    return d["a"]
""",
    "list_that_is_changed": """
def forward(x: "float64[5]"):
    parts = [x, x + 1]
    n = 0
    while parts[0].max() < 10:
        parts[0] = parts[0] * 2
        parts[1] = parts[0] + parts[1]
        n += 1
    return parts[0], parts[1], n
""",
}
"""Name -> the source behind `import numpy as np`."""

REFUSED: dict[str, tuple[str, str, str]] = {
    "alias2": (
        """
def forward(x: "float64[4]"):
    a = np.zeros(4); b = np.ones(4)
    if x.sum() > -100:
        c = a
    else:
        c = b
    c[0] = 7
    return a, b, c
""",
        "F504",
        "`a` may share the memory that changes here",
    ),
    "rng": (
        """
def forward(x: "float64[4]"):
    n = 0
    rng = np.random.default_rng(0)
    while x.max() > 0.1 and n < 5:
        x = x * rng.uniform()
        n += 1
    return x
""",
        "F511",
        "a generator from outside draws in a part that only the run enters or repeats",
    ),
    "rng_of_an_array": (
        """
def forward(x: "float64[4]"):
    rng = np.random.default_rng(0)
    if x.max() > 0.1:
        x = x * rng.uniform(size=4)
    return x + rng.uniform(size=4)
""",
        "F511",
        "a generator from outside draws",
    ),
    "seeded_outside": (
        """
def forward(x: "float64[4]"):
    np.random.seed(0)
    while x.max() > 0.1:
        x = x * np.random.rand(4)
    return x
""",
        "F511",
        "a generator from outside draws",
    ),
    "lazy": (
        """
def forward(x: "float64[4]"):
    it = iter([1.0, 2.0, 3.0])
    if x.sum() > 0:
        a = next(it)
    else:
        a = 0.0
    return x * a
""",
        "F511",
        "an iterator from outside moves on",
    ),
    "append": (
        """
def forward(x: "float64[4]"):
    hist = []
    while x.max() > 0.1:
        x = x * 0.5
        hist.append(x.sum())
    return x
""",
        "F511",
        "changes its length in a loop",
    ),
    "weak": (
        """
def forward(x: "float32[4]"):
    total = 0.0
    for i in range(4):
        if x[i] > 0:
            total += x[i]
    return total
""",
        "F511",
        "as the run decides",
    ),
    "inplacecallee2": (
        """
def f(a):
    n = 0
    while n < 3 and a.max() < 1000:
        a[0] = a[0] + 1
        a = a * 2
        n += 1
    return a
def forward(x: "float64[4]"):
    y = x.copy()
    z = f(y)
    return y, z
""",
        "F504",
        "another array may share",
    ),
}


def inputs_of(source: str, seed: int) -> dict[str, np.ndarray]:
    """Arrays for what the source declares; integers are small and positive."""
    rng = np.random.default_rng(seed)
    found: dict[str, np.ndarray] = {}
    for part in source.partition("def forward(")[2].partition("):")[0].split('", '):
        name, _, declared = part.strip().rstrip('"').partition(': "')
        dtype, _, shape = declared.rstrip("]").partition("[")
        sizes = tuple(int(n) for n in shape.split(","))
        found[name] = rng.integers(1, 60, sizes).astype(dtype) if dtype.startswith("int") else reals(rng, *sizes, dtype=dtype)
    if "g * g - v" in source:
        found = {name: np.abs(a) + 1 for name, a in found.items()}  # of a negative number the loop has no end
    return found


def expected(source: str, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    """What CPython gives."""
    names: dict[str, Any] = {"np": np}
    exec(source, names)
    found = names["forward"](**{name: a.copy() for name, a in inputs.items()})
    found = tuple(found.values()) if isinstance(found, dict) else found
    return [np.asarray(v) for v in (found if isinstance(found, tuple) else (found,))]


def compiled(folder: Path, source: str, inputs: dict[str, np.ndarray]) -> fleet.Compiled:
    path = folder / "m.py"
    path.write_text(f"import numpy as np\n{source}")
    return fleet.compile(f"{path}:forward", inputs=inputs)


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_cpython_gives(name: str, tmp_path: Path) -> None:
    for seed in SEEDS:
        inputs = inputs_of(PROGRAMS[name], seed)
        model = compiled(tmp_path, PROGRAMS[name], inputs)
        wanted = expected(PROGRAMS[name], inputs)
        for engine in ("vm", "interp"):
            found = [np.asarray(v) for v in model.run(engine).outputs.values()]
            for a, b in zip(found, wanted, strict=True):
                assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes()), (engine, seed)
        for engine in ("riscv", "llvm-cpu"):
            found = [np.asarray(v) for v in model.run(engine).outputs.values()]
            for a, b in zip(found, wanted, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-9, err_msg=f"{engine}, seed {seed}")


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_followed_is_refused(name: str, tmp_path: Path) -> None:
    source, code, words = REFUSED[name]
    with pytest.raises(SourceError, match=words) as caught:
        compiled(tmp_path, source, inputs_of(source, 0))
    assert f" {code} " in str(caught.value)


def test_bodies_hold_what_the_source_has(tmp_path: Path) -> None:
    source = (
        'def forward(x: "float32[4]"):\n    while x.max() > 1:\n        x = x * np.float32(0.5)\n'
        "    if x.sum() > 0:\n        x = -x\n    return x\n"
    )
    model = compiled(tmp_path, source, {"x": np.ones(4, np.float32)})
    kinds = [type(op) for op in all_operations(model.program.function.body.block)]
    assert (kinds.count(WhileOp), kinds.count(IfOp)) == (1, 1)
    model.program.module.verify()
    code = model.text("bytecode")
    assert "goto" in code
    assert "if_false" in code


@pytest.mark.parametrize("engine", ["vm", "interp", "riscv", "llvm-cpu"])
def test_a_loop_without_an_end_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    monkeypatch.setattr(regions, "MAX_ROUNDS", 1000)
    monkeypatch.setattr(vm, "MAX_STEPS", 10_000)
    source = 'def forward(x: "float32[1]"):\n    while x[0] < 1:\n        x = x * np.float32(0.5)\n    return x\n'
    model = compiled(tmp_path, source, {"x": np.zeros(1, np.float32)})
    with pytest.raises(ModelError, match=r"steps without an end|a loop has not ended after 1,000 rounds"):
        model.run(engine)


RAISES = """
def checked(v, low):
    if v < low:
        raise ValueError(f"below {low}")
    return np.sqrt(v)

def forward(x: "float64[4]"):
    assert x.shape == (4,)
    assert np.all(np.isfinite(x)), "not finite"
    if x.max() > 1e6:
        raise OverflowError("too large")
    elif x.sum() == 0:
        y = x + 1
    else:
        y = x * 2
    total = 0.0
    for v in y:
        if v > 1000:
            unit = "kilo"
            raise RuntimeError(unit + " too big")
        total += checked(v, -1.0)
    n = 0
    while total > 0.1:
        total = total / 2
        n += 1
        if n > 9:
            raise RuntimeError("no convergence")
    return y, n, total, 1.0 if n < 9 else checked(-total - 2, -1.0)
"""


@pytest.mark.parametrize("engine", ["vm", "interp", "riscv", "llvm-cpu"])
@pytest.mark.parametrize(
    ("x", "said"),
    [
        ([0.0, 1.0, 2.0, 3.0], None),
        ([0.0, 0.0, 0.0, 0.0], None),
        ([0.0, 1.0, np.nan, 3.0], "AssertionError: not finite"),
        ([0.0, 1.0, 2e6, 3.0], "OverflowError: too large"),
        ([0.0, 1.0, 2e3, 3.0], "RuntimeError: kilo too big"),
        ([0.0, 1.0, 2.0, -3.0], "ValueError: below -1.0"),
        ([200.0, 200.0, 200.0, 200.0], "RuntimeError: no convergence"),
        ([50.0, 50.0, 50.0, 50.0], "ValueError: below -1.0"),
    ],
)
def test_what_the_source_raises_ends_the_run(tmp_path: Path, engine: str, x: list[float], said: str | None) -> None:
    inputs = {"x": np.array(x)}
    model = compiled(tmp_path, RAISES, inputs)
    if said is None:
        for found, wanted in zip(model.run(engine).outputs.values(), expected(RAISES, inputs), strict=True):
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12)
        return
    kind, _, text = said.partition(": ")
    with pytest.raises(getattr(builtins, kind), match=text):
        expected(RAISES, inputs)
    with pytest.raises(ModelError, match=f"the source raises {said}"):
        model.run(engine)


SAID = """
def forward(x: "float64[3]"):
    assert x[0] >= 0, x.tobytes().hex()
    if x.sum() > 4:
        raise ValueError("bytes " + x.tobytes().hex())
    return x + 1
"""


@pytest.mark.parametrize(
    ("x", "said"),
    [
        ([1.0, 1.0, 1.0], None),
        ([-1.0, 1.0, 1.0], r"AssertionError: x\.tobytes\(\)\.hex\(\)"),
        ([1.0, 3.0, 1.0], r"ValueError\('bytes ' \+ x\.tobytes\(\)\.hex\(\)\)"),
    ],
)
def test_a_message_that_only_cpython_computes_is_shown_as_its_source(tmp_path: Path, x: list[float], said: str | None) -> None:
    model = compiled(tmp_path, SAID, {"x": np.array(x)})
    if said is None:
        assert np.array_equal(model.run("vm").outputs["out0"], np.array(x) + 1)
        return
    with pytest.raises(ModelError, match=f"the source raises {said}"):
        model.run("vm")


def test_nan_has_no_order(tmp_path: Path) -> None:
    source = 'def forward(x: "float64[3]"):\n    return sorted(x)[0]\n'
    for engine in ("vm", "riscv"):
        with pytest.raises(ModelError, match="NaN is sorted, which has no order"):
            compiled(tmp_path, source, {"x": np.array([1.0, np.nan, 0.0])}).run(engine)


def test_an_integer_that_python_alone_can_hold_ends_the_run(tmp_path: Path) -> None:
    source = 'def forward(a: "uint64[1]"):\n    return int(a[0]) + 1\n'
    for engine in ("vm", "interp", "riscv", "llvm-cpu"):
        assert compiled(tmp_path, source, {"a": np.array([5], np.uint64)}).run(engine).outputs["out0"] == 6
        with pytest.raises(ModelError, match="9223372036854775808 is no number of the run"):
            compiled(tmp_path, source, {"a": np.array([1 << 63], np.uint64)}).run(engine)


PRINTS = """
def forward(x: "float64[3]"):
    n = 0
    while x.max() > 1:
        {inside}
        x = x * 0.5
        n += 1
    if n > 1:
        x = -x
    print("rounds", n, [n, x[0]], (n,), n > 2)
    print("%d of %5.2f: %s" % (n, x[0], x), "{{:>6.3f}} {{}}".format(x[1], n))
    print(f"{{n}} rounds|{{n:3d}}|{{n!r}}|{{n / 2:.2f}}|{{x.sum():8.3f}}")
    return x
"""


@pytest.mark.parametrize("engine", ["vm", "interp", "riscv", "llvm-cpu"])
def test_prints_are_pythons(tmp_path: Path, capsys: pytest.CaptureFixture[str], engine: str) -> None:
    inside = 'print(n, x.max(), f"{n:>4}")' if engine in ("vm", "interp") else "pass"
    source, inputs = PRINTS.format(inside=inside), {"x": np.array([1.0, 2.0, 7.0])}
    expected(source, inputs)
    wanted = capsys.readouterr().out
    trace = compiled(tmp_path, source, inputs).run(engine)
    assert str(trace.meta.get("stdout", capsys.readouterr().out)) == wanted


def test_a_print_in_a_body_is_refused_where_code_does_not_print(tmp_path: Path) -> None:
    model = compiled(tmp_path, PRINTS.format(inside="print(n)"), {"x": np.array([1.0, 2.0, 7.0])})
    with pytest.raises(DeviceError, match="a print in a part that only the run enters or repeats"):
        model.run("riscv")


def test_a_long_loop_stays_a_loop_and_a_short_one_is_unrolled(tmp_path: Path) -> None:
    source = (
        'def forward(x: "float64[9]"):\n    y = 0.0\n    for i in range({rounds}):\n        y = y * 0.5 + x[i % 9]\n    return y\n'
    )
    loops = {}
    for rounds in (20, 20_000):
        model = compiled(tmp_path, source.format(rounds=rounds), {"x": np.arange(9.0)})
        loops[rounds] = sum(isinstance(op, WhileOp) for op in model.program.operations())
        wanted = expected(source.format(rounds=rounds), {"x": np.arange(9.0)})
        assert model.run("vm").outputs["y"] == wanted[0]
    assert loops == {20: 0, 20_000: 1}
