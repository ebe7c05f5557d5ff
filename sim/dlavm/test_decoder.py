"""A decoder with a KV cache, compiled from a graph, over several steps.

The hardware by register writes, by its own fetching, and the functional model leave the same commits and the same bytes; weights
get into HBM through the device, too.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "targets" / "graph"))

from small import CHANNELS, Machine, decoder, steps, wide

from fleet.engines.backend import Backend
from fleet.engines.base import RunOptions
from fleet.engines.iss import IssBackend
from fleet.engines.rtl import RtlBackend
from fleet.engines.trace import Commit
from fleet.isa.issue import Binary
from fleet.sdk import Call
from fleet.targets.accel.build import build
from fleet.targets.accel.module import Module

SIZES = (5, 1, 17, 1)
"""Tokens of the steps: a prompt, one token, a second prompt, one token."""


class Run:
    """A module on an engine: images, or the device's own copies, then the steps."""

    def __init__(self, module: Module, backend: Backend, folder: Path, memory: str = "ideal") -> None:
        self.module, self.backend = module, backend
        self.machine = Machine(module, folder, images=not module.staging)
        self.options = RunOptions(device=module.device.name, memory=memory, seed=3)
        self.seq = 0

    def __enter__(self) -> Run:
        self.backend.open(self.module.instruction_set, self.module.device, self.machine.memory, self.options)
        if self.module.staging:
            self._load()
        return self

    def __exit__(self, *_: object) -> None:
        self.backend.close()

    def _load(self) -> None:
        """Weights by wt2hbm; what stands in DDR by the host."""
        view = self.machine.memory.view
        for space, bank, offset, data in self.module.images():
            if space != "hbm":
                view(space, offset, data.size, bank)[:] = data
        for offset, data, copies in self.module.loads():
            view("ddr", offset, data.size)[:] = data
            self.execute(copies)

    def execute(self, calls: Sequence[Call], binaries: Sequence[Binary] = ()) -> Sequence[Commit]:
        commits = self.backend.execute(calls, self.seq, binaries)
        self.seq += len(calls)
        return commits

    def step(self, x: np.ndarray, dims: dict[str, int]) -> tuple[Sequence[Commit], dict[str, bytes]]:
        m, memory = self.module, self.machine.memory
        m.write_input(memory, "x", x, **dims)
        if m.aux:
            for offset, words in m.patches(**dims):
                memory.view("ddr", offset, words.nbytes).view("<u4")[:] = words
        commits = self.execute(m.calls(**dims), m.binaries(**dims) if m.aux else ())
        return commits, {name: m.read_output(memory, name, **dims).tobytes() for name in m.outputs}


def key(commit: Commit) -> tuple[object, ...]:
    return commit.instruction, commit.ops, commit.digest, commit.bytes_written, commit.result, commit.token_range


@pytest.mark.parametrize("memory", ["ideal", "stall"])
@pytest.mark.parametrize("onchip", [False, True])
@pytest.mark.parametrize("aux", [False, True])
def test_rtl_leaves_what_iss_leaves(tmp_path: Path, aux: bool, onchip: bool, memory: str) -> None:
    graph = decoder(1, onchip=onchip)
    module = build(graph, aux=aux)
    with (
        Run(build(graph), IssBackend(), tmp_path / "iss") as expected,
        Run(module, RtlBackend(), tmp_path / "rtl", memory) as found,
    ):
        compared = 0
        for x, dims in steps(SIZES):
            wanted, outputs = expected.step(x, dims)
            commits, got = found.step(x, dims)
            # The binary moves nothing: it stands behind all that the other build has.
            assert [key(c) for c in commits] == [key(c) for c in wanted]
            assert got == outputs
            compared += len(commits)
        assert compared == len(SIZES) * len(module.emission.nodes) == 4 * 19
        assert found.backend.counters()["cycles"] > 0


def test_weights_through_the_device(tmp_path: Path) -> None:
    graph = decoder(1)
    module = build(graph, aux=True, build_config={"wt2hbm": True})
    with (
        Run(module, IssBackend(), tmp_path / "iss") as expected,
        Run(module, RtlBackend(), tmp_path / "rtl") as found,
        Run(build(graph, aux=True), IssBackend(), tmp_path / "host") as by_host,
    ):
        for space, bank, offset, data in module.images():
            if space == "hbm":
                for run in (expected, found):
                    np.testing.assert_array_equal(run.machine.memory.view(space, offset, data.size, bank), data)
        for x, dims in steps(SIZES):
            wanted, outputs = expected.step(x, dims)
            commits, got = found.step(x, dims)
            assert [key(c) for c in commits] == [key(c) for c in wanted]
            assert got == outputs == by_host.step(x, dims)[1]


@pytest.mark.parametrize("aux", [False, True])
def test_loops_over_tokens(tmp_path: Path, aux: bool) -> None:
    """More tokens than the buffer holds, then fewer: tasks of rounds that a step has not do nothing."""
    graph = wide(100)
    rng = np.random.default_rng(0)
    with (
        Run(build(graph), IssBackend(), tmp_path / "iss") as expected,
        Run(build(graph, aux=aux), RtlBackend(), tmp_path / "rtl") as found,
    ):
        for tokens in (100, 33, 1, 64):
            for run in (expected, found):
                residual = np.random.default_rng(tokens).normal(size=(1, tokens, CHANNELS))
                run.module.write_input(run.machine.memory, "r", residual, token=tokens)
            x = rng.normal(size=(1, tokens, CHANNELS))
            wanted, outputs = expected.step(x, {"token": tokens})
            commits, got = found.step(x, {"token": tokens})
            assert len(wanted) == 2 + -(-tokens // 32)
            assert [key(c) for c in commits] == [key(c) for c in wanted]
            assert got == outputs
