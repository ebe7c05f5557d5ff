"""fp_pkg against the host's IEEE arithmetic: FP16 exhaustively, binary32 on special and random pairs (fp_main.cpp); the stages of
each operator against its function (fp_pipe_main.cpp)."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from verilated import verilated

HERE = Path(__file__).parent
ARITH = HERE.parents[2] / "rtl_models" / "arith"
PACKAGES = ["fp_pkg.sv", "fp_fn_pkg.sv"]
OPERATORS = [
    "fp32_add", "fp32_mul_short", "fp16_mul", "fp32_to_fp16", "word_to_fp32", "fixed_pair_to_fp32", "fp32_mul_ftz",
]  # fmt: skip
"""In the order of the bits of fp_pipe_probe; the last bit is fixed_pair_to_fp32 with words farther apart."""


def build(folder: Path, top: str, sources: list[str], *options: str) -> Path:
    """The driver around copies of the sources, since make cannot stand blanks in paths; those that are in the folder stay."""
    driver = f"{top.removesuffix('_probe')}_main.cpp"
    for path in [*(ARITH / name for name in sources), HERE / f"{top}.sv", HERE / driver]:
        if not (folder / path.name).exists():
            shutil.copy(path, folder / path.name)
    # The driver's own products and sums are two roundings on every processor.
    arguments = ["-CFLAGS", "-ffp-contract=off", "-O3", "-Wall", "-Wno-UNUSEDPARAM", "--x-initial", "unique", *options]
    arguments += ["--top-module", top]
    return verilated([*arguments, *sources, f"{top}.sv", driver], folder, f"V{top}")


@pytest.mark.parametrize("pairs", [1_000_000, pytest.param(100_000_000, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("view", ["simulation", "SYNTHESIS"])
def test_functions_equal_the_host(tmp_path: Path, pairs: int, view: str) -> None:
    """So many random pairs beside the grids; as simulations have the functions and as synthesis reads them."""
    program = build(tmp_path, "fp_probe", PACKAGES, *(["+define+SYNTHESIS"] if view == "SYNTHESIS" else []))
    run = subprocess.run([program, str(pairs), "3"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    done, rest = run.stdout.split(" ", 1)
    assert int(done) >= pairs
    assert "0 mistakes" in rest


@pytest.mark.parametrize(
    ("package", "right", "wrong"),
    [
        ("fp_pkg.sv", "32'(p.mag[32] || p.mag[30:0]", "32'(!p.mag[32] || p.mag[30:0]"),
        ("fp_fn_pkg.sv", "ProductSplit - 6'd30)) >>> p.back", "ProductSplit - 6'd31)) >>> p.back"),
        ("fp_fn_pkg.sv", "? factor[14:0] == 15'd0", "? 1'b0"),
        ("fp_fn_pkg.sv", "64'({1'b1, b[22:17]})", "64'(b[22:17])"),
        ("fp_fn_pkg.sv", "32'd1 : 32'd166 - p.zeros", "32'd1 : 32'd167 - p.zeros"),
        ("fp_fn_pkg.sv", "32'd142 + 32'(split)", "32'd172"),
    ],
)
def test_the_driver_finds_what_is_wrong(tmp_path: Path, package: str, right: str, wrong: str) -> None:
    text = (ARITH / package).read_text()
    assert right in text
    (tmp_path / package).write_text(text.replace(right, wrong))
    run = subprocess.run([build(tmp_path, "fp_probe", PACKAGES), "1000", "3"], capture_output=True, text=True, check=False)
    assert run.returncode == 1


PIPES = [*PACKAGES, "fp_cut.sv", *(f"{name}_pipe.sv" for name in OPERATORS)]


@pytest.mark.parametrize("latency", [0, 1, 3, 11])
def test_stages_equal_their_functions(tmp_path: Path, latency: int) -> None:
    """A register a stage (0), fewer than stages, and more: same bits, as many cycles later as it says, stalls between."""
    program = build(tmp_path, "fp_pipe_probe", PIPES, f"-GLatency={latency}")
    run = subprocess.run([program, "300000", "5"], capture_output=True, text=True, check=False)
    assert run.stdout == "0 " * (len(OPERATORS) + 1) + "differences\n"
    assert run.returncode == 0


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("fp32_add_pipe.sv", "fp32_add_align(order)", "fp32_add_align('{x: order.y, y: order.x})"),
        ("fp_cut.sv", "Stage * Latency / Stages -", "1 + Stage * Latency / Stages -"),
    ],
)
def test_a_pipe_that_is_not_its_function_is_found(tmp_path: Path, name: str, right: str, wrong: str) -> None:
    text = (ARITH / name).read_text()
    assert right in text
    (tmp_path / name).write_text(text.replace(right, wrong))
    run = subprocess.run([build(tmp_path, "fp_pipe_probe", PIPES), "20000", "5"], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert not run.stdout.startswith("0 ")
