"""Answers a prompt on several engines, step by step, and compares their results.

One engine is the reference: it chooses the tokens, and all others read the same ones. So logits of one position are comparable even
if quantisation makes an engine prefer another token. Each engine's own choice is recorded beside the token. At the end, an engine
that would have chosen differently continues alone from that point.

The comparisons and their limits:
    rtl and iss          every digest and result at every commit of every step: equal
    iss and vm-rounded   logits: SQNR of at least `ARITHMETIC_DB`, because of the accelerator's FP16 arithmetic; watched inner
                         values: `NODE_DB`
    riscv and vm         logits: SQNR of at least `FLOAT32_DB`, because of the order of float32 sums
    cvm and vm           the same
    vm-rounded and vm    logits: measured only, the cost of quantising the weights
    iss and vm           logits: measured only, all causes together
The mean of the logits is subtracted before comparing, because the softmax ignores it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fleet.compare.diverged import Divergence
from fleet.compare.verdict import Kind, Verdict
from fleet.cosim.generation import (
    EngineFigures,
    GenerationComparison,
    LogitsError,
    StepFigures,
    TokenRow,
)
from fleet.engines.trace import Commit
from fleet.errors import FleetError, ModelError
from fleet.llm.load import TextModel
from fleet.llm.sampling import Sampler, Sampling
from fleet.llm.sessions.session import F32, GenerationSession, TokenStep

ARITHMETIC_DB = 25.0
"""Minimum SQNR of logits, iss against the rounded golden: FP16 between operations, a table of segments for the activation."""

NODE_DB = 20.0
"""Minimum SQNR of every watched node, because a residual hides errors from the logits. Lower: node errors depend on the prompt."""

FLOAT32_DB = 80.0
"""Minimum SQNR of logits of two float32 engines that sum in different orders."""

_PAIRS: tuple[tuple[str, str, Kind, float | None, str], ...] = (
    ("iss", "vm-rounded", "bound", ARITHMETIC_DB, "Is the accelerator's arithmetic good enough?"),
    ("riscv", "vm", "bound", FLOAT32_DB, "Does RISC-V compute the same model?"),
    ("cvm", "vm", "bound", FLOAT32_DB, "Does the VM in C compute the same model?"),
    ("vm-rounded", "vm", "info", None, "What does the quantisation of the weights cost?"),
    ("iss", "vm", "info", None, "What is lost on the device, all causes together?"),
)


@dataclass
class GenerationWatch:
    """Callbacks during a run; every member has a default.

    prefilled: (engine, its step).
    token: (row, engine -> its step that read the previous token; empty for the first token).
    progress: (engine, finished fraction of its step, text).
    """

    prefilled: Callable[[str, TokenStep], None] = lambda _engine, _step: None
    token: Callable[[TokenRow, Mapping[str, TokenStep]], None] = lambda _row, _steps: None
    progress: Callable[[str, float, str], None] = lambda _engine, _fraction, _words: None


@dataclass
class _Lane:
    """The steps of one engine. under_way: those that have begun, in order, each as `GenerationSession.begin` returns it."""

    session: GenerationSession
    required: bool
    prefill: list[TokenStep] = field(default_factory=list[TokenStep])
    decode: list[TokenStep] = field(default_factory=list[TokenStep])
    logits: list[F32] = field(default_factory=list[F32])
    under_way: deque[Callable[[], TokenStep]] = field(default_factory=deque[Callable[[], TokenStep]])
    error: str | None = None
    own: list[int] = field(default_factory=list[int])
    note: str = ""

    @property
    def name(self) -> str:
        return self.session.name

    @property
    def steps(self) -> list[TokenStep]:
        return [*self.prefill, *self.decode]

    @property
    def last(self) -> TokenStep:
        return (self.decode or self.prefill)[-1]

    @property
    def watched(self) -> Mapping[str, np.ndarray]:
        """Inner values of the step that recorded them: the first after the prompt, or the prompt's last."""
        return (self.decode[:1] or self.prefill[-1:])[0].ran.tensors if self.prefill else {}

    def figures(self, text: str) -> EngineFigures:
        counters: dict[str, float] = {}
        for step in (*self.prefill, *self.decode):
            for name, value in step.ran.counters.items():
                counters[name] = counters.get(name, 0) + value
        return EngineFigures(
            self.name, "failed" if self.error else "ran", self.required, self.error, tuple(map(_figures, self.prefill)),
            tuple(map(_figures, self.decode)), tuple(self.own), text, self.note, counters, self.session.cut,
        )  # fmt: skip


def _figures(step: TokenStep) -> StepFigures:
    ran = step.ran
    instructions = ran.counters.get("instructions", float(len(ran.commits)) or None)
    estimate = ran.counters.get("cycles_estimate")
    return StepFigures(
        step.position, len(step.tokens), step.seconds, step.host_seconds, ran.cycles,
        None if estimate is None else int(estimate), ran.argmax, None if instructions is None else int(instructions),
    )  # fmt: skip


@dataclass(frozen=True)
class ContestOutcome:
    """The results of a contest; `fleet.cosim.generation` describes the parts."""

    reference: str
    tokens: tuple[TokenRow, ...]
    text: str
    stop: str
    engines: tuple[EngineFigures, ...]
    comparisons: tuple[GenerationComparison, ...]
    divergence: Divergence | None
    verdict: Verdict
    reasons: tuple[str, ...]
    logits: Mapping[str, F32]
    first: Mapping[str, TokenStep]
    last: Mapping[str, TokenStep]


class Contest:
    """Sessions that answer one prompt.

    Args:
        sessions: the engines, the reference first; all at position 0, with the same plan.
        required: engines that the user named; if one fails, the run fails.
        eos: tokens that end an answer.
        text: the tokenizer.
        stop: hardware ends a step at its first commit that differs.
    """

    def __init__(
        self, sessions: Sequence[GenerationSession], required: Sequence[str], eos: Sequence[int], text: TextModel,
        sampling: Sampling, watch: GenerationWatch | None = None, *, stop: bool = True,
    ) -> None:  # fmt: skip
        self._lanes = [_Lane(s, s.name in required) for s in sessions]
        self._eos, self._text, self._sampling = frozenset(eos), text, sampling
        self._watch, self._stop = watch or GenerationWatch(), stop
        self._rows: list[TokenRow] = []
        self._chosen: list[int] = []
        self._parts = 0
        self._bits = _Bits()

    def run(self, prompt: Sequence[int], count: int, tensors: Sequence[str] = ()) -> ContestOutcome:
        """Answer the prompt.

        Args:
            prompt: tokens.
            count: maximum number of tokens to generate.
            tensors: nodes whose values are kept, of the first step after the prompt, or of the prompt's last step if there is no
                other.

        Raises:
            ModelError: the prompt is empty or longer than the plan, nothing is to be generated, or the reference fails.
        """
        if count < 1:
            raise ModelError(f"{count} tokens to generate, expected at least 1", where="generate")
        reference = self._lanes[0]
        parts = reference.session.parts(prompt)
        self._parts = len(parts)
        sampler = Sampler(self._sampling)
        early = count == 1 or len(prompt) == reference.session.capacity
        for number, part in enumerate(parts, 1):
            self._step(part, tensors if early and number == len(parts) else ())
        stop = "as many tokens as asked for"
        while True:
            token = sampler(reference.last.logits)
            self._chosen.append(token)
            self._tell_rows()
            if token in self._eos:
                stop = "end of answer"
                break
            if len(self._chosen) == count:
                break
            if reference.session.position == reference.session.capacity:
                stop = "the cache is full"
                break
            self._step([token], tensors if not reference.decode else ())
        for lane in self._lanes:
            while lane.under_way:
                self._end(lane)
        self._leave_alone(count)
        return self._outcome(stop)

    # ---- steps

    def _guarded(self, lane: _Lane, work: Callable[[], None]) -> None:
        """Run an engine's work. If it fails, the other engines continue, unless it is the reference."""
        if lane.error is not None:
            return
        engine = lane.name
        lane.session.progress = lambda fraction, words: self._watch.progress(engine, fraction, words)
        try:
            work()
        except FleetError as error:
            if lane is self._lanes[0]:
                raise
            self._fail(lane, str(error))

    def _fail(self, lane: _Lane, why: str) -> None:
        lane.error = why
        lane.under_way.clear()

    def _step(self, tokens: Sequence[int], tensors: Sequence[str]) -> None:
        """Let all engines read tokens. One with steps under way ends the earliest if there are enough behind it."""
        for lane in self._lanes:

            def begin(lane: _Lane = lane) -> None:
                self._expect(lane)
                lane.under_way.append(lane.session.begin(tokens, tensors))

            self._guarded(lane, begin)
            if len(lane.under_way) > lane.session.ahead:
                self._end(lane)

    def _end(self, lane: _Lane) -> None:
        """Wait for an engine's earliest step under way, and compare it if it is hardware's."""

        def end() -> None:
            step = lane.under_way.popleft()()
            if len(lane.prefill) < self._parts:
                lane.prefill.append(step)
                self._watch.prefilled(lane.name, step)
            else:
                lane.decode.append(step)
            if len(lane.prefill) == self._parts and not lane.session.sampled:
                lane.logits.append(step.logits)

        self._guarded(lane, end)
        self._compare_bits()
        self._tell_rows()

    def _tell_rows(self) -> None:
        """Add the rows of chosen tokens whose step all engines have made, as far as they have not failed."""
        while len(self._rows) < len(self._chosen):
            number, token = len(self._rows), self._chosen[len(self._rows)]
            ran = [lane for lane in self._lanes if lane.error is None]
            if any(len(lane.prefill) + len(lane.decode) < self._parts + number for lane in ran):
                return
            steps = {lane.name: lane.steps[self._parts + number - 1] for lane in ran}
            alive = {lane.name: steps[lane.name] for lane in ran if not lane.session.sampled}
            last, own = next(iter(alive.values())), {name: step.argmax for name, step in alive.items()}
            row = TokenRow(
                number, last.position + len(last.tokens), token, self._text.token_text(token), own,
                {name: self._text.token_text(t) for name, t in own.items()},
                {name: _margin(step.logits) for name, step in alive.items()},
            )  # fmt: skip
            self._rows.append(row)
            self._watch.token(row, steps if number else {})

    def _lane(self, name: str) -> _Lane | None:
        return next((lane for lane in self._lanes if lane.name == name), None)

    def _expect(self, lane: _Lane) -> None:
        """Make hardware end its next step at the first commit that differs from iss, if iss has made that step already."""
        iss = self._lane("iss")
        if lane.name != "rtl" or iss is None or iss.error is not None:
            return
        steps, number = iss.steps, len(lane.steps) + len(lane.under_way)
        lane.session.expect(steps[number].ran.commits if self._stop and number < len(steps) else ())

    def _compare_bits(self) -> None:
        iss, rtl = self._lane("iss"), self._lane("rtl")
        if iss is None or rtl is None or rtl.error is not None or iss.error is not None:
            return
        pairs = list(zip(iss.steps, rtl.steps, strict=False))
        for number, (mine, other) in enumerate(pairs[self._bits.steps :], self._bits.steps):
            self._bits.compare(number, mine, other, sampled=rtl.session.sampled)
            if self._bits.divergence is not None:
                # The hardware stopped here, so its memory still holds the instruction's result.
                if not rtl.session.sampled:
                    self._bits.divergence = rtl.session.explain(self._bits.divergence, mine, other, iss.session)
                self._fail(rtl, "stopped at the first commit that differs from iss")
                return

    def _leave_alone(self, count: int) -> None:
        """Let an engine generate greedily alone: the shared tokens as far as it agrees, then its own."""
        if not self._sampling.greedy:
            return
        shared = [row.token for row in self._rows]
        for lane in self._lanes:
            if lane.error is not None or lane.session.sampled:
                continue
            choices = [row.own.get(lane.name, -1) for row in self._rows]
            differs = next((i for i, (a, b) in enumerate(zip(choices, shared, strict=True)) if a != b), None)
            if differs is None:
                lane.own = list(shared)
            elif lane.name == "rtl":
                iss = self._lane("iss")
                if self._bits.equal and iss is not None and lane is not self._lanes[0]:
                    # rtl equals iss at every commit, so it chooses the same tokens.
                    lane.own, lane.note = list(iss.own), "rtl by its equality with iss"
            else:
                token = choices[differs]
                self._guarded(lane, lambda lane=lane, at=differs, token=token: self._continue(lane, at, token, count))

    def _continue(self, lane: _Lane, index: int, token: int, count: int) -> None:
        session = lane.session
        lane.own = [row.token for row in self._rows[:index]] + [token]
        session.rewind(self._rows[index].position)
        while token not in self._eos and len(lane.own) < count and session.position < session.capacity:
            token = session.step([token]).argmax
            lane.own.append(token)

    # ---- the outcome

    def _outcome(self, stop: str) -> ContestOutcome:
        comparisons = [c for pair in _PAIRS if (c := self._compare(*pair)) is not None]
        iss, rtl = self._lane("iss"), self._lane("rtl")
        if iss is not None and rtl is not None:
            comparisons.insert(0, self._bits.comparison())
        tokens = [row.token for row in self._rows]
        said = tokens[:-1] if tokens and tokens[-1] in self._eos else tokens
        verdict, reasons = self._verdict(comparisons)
        engines = tuple(lane.figures(self._text.decode([t for t in lane.own if t not in self._eos])) for lane in self._lanes)
        alive = [lane for lane in self._lanes if lane.prefill]
        return ContestOutcome(
            self._lanes[0].name, tuple(self._rows), self._text.decode(said), stop, engines, tuple(comparisons),
            self._bits.divergence, verdict, reasons, {lane.name: np.stack(lane.logits) for lane in alive if lane.logits},
            {lane.name: (lane.decode or lane.prefill)[0] if lane.decode else lane.prefill[-1] for lane in alive},
            {lane.name: lane.last for lane in alive},
        )  # fmt: skip

    def _verdict(self, comparisons: Sequence[GenerationComparison]) -> tuple[Verdict, tuple[str, ...]]:
        reasons = [f"{lane.name}: {lane.error}" for lane in self._lanes if lane.error and lane.required]
        judged = [c for c in comparisons if c.kind != "info"]
        for c in judged:
            reasons += [f"{c.name}: {reason}" for reason in c.reasons if c.verdict != "pass"]
        if reasons:
            return "fail", tuple(reasons)
        if not judged:
            return "nothing compared", ("no two engines that must agree ran: name iss and rtl, or vm and riscv, cvm or iss",)
        return "pass", tuple(f"{lane.name}: {lane.session.cut}" for lane in self._lanes if lane.session.sampled)

    def _compare(self, other: str, reference: str, kind: Kind, least: float | None, question: str) -> GenerationComparison | None:
        a, b = self._lane(reference), self._lane(other)
        if a is None or b is None:
            return None
        rows: list[LogitsError] = []
        for index, (mine, theirs) in enumerate(zip(a.logits, b.logits, strict=False)):
            rows.append(_logits_error(index, self._rows[index].position, mine, theirs, least))
        reasons = [
            f"step {r.index}: SQNR of the logits is {r.sqnr_db:.1f} dB, expected at least {least:.0f} dB"
            for r in rows if least is not None and not r.sqnr_db >= least
        ]  # fmt: skip
        if other == "iss" and least is not None:  # riscv's inner values contain unused slots
            reasons += _nodes_below(a.watched, b.watched, NODE_DB)
        if len(rows) < len(self._rows):
            reasons.append(f"{len(rows)} of {len(self._rows)} steps compared")
        verdict: Verdict = "nothing compared" if not rows else "fail" if reasons and kind != "info" else "pass"
        first = next((r.index for r in rows if not r.same_token), None)
        return GenerationComparison(
            f"{other}-vs-{reference}", kind, reference, other, question, verdict, tuple(reasons),
            sum(x.size for x in a.logits[: len(rows)]), 0, 0, tuple(rows), first,
        )  # fmt: skip


def _margin(logits: F32) -> float:
    """Return the difference of the two largest logits."""
    best = np.partition(logits, -2)[-2:]
    return float(best[1] - best[0])


def _logits_error(index: int, position: int, mine: F32, theirs: F32, least: float | None) -> LogitsError:
    a, b = (v.astype(np.float64) - v.mean(dtype=np.float64) for v in (mine, theirs))
    error = b - a
    return LogitsError(
        index, position, float(np.abs(error).max()), sqnr_db(a, b), _cosine(a, b), int(a.argmax()) == int(b.argmax()), least
    )


def _nodes_below(mine: Mapping[str, np.ndarray], theirs: Mapping[str, np.ndarray], least: float) -> list[str]:
    """Report the first node below `least` dB SQNR, in the order of the step, and the number of such nodes."""
    found = {n: sqnr_db(mine[n].reshape(-1), v.reshape(-1)) for n, v in theirs.items() if n in mine}
    below = [name for name, db in found.items() if not db >= least]
    if not below:
        return []
    more = f" (the first of {len(below)} such nodes)" if len(below) > 1 else ""
    return [f"node {below[0]}: SQNR of its values is {found[below[0]]:.1f} dB, expected at least {least:.0f} dB{more}"]


def sqnr_db(reference: np.ndarray, other: np.ndarray) -> float:
    """Return 10 log10(sum reference^2 / sum error^2): inf without an error, -inf if the error is not finite or reference is 0."""
    a = reference.astype(np.float64)
    error = float(np.square(other.astype(np.float64) - a).sum())
    signal = float(np.square(a).sum())
    if error == 0:
        return math.inf
    if not math.isfinite(error) or signal == 0:
        return -math.inf
    return 10 * math.log10(signal / error)


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    length = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / length if length else math.nan


class _Bits:
    """Comparison of rtl with iss, commit by commit."""

    def __init__(self) -> None:
        self.steps = self.commits = self.bytes = 0
        self.sampled = False
        self.divergence: Divergence | None = None
        self.reasons: list[str] = []

    @property
    def equal(self) -> bool:
        return self.commits > 0 and not self.reasons

    def compare(self, number: int, mine: TokenStep, other: TokenStep, *, sampled: bool = False) -> None:
        """sampled: the other side has commits of a sample, which are compared, and no others."""
        self.steps, self.sampled = self.steps + 1, sampled
        expected = mine.ran.commits
        if sampled:
            drawn = {c.seq for c in other.ran.commits}
            expected = tuple(c for c in expected if c.seq in drawn)
        if len(expected) != len(other.ran.commits) and (sampled or other.ran.argmax >= 0):
            self._fail(number, None, f"{len(other.ran.commits)} commits, expected {len(expected)}")
        for a, b in zip(expected, other.ran.commits, strict=False):
            self.commits += 1
            self.bytes += a.bytes_written
            if (a.seq, a.instruction, a.digest, a.bytes_written, a.result) != (
                b.seq, b.instruction, b.digest, b.bytes_written, b.result,
            ):  # fmt: skip
                self._fail(number, b, f"iss {_words(a)}, rtl {_words(b)}")
                return

    def _fail(self, step: int, commit: Commit | None, what: str) -> None:
        where = f"step {step}" + (f", commit {commit.seq}, {commit.instruction} of {', '.join(commit.ops)}" if commit else "")
        self.reasons.append(f"{where}: {what}")
        if self.divergence is None:
            self.divergence = Divergence(
                "rtl-vs-iss", commit.seq if commit else None, commit.instruction if commit else None, commit.ops if commit else (),
                f"{where}: {what}",
            )  # fmt: skip

    def comparison(self) -> GenerationComparison:
        verdict: Verdict = "fail" if self.reasons else "pass" if self.commits else "nothing compared"
        reasons = tuple(self.reasons) or (() if self.commits else ("no commit was compared",))
        which = "the commits of a sample" if self.sampled else "every commit"
        question = f"Is the hardware right? Every digest and result at {which} of every step."
        return GenerationComparison("rtl-vs-iss", "bits", "iss", "rtl", question, verdict, reasons, 0, self.commits, self.bytes)


def _words(c: Commit) -> str:
    result = "" if c.result is None else f", result {c.result}"
    return f"{c.instruction} {c.digest:016x}, {c.bytes_written} bytes{result}"
