"""One grammar of all commands: the same word means the same thing, in the same form; the spellings of before say so."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from command_line import ROOT, Fleet, Refused, environment

from fleet.cli.grammar import Duration
from fleet.cli.looking.help import pages
from fleet.cli.main import fleet as group
from fleet.cli.main import main


def leaves(of: click.Command, words: tuple[str, ...] = ()) -> list[tuple[str, click.Command]]:
    if not isinstance(of, click.Group):
        return [(" ".join(words), of)]
    context = click.Context(of)
    return [leaf for name in of.list_commands(context) for leaf in leaves(of.get_command(context, name) or of, (*words, name))]


COMMANDS = leaves(group)
OPTIONS = [(words, o) for words, command in COMMANDS for o in command.params if isinstance(o, click.Option) and not o.hidden]


def of(option: str) -> list[tuple[str, click.Option]]:
    found = [(words, o) for words, o in OPTIONS if option in o.opts]
    assert found, option
    return found


def test_there_are_commands_to_look_at() -> None:
    assert len(COMMANDS) > 30
    assert {"cosim", "isa fuzz", "case run", "host build"} <= {words for words, _ in COMMANDS}


def test_output_is_a_file_and_report_a_folder() -> None:
    for words, o in OPTIONS:
        assert not {"--out", "--html", "--folder-out"} & set(o.opts), words
        assert ("-o" in o.opts) == ("--output" in o.opts), words
    for words, o in of("--output"):
        assert isinstance(o.type, click.Path), words
        assert o.type.file_okay, words
    for words, o in of("--report"):
        assert isinstance(o.type, click.Path), words
        assert not o.type.file_okay, words


def test_the_same_word_has_the_same_form_everywhere() -> None:
    for words, o in OPTIONS:
        assert not {"--engine", "--devices", "--memories", "--seconds", "--minutes", "--time", "--job", "--threads"} & set(
            o.opts
        ), words
    for option in ("--engines", "--device", "--memory"):
        for words, o in of(option):
            assert o.type.name in ("text", "choice"), (words, option)
            assert not o.is_flag, (words, option)
    for words, o in of("--seed"):
        assert isinstance(o.type, click.IntRange), words
        assert o.type.min == 0, words
    for words, o in of("--jobs"):
        assert isinstance(o.type, click.IntRange), words
        assert o.type.min == 1, words
    for words, o in of("--budget"):
        assert isinstance(o.type, Duration), words


def test_everything_that_prints_has_json_and_quiet() -> None:
    for words, command in COMMANDS:
        flags = {word for o in command.params if isinstance(o, click.Option) and o.is_flag for word in o.opts}
        assert {"--json", "--quiet"} <= flags, words


def test_every_option_that_is_shown_has_help() -> None:
    bare = {(words, o.opts[0]) for words, o in OPTIONS if not o.help}
    assert bare == set()


def test_commands_stand_in_groups(fleet: Fleet) -> None:
    said = fleet("--help").out
    at = [said.index(f"\n{heading}:\n") for heading in ("Run", "Look", "Regression", "Bring your own")]
    assert at == sorted(at)
    for words, _ in COMMANDS:
        assert f"\n  {words.split()[0]} " in said


OLD = [
    (("run", "--engine", "interp", "add.py"), "--engine is --engines now"),
    (("run", "--out", "o.npz", "add.py"), "--out is --output now"),
    (("compile", "--emit", "ir", "add.py", "--out", "add.ir"), "--out is --output now"),
    (("report", "r", "-o", "again"), "-o is --report now"),
    (
        ("fuzz", "--seconds", "0.2", "--programs", "1", "--jobs", "1", "--engines", "none", "--report", "f"),
        "--seconds is --budget now",
    ),
]


@pytest.mark.parametrize(("words", "hint"), OLD, ids=[" ".join(w) for w, _ in OLD])
def test_a_spelling_of_before_works_and_says_the_new_one(
    words: tuple[str, ...], hint: str, tmp_path: Path, fleet: Fleet, stored: Path
) -> None:
    (tmp_path / "add.py").write_text("a = 1\nb = 2\nprint(a + b)\n")
    shutil.copytree(stored, tmp_path / "r")
    ran = fleet(*words)
    assert ran.code == 0, ran.err
    assert ran.err.splitlines()[0] == f"fleet: {hint}; the old word goes with the next version"
    for written in ("o.npz", "add.ir", "again"):
        assert (tmp_path / written).exists() == (written in words)


def test_the_new_word_goes_before_the_old_one(tmp_path: Path, fleet: Fleet) -> None:
    (tmp_path / "add.py").write_text("print(3)\n")
    ran = fleet("compile", "--emit", "ir", "add.py", "--out", "old.ir", "-o", "new.ir")
    assert ran.code == 0
    assert (tmp_path / "new.ir").exists()
    assert not (tmp_path / "old.ir").exists()


def test_a_unit_of_before_is_kept(fleet: Fleet) -> None:
    ran = fleet("isa", "coverage", "vgemm_small", "--minutes", "0")
    assert "--minutes is --budget now" in ran.err
    assert "give --budget, or --merge FILE" in ran.err


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("90s", 90), ("1.5m", 90), ("2min", 120), ("1h", 3600), ("1e3", 1000)])
def test_durations(text: str, seconds: float) -> None:
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "1e999", "5 apples", "", "5d"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(click.BadParameter, match="give 90, 90s, 5m or 1h"):
        Duration().convert(text, None, None)


def test_one_engine_runs(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "add.py").write_text("print(3)\n")
    refused("run", "add.py", "--engines", "vm,interp", words=("one engine, not vm,interp", "fleet cosim"))


def test_quiet_prints_errors_alone(dense: Path, fleet: Fleet) -> None:
    for words in (
        ("run", "model.py:forward"),
        ("cosim", "model.py:forward", "--engines", "vm,interp"),
        ("devices",),
        ("inspect", "model.py"),
    ):
        ran = fleet(*words, "--quiet")
        assert (ran.code, ran.out, ran.err) == (0, "", ""), words
    ran = fleet("run", "gone.py", "--quiet")
    assert (ran.code, ran.out) == (2, "")
    assert ran.line.startswith("fleet: gone.py: cannot be read")


def test_json_of_a_command_that_has_no_figures_is_its_lines(dense: Path, fleet: Fleet) -> None:
    ran = fleet("compile", "--emit", "token", "model.py:forward", "--json")
    found = json.loads(ran.out)
    assert found["command"] == "compile"
    assert (found["exit_code"], found["error"]) == (0, None)
    assert any("forward" in line for line in found["lines"])
    failed = fleet("why", "nosuch", "--json")
    assert failed.code == 2
    assert json.loads(failed.out)["exit_code"] == 2
    assert json.loads(failed.out)["error"] in failed.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_for_each_shell(shell: str, fleet: Fleet) -> None:
    ran = fleet("completion", shell)
    assert ran.code == 0
    assert "_FLEET_COMPLETE" in ran.out
    if tool := shutil.which(shell):
        assert subprocess.run([tool, "-n"], input=ran.out, text=True, capture_output=True, check=False).stderr == ""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("fleet ins", {"inspect"}),
        ("fleet isa ch", {"check"}),
        ("fleet cosim m.py --dev", {"--device"}),
        ("fleet cosim m.py --device vgemm_", {"vgemm_small"}),
        ("fleet cosim m.py --engines vm,is", {"vm,iss"}),
        ("fleet run m.py --memory st", {"stall"}),
        ("fleet case run digits_v", {"digits_vgemm"}),
        ("fleet isa add mine x --like elementw", {"elementwise"}),
        ("fleet help onnx-sk", {"onnx-skipped"}),
        ("fleet inspect vgemm_", {"vgemm_small"}),
    ],
)
def test_what_a_shell_is_given(line: str, expected: set[str]) -> None:
    words = line.split()
    env = {**environment(), "_FLEET_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run([sys.executable, "-m", "fleet.cli.main"], env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found = [entry.partition(",") for entry in done.stdout.splitlines()]
    assert {value for kind, _, value in found if kind == "plain"} == expected


def test_a_file_stays_a_file_for_the_shell() -> None:
    env = {**environment(), "_FLEET_COMPLETE": "bash_complete", "COMP_WORDS": "fleet try mo", "COMP_CWORD": "2"}
    done = subprocess.run([sys.executable, "-m", "fleet.cli.main"], env=env, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "file,mo" in done.stdout.splitlines()


def test_help_loads_nothing_that_takes_time() -> None:
    """What would make it slow: 0.3 s on a quiet machine is the goal."""
    code = "import sys; from fleet.cli.main import main; main(['--help']); print(sorted(m for m in sys.modules if m in LARGE))"
    code = f"LARGE = {{'numpy', 'xdsl', 'onnx', 'matplotlib', 'rich', 'pytest'}}; {code}"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_topics_of_help(fleet: Fleet, refused: Refused) -> None:
    assert "numpy " in fleet("help").out
    assert fleet("help", "docs/onnx.md").out == (ROOT / "docs/onnx.md").read_text()
    refused("help", "onx", words=("no page of this name", "onnx"))
    assert main(["help", "ir", "--quiet"]) == 0
    assert os.environ.get("_FLEET_COMPLETE") is None


def _said(tree: ast.Module) -> Iterator[str]:
    """Texts of a module that are neither documentation nor the name of a file that is written."""
    left_out: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            left_out.add(id(node.value))  # a docstring, of a value too
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Path":
            left_out |= {id(a) for a in node.args}
    yield from (
        n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in left_out
    )


def test_what_users_are_told_to_read_is_there_for_a_wheel_s_users_too() -> None:
    """A wheel has no folder docs: errors and help name `fleet help TOPIC`, and the page exists."""
    topics: set[str] = set()
    for path in sorted((ROOT / "fleet").rglob("*.py")):
        source = path.read_text()
        if "docs/" not in source and "fleet help" not in source:
            continue
        for text in _said(ast.parse(source)):
            assert not re.search(r"docs/[a-z-]+\.md", text), (path, text)
            topics |= set(re.findall(r"fleet help ([a-z][a-z-]+)", text))
    for words, command in COMMANDS:
        assert not re.search(r"docs/[a-z-]+\.md", f"{command.help} {command.epilog}"), words
    assert len(topics) > 5
    assert topics <= set(pages()) | {"docs"}
