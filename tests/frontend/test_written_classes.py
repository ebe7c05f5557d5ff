"""`ChainMap` and `Polynomial` as the front end reads them, beside Python's and NumPy's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers_corpus import Program, by_python, by_vm

from fleet.errors import SourceError
from fleet.frontend.interpreter import run

LINES = {
    "chain": """
from collections import ChainMap
base, over = {"lr": 0.01, "epochs": 3}, {"lr": 0.1}
c = ChainMap(over, base)
print(c, c["lr"], c.get("x", 5), len(c), list(c), "epochs" in c, dict(c), sorted(c.items()), list(c.values()))
c["new"] = 1
child = c.new_child({"lr": 7})
print(over, child["lr"], child.parents == c, child.maps[0], c.pop("new"), c.setdefault("z", 2), bool(ChainMap()))
c.update(q=4, lr=3)
del c["q"]
print({**child}, over)
try:
    c["none"]
except KeyError as e:
    print("KeyError", e)
try:
    del c["epochs"]
except KeyError as e:
    print(e)
""",
    "values": """
from numpy.polynomial import Polynomial
p = Polynomial([1, -3, 2])
print(p(2), p(np.array([0.0, 0.5])), p.coef, p.degree(), len(p), list(p), p.roots(), p.domain, p.window, p.mapparms())
print(p.deriv().coef, p.integ().coef, p.integ(lbnd=1, k=[2]).coef, p.deriv(2)(5), p.linspace(3), p.truncate(2).coef)
print(p, repr(p), p == Polynomial([1, -3, 2]), p != Polynomial([1]), p.copy() == p)
""",
    "arithmetic": """
P = np.polynomial.Polynomial
p, q = P([1, -3, 2]), P([0, 1])
print((p + q).coef, (p - 1).coef, (2 - p).coef, (3 * p).coef, (p * q).coef, (p / 2).coef, (p ** 3).coef, (-p).coef, (p // q).coef)
print((p % q).coef, p(q + 1).coef, P.identity().coef, P.basis(3).coef, P.fromroots([1, 2]).coef, (1 + p).coef)
print(np.float64(2) * p, P.fromroots([1, 4], None).coef, np.array([1, 2]) * p)
try:
    p + P([1], domain=[0, 1])
except TypeError as e:
    print(e)
""",
    "fits": """
from numpy.polynomial import Polynomial
x = np.linspace(0, 4, 9)
y = x ** 2 - 2 * x + np.sin(x)
f = Polynomial.fit(x, y, 3)
print(f.coef.round(6), f.domain, f(1.5).round(6), f.convert().coef.round(6), f.deriv()(2.0).round(6), f.roots().round(4))
print(Polynomial.fit(x, y, 2, domain=[0, 10], w=np.arange(1, 10)).coef.round(6), Polynomial.fit([2, 2], [1, 3], 0).domain)
""",
}


def program(folder: Path, text: str) -> Program:
    path = folder / "line.py"
    path.write_text(f"import numpy as np\n\n{text}\n")
    return Program(path, None, {}, "", "")


@pytest.mark.parametrize("text", LINES.values(), ids=LINES.keys())
def test_they_do_what_the_originals_do(tmp_path: Path, text: str) -> None:
    given = program(tmp_path, text)
    expected = by_python(given)[1]
    assert by_vm(given)[1] == expected
    assert run(str(given.path), {}).printed == expected


def test_what_is_wrong_is_named_where_the_user_wrote_it(tmp_path: Path) -> None:
    text = "from numpy.polynomial import Polynomial\n\nprint(Polynomial([1, 2], domain=[1, 2, 3]))"
    with pytest.raises(SourceError, match=r"line\.py:5.*Domain has wrong number of elements"):
        by_vm(program(tmp_path, text))
