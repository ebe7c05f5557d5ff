"""A failing case of adopted hardware: made small, tried from other initial values, exported as a bench that needs no fleet."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from adopted import COPIER, ENGINE, FIR, GATHER, KERNEL, MESH, NETWORK, PAIRER, RELAY, SCALER, VAULT, modelled
from owner_tests import TESTS, edits
from simulators_here import HAS_ICARUS, icarus

from fleet.adopt.bench.export import export_case
from fleet.adopt.bench.replay import BenchRunner
from fleet.adopt.bench.text import TOP
from fleet.adopt.workspace import open_workspace
from fleet.cli.main import main
from fleet.engines.rtl_sim.tools import find_toolchain
from fleet.errors import ExitCode
from fleet.verify.adopted.initial import from_other_values
from fleet.verify.adopted.shrink import shrink_test

pytestmark = pytest.mark.nightly

LATE = 3  # unit 0 answers long before its write


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> BenchRunner:
    folder = modelled(tmp_path_factory.mktemp("failing") / "w", PAIRER, edits=edits(PAIRER))
    for name, fault in (("good", 0), ("late", LATE)):
        (folder / f"{name}.toml").write_text(TESTS[PAIRER].replace("FAULT", str(fault)))
    return BenchRunner(open_workspace(folder))


def test_initial_values_do_not_show(runner: BenchRunner) -> None:
    found = from_other_values(runner, runner.work.folder / "good.toml", 8)
    assert (found.seeds, found.difference) == (8, "")


def test_a_small_test_fails_in_the_same_way(runner: BenchRunner) -> None:
    test = runner.work.folder / "late.toml"
    small = shrink_test(runner, test, 100)
    assert small.after < small.before
    assert "the design has written nothing there yet" in small.reason
    text = small.path.read_text()
    assert text.count("[[step]]") <= 3  # the fault, the command, and one before it
    assert runner.run(small.path).exit_code is ExitCode.DIFFERS


def test_an_exported_bench_shows_the_failure_and_passes_where_the_fault_is_mended(runner: BenchRunner, tmp_path: Path) -> None:
    test = runner.work.folder / "late.toml"
    outcome = runner.run(test)
    assert outcome.lockstep is not None
    said = ["late"]
    export_case(runner.work, runner.plan, runner.observed, runner.script(test), outcome.lockstep.claim, said, tmp_path)
    code, said = _run_both(tmp_path)
    assert code != 0
    assert re.search(r"FAIL: mem\[0\] at 0x20[48]: nothing was written, the model has 0x\w\w \(cycle", said)
    bench = tmp_path / "bench.sv"
    text, count = re.subn(rf"(code = 7; k = \d+; a = 64'h0; b = \d+'h){LATE};", r"\g<1>0;", bench.read_text())
    assert count == 1
    bench.write_text(text)
    assert _run_both(tmp_path) == (0, "PASS")


@pytest.mark.parametrize(
    ("files", "name", "good", "bad", "first"),
    [
        (COPIER, "copier.sv", "m_wdata <= m_rdata;", "m_wdata <= m_rdata ^ 64'h20;", "m at 0x2000: 0x21, the model has 0x01"),
        (
            NETWORK, "dense.v", "acc[k] + x_reg", "acc[k] - x_reg",
            "layer4_out_v_data_v word 0: 0x180000, the model gives 0x181673",
        ),
        (VAULT, "vault.sv", "[7:4], value}", "[7:4], l == 2 ? ~value : value}", "rows at 0x12: 0x0f, the model has 0x0e"),
    ],
    ids=["memory", "stream and weights", "inside"],
)  # fmt: skip
def test_an_exported_folder_needs_nothing_else(
    tmp_path: Path, files: Path, name: str, good: str, bad: str, first: str
) -> None:  # fmt: skip
    theirs = tmp_path / "theirs"
    shutil.copytree(files.parent, theirs)
    source = theirs / name
    text = source.read_text()
    assert text.count(good) == 1
    source.write_text(text.replace(good, bad))
    folder = modelled(tmp_path / "w", theirs / files.name, edits=edits(files))
    (folder / "owner.toml").write_text(TESTS[files].replace("FAULT", "0"))
    left = tmp_path / "left"
    assert main(["isa", "replay", str(folder), str(folder / "owner.toml"), "--export", str(left)]) == ExitCode.DIFFERS
    [copy] = (left / "design").rglob(name)
    assert copy.read_text() == source.read_text()
    assert str(tmp_path) not in "".join(p.read_text() for p in left.iterdir() if p.is_file())
    for other in (theirs, folder):
        shutil.rmtree(other)
    code, said = _run_both(left)
    assert code != 0
    assert said.startswith(f"FAIL: {first} (cycle ")
    copy.write_text(copy.read_text().replace(bad, good))
    assert _run_both(left) == (0, "PASS")


_WRONG = {
    COPIER: ("m", 0x9000), PAIRER: ("mem[0]", 0x9000), RELAY: ("mem", 0x9000), KERNEL: ("m_axi_gmem", 0x90000),
    ENGINE: ("nvdla_core2dbb", 0x9000), GATHER: ("m_axi", 0x90000), MESH: ("auto_tl_out", 0x9000),
    FIR: ("source", None), NETWORK: ("layer4_out_v_data_v", None),
}  # fmt: skip
"""Design -> a port, and an address that nothing writes; without one the port gives other words than one 0."""


@icarus
@pytest.mark.parametrize("files", [*_WRONG, VAULT], ids=lambda files: files.stem)
def test_an_exported_case_is_the_same_in_icarus(tmp_path: Path, files: Path) -> None:
    folder = modelled(tmp_path / "w", files, edits=edits(files))
    runner = BenchRunner(open_workspace(folder))
    test = TESTS[files].replace("FAULT", "0")
    (folder / "good.toml").write_text(test)
    if files == VAULT:  # no port shows its memory
        test += '[[step]]\nread = "apb"\nregister = "to"\nexpect = 77\n'
    else:
        port, address = _WRONG[files]
        where = f'port = "{port}"\naddress = {address}\nbytes = "5a"\n'
        test += "[[expect]]\n" + (f'received = "{port}"\ndata = [0]\n' if address is None else where)
    (folder / "t.toml").write_text(test)
    for name in ("good", "t"):
        script = runner.script(folder / f"{name}.toml")
        export_case(runner.work, runner.plan, runner.observed, script, None, [name], tmp_path / name)
    assert _run_icarus(tmp_path / "good") == (0, "PASS")
    code, said = _run(tmp_path / "t")
    assert code != 0
    assert said.startswith("FAIL: t.toml:")
    again, also = _run_icarus(tmp_path / "t")
    assert (again != 0, also) == (True, said)


@icarus
def test_interfaces_are_what_icarus_does_not_read(tmp_path: Path) -> None:
    folder = modelled(tmp_path / "w", SCALER, edits=edits(SCALER))
    (folder / "t.toml").write_text(TESTS[SCALER].replace("FAULT", "0"))
    runner = BenchRunner(open_workspace(folder))
    export_case(runner.work, runner.plan, runner.observed, runner.script(folder / "t.toml"), None, ["t"], tmp_path / "left")
    done = _compile_icarus(tmp_path / "left")
    assert done.returncode != 0
    assert "design/scaler.sv:11: syntax error" in done.stderr


def _run_both(folder: Path) -> tuple[int, str]:
    """As `_run`; Icarus must say the same where it is installed."""
    code, said = _run(folder)
    if HAS_ICARUS:
        again, also = _run_icarus(folder)
        assert (again != 0, also) == (code != 0, said)
    return code, said


def _compile_icarus(folder: Path) -> subprocess.CompletedProcess[str]:
    words = ["iverilog", "-g2012", "-s", TOP, "-o", "bench.vvp", "-f", "design.f", "bench.sv"]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def _run_icarus(folder: Path) -> tuple[int, str]:
    done = _compile_icarus(folder)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(["vvp", "-n", "bench.vvp"], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, "\n".join(line for line in done.stdout.splitlines() if line.startswith(("PASS", "FAIL")))


def _run(folder: Path) -> tuple[int, str]:
    """Exit code, and the lines that say pass or fail."""
    words = ["--binary", "--timing", "-Wno-fatal", "-Wno-lint", "-Wno-style", "--top-module", TOP, "-CFLAGS", "-O0"]
    subprocess.run(
        [str(find_toolchain().verilator), *words, "-f", "design.f", "bench.sv"], cwd=folder, check=True, capture_output=True
    )
    done = subprocess.run([f"./obj_dir/V{TOP}"], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, "\n".join(line for line in done.stdout.splitlines() if line.startswith(("PASS", "FAIL")))
