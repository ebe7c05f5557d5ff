"""Programs of several files: modules beside the model's file are read by Python's rules; Python itself is the reference."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from fleet.engines.base import RunOptions
from fleet.engines.cpython import ENGINE as CPYTHON
from fleet.engines.vm import ENGINE as VM
from fleet.errors import SourceError
from fleet.frontend.source import load
from fleet.ir.dialect import op_id
from fleet.ir.program import Program

X = np.linspace(-2, 2, 12).reshape(3, 4)
FILES: Mapping[str, str] = {
    "layers.py": '''"""Layers."""
import numpy as np
from config import EPS, hidden

CALLS = 0
W = np.random.default_rng(3).normal(size=(4, hidden))

def relu(x):
    return np.maximum(x, 0)

class Layer:
    scale = 2.0
    def __call__(self, x):
        return self.forward(x) * self.scale

class Dense(Layer):
    def __init__(self, w):
        self.w = w
    def forward(self, x):
        global CALLS
        CALLS += 1
        return x @ self.w + EPS

_private = 7

if __name__ == "__main__":
    print("not when imported")
''',
    "config.py": "EPS = 1e-3\nhidden = 5\nnames = {'act': 'relu'}\n",
    "pkg/__init__.py": "from .norm import layer_norm\nfrom . import extra\n"
    "__all__ = ['layer_norm', 'VERSION']\nVERSION, hidden = 3, 1\n",
    "pkg/norm.py": "import numpy as np\nfrom . import helpers as h\nfrom config import EPS\n"
    "\ndef layer_norm(x):\n    return (x - h.mean(x)) / np.sqrt(x.var(axis=-1, keepdims=True) + EPS)\n",
    "pkg/helpers.py": "def mean(x):\n    return x.mean(axis=-1, keepdims=True)\n",
    "pkg/extra.py": "from pkg.deep.er import shift\n\ndef twice(x):\n    return shift(x) * 2\n",
    "pkg/deep/er.py": "from ..helpers import mean\n\ndef shift(x):\n    return x - mean(x)\n",
    "one.py": "import two\nA = 1\n\ndef f(x):\n    return two.g(x) + A\n",
    "two.py": "import one\n\ndef g(x):\n    return x * 2 + getattr(one, 'A')\n",
    "pick.py": "SCALES = {'a': 2.0}\n\ndef f(x, name):\n    try:\n        return x * SCALES[name]\n"
    "    except ValueError:\n        return x * 100\n    except KeyError:\n        return x * len(SCALES) + 3\n"
    "    except IndexError:\n        return x * 1000\n",
    "broken.py": "import socket\nHOST = socket.gethostname()\nGOOD = 4\n\ndef f(x):\n    return x.frobnicate()\n",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def model(folder: Path, text: str) -> Program:
    (folder / "model.py").write_text(f"import numpy as np\n{text}\n")
    return load(f"{folder / 'model.py'}:main", {}, {"x": X})


def by_python(folder: Path) -> list[np.ndarray]:
    np.save(folder / "x.npy", X)
    script = (
        "import numpy as np, model\nr = model.main(np.load('x.npy'))\nnp.savez('r.npz', *(r if isinstance(r, tuple) else (r,)))"
    )
    subprocess.run([sys.executable, "-c", script], cwd=folder, check=True)
    with np.load(folder / "r.npz") as found:
        return [found[f"arr_{i}"] for i in range(len(found.files))]


@pytest.mark.parametrize(
    "text",
    [
        "import layers\ndef main(x):\n    return layers.relu(x) * layers.EPS",
        "from layers import relu as r, W\ndef main(x):\n    return r(x @ W)",
        "from layers import *\ndef main(x):\n    return Dense(W)(relu(x)), x + EPS",
        "import layers as L\nfrom layers import Dense\ndef main(x):\n    d = Dense(L.W)\n    d(x)\n"
        "    y = d(x)\n    return y * L.CALLS",
        "from pkg import layer_norm\ndef main(x):\n    return layer_norm(x)",
        "from pkg import *\ndef main(x):\n    return layer_norm(x) * VERSION",
        "import pkg\ndef main(x):\n    return pkg.extra.twice(x) + pkg.VERSION",
        "import pkg.deep.er\ndef main(x):\n    return pkg.deep.er.shift(x) + pkg.helpers.mean(x)",
        "import pkg.deep.er as er\nfrom pkg import helpers\ndef main(x):\n    return er.shift(x) * helpers.mean(x)",
        "from pkg.deep import er\ndef main(x):\n    return er.shift(x)",
        "import one\ndef main(x):\n    return one.f(x)",
        "def main(x):\n    from layers import relu\n    import config\n    return relu(x) + config.EPS",
        "import config\nconfig.EPS = 0.5\nfrom pkg import layer_norm\ndef main(x):\n    return layer_norm(x)",
        "import config\ndef main(x):\n    config.hidden += 2\n    return x * config.hidden",
        "import config, layers\ndef main(x):\n    act = getattr(layers, config.names['act'])\n"
        "    return act(x) + hasattr(layers, 'nothing')",
        "from layers import Layer\nclass Mine(Layer):\n    def forward(self, x):\n"
        "        return x + 1\ndef main(x):\n    return Mine()(x)",
        "from broken import GOOD\ndef main(x):\n    return x * GOOD",
        "try:\n    from .layers import relu\nexcept ImportError:\n    from layers import relu\ndef main(x):\n    return relu(x)",
        "def main(x):\n    try:\n        import layers.deep as d\n    except ModuleNotFoundError as e:\n"
        "        return x + len(e.args)\n    return x",
        "try:\n    from layers import gelu\nexcept ImportError:\n    from layers import relu as gelu\n"
        "def main(x):\n    return gelu(x)",
        "import layers\ntry:\n    act = layers.gelu\nexcept AttributeError:\n    act = layers.relu\n"
        "def main(x):\n    return act(x)",
        "from pick import f\ndef main(x):\n    return f(x, 'b')",
        "import layers\nACT = {'relu': layers.relu}\ndef main(x):\n    for name in ACT:\n"
        "        x = ACT[name](x) - layers._private\n    return x",
    ],
)  # fmt: skip
def test_python_gives_the_same(folder: Path, text: str) -> None:
    program = model(folder, text)
    expected = by_python(folder)
    for engine in (VM, CPYTHON):
        found = list(engine.run(program, {"x": X}, RunOptions()).outputs.values())
        assert len(found) == len(expected)
        assert all(np.array_equal(f, e) and f.dtype == e.dtype for f, e in zip(found, expected, strict=True))


def test_a_script_and_what_its_modules_print(folder: Path) -> None:
    (folder / "said.py").write_text("print('said once')\n\ndef f():\n    print('and', __name__)\n    return 3\n")
    (folder / "script.py").write_text("import said\nfrom said import f\nprint(__name__, f() + 1)\n")
    program = load(str(folder / "script.py"), {}, {})
    text = subprocess.run([sys.executable, "script.py"], cwd=folder, check=True, capture_output=True, text=True).stdout
    assert VM.run(program, {}, RunOptions()).meta["stdout"] == text
    assert CPYTHON.run(program, {}, RunOptions()).meta["stdout"] == text


def test_a_model_inside_a_package(folder: Path) -> None:
    (folder / "pkg" / "model.py").write_text(
        "from . import VERSION\nfrom .helpers import mean\nfrom pkg.deep.er import shift\nfrom config import EPS\n\n"
        "def main(x):\n    return shift(x) * VERSION + mean(x) + EPS\n"
    )
    program = load(f"{folder / 'pkg' / 'model.py'}:main", {}, {"x": X})
    np.save(folder / "x.npy", X)
    script = "import numpy as np, pkg.model\nnp.save('y.npy', pkg.model.main(np.load('x.npy')))"
    subprocess.run([sys.executable, "-c", script], cwd=folder, check=True)
    for engine in (VM, CPYTHON):
        (found,) = engine.run(program, {"x": X}, RunOptions()).outputs.values()
        assert np.array_equal(found, np.load(folder / "y.npy"))


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("from layers import rely\ndef main(x):\n    return rely(x)", "model.py:2:1", "has no `rely`; did you mean `relu`"),
        ("import layers\ndef main(x):\n    return layers.rely(x)", "model.py:4:12", "has no `rely`; did you mean `relu`"),
        ("import broken\ndef main(x):\n    return broken.f(x)", "broken.py:6:12", "frobnicate"),
        ("import broken\ndef main(x):\n    return x * broken.HOST", "broken.py:2:8", "socket.gethostname"),
        ("import pkg.nothing\ndef main(x):\n    return pkg.nothing.f(x)", "model.py:2:1", "no module `pkg.nothing`"),
        ("from . import layers\ndef main(x):\n    return layers.relu(x)", "model.py:2:1", "import within a package"),
        ("import nowhere\ndef main(x):\n    return nowhere.f(x)", "model.py:4:12", "`nowhere.f` is not supported"),
        ("from bad import f\ndef main(x):\n    return f(x)", "bad.py:1:6", "not Python"),
    ],
)  # fmt: skip
def test_errors_stand_at_their_place(folder: Path, text: str, where: str, what: str) -> None:
    (folder / "bad.py").write_text("def f(\n")
    with pytest.raises(SourceError) as caught:
        model(folder, text)
    assert where in str(caught.value)
    assert what in str(caught.value)


def test_places_name_the_file(folder: Path) -> None:
    program = model(folder, "from layers import relu\ndef main(x):\n    return relu(x + 1)")
    places = {op_id(op): str(getattr(op.properties["at"], "data", "")) for op in program.operations() if "at" in op.properties}
    assert places["maximum.0"] == "layers.py:9:12"
    assert program.line_at(places["maximum.0"]) == "return np.maximum(x, 0)"
    assert program.line_at("model.py:4:17") == "return relu(x + 1)"


def test_two_files_of_one_name_have_places_of_their_own(folder: Path) -> None:
    (folder / "pkg" / "layers.py").write_text("import numpy as np\n\n\ndef relu(x):\n    return np.minimum(x, 1)\n")
    (folder / "pkg" / "model.py").write_text("def shift(x):\n    return x - 1\n")
    text = "import layers\nfrom pkg.layers import relu\nfrom pkg.model import shift\n"
    program = model(folder, text + "def main(x):\n    return shift(relu(layers.relu(x)))")
    places = [str(getattr(op.properties["at"], "data", "")) for op in program.operations() if op.operands]
    assert [place.rpartition(":")[0] for place in places] == ["layers.py:9", "pkg/layers.py:5", "pkg/model.py:2"]
    lines = [program.line_at(place) for place in places]
    assert lines == ["return np.maximum(x, 0)", "return np.minimum(x, 1)", "return x - 1"]


def test_cpython_runs_no_handler_that_was_not_followed(folder: Path) -> None:
    marker = folder / "executed"
    written = f"__import__('os').system('touch {marker}')"
    (folder / "evil.py").write_text(
        f"D = {{}}\n\ndef f(x):\n    try:\n        return x * D['a']\n    except IndexError:\n        {written}\n"
        f"    except KeyError:\n        pass\n    except {written}:\n        {written}\n"
        f"    try:\n        return x + 1\n    except Exception:\n        {written}\n"
    )
    program = model(folder, "from evil import f\ndef main(x):\n    return f(x)")
    assert program.handlers == ("evil.py:8",)
    (found,) = CPYTHON.run(program, {"x": X}, RunOptions()).outputs.values()
    assert np.array_equal(found, X + 1)
    assert not marker.exists()


def test_the_sources_of_a_program_are_all_that_it_imports(folder: Path) -> None:
    program = model(folder, "from pkg import layer_norm\ndef main(x):\n    return layer_norm(x)")
    assert {*program.modules} == {"pkg", "pkg.norm", "pkg.helpers", "config", "pkg.extra", "pkg.deep", "pkg.deep.er"}
    before = program.all_sources
    (folder / "config.py").write_text(FILES["config.py"] + "# more\n")
    assert model(folder, "from pkg import layer_norm\ndef main(x):\n    return layer_norm(x)").all_sources != before


def test_cpython_runs_what_was_read_not_what_lies_there_now(folder: Path) -> None:
    program = model(folder, "from layers import relu\ndef main(x):\n    return relu(x)")
    (folder / "layers.py").write_text("def relu(x):\n    return x * 0 + 5\n")
    (found,) = CPYTHON.run(program, {"x": X}, RunOptions()).outputs.values()
    assert np.array_equal(found, np.maximum(X, 0))


def test_nothing_of_a_module_is_executed(folder: Path) -> None:
    marker = folder / "executed"
    (folder / "evil.py").write_text(
        f"import os\nos.system('touch {marker}')\n__import__('os').system('touch {marker}')\n\ndef f(x):\n    return x + 1\n"
    )
    program = model(folder, "from evil import f\ndef main(x):\n    return f(x)")
    for engine in (VM, CPYTHON):
        (found,) = engine.run(program, {"x": X}, RunOptions()).outputs.values()
        assert np.array_equal(found, X + 1)
    assert not marker.exists()
