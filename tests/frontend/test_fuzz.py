"""Any text gives a program or an error with a code, never a traceback, in bounded time: mutated sources, random bytes, nesting."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.errors import ModelError, SourceError
from fleet.frontend.arrays import builder
from fleet.frontend.dump import tokens, tree
from fleet.frontend.interpreter import run
from fleet.frontend.reading import findings, static
from fleet.frontend.source import load

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
SETTINGS = settings(deadline=None, max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
WORDS = """np . ( ) [ ] { } , : = == < + - * ** / // % @ -1 0 1 2 3.5 1e400 "a" None True ... x y i f lambda for in if else
while not and is def return import as from global del assert raise print range len zip np.zeros((2,3)) np.tri(3) .T
.sum() [0] [::-1] [None] **x
*x f"{x:>9}" x[0]=1 x+=1 yield await class with try: := \\ ; # ' \t 99999999999999999999 -x ~x 0j b'' __name__ __import__
np.random.randn(2) .append(x) .shape break continue pass nonlocal x""".split()  # noqa: SIM905


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(builder, "MAX_OPERATIONS", 2000)
    monkeypatch.setattr(findings, "MAX_STEPS", 20_000)
    monkeypatch.setattr(static, "MAX_TOTAL", 1 << 28)
    monkeypatch.setattr(static, "MAX_BYTES", 1 << 27)


def accepted_or_refused(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    text = data.decode("utf-8", errors="replace")
    for what in (lambda: load(str(path), {}, {}), lambda: run(str(path)), lambda: tokens(text, "m.py"), lambda: tree(text, "m.py")):
        try:
            what()
        except SourceError as error:
            assert error.code or "cannot be read" in str(error), str(error)  # noqa: PT017
        except ModelError:
            pass


@SETTINGS
@given(data=st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda t: t.encode(errors="surrogatepass"))))
def test_random_bytes(tmp_path, data: bytes) -> None:
    accepted_or_refused(tmp_path / "m.py", data)


@SETTINGS
@given(words=st.lists(st.sampled_from([*WORDS, "\n", "\n    ", " "]), max_size=40))
def test_random_words(tmp_path, words: list[str]) -> None:
    accepted_or_refused(tmp_path / "m.py", ("import numpy as np\nx = np.ones((2, 3))\n" + " ".join(words)).encode())


@pytest.mark.parametrize("seed", range(120))
def test_mutated_programs(tmp_path, seed: int) -> None:
    rng = random.Random(seed)
    text = rng.choice(PROGRAMS).read_text()
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        match rng.randrange(5):
            case 0:
                text = text[:at] + rng.choice(WORDS) + text[at:]
            case 1:
                text = text[:at] + text[at + rng.randint(1, 5) :]
            case 2:
                lines = text.split("\n")
                rng.shuffle(lines)
                text = "\n".join(lines)
            case 3:
                other = rng.choice(PROGRAMS).read_text()
                text = text[:at] + other[rng.randrange(len(other) + 1) :][:40] + text[at:]
            case _:
                text = text[:at] + chr(rng.randrange(0x250)) + text[at + 1 :]
    accepted_or_refused(tmp_path / "m.py", text.encode())


DEEP = 3000
NASTY = {
    "parentheses": "x = " + "(" * DEEP + "1" + ")" * DEEP,
    "lists": "x = " + "[" * 150 + "]" * 150,
    "unary": "x = " + "-" * DEEP + "1",
    "additions": "x = 1" + " + 1" * DEEP,
    "attributes": "x = 1" + ".real" * DEEP,
    "subscripts": "x = [1]" + "[0]" * DEEP,
    "calls": "f = lambda: f\nx = f" + "()" * DEEP,
    "lambdas": "x = " + "lambda: " * DEEP + "1",
    "conditions": "x = " + "1 if 0 else " * DEEP + "1",
    "blocks": "".join(" " * i + "if 1:\n" for i in range(90)) + " " * 90 + "x = 1",
    "comparisons": "x = 1" + " < 2" * DEEP,
    "f-strings": "x = " + "f'{" * 4 + "1" + "}'" * 4,
    "a list in itself": "a = []\na.append(a)\nprint(a)",
    "a list in itself, compared": "a = []\na.append(a)\nb = []\nb.append(b)\nprint(a == b)",
    "a list in itself, as an array": "import numpy as np\na = [1]\na.append(a)\nx = np.array(a)",
    "doubling": "a = [1]\nfor i in range(100):\n    a = [a, a]\nprint(a)",
    "doubling text": "s = 'ab'\nwhile True:\n    s = s + s",
    "doubling by replace": "s = 'a' * 1000\ns = s.replace('a', s).replace('a', s)",
    "doubling numbers": "n = 2\nwhile True:\n    n = n * n",
    "shifts": "n = 1 << 10**10",
    "factorials": "import math\nmath.factorial(10**8)",
    "powers": "n = 10 ** 10 ** 10",
    "a list that grows while it is read": "a = [1]\nfor v in a:\n    a.append(v)",
    "extending itself": "a = [1]\nfor i in range(100):\n    a.extend(a)",
    "a wide format": "print(f'{1:1000000000}')",
    "a wide nested format": "n = 10**9\nprint(f'{1:{n}}')",
    "a wide format of an array": "import numpy as np\nx = np.arange(3).sum()\nprint(f'{x:1000000000}')",
    "an endless generator": "it = iter([1])\ndef f():\n    return f\nwhile f():\n    pass",
    "ranges": "for i in range(10**18):\n    pass",
    "range as a list": "x = list(range(10**12))",
    "range as a tuple index": "x = (0,) * 10**10",
    "unpacking a range": "a, *b = range(10**12)",
    "a star of a range": "print(*range(10**12))",
    "a membership test of a range": "x = -1 in range(10**12)",
    "a sum of a range": "x = sum(range(10**12))",
    "a comprehension of ranges": "x = [0 for i in range(10**6) for j in range(10**6)]",
    "a zip of ranges": "for a, b in zip(range(10**12), range(10**12)):\n    pass",
    "a sorted range": "x = sorted(range(10**12))",
    "joined text": "s = ','.join(['x' * 10**6] * 10**5)",
    "a large tile": "import numpy as np\nx = np.tile(np.ones(1000), (10**4, 10**4))",
    "a large repeat": "import numpy as np\nx = np.repeat(np.ones(1000), 10**9)\nprint(x)",
    "a large pad": "import numpy as np\nx = np.pad(np.ones(3), 10**12)\nprint(x)",
    "a large arange": "import numpy as np\nx = np.arange(10**15)",
    "a large draw": "import numpy as np\nnp.random.seed(0)\nx = np.random.randn(10**6, 10**6)",
    "many draws": "import numpy as np\nnp.random.seed(0)\nxs = [np.random.randn(10**7) for i in range(1000)]\nprint(xs)",
    "many splits": "import numpy as np\nx = np.array_split(np.ones(3), 10**9)",
    "iterating over a large array": "import numpy as np\nfor v in np.zeros(10**7):\n    pass",
    "an array of a large list": "import numpy as np\nx = np.array([0] * 10**6 * 10)",
    "assignment to a large array": "import numpy as np\nx = np.zeros(10**7)\nx[::2] = 1",
    "the kernel of einsum": "import numpy as np\nx = np.einsum('" + "a" * 60 + "', np.ones((1,) * 60))",
    "many dimensions": "import numpy as np\nx = np.ones((1,) * 200)\nprint(x)",
    "a wrong seed": "import numpy as np\nnp.random.seed(-1)",
    "a global in a function": "def f():\n    global g\n    g = 1\nf()\nprint(g)",
    "names of dunder": "print(__file__, __builtins__)",
    "attributes of dunder": "x = (1).__class__.__mro__",
    "return at the top": "return 1",
    "break at the top": "break",
    "an import star": "from numpy import *",
    "an empty print": "print(end='')",
    "infinities": "import numpy as np\nx = np.zeros(int(1e400))",
    "not a number": "import numpy as np\nx = [1][int(float('nan'))]",
    "surrogates": "x = '\\ud800'\nprint(x)",
    "nulls": "x = '\\0'\nprint(x)",
}


@pytest.mark.parametrize("name", NASTY)
def test_nasty_sources_end(tmp_path, name: str) -> None:
    accepted_or_refused(tmp_path / "m.py", NASTY[name].encode())
