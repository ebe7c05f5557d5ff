"""The harness can go red: every fault is planted alone, the real command runs, and must fail and name the place.

The table of all faults is printed at the end and written to <--fleet-report>/faults/faults.json.
"""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import data
import hardware_faults
import pytest
import silent_faults
import software_faults
import stream_faults
from planting import PROJECT, Fault, Project, check

FAULTS = (*hardware_faults.FAULTS, *software_faults.FAULTS, *silent_faults.FAULTS, *stream_faults.FAULTS)
CONTROLS = {
    "digits": data.digits("--engines", "vm,cpython,iss,rtl,riscv", *data.DEVICE),
    "difference": data.cosim("difference", "--engines", "vm,cpython,riscv"),
    "groups": data.cosim("groups", "--engines", "vm,iss,rtl", *data.DEVICE),
    "ties": data.cosim("corners:ties", "--engines", "vm,iss,rtl", *data.DEVICE),
    "zeros": data.cosim("corners:zeros", "--engines", "vm,iss,rtl", *data.DEVICE),
    "case": software_faults.RUN_CASE,
}


def _parameter(fault: Fault) -> object:
    return pytest.param(fault, id=fault.name, marks=[pytest.mark.nightly_fault] if fault.nightly else [])


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A copy without a fault, with data and golden."""
    project = Project.copy(tmp_path_factory.mktemp("faults") / "project")
    data.write(project.folder)
    outcome = project.run("fleet.cli.main", "golden", "update", data.CASE, "--reason", "what the unedited copy computes")
    assert outcome.code == 0, outcome.text
    yield project
    shutil.rmtree(project.folder)


@pytest.mark.parametrize("name", CONTROLS)
def test_without_a_fault(name: str, base: Project) -> None:
    outcome = base.run(*CONTROLS[name])
    assert outcome.code == 0, outcome.text
    assert "verdict: PASS" in outcome.text


@pytest.mark.nightly_fault
@pytest.mark.parametrize("name", stream_faults.CONTROLS)
def test_streams_without_a_fault(name: str, base: Project) -> None:
    outcome = base.run(*stream_faults.CONTROLS[name])
    assert outcome.code == 0, outcome.text
    assert "PASS" in outcome.text
    assert "FAIL" not in outcome.text


@pytest.mark.parametrize("fault", [_parameter(f) for f in FAULTS])
def test_fault(fault: Fault, base: Project, tmp_path: Path, record_property: Callable[[str, object], None]) -> None:
    project = Project.copy(tmp_path / "project", base.folder)
    row = {
        "name": fault.name, "fault": fault.what, "planted_in": fault.planted_in, "command": shlex.join(fault.command),
        "found": False, "found_by": " ".join(fault.found_by.split()), "place": "", "seconds": 0.0,
    }  # fmt: skip
    record_property("fault", row)
    try:
        for edit in fault.edits:
            project.edit(edit)
        if fault.plant is not None:
            fault.plant(project)
        outcome = project.run(*fault.command)
        row["seconds"] = round(outcome.seconds, 1)
        row["place"] = check(fault, outcome)
        row["found"] = True
    finally:
        shutil.rmtree(project.folder)


def test_the_documentation_lists_exactly_these() -> None:
    assert len({f.name for f in FAULTS}) == len(FAULTS)
    lines = (PROJECT / "docs" / "faults.md").read_text(encoding="utf-8").splitlines()
    listed = [line.split()[1] for line in lines if line.startswith("| ") and not line.startswith("| fault |")]
    assert listed == [f.name for f in FAULTS]


def test_all_edits_fit_the_sources(base: Project) -> None:
    """Also those of the nightly faults, so that whoever moves the code learns of it at once."""
    for fault in FAULTS:
        for edit in fault.edits:
            base.edited(edit)


def test_an_edit_must_match_once(tmp_path: Path) -> None:
    from planting import Edit

    (tmp_path / "a.py").write_text("x = 1\ny = 1\n")
    project = Project(tmp_path)
    with pytest.raises(AssertionError, match="0 times"):
        project.edit(Edit("a.py", "z", "w"))
    with pytest.raises(AssertionError, match="2 times"):
        project.edit(Edit("a.py", "= 1", "= 2"))
    project.edit(Edit("a.py", "y = 1", "y = 2"))
    assert (tmp_path / "a.py").read_text() == "x = 1\ny = 2\n"
