"""The harness can go red: every fault is planted alone, the real command runs, and must fail and name the place.

The table is printed at the end, and written with its page to <--fleet-report>/faults.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import listing
import pytest
import tiers
from catalogue import FAULTS
from planted import Bases, run_fault
from planting import PROJECT, Choice, Edit, Fault, Project, judge
from schema import number_of, place_of, texts_with_choices
from stored import key_of, store, stored

from fleet.ir.tables import marked


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bases]:
    folder = tmp_path_factory.mktemp("faults")
    yield Bases(folder)
    shutil.rmtree(folder)


def test_without_a_fault(control: Fault, bases: Bases) -> None:
    """Every command passes where nothing is planted, in the copy in which its fault is planted."""
    if control.missing:
        pytest.skip(f"{control.needs} is not installed")
    base = bases.chosen if control.choices else bases.plain
    outcome = base.run(*control.command)
    assert outcome.code == 0, outcome.text
    assert "FAIL" not in outcome.text


def test_fault(
    fault: Fault, bases: Bases, tmp_path: Path, record_property: Callable[[str, object], None], request: pytest.FixtureRequest
) -> None:
    if fault.missing:
        pytest.skip(f"{fault.needs} is not installed")
    known = stored(fault) if request.config.getoption("--weekly") else None
    if known is not None:
        record_property("fault", known)
        return
    row: dict[str, object] = {
        "name": fault.name, "class": fault.kind, "what": fault.what, "place": fault.planted_in, "found": False,
        "test": " ".join(fault.found_by.split()), "localised": False, "seconds": 0.0, "right_place": fault.at, "named": "",
        "command": shlex.join(fault.command), "exit_code": fault.code, "output": "",
        "why_not": "it did not run", "key": key_of(fault),
    }  # fmt: skip
    record_property("fault", row)
    outcome, verdict = run_fault(fault, bases, tmp_path)
    row |= {
        "found": verdict.found, "localised": verdict.localised, "seconds": round(outcome.seconds, 1), "named": verdict.named,
        "output": verdict.excerpt, "why_not": verdict.why,
    }  # fmt: skip
    assert verdict.found, f"{verdict.why}\n--- {fault.what}; the command said:\n{outcome.text}"
    store(fault, row)


def test_the_documentation_is_that_of_the_catalogue() -> None:
    assert len({f.name for f in FAULTS}) == len(FAULTS)
    assert all(f.kind and f.at and f.places and f.what for f in FAULTS)
    page = (PROJECT / "docs" / "faults.md").read_text(encoding="utf-8")
    made = marked(marked(page, "counts", listing.counts()), "catalogue", listing.tables())
    assert made == page, "run python sim/faults/listing.py"


def test_all_edits_fit_the_sources() -> None:
    """Also those that do not run today, so that whoever moves the code learns of it at once."""
    source = Project(PROJECT)
    for fault in FAULTS:
        assert not (fault.edits and fault.choices), fault.name
        for edit in fault.edits:
            source.edited(edit)
    texts_with_choices(source, FAULTS)


def test_planted_python_knows_its_names(tmp_path: Path) -> None:
    """A fault that ends as a NameError is found for the wrong reason. Whoever renames a class learns of it at once."""
    for number, fault in enumerate(FAULTS):
        for file in {e.file for e in fault.edits if e.file.endswith(".py")}:
            text = (PROJECT / file).read_text(encoding="utf-8")
            for edit in fault.edits:
                if edit.file == file:
                    text = text.replace(edit.old, edit.new)
            (tmp_path / f"fault{number}_{Path(file).name}").write_text(f"# {fault.name}: {file}\n{text}", encoding="utf-8")
    ruff = shutil.which("ruff", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    assert ruff is not None
    told = subprocess.run(
        [ruff, "check", "--isolated", "--select", "F821", "--no-cache", tmp_path], capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stdout


def test_an_edit_must_match_once(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\ny = 1\n")
    project = Project(tmp_path)
    with pytest.raises(AssertionError, match="0 times"):
        project.edit(Edit("a.py", "z", "w"))
    with pytest.raises(AssertionError, match="2 times"):
        project.edit(Edit("a.py", "= 1", "= 2"))
    with pytest.raises(AssertionError, match="2 times"):
        place_of("x = 1\ny = 1\n", Choice("a.py", "1", "2"))
    project.edit(Edit("a.py", "y = 1", "y = 2"))
    assert (tmp_path / "a.py").read_text() == "x = 1\ny = 2\n"


def test_no_path_of_this_machine_gets_into_the_table(tmp_path: Path) -> None:
    code = f"print('the log is in {Path.home()}/.cache/fleet/a.log; see {tmp_path}/fleet/cli/main.py')"
    (tmp_path / "said.py").write_text(code)
    assert Project(tmp_path).run("said").text == "the log is in ...; see fleet/cli/main.py\n"


def test_a_place_that_is_not_named_is_found_but_not_localised() -> None:
    from planting import Outcome

    fault = Fault("f", "", (), "FAIL", (r"commit 3 \(gemm\)",))
    said = judge(fault, Outcome(1, "FAIL x\nfirst: commit 2 (load): digest\n", 0.0))
    assert said.found
    assert not said.localised
    assert "commit 3" in said.why
    assert judge(fault, Outcome(1, "FAIL x\nfirst: commit 3 (gemm): digest\n", 0.0)).localised
    assert not judge(fault, Outcome(0, "FAIL x\nfirst: commit 3 (gemm): digest\n", 0.0)).found
    assert not judge(fault, Outcome(1, "FAIL x\nTraceback (most recent call last):\n", 0.0)).found


def test_a_run_that_broke_has_found_nothing_and_is_tried_once_more(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import planted
    from planting import Outcome

    fault = Fault("f", "", (), "FAIL", (r"commit 3 \(gemm\)",))
    crash = Outcome(1, "FAIL x\nsimulation.log: the simulation crashed (SIGKILL)\ncommit 3 (gemm)\n", 0.0)
    assert not judge(fault, crash).found
    said = iter([crash, Outcome(1, "FAIL x\ncommit 3 (gemm)\n", 0.0)])

    def once(*_: object) -> tuple[Outcome, object]:
        outcome = next(said)
        return outcome, judge(fault, outcome)

    monkeypatch.setattr(planted, "_once", once)
    assert planted.run_fault(fault, planted.Bases(tmp_path), tmp_path)[1].localised


def test_tiers() -> None:
    def names(**options: bool) -> set[str]:
        arguments = {"nightly": False, "weekly": False, **options}
        return {f.name for f in tiers.chosen_faults(FAULTS, seed=20260101, **arguments)}

    assert names() == {f.name for f in FAULTS if not f.nightly}
    assert names() < names(nightly=True) < names(weekly=True) == {f.name for f in FAULTS}
    assert names(nightly=True) == names(nightly=True)
    other = {f.name for f in tiers.chosen_faults(FAULTS, nightly=True, weekly=False, seed=20260102)}
    assert other != names(nightly=True)
    assert len(other - names()) == tiers.SAMPLE


def test_numbers_are_those_of_choices_alone() -> None:
    numbers = [number_of(FAULTS, f) for f in FAULTS if f.choices]
    assert numbers == list(range(1, len(numbers) + 1))
    assert all(number_of(FAULTS, f) == 0 for f in FAULTS if not f.choices)
