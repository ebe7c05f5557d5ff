"""How the command meets a shell: help and its examples, drawn data, closed pipes, ASCII terminals, blanks in paths."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from command_line import DENSE, ROOT, Fleet, environment

from fleet.cli.main import fleet as group
from fleet.cli.main import main

BANNER = "seeded random data: task figures (accuracy, flipped predictions) mean nothing (drawn: x, w, b)"


def commands(of: click.Command, words: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], click.Command]]:
    """Every command with the words that call it."""
    found = [(words, of)]
    if isinstance(of, click.Group):
        context = click.Context(of)
        for name in of.list_commands(context):
            command = of.get_command(context, name)
            assert command is not None
            found += commands(command, (*words, name))
    return found


COMMANDS = commands(group)
EXAMPLES = [
    line
    for _, command in COMMANDS
    for line in re.findall(r"^ *(fleet .*)$", re.sub(r"\\\n *", "", command.epilog or ""), re.MULTILINE)
]
PARTS = [part.strip() for line in EXAMPLES for part in re.sub(r" {3,}\(.*\)$", "", line).split("&&")]


def test_every_command_has_help_and_an_example() -> None:
    with_parameters = [words for words, c in COMMANDS if not isinstance(c, click.Group) and c.name != "doctor"]
    assert len(with_parameters) >= 9
    for words, command in COMMANDS:
        if words in with_parameters:
            assert "Example" in (command.epilog or ""), words
            assert command.help, words


@pytest.mark.parametrize("part", PARTS)
def test_examples_parse(part: str) -> None:
    """Every option and choice of every example exists."""
    words = shlex.split(part)
    assert words.pop(0) == "fleet"
    command: click.Command = group
    context = click.Context(group, info_name="fleet")
    while isinstance(command, click.Group):
        found = command.get_command(context, words[0])
        assert found is not None, part
        command, words = found, words[1:]
    with command.make_context(command.name, words, parent=context) as made:
        assert not made.args


CHEAP = [p for p in PARTS if p.startswith(("fleet run examples/add", "fleet devices", "fleet compile", "fleet run add.fbc"))]


def test_cheap_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """In a workspace, where a user types them."""
    monkeypatch.chdir(tmp_path)
    assert main(["init"]) == 0
    assert len(CHEAP) >= 6
    for part in PARTS:
        missing = [name for name in re.findall(r"examples/[\w/.]+", part) if not (tmp_path / name).is_file()]
        assert not missing, part
    for part in CHEAP:
        assert main(shlex.split(part)[1:]) == 0, (part, capsys.readouterr().err)
    assert (tmp_path / "digits.elf").read_bytes()[:4] == b"\x7fELF"


def test_help_imports_nothing_heavy() -> None:
    code = "import sys; from fleet.cli.main import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True)
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert not loaded & {"numpy", "xdsl", "rich", "matplotlib", "llvmlite", "cocotb", "jinja2", "systemrdl"}
    assert "Examples:" in done.stdout
    assert "Exit codes of every command:" in done.stdout


def test_drawn_data_are_announced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model.py").write_text(DENSE)
    monkeypatch.chdir(tmp_path)

    def ran(*arguments: str) -> tuple[str, str]:
        assert main(list(arguments)) == 0
        return tuple(capsys.readouterr())  # type: ignore[return-value]

    model = "model.py:forward"
    assert BANNER in ran("run", model)[1]
    first = json.loads(ran("run", model, "--json", "-o", "a.npz")[0])
    assert first["banner"] == BANNER
    ran("run", model, "-o", "b.npz")
    ran("run", model, "--seed", "1", "-o", "c.npz")
    a, b, c = (np.load(f"{name}.npz")["y"] for name in "abc")
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)
    out, err = ran("compile", "--emit", "ir", model)
    assert BANNER in err
    assert BANNER not in out
    assert f"NOTE: {BANNER}" in ran("cosim", model, "--report", "r")[0]
    found = json.loads(ran("cosim", model, "--json")[0])
    assert (found["random_data"], found["banner"]) == (True, BANNER)
    assert BANNER in (tmp_path / "r" / "index.html").read_text()
    assert json.loads((tmp_path / "r" / "report.json").read_text())["banner"] == BANNER


@pytest.mark.parametrize(
    ("arguments", "shell", "code"),
    [
        ("cosim model.py:forward", "<&- | cat", 0),
        ("cosim model.py:forward", ">&-", 0),
        ("cosim model.py:forward", "<&- >&- 2>&-", 0),
        ("cosim model.py:forward", "| true", 141),
        ("run model.py:forward", "| head -1", None),
        ("devices --json", "| true", 141),
        ("cosim --help", "| true", 141),
        ("cosim model.py:forward", "> /dev/full", 2),
        ("nonsense", "2>&-", 2),
    ],
)
def test_streams_that_are_closed(tmp_path: Path, arguments: str, shell: str, code: int | None) -> None:
    (tmp_path / "model.py").write_text(DENSE)
    line = f'"{sys.executable}" -m fleet.cli.main {arguments} {shell}; exit ${{PIPESTATUS[0]}}'
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr
    assert "Exception" not in done.stderr
    assert done.returncode in ({0, 141} if code is None else {code}), done.stderr


NAMES = """import numpy as np


def f(größe: "float32[N, 4]"):
    é = größe + 1
    return é
"""
ASCII = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
NO_UTF8 = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": None}


@pytest.mark.parametrize("env", [ASCII, NO_UTF8], ids=["ascii", "posix"])
def test_a_terminal_without_utf8(tmp_path: Path, fleet: Fleet, env: dict[str, str | None]) -> None:
    (tmp_path / "mü.py").write_text(NAMES, encoding="utf-8")
    (tmp_path / "bad.py").write_text(NAMES.replace("return é", "return ü"), encoding="utf-8")
    assert fleet("--help", env=env).code == 0
    assert fleet("cosim", "mü.py:f", "--engines", "vm,riscv,cpython", "--report", "ré", env=env).code == 0
    assert (tmp_path / "ré" / "index.html").read_text(encoding="utf-8")
    assert fleet("report", "ré", env=env).code == 0
    assert fleet("run", "mü.py:f", env=env).code == 0
    assert fleet("compile", "--emit", "bytecode", "mü.py:f", "-o", "ü.txt", env=env).code == 0
    assert "é" in (tmp_path / "ü.txt").read_text(encoding="utf-8")
    bad = fleet("run", "bad.py:f", env=env)
    assert bad.code == 2
    assert "is not defined" in bad.err


def test_paths_with_blanks(tmp_path: Path, fleet: Fleet) -> None:
    """Checkout, cache, model, data and report; the simulation runs from there."""
    place = tmp_path / "a place"
    checkout, work = place / "my checkout", place / "my work"
    work.mkdir(parents=True)
    for name in ("fleet", "rtl_models"):
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    rng = np.random.default_rng(1)
    (work / "my model.py").write_text(DENSE)
    np.savez(work / "my w.npz", w=rng.standard_normal((64, 32), np.float32), b=rng.standard_normal(32, np.float32))
    np.savez(work / "my x.npz", x=rng.standard_normal((3, 64), np.float32))
    arguments = ("--weights", "my w.npz", "--input", "my x.npz", "--engines", "cpython,vm,iss,rtl,riscv", "--device", "hbm_small")
    env = {"PYTHONPATH": str(checkout), "TMPDIR": str(work)}
    ran = fleet("cosim", "my model.py:forward", *arguments, "--report", "my report", cwd=work, env=env)
    assert ran.code == 0, ran.out + ran.err
    assert "rtl-vs-iss: 1 instruction commits" in ran.out
    stored = json.loads((work / "my report" / "result.json").read_text())
    again = shlex.split(stored["identity"]["command"])
    assert again[:3] == ["fleet", "cosim", "my model.py:forward"]
    assert sorted(p.name for p in work.iterdir() if p.name.startswith("fleet")) == []
