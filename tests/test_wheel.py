"""What a wheel must carry lies where the build takes it from, in git and not ignored. sim/wheel builds one and runs from it."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import fleet
from fleet.isa.registry import instruction_sets
from fleet.isa.scaffold.workspace import EXAMPLES
from fleet.sdk import rtl_models

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
BUILD = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]


def tracked() -> set[Path]:
    said = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {ROOT / line for line in said.split("\0") if line}


def test_the_build_takes_the_package_the_hardware_and_the_documentation() -> None:
    assert BUILD["packages"] == ["fleet"]
    examples = {f"examples/{name}": f"fleet/_examples/{name}" for name in EXAMPLES}
    assert BUILD["force-include"] == {"rtl_models": "fleet/_rtl_models", "docs": "fleet/_docs", **examples}
    assert {ROOT / name for name in examples} <= tracked()


def test_what_only_developers_need_stays_out() -> None:
    """Of what a plain install brings; pytest, its plug-in and what `fleet isa` needs are there."""
    names = {re.split(r"[<>=~ ;\[]", line)[0] for line in PROJECT["dependencies"]}
    assert not names & {"ruff", "pyright", "pyslang", "hypothesis", "mpmath", "safetensors", "sphinx", "scikit-learn"}
    assert names >= {"pytest", "pytest-xdist", "systemrdl-compiler", "peakrdl-regblock", "click"}
    assert "fleet" in PROJECT["entry-points"]["pytest11"]
    assert not [
        p
        for p in tracked()
        if p.is_relative_to(ROOT / "fleet") and {"corpus", "corpora", "planted"} & set(p.relative_to(ROOT).parts)
    ]


def test_the_versions_of_python_are_said_alike() -> None:
    listed = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if "Python :: 3." in line]
    assert listed == ["3.11", "3.12", "3.13"]
    assert PROJECT["requires-python"] == ">=3.11,<3.14"
    assert "(3, 11) <= sys.version_info < (3, 14)" in (ROOT / "scripts" / "setup").read_text()
    assert "urls" not in PROJECT, "an address that nobody serves is worse than none"


def test_every_file_of_the_sets_is_in_the_wheel() -> None:
    known = tracked()
    wanted: set[Path] = set()
    for found in instruction_sets().values():
        wanted |= {found.description, *found.sources, *(d.path for d in found.devices.values())}
        wanted |= set(found.rtl.written) if found.rtl else set()
    wanted = {p for p in wanted if p.is_relative_to(ROOT)}
    assert len(wanted) > 80
    roots = (ROOT / "fleet", rtl_models())
    assert [str(p) for p in wanted if p not in known or not any(p.is_relative_to(root) for root in roots)] == []


def test_nothing_that_the_wheel_needs_is_ignored_by_git() -> None:
    """The build leaves out what git ignores: templates, styles, C++."""
    kinds = {".j2", ".rdl", ".toml", ".sv", ".c", ".cpp", ".h", ".f", ".txt", ".typed"}
    there = {p for folder in ("fleet", "rtl_models") for p in (ROOT / folder).rglob("*") if p.suffix in kinds and p.is_file()}
    assert {p.suffix for p in there} >= kinds - {".typed"}
    ignored = subprocess.run(
        ["git", "check-ignore", "--stdin"], cwd=ROOT, input="\n".join(map(str, there)), capture_output=True, text=True, check=False
    )
    assert ignored.stdout == ""


def test_the_version_is_the_package_s() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dynamic"] == ["version"]
    assert fleet.__version__.count(".") == 2
    assert f"\nversion: {fleet.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## {fleet.__version__} - " in (ROOT / "CHANGELOG.md").read_text()
