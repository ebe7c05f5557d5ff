"""The content of a run holds all that can move a figure, and nothing else; processes of their own on copies of the project."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest

import fleet
from fleet.cosim.identity import NOT_CONTENT, ContentHashes, provenance, software_members

ROOT = Path(fleet.__file__).resolve().parents[1]
CONTENT = ContentHashes("m", "d", "i", "h", "c", "b", "s", "x", {"numpy": "1"})


def names() -> set[str]:
    return {str(p.relative_to(ROOT)) for p in software_members()}


def test_what_compiles_and_compares_is_content_and_what_shows_is_not() -> None:
    found = names()
    assert found >= {
        "fleet/engines/rtl.py", "fleet/engines/iss.py", "fleet/compare/traces.py", "fleet/compare/bounds/tolerance.py",
        "fleet/sdk/native_ir.py",
        "fleet/sets/vgemm/lower/patterns.py", "fleet/sets/hbm0923/cycles/mvm.py",
        "fleet/transforms/passes.py", "fleet/transforms/simplify/cse.py",
    }  # fmt: skip
    assert not [n for n in found if n.startswith(("fleet/report", "fleet/cli", "docs", "tests", "sim"))]


def test_every_module_that_a_run_loads_is_content(tmp_path: Path) -> None:
    """Held against the modules that Python has loaded after a real run."""
    (tmp_path / "m.py").write_text('import numpy as np\n\ndef forward(x: "float32[2, 64]"):\n    return np.maximum(x @ x.T, 0)\n')
    code = (
        "import sys\nfrom fleet.cli.main import main\n"
        "assert main(['cosim', 'm.py:forward', '--engines', 'vm,cpython,interp', '--report', 'r']) == 0\n"
        "print(*['@' + m for m, o in sys.modules.items() if m.startswith('fleet') and getattr(o, '__file__', None)])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    loaded = {word[1:] for word in done.stdout.split() if word.startswith("@fleet")}
    members = {n.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for n in names()}
    shown = {m for m in loaded if m.startswith(("fleet.cli", "fleet.report"))}
    packages = {m for m in loaded if any(other.startswith(f"{m}.") for other in loaded)}
    assert len(loaded) > 100
    assert not loaded - members - shown - packages - NOT_CONTENT.keys()


def asked(folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder), "FLEET_CACHE": str(folder / "cache")}
    code = "from fleet.cosim.identity import software_hash, bench_hash; print(software_hash(), bench_hash())"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_documentation_changes_no_content_and_a_constant_of_the_memory_does(tmp_path: Path) -> None:
    for name in ("fleet", "rtl_models"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "docs").mkdir()
    for name in ("README.md", "docs/architecture.md"):  # stand-ins: the copies that faults are planted in have no documentation
        (tmp_path / name).write_text("# a page\n")
    before = asked(tmp_path)
    for name in (
        "README.md",
        "docs/architecture.md",
        "rtl_models/README.md",
        "fleet/report/regression/campaign.py",
        "fleet/cli/regression/case.py",
    ):
        path = tmp_path / name
        path.write_text(path.read_text() + "\n# another word\n")
    assert asked(tmp_path) == before
    for name, old, new in (
        ("fleet/engines/rtl.py", "_FIXED_LATENCY = 64", "_FIXED_LATENCY = 256"),
        ("rtl_models/memory/memory.cpp", "#include", "# include"),
        ("fleet/compare/traces.py", "view(np.uint8)", "view( np.uint8)"),
    ):
        path = tmp_path / name
        text = path.read_text()
        assert old in text, name
        path.write_text(text.replace(old, new, 1))
        assert asked(tmp_path) != before, name
        path.write_text(text)
    assert asked(tmp_path) == before


@pytest.mark.parametrize("name", [f.name for f in fields(ContentHashes)])
def test_every_part_is_in_the_hash(name: str) -> None:
    other = replace(CONTENT, **{name: {"numpy": "2"} if name == "tools" else "other"})
    assert other.hash != CONTENT.hash


def test_provenance_is_no_content() -> None:
    made = provenance("2026-01-01")
    assert made.date == "2026-01-01"
    assert not {f.name for f in fields(made)} & {f.name for f in fields(ContentHashes)}
