"""Programs drawn at random, against CPython: containers, slices, loops, conditions, functions, arrays, changes in place."""

from __future__ import annotations

import contextlib
import io
import signal
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.errors import ModelError, SourceError
from fleet.frontend.interpreter import run
from fleet.frontend.source import load
from fleet.targets.bytecode import VM, ByteCodeConverter

SETTINGS = settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
HEAD = """import numpy as np
rng = np.random.default_rng(1)
x = rng.integers(-4, 5, (3, 4))
y = rng.standard_normal((3, 4))
n, m = 2, 3
items = [1, 2, 3]
d = {"a": 1, "b": 2.5}

def f(v, k=2):
    if k > 2:
        return v * k
    return v + k

"""

bounds = st.one_of(st.just(""), st.integers(-5, 5).map(str), st.just("n"))
steps = st.sampled_from(["", "::", ":1", ":2", ":-1", ":-2"])
slices = st.tuples(bounds, bounds, st.sampled_from(["", ":1", ":2", ":-1", ":-3"])).map(lambda t: f"{t[0]}:{t[1]}{t[2]}")
index = st.one_of(slices, st.integers(-3, 2).map(str), st.just("..."), st.just("None"), st.just("[0, 2, 1]"))
indices = st.lists(index, min_size=1, max_size=3).map(", ".join)

numbers = st.one_of(
    st.integers(-4, 6).map(str), st.sampled_from(["n", "m", "0.5", "True", "items[1]", "len(items)", "d['b']", "x.shape[0]"])
)


def scalars(children):
    return st.one_of(
        st.tuples(children, st.sampled_from(["+", "-", "*", "/", "//", "%", "<", "==", ">=", "and", "or"]), children).map(
            lambda t: f"({t[0]} {t[1]} {t[2]})"
        ),
        st.tuples(children, children, children).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        children.map(lambda c: f"(not {c})"),
        children.map(lambda c: f"f({c}, k={c})"),
        st.tuples(children, children).map(lambda t: f"max({t[0]}, {t[1]})"),
        children.map(lambda c: f"sum([{c} for i in range(n)])"),
    )


scalar = st.recursive(numbers, scalars, max_leaves=5)


def arrays(children):
    return st.one_of(
        st.tuples(children, st.sampled_from(["+", "-", "*", "<", "==", "!="]), children).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(children, st.sampled_from(["+", "*", "-", "//", "%", ">"]), scalar).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(children, indices).map(lambda t: f"{t[0]}[{t[1]}]"),
        children.map(lambda c: f"{c}.T"),
        st.tuples(st.sampled_from(["sum", "max", "min", "mean", "prod", "any", "all", "argmax", "cumsum"]), children,
                  st.sampled_from(["", ", axis=0", ", axis=-1"])).map(lambda t: f"np.{t[0]}({t[1]}{t[2]})"),
        st.tuples(children, children).map(lambda t: f"np.where({t[0]} > 0, {t[1]}, 0)"),
        st.tuples(st.sampled_from(["concatenate", "stack", "hstack", "vstack"]), children)
        .map(lambda t: f"np.{t[0]}([{t[1]}, {t[1]}])"),
        st.tuples(st.sampled_from(["abs", "np.floor", "np.sign", "np.ravel", "np.negative", "f", "np.flip", "np.tril"]), children)
        .map(lambda t: f"{t[0]}({t[1]})"),
        children.map(lambda c: f"({c} @ {c}.T)"),
        children.map(lambda c: f"np.array([{c}, {c}])"),
        children.map(lambda c: f"sum([r for r in {c}])"),
    )  # fmt: skip


array = st.recursive(st.sampled_from(["x", "y", "np.arange(6)", "np.ones((2, 3))", "np.tri(3)"]), arrays, max_leaves=4)
simple = st.one_of(
    array.map(lambda a: f"x = {a}"),
    array.map(lambda a: f"y = {a}"),
    scalar.map(lambda s: f"n = {s}"),
    scalar.map(lambda s: f"items.append({s})"),
    scalar.map(lambda s: f"d['a'] = {s}"),
    st.tuples(st.sampled_from(["x", "y", "n"]), st.sampled_from(["+", "-", "*"]), scalar).map(lambda t: f"{t[0]} {t[1]}= {t[2]}"),
    st.tuples(indices, scalar).map(lambda t: f"y[{t[0]}] = {t[1]}"),
    scalar.map(lambda s: f"print({s}, d, items)"),
    array.map(lambda a: f"print('a:', {a})"),
)


def blocks(children):
    body = st.lists(children, min_size=1, max_size=3)
    return st.one_of(
        st.tuples(scalar, body, body).map(lambda t: f"if {t[0]}:\n{indented(t[1])}\nelse:\n{indented(t[2])}"),
        st.tuples(st.integers(0, 3), body).map(lambda t: f"for i in range({t[0]}):\n{indented(t[1])}"),
        body.map(lambda b: f"for i, v in enumerate(items[:2]):\n{indented([*b, 'if i: break'])}"),
        body.map(lambda b: f"for row in x[:2]:\n{indented(['n = n', *b])}"),
    )


def indented(lines: list[str]) -> str:
    return "\n".join("    " + line for text in lines for line in text.splitlines())


programs = st.lists(st.recursive(simple, blocks, max_leaves=4), min_size=1, max_size=5).map(
    lambda b: HEAD + "\n".join(b) + "\nprint(x, y, n, items, d)\n"
)
ALLOWED = {"F501", "F504", "F503", "F403", "F404", "F405", "F407", "F408", "F401", "F402", "F703", "F605", "F306", "F309", "F305"}
"""Refusals of what CPython runs: what hangs on values, views that are changed, dtypes and numbers that are not carried; axis 0 of a
NumPy scalar (F305), which some of NumPy's functions take and some do not."""


class TooLong(BaseException):
    """CPython was asked for more than a test should take."""


def by_python(text: str) -> str:
    printed = io.StringIO()

    def late(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(5)
    try:
        with contextlib.redirect_stdout(printed), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            exec(compile(text, "model.py", "exec"), {"__name__": "__main__"})
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return printed.getvalue()


def by_vm(path: Path) -> str:
    printed = io.StringIO()
    program = load(str(path), {}, {})
    VM(ByteCodeConverter(program).convert(), echo=lambda *v, end="\n": print(*v, end=end, file=printed)).run()
    return printed.getvalue()


def by_interpreter(path: Path) -> str:
    return run(str(path)).printed


def close(found: str, expected: str) -> bool:
    """Equal text; a vector times a matrix goes through another routine, so a last digit may differ."""
    if found == expected:
        return True
    a, b = (t.replace("[", " ").replace("]", " ").replace(",", " ").split() for t in (found, expected))
    if len(a) != len(b):
        return False
    for p, q in zip(a, b, strict=True):
        if p != q:
            try:
                if not np.isclose(float(p), float(q), rtol=1e-6, atol=1e-9):
                    return False
            except ValueError:
                return False
    return True


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """What doubles in nested loops is refused early, before CPython is asked for it."""
    monkeypatch.setattr("fleet.ir.shapes.MAX_ELEMENTS", 1 << 20)
    monkeypatch.setattr("fleet.frontend.reading.static.MAX_BYTES", 1 << 23)
    monkeypatch.setattr("fleet.frontend.reading.findings.MAX_STEPS", 20_000)


def too_large(error: SourceError | ModelError) -> bool:
    return (isinstance(error, SourceError) and (error.code or "").startswith("F6")) or "elements" in str(error)


@pytest.mark.parametrize("engine", [by_vm, by_interpreter], ids=["vm", "interpreter"])
@SETTINGS
@given(text=programs)
def test_random_programs_print_what_python_prints(tmp_path, engine, text: str) -> None:
    path = tmp_path / "model.py"
    path.write_text(text)
    found: str | None = None
    refused: SourceError | ModelError | None = None
    try:
        found = engine(path)
    except (SourceError, ModelError) as error:
        if too_large(error):
            return
        refused = error
    try:
        expected = by_python(text)
    except TooLong:
        return
    except Exception:  # whatever Python refuses must be refused, and as an error of ours
        assert refused is not None, text
        return
    if refused is not None:
        code = refused.code if isinstance(refused, SourceError) else None
        assert code in ALLOWED, (text, str(refused))
        assert engine is by_vm or code not in ("F501", "F404", "F407"), (text, str(refused))
        return
    assert found is not None
    assert close(found, expected), text
