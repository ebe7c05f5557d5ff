"""The two views of a datapath (docs/synthesis.md) give the same bits in the same cycles: attention, elementwise, MVM,
the SFU's last pass."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from hardware_files import hardware_files
from verilated import verilated

HERE = Path(__file__).parent
NIGHTLY = pytest.mark.nightly  # each is a build of its own
WANTED = ("arith/", "hbm0923_att_pkg", "hbm0923_att_column", "hbm0923_att_array", "hbm0923_elementwise_lanes")
LATENCIES = ("DotLatency", "RoundLatency", "ScaleLatency", "AddLatency", "NarrowLatency")


def nightly(*values: tuple[int, ...]) -> list[object]:
    """Values of one parameter."""
    return [pytest.param(value, marks=NIGHTLY) for value in values]


def played(folder: Path, queries: int, latencies: tuple[int, ...], cycles: int = 60_000) -> list[list[int]]:
    """Of the array and of the lanes: results, cycles in which the views differ, results in a wrong cycle.

    Sources that are in the folder stay.
    """
    files = [p for p in hardware_files("hbm0923") if any(w in str(p) for w in WANTED)]
    for path in [*files, HERE / "views_probe.sv", HERE / "views_main.cpp"]:
        if not (folder / path.name).exists():
            shutil.copy(path, folder / path.name)
    parameters = dict(zip(LATENCIES, latencies, strict=True)) | {"Queries": queries}
    options = ["-O3", "--assert", "-Wall", "-Wno-UNUSEDPARAM", "--x-initial", "unique", "--top-module", "views_probe"]
    options += [f"-G{name}={value}" for name, value in parameters.items()]
    program = verilated([*options, *(p.name for p in files), "views_probe.sv", "views_main.cpp"], folder, "Vviews_probe")
    dot, rounding, scale, add, narrow = latencies
    command = [program, cycles, 5, queries, 3 + dot + rounding + scale + narrow, add + narrow]
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
    return [[int(word) for word in line.split()] for line in run.stdout.splitlines()]


@pytest.mark.parametrize(
    ("queries", "latencies"),
    [
        (2, (5, 7, 3, 9, 2)),
        pytest.param(1, (1, 1, 1, 1, 1), marks=NIGHTLY),
        pytest.param(4, (3, 9, 2, 4, 1), marks=NIGHTLY),
        (3, (8, 4, 6, 13, 5)),
    ],
)
def test_both_views_are_equal(tmp_path: Path, queries: int, latencies: tuple[int, ...]) -> None:
    """Registers behind every stage, one in all, and fewer or more than stages."""
    array, lanes = played(tmp_path, queries, latencies)
    assert array[0] > 5_000
    assert lanes[0] > 20_000
    assert [array[1:], lanes[1:]] == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("name", "right", "wrong", "part"),
    [
        pytest.param("hbm0923_att_column_stages.sv", "complete_q[(q+1)%Queries]", "complete_q[q%Queries]", 0, marks=NIGHTLY),
        ("hbm0923_att_column_stages.sv", "terms[3].words[r]", "terms[2].words[r]", 0),
        ("hbm0923_elementwise_lanes.sv", ".Latency(AddLatency)) u_mask", ".Latency(AddLatency - 1)) u_mask", 1),
        pytest.param("fp_delay.sv", "$clog2(Latency - 1) : 1", "$clog2(Latency - 1) - 1 : 1", 0, marks=NIGHTLY),
    ],
)
def test_a_view_that_differs_is_found(tmp_path: Path, name: str, right: str, wrong: str, part: int) -> None:
    (source,) = (p for p in hardware_files("hbm0923") if p.name == name)
    text = source.read_text()
    assert right in text
    (tmp_path / name).write_text(text.replace(right, wrong))
    assert played(tmp_path, 2, (5, 7, 3, 9, 2), 5_000)[part][1] > 0


MVM_WANTED = (
    "arith/",
    "hbm0923_valid_delay",
    *(f"hbm0923_mvm_{part}" for part in ("pkg", "dot", "select", "array", "product", "accumulate", "epilogue")),
)
MVM_LATENCIES = ("ArrayLatency", "ProductLatency", "RoundLatency", "ScaleLatency", "AddLatency", "NarrowLatency")


def mvm_played(folder: Path, latencies: tuple[int, ...], instructions: int = 600) -> list[int]:
    """Outputs, cycles in which the views differ, outputs in a wrong cycle. Sources that are in the folder stay."""
    files = [p for p in hardware_files("hbm0923") if any(w in str(p) for w in MVM_WANTED)]
    for path in [*files, HERE / "mvm_probe.sv", HERE / "mvm_main.cpp"]:
        if not (folder / path.name).exists():
            shutil.copy(path, folder / path.name)
    options = ["-O3", "--assert", "-Wall", "-Wno-UNUSEDPARAM", "--x-initial", "unique", "--top-module", "mvm_probe"]
    options += [f"-G{name}={value}" for name, value in zip(MVM_LATENCIES, latencies, strict=True)]
    program = verilated([*options, *(p.name for p in files), "mvm_probe.sv", "mvm_main.cpp"], folder, "Vmvm_probe")
    array, product, rounding, scale, add, narrow = latencies
    command = [program, instructions, 5, 2 + array + product + rounding + narrow, scale + add - 1, max(scale, add - 1)]
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
    return [int(word) for word in run.stdout.split()]


@pytest.mark.parametrize("latencies", [(4, 6, 7, 3, 9, 2), *nightly((1, 1, 1, 1, 1, 1), (2, 3, 9, 2, 4, 1)), (7, 8, 4, 6, 5, 3)])
def test_both_views_of_mvm_are_equal(tmp_path: Path, latencies: tuple[int, ...]) -> None:
    outputs, differ, early = mvm_played(tmp_path, latencies)
    assert outputs > 3_000
    assert (differ, early) == (0, 0)


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        pytest.param(
            "hbm0923_mvm_dot_stages.sv",
            "missing_of(w_i[4*(Half*h+4*i+2)+:4])",
            "missing_of(w_i[4*(Half*h+4*i+1)+:4])",
            marks=NIGHTLY,
        ),
        ("hbm0923_mvm_product_stages.sv", "zero: sum_i[g] == 51'sd0", "zero: sum_i[0] == 51'sd0"),
        pytest.param(
            "hbm0923_mvm_product_stages.sv", "(g == 0 || pair_i) ? scales_i", "(g == 0 || !pair_i) ? scales_i", marks=NIGHTLY
        ),
        pytest.param(
            "hbm0923_mvm_product_stages.sv", "placed[0].high + placed[1].high", "placed[0].high + placed[0].high", marks=NIGHTLY
        ),
        (
            "hbm0923_mvm_epilogue.sv",
            ".Latency(ResLatency - ScaleLatency)) u_res_a",
            ".Latency(ResLatency - ScaleLatency + 1)) u_res_a",
        ),
    ],
)
def test_a_view_of_mvm_that_differs_is_found(tmp_path: Path, name: str, right: str, wrong: str) -> None:
    (source,) = (p for p in hardware_files("hbm0923") if p.name == name)
    text = source.read_text()
    assert right in text
    (tmp_path / name).write_text(text.replace(right, wrong))
    assert mvm_played(tmp_path, (4, 6, 7, 3, 9, 2), 100)[1] > 0


LANES_WANTED = (
    "arith/", "tables_pkg", "hbm0923_feature_pkg", "hbm0923_unit_pkg", "hbm0923_pkg", "axi/",
    *(f"hbm0923_sfu_{part}" for part in ("plan_pkg", "softmax_pkg", "norm_pkg", "act_pkg", "lane_stages", "lanes")),
)  # fmt: skip
LANES_LATENCIES = ("ScaleLatency", "AddLatency", "NarrowLatency")


def lanes_played(folder: Path, latencies: tuple[int, ...], cycles: int = 30_000) -> list[int]:
    """Results, cycles in which the views differ, results in a wrong step. Sources that are in the folder stay."""
    files = [p for p in hardware_files("hbm0923") if any(w in str(p) for w in LANES_WANTED)]
    for path in [*files, HERE / "lanes_probe.sv", HERE / "lanes_main.cpp"]:
        if not (folder / path.name).exists():
            shutil.copy(path, folder / path.name)
    options = ["-O3", "--assert", "-Wall", "-Wno-UNUSEDPARAM", "--x-initial", "unique", "--top-module", "lanes_probe"]
    options += [f"-G{name}={value}" for name, value in zip(LANES_LATENCIES, latencies, strict=True)]
    program = verilated([*options, *(p.name for p in files), "lanes_probe.sv", "lanes_main.cpp"], folder, "Vlanes_probe")
    scale, add, narrow = latencies
    end = 1 + add + narrow
    command = [program, cycles, 5, scale + 1 + end, 3 + scale + end, 2 * scale + 1 + end, 8 + 2 * scale + 1 + end]
    run = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True)
    return [int(word) for word in run.stdout.split()]


@pytest.mark.parametrize("latencies", [(3, 9, 2), *nightly((1, 1, 1), (6, 4, 3))])
def test_both_views_of_the_last_pass_are_equal(tmp_path: Path, latencies: tuple[int, ...]) -> None:
    results, differ, early = lanes_played(tmp_path, latencies)
    assert results > 8_000
    assert (differ, early) == (0, 0)


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("hbm0923_sfu_lane_stages.sv", "layer_i ? late_gamma : gamma_i", "layer_i ? gamma_i : late_gamma"),
        pytest.param(
            "hbm0923_sfu_lanes.sv", ".Latency(DifferenceSteps - 1)) u_sum", ".Latency(DifferenceSteps)) u_sum", marks=NIGHTLY
        ),
    ],
)
def test_a_view_of_the_last_pass_that_differs_is_found(tmp_path: Path, name: str, right: str, wrong: str) -> None:
    (source,) = (p for p in hardware_files("hbm0923") if p.name == name)
    text = source.read_text()
    assert right in text
    (tmp_path / name).write_text(text.replace(right, wrong))
    assert lanes_played(tmp_path, (3, 9, 2), 5_000)[1] > 0
