"""An engine whose steps begin before earlier ones have ended: the same outcome, told in the same order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from fleet.engines.trace import Commit
from fleet.errors import ModelError
from fleet.llm.generate import Contest, ContestOutcome, GenerationWatch
from fleet.llm.load import LoadedLanguageModel, load_model
from fleet.llm.models import ModelOptions, build_model
from fleet.llm.sampling import Sampling
from fleet.llm.sessions.program_session import VmSession
from fleet.llm.sessions.session import F32, Embedding, GenerationSession, RanStep, TokenStep
from fleet.transforms.conversion.weights import GraphWeights

PLAN = ModelOptions(tokens=2, positions=16)
PROMPT = [70, 71, 72]
STEPS = 6
"""Two of the prompt, and four tokens that are read."""


class Scripted(GenerationSession):
    """Chooses token 60 + n in step n, with two commits in each. told: begins and ends of its steps."""

    def __init__(self, like: GenerationSession, name: str, ahead: int, told: list[str], fail: int = -1, wrong: int = -1) -> None:
        """fail: the step that raises. wrong: the one whose second commit is another."""
        super().__init__(like.model, like._embedding)  # pyright: ignore[reportPrivateUsage]
        self.name, self._ahead, self._told, self._fail, self._wrong, self._begun = name, ahead, told, fail, wrong, 0

    @property
    def ahead(self) -> int:
        return self._ahead

    def begin(self, tokens: Sequence[int], tensors: Sequence[str] = ()) -> Callable[[], TokenStep]:
        if not self._ahead:
            return super().begin(tokens, tensors)
        number, position = self._begun, self.position
        self._next(tokens)
        self._told.append(f"begin {number}")
        self._begun, self.position = number + 1, position + len(tokens)

        def end() -> TokenStep:
            self._told.append(f"end {number}")
            return TokenStep(position, tuple(tokens), self._came(number), 0.0, 0.0)

        return end

    def _run(self, x: F32, tensors: tuple[str, ...]) -> RanStep:
        self._begun += 1
        return self._came(self._begun - 1)

    def _came(self, number: int) -> RanStep:
        if number == self._fail:
            raise ModelError("it broke", where=self.name)
        digests = (number, number + 100 + (number == self._wrong))
        commits = tuple(Commit(2 * number + n, "nop", (), d, 8) for n, d in enumerate(digests))
        return RanStep(np.eye(320, dtype=np.float32)[60 + number], 60 + number, commits=commits)


@pytest.fixture(scope="module")
def loaded() -> LoadedLanguageModel:
    return load_model("tiny")


def answer(loaded: LoadedLanguageModel, ahead: int, **how: int) -> tuple[ContestOutcome, list[str]]:
    like = VmSession(build_model(loaded.weights.config, loaded.weights, PLAN), Embedding(loaded.weights), GraphWeights())
    told: list[str] = []
    watch = GenerationWatch(
        token=lambda row, steps: told.append(f"row {row.index} of {', '.join(row.own)}, after {', '.join(steps) or 'the prompt'}")
    )
    sessions = [Scripted(like, "iss", 0, told), Scripted(like, "rtl", ahead, told, **how)]
    contest = Contest(sessions, ["iss", "rtl"], [2], loaded.tokenizer, Sampling(), watch)
    return contest.run(PROMPT, STEPS - 1), told


def plain(outcome: ContestOutcome) -> ContestOutcome:
    """An outcome without what has no equality, and the time of its steps."""
    engines = tuple(replace(e, prefill=(), decode=()) for e in outcome.engines)
    return replace(outcome, engines=engines, logits={}, first={}, last={})


def test_steps_begin_while_earlier_ones_are_under_way(loaded: LoadedLanguageModel) -> None:
    (outcome, told), (whole, rows) = answer(loaded, 2), answer(loaded, 0)
    assert outcome.verdict == "pass"
    assert plain(outcome) == plain(whole)
    assert [t for t in told if "row" in t] == rows
    assert rows[0] == "row 0 of iss, rtl, after the prompt"
    assert rows[4] == "row 4 of iss, rtl, after iss, rtl"
    assert told[:5] == ["begin 0", "begin 1", "begin 2", "end 0", "begin 3"]
    assert [t for t in told if "end" in t] == [f"end {n}" for n in range(STEPS)]


@pytest.mark.parametrize("fault", ["fail", "wrong"])
@pytest.mark.parametrize("step", range(STEPS))
def test_a_fault_ends_it_where_it_would_without(loaded: LoadedLanguageModel, fault: str, step: int) -> None:
    (outcome, told), (whole, rows) = answer(loaded, 2, **{fault: step}), answer(loaded, 0, **{fault: step})
    assert outcome.verdict == "fail"
    assert plain(outcome) == plain(whole)
    assert [t for t in told if "row" in t] == rows
    assert len(rows) == STEPS - 1, "the other engine goes on"
    assert sum("rtl" in row for row in rows) == min(STEPS - 1, max(0, step - 1))
    assert [t for t in told if "end" in t] == [f"end {n}" for n in range(step + 1)], "what was begun behind it is void"
    if fault == "wrong":
        assert outcome.divergence is not None
        assert outcome.divergence.seq == 2 * step + 1
