"""Reads of on-chip memory that nothing defined: found and placed by the functional model, and in no program of the suite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fleet.isa.registry import find_device
from fleet.sdk import Call, Write
from fleet.sets.vgemm.operands import AluOp, AluOperands, FinishOperands, GemmOperands, LoadOperands, MemoryType
from fleet.streams.case import StreamCase, Unwritten
from fleet.streams.images import Images
from fleet.streams.undefined import UndefinedRead, undefined_read
from fleet.streams.unwritten import Spans, unwritten_reads
from fleet.verify.conformance.suite import make_case


@pytest.fixture(scope="module", params=["vgemm_small", "hbm_small"])
def images(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Images]:
    found = Images(find_device(request.param)[1], tmp_path_factory.mktemp("images"))
    yield found
    found.close()


def read_of(case: StreamCase, images: Images) -> UndefinedRead | None:
    return undefined_read(*find_device(case.device), case, images, len(case.calls) - 1)


def test_no_program_of_the_suite_depends_on_it(images: Images) -> None:
    name = images.memory.device.name
    for number in range(12):
        assert read_of(make_case(f"{name}/program/{number}"), images) is None


def load(kind: MemoryType, first: int, count: int) -> Call:
    """Micro-operations are zeros, all else ones."""
    address = 1024 if kind is MemoryType.UOP else 0
    fields = LoadOperands(memory_type=kind, sram_base=first, address=address, y_size=1, x_size=count, x_stride=count).encode()
    return Call("load", fields)


GEMM = GemmOperands(uop_begin=0, uop_end=1, iter_out=1, iter_in=4, acc_in=1, inp_in=1, acc_out=0, inp_out=0, wgt_out=0, wgt_in=0)
"""acc[i] += inp[i] * wgt[0] for i of 0 to 3."""


@pytest.mark.parametrize(
    ("missing", "places"),
    [
        ((), None),
        (("acc1",), "acc row 1"),
        (("acc1", "acc2"), "acc rows 1 to 3"),
        (("wgt",), "wgt row 0"),
        (("inp", "acc1"), "inp rows 0 to 3, acc row 1"),
    ],
)
def test_rows_that_a_program_forgot_to_load_are_named(
    tmp_path_factory: pytest.TempPathFactory, missing: tuple[str, ...], places: str | None
) -> None:
    loads = {
        "uop": load(MemoryType.UOP, 0, 1),
        "inp": load(MemoryType.INP, 0, 4),
        "wgt": load(MemoryType.WGT, 0, 1),
        "acc0": load(MemoryType.ACC, 0, 1),
        "acc1": load(MemoryType.ACC, 1, 1),
        "acc2": load(MemoryType.ACC, 2, 2),
    }
    kept = [call for name, call in loads.items() if name not in missing]
    base = make_case("vgemm_small/finish/directed/0")
    calls = (*kept, Call("gemm", GEMM.encode()), Call("finish", FinishOperands().encode()))
    case = replace(base, calls=calls, blocks=(Write("ddr", 0, np.ones(256, np.uint8)),), causes=None)
    images = Images(find_device("vgemm_small")[1], tmp_path_factory.mktemp("undefined"))
    found = read_of(case, images)
    images.close()
    expected = f"instruction {len(kept)} (gemm) depends on {places}, which nothing has written since reset"
    assert str(found) == (expected if places else "None")


def test_a_refused_call_reads_nothing(tmp_path_factory: pytest.TempPathFactory) -> None:
    base = make_case("vgemm_small/finish/directed/0")
    images = Images(find_device("vgemm_small")[1], tmp_path_factory.mktemp("refused"))
    empty = AluOperands(uop_begin=1, uop_end=1, iter_out=1, iter_in=1, op=AluOp.ADD)
    assert read_of(replace(base, calls=(Call("alu", empty.encode()),), causes=None), images) is None
    images.close()


def moved_in(unwritten: Unwritten) -> StreamCase:
    """Reads 128 bytes of DDR from 192 on, of which the stream fills 64; then what another load has written in part."""
    fields = LoadOperands(memory_type=MemoryType.INP, sram_base=0, address=192, y_size=1, x_size=32, x_stride=32).encode()
    later = LoadOperands(memory_type=MemoryType.INP, sram_base=0, address=192, y_size=1, x_size=16, x_stride=16).encode()
    base = make_case("vgemm_small/finish/directed/0")
    blocks = (Write("ddr", 0, np.ones(256, np.uint8)),)
    return replace(base, calls=(Call("load", later), Call("load", fields)), blocks=blocks, causes=None, unwritten=unwritten)


@pytest.mark.parametrize("unwritten", ["undefined", "left out"])
def test_ddr_that_the_stream_does_not_fill_is_named_by_its_bytes(unwritten: Unwritten, tmp_path: Path) -> None:
    images = Images(find_device("vgemm_small")[1], tmp_path)
    found = read_of(moved_in(unwritten), images)
    images.close()
    assert str(found) == "instruction 1 (load) depends on ddr bytes [0x100, 0x140), which nothing has written since reset"


def test_ddr_of_zeros_is_defined(tmp_path: Path) -> None:
    images = Images(find_device("vgemm_small")[1], tmp_path)
    assert read_of(moved_in("zeros"), images) is None
    images.close()


def test_random_programs_find_what_they_read_and_may_be_asked_not_to() -> None:
    for device in ("vgemm_small", "hbm_small"):
        asked = 0
        for number in range(8):
            case = make_case(f"{device}/program/{number}")
            assert unwritten_reads(*find_device(device), case.calls, case.blocks) == []
            case = make_case(f"{device}/undefined/{number}")
            assert case.unwritten == "left out"
            asked += bool(unwritten_reads(*find_device(device), case.calls, case.blocks))
        assert asked > 2


def test_ranges_are_those_of_a_mask() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        spans, mask = Spans(), np.zeros(64, np.bool_)
        for _ in range(int(rng.integers(1, 12))):
            start, end = sorted(rng.integers(0, 65, 2).tolist())
            if start < end:
                left = np.zeros(64, np.bool_)
                for a, b in spans.missing(start, end):
                    left[a:b] = True
                expected = ~mask
                expected[:start] = expected[end:] = False
                assert np.array_equal(left, expected)
                spans.add(start, end)
                mask[start:end] = True
        assert [*zip(spans.starts, spans.ends, strict=True)] == runs(mask)


def runs(mask: np.ndarray) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.view(np.int8), [0]]))).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))
