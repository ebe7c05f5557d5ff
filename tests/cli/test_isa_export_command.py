"""`fleet isa export`: into a folder, over its own files alone, of any installed set, and one line where an exporter is missing."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from fleet.cli.main import main
from fleet.cli.sets import export as isa_export
from fleet.cli.sets.export import LIST
from fleet.errors import FleetError
from fleet.isa.exports import formats


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    ("form", "name", "found"), [*((f, "vgemm_small", "vgemm") for f in formats.FORMATS), ("ipxact", "hbm_small", "hbm0923")]
)
def test_every_format_of_a_devices_set(form: str, name: str, found: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["isa", "export", name, "--format", form]) == 0
    folder = Path("exports") / found / form
    out = capsys.readouterr().out
    assert str(folder) in out
    listed = json.loads((folder / LIST).read_text())
    assert listed == {f"{found}/{form}": sorted(contents(folder).keys() - {LIST})}
    before = contents(folder)
    assert main(["isa", "export", found, "--format", form, "--report", str(folder)]) == 0, "a second export replaces the first"
    assert contents(folder) == before


@pytest.mark.parametrize("form", [f for f, v in formats.FORMATS.items() if v.packages])
def test_a_missing_exporter_names_the_extra(form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    package = formats.FORMATS[form].packages[0]
    monkeypatch.setattr(formats, "find_spec", lambda name: None if name == package else find_spec(name))
    assert main(["isa", "export", "vgemm", "--format", form]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"fleet: --format {form}: the package {package.replace('_', '-')} is missing; install the extra: pip ")
    assert "pip install 'fleet-cosim[exports]'" in said
    assert said.count("\n") == 1
    assert not Path("exports").exists()


def test_nothing_of_another_hand_is_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path("mine")
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    (folder / "vgemm.h").write_text("mine as well")
    before = contents(folder)
    assert main(["isa", "export", "vgemm", "--format", "c", "--report", "mine"]) == 2
    assert capsys.readouterr().err == "fleet: mine/vgemm.h: exists, and no export wrote it; choose another folder with -o\n"
    assert contents(folder) == before
    (folder / "vgemm.h").unlink()
    assert main(["isa", "export", "vgemm", "--format", "c", "--report", "mine"]) == 0
    assert (folder / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("kind", ["link", "folder", "dangling"])
def test_what_is_no_file_is_not_replaced(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine").mkdir()
    Path("elsewhere").write_text("mine")
    place = Path("mine/vgemm.xml")
    if kind == "folder":
        place.mkdir()
    else:
        place.symlink_to(Path("elsewhere" if kind == "link" else "nowhere").absolute())
    assert main(["isa", "export", "vgemm", "--format", "ipxact", "--report", "mine"]) == 2
    assert "mine/vgemm.xml: exists, and no export wrote it" in capsys.readouterr().err
    assert Path("elsewhere").read_text() == "mine"
    assert [p.name for p in Path("mine").iterdir()] == ["vgemm.xml"]


def test_formats_and_sets_share_a_folder_and_stale_files_go() -> None:
    folder = Path("all")
    for name, form in (("vgemm", "c"), ("vgemm", "uvm"), ("hbm0923", "c")):
        assert main(["isa", "export", name, "--format", form, "--report", "all"]) == 0
    assert {"vgemm.h", "vgemm_uvm_pkg.sv", "hbm0923.h"} <= contents(folder).keys()
    isa_export.write_export(folder, "vgemm/c", {"other.h": b"renamed"})
    left = contents(folder).keys()
    assert "vgemm.h" not in left
    assert {"other.h", "vgemm_uvm_pkg.sv", "hbm0923.h"} <= left


def test_an_export_that_was_interrupted_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    write, left = isa_export.write_atomically, [3]

    def full(path: Path, data: bytes) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise FleetError("cannot be written (No space left on device)", where=str(path))
        write(path, data)

    with monkeypatch.context() as disk:
        disk.setattr(isa_export, "write_atomically", full)
        assert main(["isa", "export", "vgemm", "--format", "sv"]) == 2
    folder = Path("exports/vgemm/sv")
    assert len(contents(folder)) == 3
    (folder / "vgemm_regs_pkg.sv").write_text("what the description gave before it was changed")
    assert main(["isa", "export", "vgemm", "--format", "sv"]) == 0
    assert json.loads((folder / LIST).read_text()) == {"vgemm/sv": sorted(contents(folder).keys() - {LIST})}
    assert len(contents(folder)) == 7


def test_an_exporter_that_cannot_be_loaded_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "peakrdl_uvm").mkdir()
    (tmp_path / "peakrdl_uvm" / "__init__.py").write_text("raise ImportError('Bad git executable.\\nThe git executable')")
    monkeypatch.syspath_prepend(tmp_path)
    for module in [m for m in sys.modules if m.startswith(("peakrdl_uvm", "fleet.isa.exports.uvm"))]:
        monkeypatch.delitem(sys.modules, module)
    assert main(["isa", "export", "vgemm", "--format", "uvm"]) == 2
    said = "fleet: --format uvm: the exporter cannot be loaded (Bad git executable. The git executable); install the extra: pip"
    assert capsys.readouterr().err.startswith(said)


@pytest.mark.parametrize(
    "text", ['{"vgemm/c": ["../kept"]}', '{"vgemm/c": ["/kept"]}', "[]", "{", '{"vgemm/c": [1]}', '{"vgemm/c": {}}']
)
def test_a_list_that_is_none_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("kept").write_text("mine")
    Path("out").mkdir()
    (Path("out") / LIST).write_text(text)
    assert main(["isa", "export", "vgemm", "--format", "c", "--report", "out"]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"fleet: out/{LIST}:{'1:' if text == '{' else ''} is not a list of exported files (")
    assert "; remove it, or choose another" in told
    assert Path("kept").read_text() == "mine"
    assert len(contents(Path("out"))) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing", "--format", "c"], "no instruction set and no device is called 'nothing'; instruction sets:"),
        (["vgemm", "--format", "pdf"], "'pdf' is not one of 'ipxact', 'uvm', 'c', 'html', 'sv'"),
        (["vgemm"], "Missing option '--format'"),
        (["vgemm", "--format", "c", "--report", "file"], "is a file"),
        (["vgemm", "--format", "c", "--report", "file/below"], "file/below"),
    ],
)
def test_bad_requests_are_one_line(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("file").write_text("mine")
    assert main(["isa", "export", *arguments]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
