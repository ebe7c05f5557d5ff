"""Operators of an installed package are found by their entry point; the project's own table comes first."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from fleet.errors import ModelError
from fleet.targets.bytecode import VM, ByteCodeModule
from fleet.targets.bytecode.contents import ArgumentSlot, OutputSlot
from fleet.targets.bytecode.opcodes import OpCode as Op

SOURCE = """
def limit(info):
    low, high = info.attrs["low"], info.attrs["high"]
    return lambda x: x.clip(low, high)

def add(info):
    raise AssertionError("the project's own add comes first")
"""
ENTRIES = """[fleet.vm_operators]
limit = ops_of_a_user:limit
add = ops_of_a_user:add
broken = ops_of_a_user:missing
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As an installer leaves a package."""
    (tmp_path / "ops_of_a_user.py").write_text(SOURCE)
    metadata = tmp_path / "ops_of_a_user-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: ops-of-a-user\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "ops_of_a_user", raising=False)


def module(name: str, attrs: str = "") -> ByteCodeModule:
    two = "r" * (2 if name == "add" else 1)
    hint = f"device_{name}_sig_{two}_r_ins_{'_'.join(['4xf32'] * len(two))}_outs_4xf32{attrs}"
    code = [*[Op.aload_0] * len(two), Op.invokestatic, 0, Op.astore_1]
    arguments = (ArgumentSlot("x", "input", (4,), "float32"),)
    return ByteCodeModule([hint], code, "python", 2, ("op",), arguments, (OutputSlot("y", 1, "4xf32"),))


X = {"x": np.array([-2, -0.5, 0.5, 2], np.float32)}


@pytest.mark.usefixtures("installed")
def test_an_installed_operator_is_found() -> None:
    assert VM(module("limit", "_low_-1_high_1")).run(X)["y"].tolist() == [-1, -0.5, 0.5, 1]
    assert VM(module("add")).run(X)["y"].tolist() == [-4, -1, 1, 4]


@pytest.mark.usefixtures("installed")
def test_one_that_cannot_be_loaded_says_whose_it_is() -> None:
    with pytest.raises(ModelError, match=r"VM operator broken [(]ops_of_a_user:missing, of ops-of-a-user[)] cannot be loaded"):
        VM(module("broken"))


@pytest.mark.usefixtures("installed")
def test_one_without_its_attributes_says_so() -> None:
    with pytest.raises(ModelError, match=r"operator limit cannot take its attributes .*KeyError: 'low'"):
        VM(module("limit"))


def test_without_the_package_there_is_no_such_operator() -> None:
    with pytest.raises(ModelError, match="the VM has no operator limit"):
        VM(module("limit", "_low_-1_high_1"))
