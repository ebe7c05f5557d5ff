"""A language model at points: perplexity and cycles against what computes them elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.errors import ExitCode, FleetError
from fleet.isa.registry import find_device
from fleet.llm.contestants import GenerateRequest, compile_model, generate
from fleet.llm.figures import estimate
from fleet.llm.load import load_model
from fleet.llm.models.options import ModelOptions
from fleet.llm.quantisation import Quantisation
from fleet.llm.sparsity import Sparsity
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


def test_sparse_weights_take_fewer_cycles_and_cost_perplexity(own_figures: Path) -> None:
    del own_figures
    asked = SubjectRequest("tiny-qwen2", language=True, positions=64, behind=20, tokens=8, rounding="absmax")
    outcome, code = sweep(SweepRequest(asked, "hbm_small_sparse", ("sparse=0,2",)), lambda fraction, words: None)
    assert code == ExitCode.AGREED
    dense, sparse = (p.model for p in outcome.points)
    assert dense is not None
    assert sparse is not None
    assert sparse.cycles < dense.cycles
    _, device = find_device("hbm_small_sparse")
    for point, found, group in zip(outcome.points, (dense, sparse), (64, 128), strict=True):
        choice = Quantisation(group, "absmax", sparse=Sparsity.of(str(point.point.options["sparse"] or "")))
        made = compile_model(load_model("tiny-qwen2"), ModelOptions(tokens=32, positions=64), device, choice, aux=True)
        calls = made.module.calls(token=1, last_token=20)
        assert {c.fields["mvm_sparse"] for c in calls if "mvm_sparse" in c.fields} == {point.point.options["sparse"]}
        assert found.cycles == estimate(find_device("hbm_small_sparse")[0], device, calls, "ideal")


def test_a_device_without_sparse_weights_has_no_such_points(own_figures: Path) -> None:
    del own_figures
    asked = SubjectRequest("tiny", language=True, positions=64, behind=20, tokens=8, rounding="absmax")
    with pytest.raises(FleetError, match=r"no point can run the model: .*hbm_small: it has no sparse weights"):
        sweep(SweepRequest(asked, "hbm_small", ("sparse=2,4",)), lambda fraction, words: None)


def test_a_token_behind_more_than_the_cache_holds_is_refused() -> None:
    with pytest.raises(FleetError, match="a token behind 64 does not fit into a cache of 64"):
        LanguageSubject(SubjectRequest("tiny", language=True, positions=64, behind=64))
