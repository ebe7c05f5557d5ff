"""Single modules of the fabric against models in C++ that drive them at random (fabric/*_main.cpp)."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from flat_ports import flattened
from hardware_files import hardware_files
from verilated import verilated

HERE = Path(__file__).parent / "fabric"


@dataclass(frozen=True)
class Bench:
    """A module, its parameters, and the program that drives it."""

    top: str
    main: str
    parameters: tuple[str, ...] = ()
    cycles: int = 40000


BENCHES = {
    "ddr hub": Bench("hbm0923_ddr_hub", "ddr_hub_main.cpp", ("OnchipDepth=16", "MaxWrites=8")),
    "hbm hub": Bench("hbm0923_hbm_hub_port", "hbm_hub_main.cpp", ("MaxReads=4",)),
    "beat errors": Bench("hbm0923_beat_errors", "beat_errors_main.cpp", ("Depth=16",)),
    "dispatch": Bench("hbm0923_dispatch", "dispatch_main.cpp"),
    "aux fetch": Bench("hbm0923_aux_fetch", "aux_fetch_main.cpp", cycles=200_000),
}


def build(bench: Bench, folder: Path, change: tuple[str, str, str] | None = None) -> Path:
    """The driver, from copies of the sources, since make cannot stand blanks in paths. change: file, text, what it becomes."""
    listed = hardware_files("hbm0923")
    for path in listed:
        text = path.read_text()
        if change and path.name == change[0]:
            assert text.count(change[1]) >= 1, f"{path.name} has no {change[1]!r}"
            text = text.replace(change[1], change[2])
        (folder / path.name).write_text(text)
    flat = flattened((folder / f"{bench.top}.sv").read_text())
    if "write_clk_i" in flat:  # the top gates it
        flat = flat.replace("(.*);", "(.write_clk_i(clk_i), .*);")
    (folder / "flat.sv").write_text(flat)
    for name in ("bench.h", bench.main):
        shutil.copy(HERE / name, folder / name)
    arguments = ["-O3", "--assert", "--x-initial", "unique", "-Wno-fatal", "--top-module", f"flat_{bench.top}"]
    arguments += [*(f"-G{p}" for p in bench.parameters)]
    return verilated([*arguments, *(path.name for path in listed), "flat.sv", bench.main], folder, f"V{bench.top}")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: build(bench, tmp_path_factory.mktemp("bench")) for name, bench in BENCHES.items()}


@pytest.mark.parametrize("name", BENCHES)
def test_modules_equal_their_models(programs: dict[str, Path], name: str) -> None:
    for seed in range(1, 4):
        run = subprocess.run(
            [programs[name], str(seed), str(BENCHES[name].cycles)], capture_output=True, text=True, check=False, timeout=300
        )
        assert run.returncode == 0, f"seed {seed}: {run.stdout[-2000:]} {run.stderr[-2000:]}"
        assert " 0 mistakes" in run.stdout


HUB, PORT, ERRORS, DISPATCH, FOLLOW, FETCH = (
    f"hbm0923_{name}.sv" for name in ("ddr_hub", "hbm_hub_port", "beat_errors", "dispatch", "follow", "aux_fetch")
)
# What is wrong: the bench that must find it, the file, the right text, the wrong one.
FAULTS = {
    "the hub forgets in which memory an ID reads": (
        "ddr hub", HUB, "(!in_flight[ar[u].id] || chip_q[ar[u].id] == ar[u].addr[OnchipBit])", "1'b1",
    ),
    "the hub answers the wrong unit": ("ddr hub", HUB, "b_valid[chip_b_unit_q]", "b_valid[tail.unit]"),
    "an HBM port forgets whose a burst is": ("hbm hub", PORT, "owner_q[wr_q] <= reader", "owner_q[0] <= reader"),
    "an HBM port lets the one that reads ahead go first": ("hbm hub", PORT, "second_first_i || !last_q", "!last_q"),
    "an HBM port does not wait for the other one's bursts": ("hbm hub", PORT, "second_q != '0 && !held_q", "1'b0"),
    "a good beat behind an error is not written down": ("beat errors", ERRORS, "(error_i || failed_q)) bad", "error_i) bad"),
    "each error counts as the first": ("beat errors", ERRORS, "error_i && !failed_q", "error_i"),
    "what stood before the first error is looked at": ("beat errors", ERRORS, "reached_q && bad", "failed_q && bad"),
    "a younger one reads what an older one writes": (
        "dispatch", DISPATCH, "if (meets(younger.data[r], older.wr[w]) && !data_q[order_q[i]])", "if (1'b0)",
    ),
    "only the oldest one's writes are looked at": ("dispatch", DISPATCH, "older = hulls_i[order_q[j]]", "older = hulls_i[old]"),
    "a younger one reads what is not settled": ("dispatch", FOLLOW, "meets(younger.data[r], older.wr[0])", "1'b0"),
    "of two older ones not the least counts": ("dispatch", FOLLOW, "counts[k] && !at_most[j][k]", "counts[k] && at_most[j][k]"),
    "an older one's indices of argmax are not looked at": ("dispatch", FOLLOW, "meets(younger.data[r], older.wr[1])", "1'b0"),
    "a task starts before the one before was judged": (
        "dispatch", DISPATCH, "checked_i[youngest] && commit_error_i[youngest] == ErrNone", "1'b1",
    ),
    "the fetch does not skip the fill": (
        "aux fetch", FETCH, "state_d = (32'(block_q) == AuxBlockBeats) ? StIds : StSkip", "state_d = StIds",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_the_benches_find_planted_faults(tmp_path: Path, fault: str) -> None:
    name, *change = FAULTS[fault]
    program = build(BENCHES[name], tmp_path, (change[0], change[1], change[2]))
    run = subprocess.run([program, "1", str(BENCHES[name].cycles)], capture_output=True, text=True, check=False, timeout=300)
    assert run.returncode != 0
