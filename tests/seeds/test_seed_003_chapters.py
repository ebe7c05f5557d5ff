"""Seed 003's chapters 01 to 13 and exercises 1 to 8 as scripts: the user's part as it stands, with fleet's import in place of the
compiler that the chapter writes, and NumPy's arrays in place of torch's."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import warm

from fleet.engines.gpu.opencl import ENGINE as OPENCL

ROOT = Path(__file__).resolve().parents[2]
IMPORT = "from fleet import Tensor, jit\n"
TENSORS = """
a = Tensor(shape=(2, 3), dtype="float32")
b = Tensor(shape=(2, 3), dtype="float32")
a.data = np.ones((2, 3), np.float32)
b.data = np.ones((2, 3), np.float32)
"""
ADD = """@jit(target="{target}")
def add(a: Tensor(shape=(2, 3), dtype="float32"), b: Tensor(shape=(2, 3), dtype="float32")):
{body}

{tensors}print(add(a, b))
"""


def printing(target: str) -> str:
    return f'{target}\ndef add():\n    print("add")\n\nadd()\n'


def adding(body: str, target: str = "cpu", before: str = "") -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"import numpy as np\n{before}" + ADD.format(target=target, body=lines.rstrip(), tensors=TENSORS)


def all_of(number: str) -> str:
    return f"[[{number} {number} {number}]\n [{number} {number} {number}]]\n"


CHAPTERS: dict[str, tuple[str, str]] = {
    "01": (printing("@jit"), "add\n"),
    "02": (printing("@jit"), "add\n"),
    "03": (printing('@jit(target="cpu")'), "add\n"),
    "04": (printing('@jit(target="cpu")'), "add\n"),
    "05": (printing('@jit(target="cpu")'), "add\n"),
    "06": ('@jit(target="cpu")\ndef add():\n    pass\n\nadd()\n', ""),
    "07": ('@jit(target="cpu")\ndef add():\n    out = 1 + 1\n    return out\n\nadd()\n', ""),
    "08": ('@jit(target="cpu")\ndef add():\n    out = 1 + 1\n    return out\n\nprint(add())\n', "2\n"),
    "09": ('@jit(target="cpu")\ndef add():\n    out = 1 + 1\n    return out\n\nprint(add())\n', "2\n"),
    "10": (adding("out = a + b\nreturn out"), all_of("2.")),
    "11-gpu": (adding("out = a + b\nreturn out", "gpu"), all_of("2.")),
    "12-gpu": (
        adding("out = a + b\nreturn out", "gpu") + 'print("__global__" in add.lower(a, b).text("cuda"))\n',
        all_of("2.") + "True\n",
    ),
    "13": (adding("out = a + b\nout = out + a\nreturn out"), all_of("3.")),
    "13-gpu": (
        adding("out = a + b\nout = out + a\nreturn out", "gpu") + 'print(add.lower(a, b).text("cuda").count("__global__"))\n',
        all_of("3.") + "1\n",
    ),
}

EXERCISES: dict[str, tuple[str, str]] = {
    "1": (adding("out = a * b\nreturn out"), all_of("1.")),
    "2": (
        adding("out = a + b\nout = out + a\nreturn out").replace('target="cpu"', 'target="cpu", tune=True'),
        all_of("3."),
    ),
    "3": (adding("if a.sum() > b.sum():\n    out = a\nelse:\n    out = a + b\nreturn out"), all_of("2.")),
    "3-without-else": (adding("out = a\nif a.sum() >= b.sum():\n    out = out + b\nreturn out"), all_of("2.")),
    "4": (adding("out = a\nfor i in range(3):\n    out = out + b\nreturn out"), all_of("4.")),
    "4-while": (adding("out = a\nwhile out.sum() < 20:\n    out = out + b\nreturn out"), all_of("4.")),
    "5": (adding("out = a + b\nout = sigmoid(out)\nreturn out", before="from fleet import sigmoid\n"), all_of("0.880797")),
    "6": (
        adding(
            "sum = a + b\nplaceholder = np.zeros_like(sum)\nout = custom_add(a, sum, placeholder)\nreturn out",
            before="""from fleet import kernel

@kernel
def custom_add(x, y, T_add):
    for ax0 in range(2):
        for ax1 in range(3):
            T_add[ax0, ax1] = x[ax0, ax1] + y[ax0, ax1]
    return T_add

""",
        ),
        all_of("3."),
    ),
    "7-gpu": (
        adding(
            'with device("cpu"):\n    sum = a + b\nwith device("gpu"):\n    out = sum + a\nreturn out',
            before="from fleet import device\n",
        ),
        all_of("3."),
    ),
    "8": (
        adding("out = a + b\nout = out + a\nreturn out") + 'print("fleet.fused" in add.lower(a, b).text("loops"))\n',
        all_of("3.") + "True\n",
    ),
}


def ran(script: str, folder: Path) -> tuple[int, str, str]:
    (folder / "script.py").write_text(IMPORT + script)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])}
    start = "import runpy; runpy.run_path('script.py', run_name='__main__')"
    done = warm.run([sys.executable, "-c", start], cwd=folder, env=environment)
    said = [line for line in done.stderr.decode().splitlines() if "no GPU answers" not in line and "script.py" not in line]
    return done.returncode, done.stdout.decode(), "\n".join(line for line in said if not line.startswith("  "))


def needs(name: str) -> None:
    if name.endswith("-gpu") and (missing := OPENCL.available()) and os.environ.get("FLEET_REQUIRE_OPENCL") != "1":
        pytest.skip(missing)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_script_prints_what_the_chapter_shows(chapter: str, tmp_path: Path) -> None:
    needs(chapter)
    script, shown = CHAPTERS[chapter]
    code, out, err = ran(script, tmp_path)
    assert (code, out) == (0, shown), err


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_exercise(exercise: str, tmp_path: Path) -> None:
    needs(exercise)
    script, shown = EXERCISES[exercise]
    code, out, err = ran(script, tmp_path)
    found = out.replace("0.88079703", "0.880797").replace("0.8807971", "0.880797")  # the last digit is the target's own
    assert (code, found) == (0, shown), err
