"""A language model at the points of a sweep: one token behind cached ones, and perplexity on the bundled text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from fleet.core.scratch import Scratch
from fleet.engines.base import RunOptions
from fleet.errors import DeviceError, FleetError
from fleet.isa.registry import find_device
from fleet.llm.contestants import CompiledContestant, GenerateRequest, compile_model, generate
from fleet.llm.load import load_model
from fleet.llm.models.options import ModelOptions
from fleet.llm.perplexity import bundled_text, score_logits
from fleet.llm.quantisation import Quantisation
from fleet.llm.sessions.device_session import DeviceSession
from fleet.llm.sessions.run_module import device_backend
from fleet.llm.sessions.session import Embedding
from fleet.llm.sparsity import Sparsity
from fleet.sdk import Call
from fleet.sweep.records import HardwareRecord, Quality, QualityRecord, SweepPoint
from fleet.sweep.subject import Estimate, SubjectRequest, check_estimate

_PROMPT = "abcabcab"
_STEPS = 2
"""Tokens that a run in RTL generates: the first step reads the prompt, the second one token."""


class LanguageSubject:
    """A language model; see `fleet.sweep.subject.Subject`."""

    def __init__(self, request: SubjectRequest) -> None:
        """Load the model. Raises FleetError."""
        if not 0 <= request.behind < request.positions:
            what = f"a token behind {request.behind} does not fit into a cache of {request.positions}"
            raise FleetError(what, where="--behind", hint="give --positions, too")
        self._request = request
        self._loaded = load_model(request.model)
        self._plan = ModelOptions(tokens=min(32, request.positions), positions=request.positions)
        encoded = self._loaded.tokenizer.encode(bundled_text("evaluation"))
        self._tokens = encoded[: min(request.tokens, request.positions)]
        if len(self._tokens) < 2:
            raise FleetError(f"{len(self._tokens)} tokens, expected at least 2", where="--tokens")
        self._compile = lru_cache(maxsize=2)(self._compiled)

    @property
    def content(self) -> Mapping[str, str]:
        """Hash of the weights, the sizes of the run and its text."""
        r = self._request
        sizes = repr((self._plan, r.behind, r.rounding))
        return {"weights": self._loaded.weights.digest, "sizes": sizes, "text": repr(self._tokens)}

    @property
    def scope(self) -> str:
        """The token that is timed, and the text."""
        return f"one token behind {self._request.behind}; perplexity over {len(self._tokens)} tokens"

    def _choice(self, point: SweepPoint) -> Quantisation:
        sparse = Sparsity.of(str(point.options.get("sparse") or ""))
        group = point.options.get("group", sparse.group)
        return Quantisation(group, self._request.rounding or Quantisation().rounding, sparse=sparse)

    def _compiled(self, device: str, choice: Quantisation) -> CompiledContestant:
        return compile_model(self._loaded, self._plan, find_device(device)[1], choice, aux=True)

    def calls(self, point: SweepPoint) -> Sequence[Call]:
        """Return the instructions of the token that is timed. Raises FleetError if the device cannot run or hold the model."""
        return self._compile(point.device, self._choice(point)).module.calls(token=1, last_token=self._request.behind)

    def estimate(self, point: SweepPoint) -> Estimate:
        """Compile; sum up the counters of a token's instructions."""
        return Estimate(check_estimate(*find_device(point.device), self.calls(point), point.memory), 0.0)

    def quality(self, point: SweepPoint) -> QualityRecord:
        """Let iss read the text token by token. Nothing is compared: perplexity is the figure."""
        compiled = self._compile(point.device, self._choice(point))
        with Scratch("sweep") as folder:
            session = DeviceSession(
                compiled.model, Embedding(self._loaded.weights), compiled.module, device_backend("iss"), folder, RunOptions(),
                compiled.images, inside=False, head=compiled.head,
            )  # fmt: skip
            with session:
                rows = [session.step([token]).logits for token in self._tokens[:-1]]
        figure = score_logits(np.stack(rows), self._tokens).perplexity
        return QualityRecord((Quality("perplexity", figure, "", higher=False),), "pass")

    def hardware(self, point: SweepPoint, folder: Path) -> HardwareRecord:
        """Let iss and rtl answer a short prompt; the last step is the one that counts."""
        request = GenerateRequest(
            self._request.model, _PROMPT, _STEPS, ("iss", "rtl"), point.device, point.memory, plan=self._plan,
            quantisation=self._choice(point),
        )  # fmt: skip
        result = generate(self._loaded, request)
        result.save(folder)
        engine = result.engine("rtl")
        step = engine.decode[-1] if engine is not None and engine.decode else None
        if step is None or step.cycles is None or step.estimate is None:
            raise DeviceError(f"rtl did not run: {'; '.join(result.reasons)}", where=point.label)
        return HardwareRecord(step.cycles, step.cycles, float(step.estimate), result.verdict, result.reasons)
