"""Programs and one-liners written before anybody looked at the front end (`fresh`, `unseen`, `blind`, `blind_second`, each with
lines of its own, then `blind_third` to `blind_fifth`): what is taken prints what CPython prints; what is refused says why.

They are not to be changed for the front end's sake: `docs/numpy.md` says how many were taken when they were new.
A line of `fresh_lines.txt` and its like is a script; `  #! CODE` behind it says that it is refused.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers_corpus import Program, by_python, by_vm, corpus

from fleet.errors import SourceError
from fleet.frontend.source import load

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs" / "numpy.md"
NAMES = ("fresh", "unseen", "blind", "blind_second", "blind_third", "blind_fourth", "blind_fifth")
WITHOUT_LINES = ("blind_third", "blind_fourth", "blind_fifth")
CORPORA = {
    name: (corpus(HERE / name), [] if name in WITHOUT_LINES else (HERE / f"{name}_lines.txt").read_text().splitlines())
    for name in NAMES
}
PROGRAMS = [p for programs, _ in CORPORA.values() for p in programs]
LINES = [line for _, lines in CORPORA.values() for line in lines]
TAKEN = [p for p in PROGRAMS if not p.refused]
TAKEN_LINES = [line for line in LINES if "  #! " not in line]


@pytest.mark.parametrize(
    "program", [pytest.param(p, id=p.path.stem, marks=[pytest.mark.nightly] if i % 6 else []) for i, p in enumerate(TAKEN)]
)
def test_a_program_prints_what_python_prints(program: Program) -> None:
    assert by_vm(program)[1] == by_python(program)[1]


@pytest.mark.parametrize("line", TAKEN_LINES)
def test_a_line_prints_what_python_prints(tmp_path: Path, line: str) -> None:
    program = written(tmp_path, line)
    assert by_vm(program)[1] == by_python(program)[1]


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.refused], ids=lambda p: p.path.stem)
def test_a_program_that_is_refused_says_why(program: Program) -> None:
    with pytest.raises(SourceError) as caught:
        load(program.spec, {}, {})
    assert caught.value.code == program.refused


@pytest.mark.parametrize("line", [line for line in LINES if "  #! " in line])
def test_a_line_that_is_refused_says_why(tmp_path: Path, line: str) -> None:
    text, _, code = line.partition("  #! ")
    with pytest.raises(SourceError) as caught:
        load(written(tmp_path, text).spec, {}, {})
    assert caught.value.code == code


def written(folder: Path, line: str) -> Program:
    """A line as a script."""
    path = folder / "line.py"
    path.write_text(f"import numpy as np\n\n{line}\n")
    return Program(path, None, {}, "", "")


@pytest.mark.parametrize("name", CORPORA)
def test_the_documentation_has_the_figures(name: str) -> None:
    programs, lines = CORPORA[name]
    text = " ".join(DOCS.read_text().split())
    taken = sum(not p.refused for p in programs), sum("  #! " not in line for line in lines)
    of_lines = f" and {taken[1]} of the {len(lines)} lines" if lines else ""
    assert f"{taken[0]} of the {len(programs)} programs{of_lines} are taken" in text
