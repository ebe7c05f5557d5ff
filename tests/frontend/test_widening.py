"""The line about a float32 model that a NumPy number makes float64."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_source import program_of

from fleet.cli.main import main
from fleet.frontend.widening import widened

X = np.ones((2, 4), np.float32)
END = "is a float64 number; np.float32(...) keeps float32"


def said(folder, body: str, x: np.ndarray = X) -> str | None:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    program = program_of(folder, f"import numpy as np\nimport math\ndef forward(x: np.ndarray):\n{lines}", x=x)
    found = widened(program)
    assert found is None or program.returned()[0].type != program.function.body.block.args[0].type
    return found


@pytest.mark.parametrize(
    ("body", "line", "number"),
    [
        ("h = x * 2\nreturn h / np.sqrt(16)", 5, "np.sqrt(16)"),
        ("scale = np.sqrt(x.shape[-1])\ns = x @ x.T / scale\nreturn s + np.float64(1)", 5, "scale"),
        ("return np.maximum(x, np.float64(0))", 4, "np.float64(0)"),
        ("return np.float64(0.5) * x + 1", 4, "np.float64(0.5)"),
        ("return x * np.sqrt(2 / np.pi) + x", 4, "np.sqrt(2 / np.pi)"),
    ],
)
def test_the_first_place_is_named(tmp_path, body: str, line: int, number: str) -> None:
    assert said(tmp_path, body) == f"model.py:{line}: values are float64 from here on: {number} {END}"


@pytest.mark.parametrize(
    "body",
    [
        "return x / math.sqrt(16) * np.pi + 0.5", "return x / np.float32(np.sqrt(16))", "return x + np.ones(4)",
        "y = x.copy()\ny /= np.sqrt(16)\nreturn y", "return x / x.astype(np.float64).sum()", "return x * np.float32(2)",
    ],
)  # fmt: skip
def test_what_stays_float32_or_is_asked_for_is_not_named(tmp_path, body: str) -> None:
    assert said(tmp_path, body) is None


def test_a_model_of_float64_is_not_named(tmp_path) -> None:
    assert said(tmp_path, "return x / np.sqrt(16) * 1", X.astype(float)) is None


@pytest.mark.parametrize("command", [["cosim", "--engines", "vm,cpython"], ["compile"], ["run"]])
def test_the_commands_say_it_once_on_standard_error(tmp_path, command: list[str], capsys) -> None:
    path = tmp_path / "model.py"
    path.write_text("import numpy as np\ndef forward(x: 'float32[N, 4]'):\n    return x / np.sqrt(16) / np.sqrt(4)\n")
    assert main([command[0], f"{path}:forward", *command[1:]]) == 0
    shown = capsys.readouterr()
    assert shown.err.count("values are float64") == 1
    assert f"fleet: model.py:3: values are float64 from here on: np.sqrt(16) {END}" in shown.err
    assert "values are float64" not in shown.out
