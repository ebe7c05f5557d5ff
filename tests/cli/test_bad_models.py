"""Model files that cannot be compiled: exit code 2, the place and a caret, and not a byte of them is executed."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Fleet, Refused

from fleet.cli.main import main
from fleet.frontend.reading import findings

HEAD = 'import numpy as np\n\n\ndef f(x: "float32[N, 4]"):\n'


@pytest.mark.parametrize(
    ("body", "place", "words"),
    [
        ("    return x +\n", "5:15", ("not Python",)),
        ("    return np.ctypeslib.as_ctypes(x)\n", "5:12", ("F205 numpy.ctypeslib is not supported", "`fleet help numpy` lists")),
        ("    while True:\n        x = x + 1\n    return x\n", "6:13", ("F601 following the source takes more than 6000 steps",)),
        ("    return y\n", "5:12", ("`y` is not defined",)),
        ("    return f(x)\n", "5:12", ("`f` calls itself more than 200 calls deep",)),
        ("    return x @ x\n", "5:12", ("matmul", "(8, 4)")),
        ("    return x + eval('1')\n", "5:16", ("`eval` is not supported",)),
        ("    return x + 9**9**9**9\n", "5:19", ("64 bits",)),
        ("    return np.zeros((10**6, 10**6)) + 1\n", "5:12", ("F603", "at most 2^30 bytes")),
        ("    pass\n", "4:1", ("returns nothing",)),
    ],
)
def test_place_and_caret(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    body: str,
    place: str,
    words: tuple[str, ...],
) -> None:
    (tmp_path / "m.py").write_text(HEAD + body)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(findings, "MAX_STEPS", 6000)
    assert main(["cosim", "m.py:f"]) == 2
    line, source, caret = capsys.readouterr().err.splitlines()
    assert line.startswith(f"fleet: m.py:{place}: ")
    for word in words:
        assert word in line
    row, column = (int(n) for n in place.split(":"))
    assert source.strip() == (HEAD + body).splitlines()[row - 1].strip()
    assert caret == " " * (4 + column - 1) + "^"


def test_what_is_no_model(tmp_path: Path, refused: Refused) -> None:
    refused("run", "no.py:f", words=("no.py: cannot be read", "path.py:function"))
    refused("run", ".:f", words=(".: is a folder", "name the file in it"))
    (tmp_path / "m.py").write_text(HEAD + "    return x + 1\n")
    refused("run", "m.py:g", words=("no function `g`", "its functions: f"))
    refused("run", "m.py", words=("no statements", "m.py:NAME", "its functions: f"))
    (tmp_path / "b.py").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(range(256)))
    refused("run", "b.py:f", words=("b.py: is an ELF file", "expected a Python source"))
    (tmp_path / "c.py").write_bytes(bytes(range(128, 256)))
    refused("run", "c.py:f", words=("c.py: cannot be read", "path.py:function"))


def test_endless_inlining(tmp_path: Path, refused: Refused) -> None:
    doubling = "".join(f"def g{i}(x):\n    return g{i + 1}(g{i + 1}(x))\n\n" for i in range(30))
    (tmp_path / "m.py").write_text(f"{doubling}def g30(x):\n    return x\n\n{HEAD}    return g0(x)\n")
    refused("run", "m.py:f", words=("more than 20000 calls",), detail=2)


@pytest.mark.parametrize(
    "expression",
    ["(" * 400 + "x" + ")" * 400, "-" * 5000 + "x", "x + " * 20000 + "x", "x" + ".T" * 20000, "[" * 150 + "x" + "]" * 150],
    ids=["parentheses", "minus", "sum", "attributes", "lists"],
)
def test_deep_nesting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], expression: str) -> None:
    (tmp_path / "m.py").write_text(f"{HEAD}    return {expression}\n")
    monkeypatch.chdir(tmp_path)
    assert main(["run", "m.py:f"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("fleet: m.py:")
    assert "Traceback" not in err
    assert len(err) < 1000


def test_a_source_of_5_megabytes(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "m.py").write_text(HEAD + "    x = x + 1\n" * 400_000 + "    return x\n")
    refused("run", "m.py:f", words=("m.py: larger than 4194304 bytes",))


HOSTILE = """import os
import helper
import numpy as np

open({marker!r}, "w").write("x")
os.system("touch " + {marker!r})
LIMIT = 1.5


class Trap:
    open({marker!r}, "w")


def other(x, y=open({marker!r}, "w")):
    return x


@os.path.exists
def trap(x):
    return x


def double(x: open({marker!r}, "w"), n=2) -> open({marker!r}, "w"):
    return x * n


def f(x: "float32[N, 4]"):
    return double(x) + LIMIT
"""


def test_a_model_file_can_run_no_code(tmp_path: Path, fleet: Fleet, refused: Refused) -> None:
    marker = str(tmp_path / "pwned")
    (tmp_path / "m.py").write_text(HOSTILE.format(marker=marker))
    (tmp_path / "helper.py").write_text(f"open({marker!r}, 'w')\n")
    ran = fleet("cosim", "m.py:f", "--engines", "vm,riscv,cpython", "--json")
    assert ran.code == 0, ran.out
    assert '"vm-vs-cpython"' in ran.out
    for stage in ("ir", "bytecode", "riscv-asm"):
        assert fleet("compile", "--emit", stage, "m.py:f").code == 0
    assert not (tmp_path / "pwned").exists()
    (tmp_path / "a.py").write_text(f'def f(x: "float32[N, __import__({marker!r})]"):\n    return x\n')
    refused("run", "a.py:f", words=("a.py:1:10",), detail=2)
    default = f"import numpy as np\n\n\ndef g(x, y=__import__('os').system('touch {marker}')):\n    return x + y\n\n\n"
    (tmp_path / "d.py").write_text(f'{default}def f(x: "float32[N, 4]"):\n    return g(x, 1)\n')
    ran = fleet("cosim", "d.py:f", "--engines", "vm,cpython")
    assert ran.code == 2
    assert "a default of g is a call" in ran.out
    assert not (tmp_path / "pwned").exists()


def test_names_that_are_html(tmp_path: Path, fleet: Fleet) -> None:
    name = "<script>alert(1)<&>.py"
    (tmp_path / name).write_text(HEAD + "    return x + 1\n")
    assert fleet("cosim", f"{name}:f", "--report", "r").code == 0
    page = (tmp_path / "r" / "index.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;&amp;&gt;.py" in page
    assert "<script>" not in (tmp_path / "r" / "junit.xml").read_text()


@pytest.mark.parametrize(
    "command",
    [
        ("run",), ("cosim", "--engines", "vm,riscv"), ("compile",), ("compile", "--emit", "ast"),
        ("case", "add", "mine"), ("bisect-pass",),
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_file_of_pytorch_gets_the_two_lines_that_convert_it(command: tuple[str, ...], tmp_path: Path, refused: Refused) -> None:
    """Wherever a model is named, with a function behind it or without."""
    for name, data in (("junk.pt", b"junk\n"), ("net.pth", b"PK\x03\x04" + bytes(22) + b"\x10\0\0\0archive/data.pkl")):
        (tmp_path / name).write_bytes(data)
        ran = refused(*command, f"{name}:forward", words=("PyTorch file", "convert it to ONNX"), detail=2)
        assert "torch.onnx.export(" in ran.err.splitlines()[2]


def test_a_language_model_of_pytorch_becomes_a_folder(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "m.pt").write_bytes(b"junk")
    refused("generate", "--model", "m.pt", "--prompt", "a", "--engines", "vm", words=("make a folder with safetensors",), detail=1)


def test_weights_of_pytorch_become_an_npz(dense: Path, refused: Refused) -> None:
    (dense / "w.pt").write_bytes(b"PK\x03\x04" + bytes(22) + b"\x10\0\0\0archive/data.pkl")
    ran = refused("run", "model.py:forward", "--weights", "w.pt", words=("expected weights", "make a .npz"), detail=1)
    assert 'numpy.savez("w.npz"' in ran.err
