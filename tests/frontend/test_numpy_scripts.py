"""Settings, texts, dates, memory and records of NumPy: what CPython prints, by the VM and by the interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers_corpus import Program, by_python, by_vm

from fleet.errors import SourceError
from fleet.frontend.interpreter import run

LINES = {
    "error handling": """
old = np.seterr(over="ignore", divide="ignore")
print(old, np.geterr())
print(np.uint8(255) + np.uint8(1), np.ones(2) / 0)
print(np.seterr(**old), np.geterr(), np.seterr())
np.seterr("ignore")
with np.errstate(all="warn", over="ignore"):
    print(np.geterr())
print(np.geterr())
np.seterr(all="warn", under="ignore")
@np.errstate(divide="ignore")
def f(x):
    return 1 / x
print(f(np.zeros(1)), np.geterr()["divide"])
""",
    "formatter of a text": """
x = np.array([[1.0, 2.5], [-3.25, 1e10]])
print(np.array2string(x, formatter={"float_kind": lambda v: "%.4f" % v}))
print(np.array2string(x, formatter={"float": "{:8.2e}".format}, separator=", "))
print(np.array2string(np.arange(5), formatter={"int": lambda v: hex(v)}), np.array2string(np.arange(3), formatter={"int_kind": str}))
print(np.array2string(np.array([True, False]), formatter={"bool": lambda b: "yes" if b else "no"}))
print(np.array2string(np.array([1 + 2j]), formatter={"complexfloat": lambda z: f"<{z.real:.1f},{z.imag:.1f}>"}))
print(np.array2string(np.array([1 + 2j]), formatter={"complex_kind": lambda z: f"<{z.imag}>"}))
print(np.array2string(x, formatter={"all": lambda v: f"{v:+.1f}"}), np.array2string(x, formatter={"int": str}, precision=2))
print(np.array2string(np.array(["a", "b"]), formatter={"numpystr": lambda s: s.upper()}))
print(np.array2string(np.array(["a", "b"]), formatter={"str_kind": lambda s: s * 2}))
print(np.array2string(np.array([1, None], dtype=object), formatter={"object": lambda o: f"({o})"}))
print(np.array2string(np.arange(2000.0), formatter={"float": lambda v: f"{v:.0f}"}, threshold=10, edgeitems=2))
def shown(v):
    return f"{v:.1f}"
print(np.array2string(np.linspace(0, 1, 30), formatter={"float_kind": shown}))
""",
    "formatter of print options": """
np.set_printoptions(formatter={"float": lambda x: f"{x:6.2f}"})
a = np.array([1.0, 2.5])
print(a)
print("a:", a, [a], str(a), repr(a), f"{a} {a[0]}", "%s" % a, np.arange(2), np.array(1.5), a[0])
np.set_printoptions(precision=3)
print(a)
with np.printoptions(formatter={"int": lambda i: f"#{i}"}):
    print(np.arange(3))
print(np.arange(3), np.get_printoptions()["precision"], np.get_printoptions()["formatter"])
np.set_printoptions(formatter={"float_kind": "{:.1f}".format}, suppress=True)
print(np.eye(2))
np.set_printoptions(formatter=None)
print(np.eye(2))
""",
}


def program(folder: Path, text: str) -> Program:
    path = folder / "line.py"
    path.write_text(f"import numpy as np\n\n{text}\n")
    return Program(path, None, {}, "", "")


@pytest.mark.parametrize("text", LINES.values(), ids=LINES.keys())
def test_what_python_prints(tmp_path: Path, text: str) -> None:
    given = program(tmp_path, text)
    _, expected = by_python(given)
    assert by_vm(given)[1] == expected


@pytest.mark.parametrize("name", ["error handling", "formatter of print options"])
def test_the_interpreter_prints_it_too(tmp_path: Path, name: str) -> None:
    given = program(tmp_path, LINES[name])
    assert run(str(given.path), {}).printed == by_python(given)[1]


RUN = "x = np.random.default_rng(0).random(200000)[:3]\n"
"""Elements that only the run knows."""


@pytest.mark.parametrize(
    ("text", "code", "what"),
    [
        ("np.seterr(all='raise')", "F506", "np.seterr that does other than ignore or warn"),
        ("np.seterr(over='ignore', call=print)", "F506", "np.seterr with `call=`"),
        (RUN + "np.set_printoptions(formatter={'float': str})\nprint(x)", "F404", "printed with a formatter"),
        (RUN + "print(np.array2string(x, formatter={'float': str}))", "F404", "whose elements only the run knows"),
        ("print(np.array2string(np.ones(2), formatter={'float': lambda v: 3}))", "F408", "a formatter gives the number 3"),
        ("print(np.array2string(np.ones(2), formatter=str))", "F408", "it is a dict"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, code: str, what: str) -> None:
    with pytest.raises(SourceError) as caught:
        by_vm(program(tmp_path, text))
    assert caught.value.code == code
    assert what in str(caught.value)
