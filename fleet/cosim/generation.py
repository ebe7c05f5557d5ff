"""The outcome of a generation: a language model's tokens on several engines, compared, with everything that its page shows.

`GenerationResult` is frozen and complete: `fleet.llm.generate` decides verdict and reasons, never the code that prints it. On disk
it is `generation.json` (strict, versioned) and an `.npz` beside it.

All engines read the same tokens, those that the reference chose, so that logits of one position can be compared. The token that an
engine would have chosen itself is in `TokenRow.own`, and its free-running text in `EngineFigures.own_text`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from fleet.compare.diverged import Divergence
from fleet.compare.verdict import EnginesCompared, Verdict
from fleet.core.codec import MAY_BE_MISSING, Json
from fleet.cosim.run_request import RunRequest
from fleet.cosim.stored_result import StoredResult
from fleet.cosim.what_ran import DeviceFigures, Status

SCHEMA = 1
"""Version of the JSON form; a reader refuses any other."""

FILE = "generation.json"


@dataclass(frozen=True)
class ModelFigures:
    """The model and its plan.

    Attributes:
        name: as the user gave it. architecture: "llama".
        parameters: number of all weights, a tied head counted once. weight_bytes: as the device stores them. host_bytes: of what
            stays on the host.
        shape: "blocks", "channels", ... -> size. sequence: "fuse_qkv", ... -> what was chosen.
        instructions: kind -> number of instructions in a decode step.
        tokens: most new tokens of a step. positions: most positions in the cache.
    """

    name: str
    architecture: str
    parameters: int
    weight_bytes: int
    host_bytes: int
    shape: Mapping[str, int]
    sequence: Mapping[str, bool]
    instructions: Mapping[str, int]
    tokens: int
    positions: int


@dataclass(frozen=True)
class GenerationIdentity:
    """Identity of a generation, to distinguish and repeat it. Hashes are SHA-256 hex.

    Attributes:
        prompt: what the user asked. prompt_tokens: with the chat template. prompt_text: these tokens as text.
        weights_hash: of the weights. description_hash: of the device's description; None without one.
        sampling: "temperature", "top_k", "top_p", "seed". quantisation: as the compiler got it.
        tools: name -> version. memory, seed: as requested. date: ISO 8601. command: makes the same run again.
        request: the same as data.
    """

    prompt: str
    prompt_text: str
    prompt_tokens: tuple[int, ...]
    weights_hash: str
    description_hash: str | None
    device: DeviceFigures | None
    sampling: Mapping[str, float]
    quantisation: Mapping[str, Json]
    tools: Mapping[str, str]
    memory: str
    seed: int
    date: str
    command: str
    request: RunRequest | None = field(default=None, metadata=MAY_BE_MISSING)


@dataclass(frozen=True)
class StepFigures:
    """One step of one engine: it reads `tokens` tokens after `position` others.

    seconds: wall time. host_seconds: the part of it for embedding and packing. cycles: None without a clock.
    estimate: cycles that the cost model expects; None without one. argmax: the engine's own next token.
    instructions: retired (RISC-V) or committed.
    """

    position: int
    tokens: int
    seconds: float
    host_seconds: float
    cycles: int | None
    estimate: int | None
    argmax: int
    instructions: int | None


@dataclass(frozen=True)
class EngineFigures:
    """One engine's run.

    Attributes:
        name: "vm", "vm-rounded" (the golden with the weights as the device stores them), "iss", "rtl", "riscv".
        required: whether the user named it. error: why it failed.
        prefill: steps that read the prompt. decode: one step per generated token that was read.
        own_tokens, own_text: its free-running answer (greedy); empty if it did not run alone.
        own_note: a sentence if that answer was not run but follows from another run.
        counters: totals by the names of `Trace.counters`.
        cut: of a run in legs: where it was cut and what was proved, one line.
    """

    name: str
    status: Status
    required: bool = True
    error: str | None = None
    prefill: tuple[StepFigures, ...] = ()
    decode: tuple[StepFigures, ...] = ()
    own_tokens: tuple[int, ...] = ()
    own_text: str = ""
    own_note: str = ""
    counters: Mapping[str, float] = field(default_factory=dict[str, float])
    cut: str = field(default="", metadata={"may_be_missing": True})


@dataclass(frozen=True)
class TokenRow:
    """A generated token: the reference's choice, and by engine its own choice, its text and the margin of its two best logits."""

    index: int
    position: int
    token: int
    text: str
    own: Mapping[str, int]
    own_text: Mapping[str, str]
    margin: Mapping[str, float]


@dataclass(frozen=True)
class LogitsError:
    """Error of one step's logits, other against reference, both centred on their mean.

    least_db: SQNR that is required; None if it is only measured.
    """

    index: int
    position: int
    max_abs: float
    sqnr_db: float
    cosine: float
    same_token: bool
    least_db: float | None


@dataclass(frozen=True)
class GenerationComparison(EnginesCompared):
    """Two engines compared over all steps. Kind "bits" counts commits and bytes, the other kinds count elements of logits."""

    commits: int
    bytes: int
    steps: tuple[LogitsError, ...] = ()
    first_other_token: int | None = None


@dataclass(frozen=True)
class LayerError:
    """Error of a node's result on the device, in the last step of the prompt or the first of decoding.

    node: its name. block: -1 after the blocks. kind: "down". rounded_db: SQNR against the rounded golden (the arithmetic's error).
    golden_db: SQNR against the golden. quantisation_db: SQNR of the rounded golden against the golden.
    """

    node: str
    block: int
    kind: str
    rounded_db: float
    golden_db: float
    quantisation_db: float


@dataclass(frozen=True)
class KindCost:
    """All instructions of one kind of node ("down") in one decode step.

    Attributes:
        kind: last part of the nodes' names. instruction: name of the instruction. commits: how many.
        own: cycles from the previous commit to each of their commits, so that all kinds sum to the step's cycles.
        cycles: from their starts, which overlap. classes: class -> cycles, parts of `cycles`.
        macs: useful. bytes: memory -> least bytes moved.
    """

    kind: str
    instruction: str
    commits: int
    own: int
    cycles: int
    classes: Mapping[str, int]
    macs: int
    bytes: Mapping[str, int]


@dataclass(frozen=True)
class CommitTime:
    """An instruction of one decode step on the clock, in cycles from the step's first one."""

    node: str
    instruction: str
    unit: str
    start: int
    end: int
    own: int


@dataclass(frozen=True)
class TrafficRow:
    """Bytes of one decode step.

    moved: measured; None without RTL. least: each operand once. unpadded: weights and cache without padding of groups and beats;
    0 if it was not counted.
    """

    memory: str
    moved: int | None
    least: int
    unpadded: int


@dataclass(frozen=True)
class QuantisationChoiceRow:
    """Cost of one choice: perplexity on a text, of the golden with rounded weights; on iss for a part, None if not run."""

    choice: str
    chosen: bool
    bits: float
    perplexity: float
    tokens: int
    iss_perplexity: float | None
    iss_tokens: int


@dataclass(frozen=True)
class GenerationResult(StoredResult):
    """The complete outcome. `arrays` (in the .npz) holds "logits/<engine>", float32 [steps, vocabulary], for all compared steps.

    Attributes:
        reference: the engine whose tokens all others read. text: its answer.
        stop: why it ended: "end of answer", "as many as asked for", "the cache is full".
        costs, timeline, traffic: of the decode step at `costs_position` on the engine with a clock; empty without one.
        memory_plan: data for the address map's picture, as the compiler gives it; {} off the device.
    """

    JSON: ClassVar = FILE
    STORED_AS: ClassVar = ("generation", SCHEMA, "fleet generate", "generate again")

    identity: GenerationIdentity
    model: ModelFigures
    reference: str
    text: str
    stop: str
    tokens: tuple[TokenRow, ...]
    engines: tuple[EngineFigures, ...]
    comparisons: tuple[GenerationComparison, ...]
    layers: tuple[LayerError, ...]
    costs: tuple[KindCost, ...]
    costs_position: int
    timeline: tuple[CommitTime, ...]
    traffic: tuple[TrafficRow, ...]
    memory_plan: Mapping[str, Json]
    quantisation: tuple[QuantisationChoiceRow, ...]
    divergence: Divergence | None
    verdict: Verdict
    reasons: tuple[str, ...]

    def engine(self, name: str) -> EngineFigures | None:
        """Return an engine's run; None if it was not requested."""
        return next((e for e in self.engines if e.name == name), None)

    def comparison(self, name: str) -> GenerationComparison | None:
        """Return a comparison by name ("rtl-vs-iss"), or None."""
        return next((c for c in self.comparisons if c.name == name), None)
