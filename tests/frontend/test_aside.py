"""Libraries that draw, log or make functions faster: the model computes what it does without them, and nothing is drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers_corpus import Program, by_python, by_vm

from fleet.cli.main import main
from fleet.engines._cpython_child import StandIns
from fleet.engines.base import RunOptions
from fleet.engines.cpython import ENGINE as CPYTHON
from fleet.errors import SourceError
from fleet.frontend.python.standard.aside import ROOTS
from fleet.frontend.python.standard.table import CALLS
from fleet.frontend.source import load

LINES = {
    "pyplot": """
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.animation import FuncAnimation
from mpl_toolkits.mplot3d import Axes3D
plt.rcParams["figure.figsize"] = (8, 6)
plt.rcParams.update({"font.size": 12})
x = np.linspace(0, 1, 20)
line, = plt.plot(x, np.sin(x), "r--", label=f"{x.sum():.2f}")
line.set_ydata(np.cos(x))
counts, edges, patches = plt.hist(x, bins=5)
fig, ax = plt.subplots()
ax.plot(x, x)
ax.title = "t"
fig, axes = plt.subplots(2, 3, figsize=(4, 3), sharex=True)
for k, a in enumerate(axes.ravel()):
    a.plot(x, x ** k)
axes[0, 1].set_title("b")
fig, (left, right) = plt.subplots(1, 2)
for a, data in zip((left, right), (x, 2 * x)):
    a.imshow(data.reshape(4, 5), cmap=plt.cm.viridis)
fig, square = plt.subplots(1, 1, squeeze=False)
square[0, 0].axis("off")
with plt.style.context("ggplot"):
    fig.colorbar(ax.contourf(x, x, np.outer(x, x)), ax=ax)
anim = FuncAnimation(fig, lambda i: line, frames=10)
plt.savefig("picture.png")
plt.show()
print(x.sum(), len(axes), axes.shape)
""",
    "logging": """
import logging
logging.basicConfig(level=logging.INFO, filename="run.log")
log = logging.getLogger(__name__)
loss = np.float64(1.0)
for step in range(40):
    loss = loss * 0.5 + 0.1
    if step % 10 == 0:
        log.info("step %d: %s", step, loss)
logging.warning("done")
print(loss)
""",
    "environment": """
import os
os.environ["OMP_NUM_THREADS"] = "1"
print(os.environ.get("PATH_OF_NOTHING", "none"), os.getenv("PATH_OF_NOTHING"), np.arange(3.0).sum())
""",
    "numba": """
from numba import float64, int64, jit, njit, prange
import numba as nb

@njit
def total(x):
    s = 0.0
    for i in prange(len(x)):
        s += x[i] * x[i]
    return s

@njit(float64[:](float64[:], int64), cache=True)
def scaled(x, n):
    return x * n

@jit(nopython=True, parallel=True)
def first(x):
    return x[0]

@nb.njit(fastmath=True)
def last(x):
    return x[-1]

x = np.arange(5.0)
print(total(x), scaled(x, 2), first(x), last(x))
""",
}


@pytest.mark.parametrize("name", LINES)
def test_programs_print_what_they_print_with_nothing_drawn(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "program.py"
    path.write_text(f"import numpy as np\n{LINES[name]}")
    program = Program(path, None, {}, "", "")
    assert by_vm(program) == by_python(program)
    assert CPYTHON.run(load(str(path), {}, {}), {}, RunOptions()).meta["stdout"] == by_python(program)[1]
    assert [p.name for p in tmp_path.iterdir()] == ["program.py"]


def test_cpython_has_the_same_packages_and_their_functions() -> None:
    """The process that runs a source on CPython has every name that the reader's tables have."""
    finder = StandIns()
    called = {path for path in CALLS if finder.find_spec(path.split(".")[0]) is not None}
    assert {path.split(".")[0] for path in called} == {"fleet", "numba", "tqdm"}
    assert all(finder.find_spec(root) is not None for root in ROOTS)
    for path in sorted(called):
        root, *names = path.split(".")
        spec = finder.find_spec(root)
        assert spec is not None
        found: object = finder.create_module(spec)
        for name in names if root != "tqdm" else [n for n in names if n not in ("auto", "std", "notebook")]:
            assert name in vars(found), path
            found = vars(found)[name]


MODEL = """import numpy as np
from numba import njit
import matplotlib.pyplot as plt


@njit(cache=True)
def forward(x: "float32[4, 4]"):
    plt.imshow(x)
    return np.tanh(x @ x)
"""


def test_a_compiled_function_is_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.py").write_text(MODEL)
    assert main(["cosim", f"{tmp_path / 'm.py'}:forward", "--engines", "vm,cpython,riscv", "--report", str(tmp_path / "r")]) == 0
    assert "verdict: PASS" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("import matplotlib.pyplot as plt\nn, e, p = plt.hist(np.ones(3))\nprint(n + 1)", "hist"),
        ("from numba import cuda\n@cuda.jit\ndef f(x):\n    return x\nprint(f(1))", "numba.cuda"),
        ("import numba\nprint(numba.typed.List())", "numba.typed"),
    ],
)
def test_what_has_a_value_is_refused(lines: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(f"import numpy as np\n{lines}\n")
    with pytest.raises(SourceError, match=said):
        load(str(tmp_path / "m.py"), {}, {})


def test_a_model_that_something_else_decorates_is_refused(tmp_path: Path) -> None:
    twice = "def twice(f):\n    return lambda x: f(f(x))\n\n\n"
    (tmp_path / "m.py").write_text(f"import numpy as np\n\n\n{twice}@twice\ndef forward(x):\n    return x + 1\n")
    with pytest.raises(SourceError, match="F508 `forward` is decorated"):
        load(f"{tmp_path / 'm.py'}:forward", {}, {"x": np.ones(2)})
