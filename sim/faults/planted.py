"""Runs faults: the two copies that all begin with, and one fault at a time."""

from __future__ import annotations

import shutil
from functools import cached_property
from pathlib import Path

import data
from catalogue import FAULTS
from planting import Fault, Outcome, Project, Verdict, judge
from schema import number_of, plant_choices


class Bases:
    """Copies without a fault, with data and golden: `plain`, and `chosen` in which a number says which expression is wrong."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def plain(self) -> Project:
        """For edits; each fault has its own copy of it."""
        project = Project.copy(self._folder / "plain")
        data.write(project.folder)
        outcome = project.run("fleet.cli.main", "golden", "update", data.CASE, "--reason", "what the unedited copy computes")
        assert outcome.code == 0, outcome.text
        return project

    @cached_property
    def chosen(self) -> Project:
        """For choices; all faults share it. The golden is made in it: its functional model has a hash of its own."""
        project = Project.copy(self._folder / "chosen")
        plant_choices(project, FAULTS)
        data.write(project.folder)
        outcome = project.run("fleet.cli.main", "golden", "update", data.CASE, "--reason", "what the unedited copy computes")
        assert outcome.code == 0, outcome.text
        return project


def run_fault(fault: Fault, bases: Bases, folder: Path) -> tuple[Outcome, Verdict]:
    """Plants one fault, runs its command, judges what it said. `folder`: for the copy that an edit needs.

    Once more where the run itself broke (a process that was killed, a full disk).
    """
    outcome, verdict = _once(fault, bases, folder)
    return _once(fault, bases, folder) if verdict.broken else (outcome, verdict)


def _once(fault: Fault, bases: Bases, folder: Path) -> tuple[Outcome, Verdict]:
    if fault.choices:
        outcome = bases.chosen.run(*fault.command, fault=number_of(FAULTS, fault))
        return outcome, judge(fault, outcome)
    project = Project.copy(folder / "project", bases.plain.folder)
    try:
        for edit in fault.edits:
            project.edit(edit)
        if fault.plant is not None:
            fault.plant(project)
        outcome = project.run(*fault.command)
    finally:
        shutil.rmtree(project.folder)
    return outcome, judge(fault, outcome)
