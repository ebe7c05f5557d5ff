"""Python's library and NumPy's functions around arrays: what CPython prints, by the VM and by the interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers_corpus import Program, by_python, by_vm

from fleet.errors import ModelError, SourceError
from fleet.frontend.interpreter import run

PARSER = "import argparse\np = argparse.ArgumentParser(description='x')\n"
LINES = {
    "argparse": """
import argparse
p = argparse.ArgumentParser(description='x')
p.add_argument('--n', type=int, default=5, help='count')
p.add_argument('--lr', '-l', type=float, default='0.5')
p.add_argument('--quiet', action='store_true')
p.add_argument('--name', choices=['a', 'b'], default='a')
args = p.parse_args()
print(args.n, args.lr, args.quiet, args.name, vars(args), p.parse_args(['--n', '7', '--quiet']).n)
""",
    "random": """
import random
random.seed(3)
xs = list(range(6))
random.shuffle(xs)
print(xs, random.random(), random.randint(1, 6), random.choice('abc'), random.sample(xs, 2), random.choices(xs, k=3))
""",
    "re": r"""
import re, string
print(re.findall(r"[a-z']+", "it's me"))
print(re.sub(r'\s+', ' ', 'a   b'), re.split(r',\s*', 'a, b'))
print(string.ascii_lowercase[:3])
""",
    "copy": """
import copy
a = {'w': np.ones(2), 'l': [1, [2, 3]]}
b = copy.deepcopy(a)
b['w'][0] = 5
b['l'][1][0] = 9
c = copy.copy(a)
c['w'][1] = 7
print(a, b, c)
""",
    "testing": """
x = np.arange(200000.0)[:3]
np.testing.assert_allclose(x, [0, 1, 2 + 1e-9])
np.testing.assert_array_equal(x, x)
np.testing.assert_array_equal([np.nan, 1], [np.nan, 1])
np.testing.assert_almost_equal(0.1 + 0.2, 0.3)
np.testing.assert_array_almost_equal(x, x + 1e-8)
print('ok')
""",
    "texts": r"""
import io
print(np.array2string(np.array([1.23456, 2.0]), precision=2, separator=', '), np.array_str(np.arange(3)))
print(np.array_repr(np.arange(3.0)), np.binary_repr(5, width=8), np.base_repr(255, 16), np.fromstring('1 2', sep=' '))
print(np.genfromtxt(io.StringIO('a,b\n1,2\n3,\n'), delimiter=',', skip_header=1), np.loadtxt(['1 2', '3 4']))
print(np.fromiter((x * x for x in range(5)), dtype=float), np.fromiter(range(3), int))
""",
    "iteration": """
for i, v in np.ndenumerate(np.array([[1, 2], [3, 4]])):
    print(i, v)
print([i for i in np.ndindex(2, 2)])
""",
    "draws": """
rng = np.random.default_rng(1)
print(rng.normal([0, 10], [1, 2]), rng.normal((0, 5), 0.1, (3, 2)), rng.poisson([1.5, 9]))
print(rng.multivariate_normal([0, 1], [[1, 0.3], [0.3, 0.5]], 3), rng.multivariate_normal(np.zeros(2), np.eye(2)))
print(rng.dirichlet([1, 2, 3]), rng.multinomial(10, [0.2, 0.3, 0.5], size=2), rng.uniform(np.zeros(2), 2), rng.random())
np.random.seed(5)
print(np.random.multivariate_normal([0, 0], np.eye(2), 2), np.random.normal([1, 2]), np.random.rand(2))
""",
    "elements": """
a = np.arange(6)
np.place(a, a > 2, [44, 55])
x = np.arange(6).reshape(2, 3)
print(a, x.item(4), x.item(1, 2), x.item((0, 1)))
print(np.trace(np.arange(8).reshape(2, 2, 2)), np.vectorize(lambda a, b: a - b if a > b else a)([1, 3], 2))
print(np.meshgrid([1, 2], [3]), np.linalg.slogdet(np.eye(2)), np.linalg.eigh(np.eye(2)).eigenvalues, hasattr(np, 'in1d'))
""",
    "return of an endless loop": """
def f(x):
    while True:
        x = x * 1.5
        if x.sum() > 100:
            return x
print(f(np.arange(200000.0)[1:4]))
""",
    "a number that becomes NumPy's": """
def g(x, c):
    s = t = 0.0
    for v in x:
        t, s = s, v + c * s - t
    return s, t
print(g(np.sin(np.arange(70000.0))[:3000], 0.3))
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


@pytest.mark.parametrize("name", ["argparse", "random", "re", "copy", "testing", "texts", "iteration"])
def test_the_interpreter_prints_it_too(tmp_path: Path, name: str) -> None:
    given = program(tmp_path, LINES[name])
    assert run(str(given.path), {}).printed == by_python(given)[1]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("import random\nprint(random.random())", "F507"),
        (PARSER + "p.add_argument('file')\nprint(p.parse_args().file)", "F506"),
        ("import re\nprint(re.findall(r'(a+)+b', 'aaa'))", "F607"),
        ("np.testing.assert_allclose(np.ones(2), [1, 2])", "F702"),
        ("print(np.loadtxt('data.csv'))", "F506"),
        ("import random\nrandom.seed(1)\nx = np.arange(200000.0).sum()\nprint(random.random() if x > 3 else 0.0)", "F511"),
        ("print(np.trim_zeros([0, 1, 0]))", "F506"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, code: str) -> None:
    with pytest.raises(SourceError) as caught:
        by_vm(program(tmp_path, text))
    assert caught.value.code == code


def test_an_assertion_of_the_run_ends_it(tmp_path: Path) -> None:
    text = "x = np.arange(200000.0)\nnp.testing.assert_allclose(x[:2], x[1:3])\nprint('ok')"
    with pytest.raises(ModelError, match="assert_allclose"):
        by_vm(program(tmp_path, text))
