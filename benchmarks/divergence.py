"""What a divergence costs: runs with a fault planted late, beside the same runs without one.

    python benchmarks/divergence.py [--model smollm2|tiny|none] [--device hbm0923] [--length 1000]

For a token of a language model: seconds of `iss` and `rtl` for one decoded token, clean, and with a bit of one output lane flipped
in the multiplication `up` of the last block, until the divergence is reported (replay, tile, beat, fields and chain included). For
long streams: the same, and the replay from the last good commit beside one from the start. Faulty hardware is built first (minutes,
once). Without the model's weights the tiny model on hbm_small takes its place.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "sim" / "divergence"))

from planted_sources import STORE_BIT, STUCK_LANE, STUCK_TOKEN, Planted, long_stream, met_at, planted

from fleet.engines.base import RunOptions
from fleet.errors import FleetError
from fleet.isa.registry import find_device
from fleet.llm.contestants import CompiledContestant, compile_model
from fleet.llm.generate import Contest, ContestOutcome, GenerationWatch
from fleet.llm.load import LoadedLanguageModel, load_model
from fleet.llm.models import ModelOptions
from fleet.llm.quantisation import Quantisation
from fleet.llm.sampling import Sampling
from fleet.llm.sessions.device_session import DeviceSession
from fleet.llm.sessions.run_module import device_backend
from fleet.llm.sessions.session import Embedding
from fleet.streams.case import Setting
from fleet.streams.divergent import history_of
from fleet.streams.locate import expected_of
from fleet.streams.replay.window import replay
from fleet.streams.run import StreamRunner

PROMPT = "What is the capital of France?"
MOST = 2.0


def row(what: str, value: str, wanted: str = "", held: bool | None = None) -> None:
    """One line of the table."""
    print(f"{what:<72} {value:>14} {wanted:>8} {'' if held is None else 'ok' if held else 'NOT HELD'}", flush=True)


class Token:
    """One decoded token of a model on iss and rtl."""

    def __init__(self, name: str, device: str) -> None:
        self.loaded: LoadedLanguageModel = load_model(name)
        self.device = find_device(device)[1]
        tiny = name == "tiny"
        plan = ModelOptions(tokens=8, positions=32) if tiny else ModelOptions()
        self.compiled: CompiledContestant = compile_model(self.loaded, plan, self.device, Quantisation(), aux=True)
        calls = self.compiled.module.calls(token=1, last_token=8)
        weights = [c for c in calls if "mvm_wt_addr" in c.fields]
        self.call = next((c for c in reversed(weights) if c.ops and c.ops[-1].endswith("up")), weights[-2])
        self.address = self.call.fields["mvm_wt_addr"]
        self.embedding = Embedding(self.loaded.weights)
        self.prompt = self.loaded.tokenizer.encode("abcabcab") if tiny else self.loaded.tokenizer.chat(PROMPT)

    def run(self, memory: str, folder: Path, repeat: int) -> tuple[ContestOutcome, float]:
        """What came of it, and seconds from the end of the prompt to the end of the report, of the fastest of several runs."""
        best: tuple[ContestOutcome, float] | None = None
        for number in range(repeat):
            begun: list[float] = []
            watch = GenerationWatch(token=lambda _row, _steps, begun=begun: begun.append(time.perf_counter()))
            with ExitStack() as stack:
                sessions = [stack.enter_context(self._session(n, memory, folder / f"{n}{number}")) for n in ("iss", "rtl")]
                contest = Contest(
                    sessions, ("iss", "rtl"), (), self.loaded.tokenizer, Sampling(), watch
                )  # fmt: skip
                outcome = contest.run(self.prompt, 2)
                seconds = time.perf_counter() - begun[0]
            if best is None or seconds < best[1]:
                best = outcome, seconds
        assert best is not None
        return best

    def _session(self, name: str, memory: str, folder: Path) -> DeviceSession:
        c = self.compiled
        return DeviceSession(
            c.model, self.embedding, c.module, device_backend(name), folder, RunOptions(memory=memory), c.images,
            inside=name == "iss", head=c.head,
        )  # fmt: skip


def token(name: str, device: str, memory: str, repeat: int) -> bool:
    """The table of a model; whether the figure holds."""
    try:
        model = Token(name, device)
    except FleetError as error:
        print(f"{error}\n    the tiny model on hbm_small instead")
        name, model = "tiny", Token("tiny", "hbm_small")
    what = f"{name} on {model.device.name}, memory {memory}"
    with tempfile.TemporaryDirectory() as folder:
        clean, seconds = model.run(memory, Path(folder) / "clean", repeat)
        with planted(STUCK_TOKEN, model.address, Path(folder) / "rtl"):
            faulty, reported = model.run(memory, Path(folder) / "faulty", repeat)
    assert clean.verdict == "pass", clean.reasons
    d = faulty.divergence
    assert d is not None, faulty.reasons
    assert d.account is not None
    row(f"{what}: a decoded token on iss and rtl, clean", f"{seconds:.3f} s")
    row(f"... the same with a fault in {', '.join(model.call.ops)}, reported", f"{reported:.3f} s")
    row("... over the clean run", f"{reported / seconds:.2f}", f"{MOST:.1f}", reported / seconds < MOST)
    row(f"... found at commit {d.seq}, {d.instruction} of {', '.join(d.ops)}", "right" if d.ops == model.call.ops else "WRONG")
    r = d.account.replayed
    if r is not None:
        row(f"... replayed {r.calls - r.first} of {r.calls} instructions of the step, {r.cycles:,} cycles", f"{r.seconds:.3f} s")
    return reported / seconds < MOST and d.ops == model.call.ops


@contextmanager
def _runner(device: str, fault: Planted | None, address: int, folder: Path) -> Generator[StreamRunner]:
    with planted(fault, address, folder) if fault is not None else nullcontext(), StreamRunner(device) as runner:
        yield runner


def stream(device: str, fault: Planted, register: str, length: int) -> None:
    """The table of a long stream whose fault shows behind 80 % of it."""
    instruction_set, chip = find_device(device)
    case = long_stream(chip, instruction_set, 1, length)
    at, address = met_at(case, register, 0.8)
    setting = Setting("ideal", "regs")
    with tempfile.TemporaryDirectory() as folder:
        with _runner(device, None, 0, Path(folder)) as runner:
            runner.run(case, [setting])
            begun = time.perf_counter()
            (clean,) = runner.run(case, [setting])
            clean_s = time.perf_counter() - begun
        assert clean.passed, clean.reasons
        with _runner(device, fault, address, Path(folder)) as runner:
            runner.run(case, [setting])
            begun = time.perf_counter()
            (faulty,) = runner.run(case, [setting])
            reported = time.perf_counter() - begun
            d = faulty.divergence
            assert d is not None
            assert d.seq == at
            assert d.account is not None
            assert d.account.replayed is not None
            history = history_of(runner, case)
            history.to(at)
            hardware, expected = runner.replayed(case, setting), expected_of(faulty.expected)
            short = replay(history, hardware, expected, at, None)
            whole = replay(history, hardware, expected, at, None, shortest=at + 1)
    assert short is not None
    assert whole is not None
    name = f"{device}, {len(case.calls)} instructions, fault at {at}"
    row(f"{name}: clean run, compared", f"{clean_s:.2f} s")
    row("... with the fault, reported", f"{reported:.2f} s")
    row("... over the clean run", f"{reported / clean_s:.2f}", f"{MOST:.1f}", reported / clean_s < MOST)
    length = short.replayed.calls - short.replayed.first
    filled = f" and {short.replayed.filled} for the chip's memory" if short.replayed.filled else ""
    row(f"... replay of {length} instructions{filled}, {short.replayed.cycles:,} cycles", f"{short.replayed.seconds:.3f} s")
    row(f"... replay from the start, {whole.replayed.cycles:,} cycles", f"{whole.replayed.seconds:.3f} s")


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2", help="smollm2, tiny or none")
    parser.add_argument("--device", default="hbm0923")
    parser.add_argument("--memory", default="ideal")
    parser.add_argument("--length", type=int, default=1000, help="instructions of the streams; 0: none")
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    row("figure", "measured", "wanted")
    held = True
    if given.length:
        stream("hbm_small", STUCK_LANE, "mvm_wt_addr", given.length)
        stream("vgemm_small", STORE_BIT, "store_w1", given.length)
    if given.model != "none":
        held = token(given.model, given.device, given.memory, given.repeat)
    sys.exit(not held)


if __name__ == "__main__":
    main()
