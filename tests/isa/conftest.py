"""Descriptions to export: the project's sets, one as `fleet isa new` makes it, and one whose names and texts are awkward."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import fleet.sets
from fleet.isa.description import Description
from fleet.isa.reading.cache import load
from fleet.isa.scaffold.new_set import new_set

SETS = Path(fleet.sets.__file__).parent
AWKWARD = Path(__file__).parent / "exports" / "awkward.rdl"


@pytest.fixture(scope="session", params=["hbm0923", "vgemm", "new", "awkward"])
def described(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Description:
    if request.param == "new":
        folder = tmp_path_factory.mktemp("new")
        new_set("exported_new", folder, operation="maximum")
        return load(next(folder.rglob("*.rdl")))
    if request.param == "awkward":
        return load(shutil.copy(AWKWARD, tmp_path_factory.mktemp("awkward")))
    return load(SETS / request.param / f"{request.param}.rdl")
