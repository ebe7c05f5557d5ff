"""`fleet.jit` refuses what it cannot compile, with the place in the user's source."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import layers_elsewhere as elsewhere
import numpy as np
import pytest

from fleet import jit
from fleet.errors import FleetError, ModelError, SourceError

W = np.ones((3, 4), np.float32)
X = np.random.default_rng(0).standard_normal((2, 3)).astype(np.float32)
GAIN = 0.5


def affine(x):
    return x @ W


def bad_name(x):
    return x + undefined_name  # noqa: F821


def bad_shape(x):
    return x @ x


def decides(x):
    if x > 0:
        return x
    return -x


def assigns_global(x):
    global GAIN  # noqa: PLW0603
    GAIN = 2
    return x


def changes_argument(x):
    x[0] = 1
    return x


def changes_weight(x):
    W[0] = 1
    return x


def recursive(x):
    return recursive(x)


def generator(x):
    yield x


def starred(*parts, **named):
    return parts[0] + parts[1] + named["c"]


OBJECT = object()


def uses_object(x):
    return x + OBJECT


def uses_module(x):
    return sys.maxsize + x


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (bad_name, r"test_jit_errors.py:{line}:16: F201 `undefined_name` is not defined"),
        (bad_shape, r"test_jit_errors.py:{line}:12: F302"),
        (decides, r"F703 the truth value of an array"),
        (assigns_global, r"test_jit_errors.py:{line}:5: F504 `GAIN` outlives the call"),
        (changes_argument, r"F504 the array belongs"),
        (changes_weight, r"F504 the array belongs"),
        (recursive, r"F606"),
        (generator, r"F509"),
        (uses_object, r"test_jit_errors.py:{line}:16: F408 `OBJECT` is an object of type object"),
    ],
    ids=lambda p: getattr(p, "__name__", ""),
)
def test_errors_name_file_and_line(function: Any, message: str) -> None:
    line = function.__code__.co_firstlineno + 1
    with pytest.raises(SourceError, match=message.replace("{line}", str(line))):
        jit(function)(X)


def test_an_error_in_another_file_names_that_file() -> None:
    def calls(x):
        return elsewhere.wrong(x)

    with pytest.raises(SourceError, match=r"layers_elsewhere.py:14:16: F201 `missing` is not defined"):
        jit(calls)(X)


def test_numbers_of_modules_and_starred_arguments() -> None:
    np.testing.assert_array_equal(jit(uses_module)(np.ones(2)), uses_module(np.ones(2)))
    np.testing.assert_array_equal(jit(starred)(X, 2 * X, c=X), starred(X, 2 * X, c=X))


def test_calls_that_do_not_fit() -> None:
    with pytest.raises(TypeError, match="missing a required argument"):
        jit(affine)()
    with pytest.raises(ModelError, match="object of type object"):
        jit(affine)(object())
    with pytest.raises(ModelError, match=r"<M8\[s\]"):
        jit(affine)(np.ones(3, "M8[s]"))
    with pytest.raises(ModelError, match="object of type MaskedArray"):
        jit(affine)(np.ma.ones(3))
    nested: list[Any] = []
    nested.append(nested)
    with pytest.raises(ModelError, match="nests deeper"):
        jit(affine)(nested)


def test_declared_arguments_are_checked() -> None:
    @jit
    def declared(x: "float32[N, 3]", y: "float32[N]", n: int = 2):  # noqa: F821, UP037
        return x.sum(axis=1) + y * n

    np.testing.assert_allclose(declared(X, np.ones(2, np.float32)), X.sum(axis=1) + 2, rtol=1e-5)
    assert declared.programs[0].symbols == {"N": 2}
    with pytest.raises(ModelError, match=r"test_jit_errors.py:\d+: N is 2"):
        declared(X, np.ones(3, np.float32))
    with pytest.raises(SourceError, match="`y` is declared float32"):
        declared(X, 1.0)


def test_no_source_is_said() -> None:
    with pytest.raises(FleetError, match=r"test_jit_errors.py:\d+: a lambda cannot be compiled"):
        jit(lambda x: x)
    with pytest.raises(FleetError, match="an object of type type cannot be compiled"):
        jit(int)
    names: dict[str, Any] = {}
    exec("def made(x):\n    return x\n", names)
    with pytest.raises(SourceError, match="the source of `made` cannot be read"):
        jit(names["made"])(X)


def test_a_file_that_has_changed_since_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "changing.py"
    names: dict[str, Any] = {}
    path.write_text("def f(x):\n    return x + 1\n")
    exec(compile(path.read_text(), str(path), "exec"), names)
    np.testing.assert_array_equal(jit(names["f"])(X), X + 1)
    path.write_text("def f(x):\n    return x + 100\n")
    with pytest.raises(SourceError, match="not the one that Python has loaded"):
        jit(names["f"])(X)


def test_importing_jit_loads_no_compiler() -> None:
    code = (
        "import sys, fleet\nassert not [m for m in sys.modules if m.startswith(('fleet.', 'xdsl', 'numpy'))]\nfrom fleet import jit"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
