"""docs/dlavm.md: its tables are those of the sources, its examples run, every function of dlavm is there."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from fleet.dlavm import adr
from fleet.ir.accel import tables
from fleet.ir.accel.dialect import operators
from fleet.ir.accel.nodes import OperatorCall

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "dlavm.md"

# The functions of adr.hbm and adr that the public compiler has.
PUBLIC = """
var_ddr const_ddr const_hbm mvm mvm_bn mvm_bn_res trp_mvm f2w_mvm dat_hbm dat2hbm mvm_afterTRP mvm_afterF2W add mul sub layer_norm
rms_norm softmax pos_emb transpose feature2weight activate silu cache conv2d attention rope_glm rope_qwen kcache2hbm vcache2hbm
"""


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's own operator is gone afterwards."""
    monkeypatch.setattr(OperatorCall, "OPERATORS", operators())


def test_the_tables_are_current(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert tables.main(["--check"]) == 0


@pytest.mark.usefixtures("registered")
def test_the_examples_run() -> None:
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted > 25
    assert found.failed == 0


def test_every_public_function_is_there_and_in_the_table() -> None:
    page = PAGE.read_text()
    for name in PUBLIC.split():
        assert callable(getattr(adr.hbm, name)), name
        assert f"| `{name}(" in page or name == "dat2hbm", name
    for name in ("reshape", "split", "realloc", "tuple", "concat"):
        assert callable(getattr(adr, name)), name
        assert f"| `{name}(" in page, name
