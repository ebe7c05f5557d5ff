"""The simulator's counts: what the reader makes of files written by hand, in Verilator's form."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.errors import FleetError, ModelError
from fleet.verify.coverage.rtl import Exclusion, load_exclusions, load_rtl, measure

SOURCE = """module m;
  always_ff @(posedge clk) begin
    if (a) b <= 1;
    else c <= 1;
    if (p) assert (q);
    assert (r);
  end
endmodule
"""


def point(page: str, line: int, column: int, comment: str, lines: str, count: int, where: str = "top.a") -> str:
    keys = {"f": "src/m.sv", "l": line, "n": column, "page": f"{page}/m__V{count}", "o": comment, "S": lines, "h": where}
    text = "".join(f"\x01{k}\x02{v}" for k, v in keys.items() if v != "")
    return f"C '{text}' {count}\n"


def counts(taken: int) -> str:
    return "# SystemC::Coverage-3\n" + "".join((
        point("v_line", 2, 3, "block", "2,6", 10),
        point("v_branch", 3, 5, "if", "3", taken, "top.a"),
        point("v_branch", 3, 5, "if", "3", 0, "top.b"),
        point("v_branch", 3, 6, "else", "4", 10),
        point("v_branch", 5, 5, "if", "5", 0),
        point("v_branch", 5, 6, "else", "", 10),
        point("v_toggle", 1, 1, "s[0]:0->1", "", taken),
        point("v_toggle", 1, 1, "s[0]:1->0", "", 0),
    ))  # fmt: skip


@pytest.fixture
def design(tmp_path: Path) -> Path:
    (tmp_path / "m.sv").write_text(SOURCE)
    (tmp_path / "one.dat").write_text(counts(0))
    (tmp_path / "two.dat").write_text(counts(3))
    return tmp_path


def test_lines_branches_toggles_and_assertions(design: Path) -> None:
    found = measure("d", "h", [design / "one.dat"], [design / "m.sv"], [], design)
    (m,) = found.modules
    assert (m.lines, m.branches, m.toggles, m.assertions) == ((3, 5), (2, 4), (0, 2), (1, 2))
    assert [(x.line, x.kind, x.text) for x in found.missed] == [
        (3, "line", "if (a) b <= 1;"), (5, "line", "if (p) assert (q);"), (5, "assertion", "if (p) assert (q);"),
    ]  # fmt: skip


def test_runs_and_instances_add_up(design: Path) -> None:
    found = measure("d", "h", [design / "one.dat", design / "two.dat"], [design / "m.sv"], [], design)
    assert (found.runs, found.total("lines"), found.total("branches"), found.total("toggles")) == (2, (4, 5), (3, 4), (1, 2))
    found.save(design / "rtl.json")
    assert load_rtl(design / "rtl.json") == found


def test_exclusions_need_a_reason_and_a_line(design: Path) -> None:
    file = design / "coverage.toml"
    file.write_text('[[exclude]]\nfile = "m.sv"\ntext = "if (p) assert (q);"\nreason = "p is tied to 0"\n')
    found = measure("d", "h", [design / "one.dat"], [design / "m.sv"], load_exclusions(file), design)
    assert (found.total("lines"), found.total("assertions")) == ((3, 4), (1, 1))
    assert [m.reason for m in found.missed if m.line == 5] == ["p is tied to 0"] * 2
    with pytest.raises(ModelError, match=r"m\.sv has no line `gone;`"):
        measure("d", "h", [design / "one.dat"], [design / "m.sv"], [Exclusion("m.sv", "gone;", "why")], design)
    for text in ('[[exclude]]\nfile = "m.sv"\ntext = "x"\nreason = " "\n', '[[exclude]]\nfile = "m.sv"\n', "exclude = 3\n"):
        file.write_text(text)
        with pytest.raises(ModelError):
            load_exclusions(file)


def test_no_counts_are_an_error(design: Path) -> None:
    with pytest.raises(FleetError, match="left no counts"):
        measure("d", "h", [], [design / "m.sv"], [], design)
    (design / "bad.dat").write_text("nothing")
    with pytest.raises(FleetError):
        measure("d", "h", [design / "bad.dat"], [design / "none.sv"], [], design / "no-folder")
