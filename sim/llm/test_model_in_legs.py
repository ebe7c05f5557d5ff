"""A model's answer in legs beside the same answer as one run: tokens, every commit, cycles, and where a planted fault is found.

The tiny model on hbm_small, and with `--nightly` SmolLM2-135M on hbm0923: its weights where they are installed, else random ones of
its shape. `pytest -s` prints the times.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from fleet.cosim.generation import GenerationResult
from fleet.engines.backend import Backend
from fleet.engines.legs.warm import drop_waiting
from fleet.engines.rtl import RtlBackend
from fleet.engines.rtl_sim.build import build, design_of
from fleet.engines.trace import Commit
from fleet.errors import FleetError
from fleet.isa.registry import find_device
from fleet.llm import contestants
from fleet.llm.contestants import GenerateRequest, compile_model, generate
from fleet.llm.load import LoadedLanguageModel, load_model, load_shape
from fleet.llm.models import ModelOptions
from fleet.llm.quantisation import Quantisation
from fleet.llm.sessions.run_module import device_backend
from fleet.llm.sessions.session import Embedding
from fleet.report.run.generation import store_generation
from fleet.report.run.why import find_failure, page
from fleet.streams import locate
from fleet.streams.replay import suppose

sys.path.insert(0, str(Path(__file__).parents[1] / "divergence"))

from planted_sources import STUCK_LANE, planted

PROMPT, TOKENS = 37, 8
OTHERS = 0.05
"""Share of the machine that other processes may take where wall times are held to a limit."""


@dataclass(frozen=True)
class Kind:
    """A model in a setting. shortest: cycles of a leg; up: the product with the fault.

    A binary starts at every 32nd instruction; the tiny model has 30 in a step, which are written to the registers.
    """

    name: str
    device: str
    issue: str
    plan: ModelOptions
    quantisation: Quantisation
    shortest: int
    up: str

    def load(self) -> LoadedLanguageModel:
        if self.name == "tiny":
            return load_model("tiny")
        try:
            return load_model("smollm2")
        except FleetError:
            return load_shape("smollm2-135m", group=self.quantisation.group, seed=0)


KINDS = [
    pytest.param(
        Kind("tiny", "hbm_small", "regs", ModelOptions(tokens=32, positions=64), Quantisation(128, "search"), 1_000, "blocks.1.up"),
        id="tiny",
    ),
    pytest.param(
        Kind("smollm2", "hbm0923", "aux", ModelOptions(), Quantisation(64, "absmax"), 50_000, "blocks.17.up"), id="smollm2",
        marks=pytest.mark.nightly,
    ),
]  # fmt: skip


@dataclass(frozen=True)
class Ran:
    """A run: what came of it, the commits of rtl, and seconds of processor time and by the clock. others: share of the machine."""

    result: GenerationResult
    commits: Sequence[Commit]
    processor: float
    wall: float
    others: float


class _Recorded(RtlBackend):
    """The hardware, whose commits are kept."""

    def __init__(self, kept: list[Commit], shortest: int) -> None:
        super().__init__(shortest_leg=shortest)
        self._kept = kept

    def execute(self, *arguments: object, **more: object) -> Sequence[Commit]:
        found = super().execute(*arguments, **more)
        self._kept += found
        return found

    def end(self) -> Sequence[Commit]:
        found = super().end()
        self._kept += found
        return found


def _used() -> float:
    found = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in found)


def _machine() -> tuple[float, float]:
    """Ticks that all processors of the machine worked, for whomever, and all ticks."""
    user, nice, system, idle, wait, *rest = map(int, Path("/proc/stat").read_text().splitlines()[0].split()[1:9])
    return user + nice + system + sum(rest), user + nice + system + idle + wait + sum(rest)


def ran(monkeypatch: pytest.MonkeyPatch, kind: Kind, loaded: LoadedLanguageModel, jobs: int) -> Ran:
    kept: list[Commit] = []

    def backend(name: str) -> Backend:
        return _Recorded(kept, kind.shortest) if name == "rtl" else device_backend(name)

    monkeypatch.setattr(contestants, "device_backend", backend)
    request = GenerateRequest(
        kind.name,
        _text(loaded),
        TOKENS,
        ("iss", "rtl"),
        kind.device,
        issue=kind.issue,
        plan=kind.plan,
        quantisation=kind.quantisation,
        rtl_jobs=jobs,
    )
    drop_waiting()  # each run starts its own simulations, and their processor time is known once they have ended
    before = _used(), time.monotonic(), *_machine()
    result = generate(loaded, request)
    drop_waiting()
    processor, wall = _used() - before[0], time.monotonic() - before[1]
    busy, whole = (b - a for a, b in zip(before[2:], _machine(), strict=True))
    ticks = processor * whole / max(wall, 1e-9) / _processors()
    return Ran(result, kept, processor, wall, max(0.0, busy - ticks) / max(whole, 1))


def _text(loaded: LoadedLanguageModel) -> str:
    """A text of PROMPT tokens, those of the model's chat template among them."""
    texts = (("abcabcab" * PROMPT)[:n] for n in range(PROMPT, 0, -1))
    return next(text for text in texts if len(loaded.tokenizer.chat(text)) == PROMPT)


def _processors() -> int:
    return sum(line.startswith("cpu") for line in Path("/proc/stat").read_text().splitlines()) - 1


def _prepare(kind: Kind, loaded: LoadedLanguageModel) -> None:
    """Do what only the first run would: build the simulation, read or draw the weights, fill the process's caches."""
    build(design_of(*find_device(kind.device)))
    compile_model(loaded, kind.plan, find_device(kind.device)[1], kind.quantisation, aux=kind.issue == "aux")
    Embedding(loaded.weights)


def _cut(result: GenerationResult) -> bool:
    rtl = result.engine("rtl")
    assert rtl is not None
    return rtl.cut.startswith("cut into ")


def _steps(result: GenerationResult) -> list[object]:
    rtl = result.engine("rtl")
    assert rtl is not None
    return [(s.tokens, s.cycles) for s in (*rtl.prefill, *rtl.decode)]


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_in_legs_is_the_answer(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = kind.load()
    _prepare(kind, loaded)
    one, legs = (ran(monkeypatch, kind, loaded, jobs) for jobs in (1, 2))
    print(f"{loaded.name}, seconds of processor time and by the clock, others' share of the machine:")
    for name, r in (("one run", one), ("legs", legs)):
        ratios = f"{r.processor / one.processor:.2f}, {r.wall / one.wall:.2f}"
        print(f"{name:8} {r.processor:.1f} s, {r.wall:.1f} s, {r.others:.0%}; to one run {ratios}")
    assert one.result.verdict == legs.result.verdict == "pass"
    assert len(one.result.tokens) == TOKENS
    assert [t.token for t in one.result.tokens] == [t.token for t in legs.result.tokens]
    assert len(one.result.identity.prompt_tokens) == PROMPT
    assert [_plain(c) for c in one.commits] == [_plain(c) for c in legs.commits]
    assert len(one.commits) > 200
    assert _steps(one.result) == _steps(legs.result)
    assert _cut(legs.result)
    if kind.name == "tiny":
        return
    assert legs.processor <= 1.25 * one.processor
    if max(one.others, legs.others) <= OTHERS and _processors() >= 2:
        assert legs.wall <= 0.6 * one.wall


def _plain(commit: Commit) -> tuple[object, ...]:
    """What a cut must not change. Cycles of a step are compared whole: an instruction before a cut may end elsewhere."""
    return commit.seq, commit.instruction, commit.digest, commit.bytes_written, commit.result, commit.ops


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_in_the_middle_is_found_on_the_same_page(kind: Kind, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for module in (locate, suppose):  # their experiments end with their time: no page may depend on how busy the machine is
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: 0.0))
    loaded = kind.load()
    compiled = compile_model(loaded, kind.plan, find_device(kind.device)[1], kind.quantisation, aux=kind.issue == "aux")
    (call,) = {c.fields["mvm_wt_addr"]: c for c in compiled.module.calls(token=32, last_token=0) if kind.up in c.ops}.values()
    pages: list[str] = []
    for jobs in (1, 2):
        with planted(STUCK_LANE, call.fields["mvm_wt_addr"], tmp_path / "rtl"):
            found = ran(monkeypatch, kind, loaded, jobs)
        d = found.result.divergence
        assert found.result.verdict == "fail"
        assert d is not None
        assert kind.up in d.ops
        assert d.account is not None
        assert d.account.replayed is not None
        assert found.commits[-1].seq == d.seq, "the run ends at the divergent commit"
        assert _cut(found.result) == (jobs > 1)
        seconds = replace(d.account, replayed=replace(d.account.replayed, seconds=0.0))
        store_generation(replace(found.result, divergence=replace(d, account=seconds)), tmp_path / "out")
        pages.append(page(find_failure(str(tmp_path / "out"), tmp_path)))
    assert kind.up in pages[0]
    assert pages[0] == pages[1]
