"""A program that begins in the middle, on memory and on-chip memory as the first part left them; what cannot begin so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from fleet.cli.main import fleet
from fleet.engines.rtl_sim.build import build, design_of
from fleet.errors import DeviceError
from fleet.isa.registry import find_device
from fleet.sdk import Call, Write
from fleet.sets.vgemm.operands import FinishOperands, GemmOperands, LoadOperands, MemoryType, StoreOperands
from fleet.streams.case import StreamCase
from fleet.streams.run import StreamRunner
from fleet.streams.undefined import NothingDefinedError
from fleet.verify.conformance.suite import make_case

DEVICE = "vgemm_small"
BASE = make_case(f"{DEVICE}/finish/directed/0")


def load(kind: MemoryType, address: int, count: int) -> Call:
    return Call(
        "load", LoadOperands(memory_type=kind, sram_base=0, address=address, y_size=1, x_size=count, x_stride=count).encode()
    )


GEMM = GemmOperands(uop_begin=0, uop_end=1, iter_out=1, iter_in=4, acc_in=1, inp_in=1, acc_out=0, inp_out=0, wgt_out=0, wgt_in=0)
CALLS = (
    load(MemoryType.UOP, 1024, 1),
    load(MemoryType.INP, 0, 4),
    load(MemoryType.WGT, 64, 1),
    load(MemoryType.ACC, 128, 4),
    Call("gemm", GEMM.encode()),
    Call("gemm", GEMM.encode()),
    Call("store", StoreOperands(memory_type=MemoryType.ACC, sram_base=0, address=2048, y_size=1, x_size=4, x_stride=4).encode()),
    Call("finish", FinishOperands().encode()),
)
"""acc[i] += inp[i] * wgt[0] for i of 0 to 3, twice; then all of it is stored."""
BLOCKS = Write("ddr", 0, np.random.default_rng(1).integers(0, 256, 512, dtype=np.uint8)), Write("ddr", 1024, np.zeros(4, np.uint8))
WHOLE = replace(BASE, name="whole", calls=CALLS, blocks=BLOCKS, causes=None)


@pytest.fixture(scope="module")
def runner() -> Iterator[StreamRunner]:
    with StreamRunner(DEVICE) as found:
        yield found


def left(runner: StreamRunner, case: StreamCase) -> dict[tuple[str, int, int], bytes]:
    """What the hardware holds behind a stream that must pass."""
    (outcome,) = runner.run(case)
    assert outcome.passed, outcome.reasons
    return {(b.space, b.bank, b.offset): b.data.tobytes() for b in runner.found.blocks()}


@pytest.mark.parametrize("cut", [1, 3, 5, 6, 7])
def test_a_program_goes_on_where_it_was_cut(runner: StreamRunner, cut: int) -> None:
    expected = left(runner, WHOLE)
    commits = runner.model(WHOLE)
    left(runner, replace(WHOLE, calls=CALLS[:cut]))
    blocks = runner.found.blocks()
    assert {b.space for b in blocks} == {"ddr", "uop", "inp", "wgt", "acc"}
    second = replace(WHOLE, name="second", calls=CALLS[cut:], blocks=blocks)
    assert left(runner, second) == expected
    assert [c.architectural for c in runner.model(second)] == [c.architectural for c in commits[cut:]]


def test_memory_that_the_stream_begins_with_is_defined(runner: StreamRunner) -> None:
    """Without its rows the program depends on undefined memory; with them it does not, and their bytes count."""
    inputs = Write("inp", 0, np.arange(16, dtype=np.uint8))
    calls = tuple(c for n, c in enumerate(CALLS) if n != 1)
    (without,) = runner.run(replace(WHOLE, calls=calls))
    assert not without.passed
    assert "depends on inp rows 0 to 3, which nothing has written since reset" in without.reasons[0]
    (one,), (other,) = (
        runner.run(replace(WHOLE, calls=calls, blocks=(*WHOLE.blocks, replace(inputs, data=inputs.data + n)))) for n in (0, 1)
    )
    assert one.passed, one.reasons
    assert other.passed, other.reasons
    assert one.found[-2].digest != other.found[-2].digest


def test_what_depends_on_memory_that_nothing_wrote_is_a_finding_or_left_out(runner: StreamRunner) -> None:
    """The second load reads 64 bytes behind what the stream fills; the hardware finds zeros there."""
    load_more = Call(
        "load", LoadOperands(memory_type=MemoryType.INP, sram_base=0, address=448, y_size=1, x_size=32, x_stride=32).encode()
    )
    case = replace(WHOLE, calls=(CALLS[1], load_more, CALLS[7]))
    (zeros,) = runner.run(case)
    assert zeros.passed
    assert zeros.left_out == 0
    (finding,) = runner.run(replace(case, unwritten="undefined"))
    assert finding.reasons[0] == ("instruction 1 (load) depends on ddr bytes [0x200, 0x240), which nothing has written since reset")
    (left_out,) = runner.run(replace(case, unwritten="left out"))
    assert left_out.passed, left_out.reasons
    assert (len(left_out.expected), left_out.left_out) == (1, 2)
    with pytest.raises(NothingDefinedError, match=r"^[^\n]*instruction 0 \(load\) depends on [^\n]*: nothing is left to compare$"):
        runner.run(replace(case, calls=(load_more,), unwritten="left out"))


def test_random_programs_may_read_what_nothing_wrote(tmp_path: Path) -> None:
    arguments = ["isa", "fuzz", DEVICE, "--undefined", "--count", "6", "--jobs", "1", "--report", str(tmp_path)]
    result = CliRunner().invoke(fleet, arguments)
    assert result.exit_code == 0, result.output
    assert "PASS 6 programs from 0 on, seed 0" in result.output
    assert int(re.findall(r"([\d,]+) instructions left out", result.output)[0].replace(",", "")) > 100
    assert (tmp_path / "undefined" / f"{DEVICE}-0.json").is_file()


def test_a_design_that_says_nothing_of_its_arrays_refuses(runner: StreamRunner) -> None:
    design = design_of(*find_device(DEVICE))
    with StreamRunner(DEVICE, design=replace(design, keepers=())) as blind:
        (outcome,) = blind.run(WHOLE)
        assert outcome.passed, outcome.reasons
        assert {b.space for b in blind.found.blocks()} == {"ddr"}
        with pytest.raises(
            DeviceError, match=r"^[^\n]*content of acc row 2, column 0, and the set does not say where its RTL[^\n]*$"
        ):
            blind.run(replace(WHOLE, blocks=(*WHOLE.blocks, Write("acc", 32, np.zeros(16, np.uint8)))))


def test_a_name_that_the_design_does_not_have_is_refused_when_it_is_built() -> None:
    design = design_of(*find_device(DEVICE))
    wrong = tuple(replace(k, names=("u_core.u_ac.mem",)) if k.space == "acc" else k for k in design.keepers)
    with pytest.raises(
        DeviceError, match=r"^[^\n]*memory acc: the design has no variable 'u_core.u_ac.mem' in a module 'vgemm_pad'"
    ):
        build(replace(design, keepers=wrong))
