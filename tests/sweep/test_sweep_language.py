"""A language model at points: perplexity and cycles against what computes them elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.errors import ExitCode, FleetError
from fleet.isa.registry import find_device
from fleet.llm.contestants import GenerateRequest, generate
from fleet.llm.figures import estimate
from fleet.llm.load import load_model
from fleet.llm.models.options import ModelOptions
from fleet.llm.quantisation import Quantisation
from fleet.sweep.campaign import SweepRequest, sweep
from fleet.sweep.language import LanguageSubject
from fleet.sweep.subject import SubjectRequest


def test_perplexity_is_that_of_generate_and_cycles_are_the_estimate(own_figures: Path) -> None:
    del own_figures
    asked = SubjectRequest("tiny", language=True, positions=64, behind=20, tokens=8, rounding="absmax")
    outcome, code = sweep(SweepRequest(asked, "hbm_small", ("group=32,128",)), lambda fraction, words: None)
    assert (code, len(outcome.points)) == (ExitCode.AGREED, 2)
    loaded = load_model("tiny")
    for p in outcome.points:
        choice, plan = Quantisation(p.point.options["group"], "absmax"), ModelOptions(tokens=32, positions=64)
        made = generate(
            loaded, GenerateRequest("tiny", "ab", 1, ("vm", "iss"), "hbm_small", plan=plan, quantisation=choice, perplexity=8)
        )
        assert p.model is not None
        assert p.model.quality is not None
        assert p.model.quality.figures[0].value == made.quantisation[-1].iss_perplexity
        assert (p.model.quality.figures[0].name, p.model.quality.figures[0].higher) == ("perplexity", False)
        instruction_set, device = find_device("hbm_small")
        subject = LanguageSubject(asked)
        calls = subject.calls(p.point)
        assert p.model.cycles == estimate(instruction_set, device, calls, "ideal")


def test_a_token_behind_more_than_the_cache_holds_is_refused() -> None:
    with pytest.raises(FleetError, match="a token behind 64 does not fit into a cache of 64"):
        LanguageSubject(SubjectRequest("tiny", language=True, positions=64, behind=64))
