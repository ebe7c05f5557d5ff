"""A language model on one engine, step by step: new tokens in, logits of the last one out; the KV cache persists between steps.

`program_session` has the engines that run a program (vm, riscv), `device_session` those that run instructions (iss, rtl). A session
whose positions are used up refuses further tokens and does not change.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from fleet.compare.diverged import Divergence
from fleet.engines.trace import Commit
from fleet.errors import ModelError
from fleet.llm.models import ModelGraph

F32 = npt.NDArray[np.float32]

StepProgress = Callable[[float, str], None]
"""Called with the finished fraction of a step and a short text."""


@dataclass(frozen=True)
class RanStep:
    """The result of a step: logits [vocabulary] float32 of the last token, the engine's own argmax, and figures.

    tensors: node -> array, features as [tokens, channels] or [heads, tokens, channels] float32.
    """

    logits: F32
    argmax: int
    cycles: int | None = None
    commits: tuple[Commit, ...] = ()
    tensors: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])
    counters: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True)
class TokenStep:
    """One step.

    Attributes:
        position: tokens in the cache before the step.
        tokens: tokens that it read.
        ran: its result.
        seconds: wall time, including the host's part; of overlapping steps, from the end of the step before on.
        host_seconds: of that, embedding and packing.
    """

    position: int
    tokens: tuple[int, ...]
    ran: RanStep
    seconds: float
    host_seconds: float

    @property
    def logits(self) -> F32:
        """Logits of the last token, [vocabulary]."""
        return self.ran.logits

    @property
    def argmax(self) -> int:
        """The likeliest next token according to the engine."""
        return self.ran.argmax


class Embedding:
    """Looks up tokens (and learned positions) on the host, for all engines."""

    def __init__(self, weights: Mapping[str, np.ndarray]) -> None:
        """weights: by the names of `fleet.llm.weights`; kept in memory once."""
        self._rows = weights["embedding"]
        self._positions = weights.get("position_embedding")

    @property
    def positions(self) -> int | None:
        """Number of positions with an embedding; None if positions are not learned."""
        return None if self._positions is None else len(self._positions)

    def __call__(self, tokens: Sequence[int], position: int) -> F32:
        """Return [tokens, channels] float32. Raises ModelError for an invalid token, or a position without an embedding."""
        count = len(self._rows)
        for token in tokens:
            if not 0 <= token < count:
                raise ModelError(f"token {token}, expected 0 to {count - 1}", where="embedding")
        rows = self._rows[list(tokens)]
        if self._positions is None:
            return rows
        if position + len(tokens) > len(self._positions):
            raise ModelError(
                f"position {position + len(tokens) - 1}, the model has embeddings for {len(self._positions)}", where="embedding"
            )
        return rows + self._positions[position : position + len(tokens)]


class GenerationSession(ABC):
    """A language model on one engine.

    Attributes:
        name: the engine's ("vm", "iss").
        position: tokens in the cache.
        capacity: maximum number of tokens, limited by the plan and by the model's context or its learned positions.
        chunk: maximum number of new tokens per step.
        sampled: whether it runs a sample of each step's instructions: its commits are theirs, and it has no logits of its own.
    """

    name: str
    sampled: bool = False

    def __init__(self, model: ModelGraph, embedding: Embedding) -> None:
        self.model, self._embedding = model, embedding
        self.position = 0
        limits = (model.options.positions, model.config.context, embedding.positions)
        self.capacity, self.chunk = min(n for n in limits if n is not None), model.options.tokens
        self.progress: StepProgress | None = None

    @property
    def ahead(self) -> int:
        """Number of steps that it gains by having begun behind the one that is waited for; 0: it makes one after the other."""
        return 0

    @property
    def cut(self) -> str:
        """Cuts of the steps so far into legs and what that proved, one line; empty if there are none."""
        return ""

    def step(self, tokens: Sequence[int], tensors: Sequence[str] = ()) -> TokenStep:
        """Read tokens after those in the cache.

        Args:
            tokens: at least one, at most `chunk`.
            tensors: names of nodes whose values are returned.

        Raises:
            ModelError: no token, too many for a step or for the cache, or an invalid token; nothing was read then.
        """
        start = time.perf_counter()
        x = self._next(tokens)
        looked_up = time.perf_counter()
        ran = self._run(x, tuple(tensors))
        done = time.perf_counter()
        step = TokenStep(self.position, tuple(tokens), ran, done - start, looked_up - start)
        self.position += len(tokens)
        return step

    def begin(self, tokens: Sequence[int], tensors: Sequence[str] = ()) -> Callable[[], TokenStep]:
        """Begin a step as `step` does, and return what waits for it and returns it. They are called in the order of the steps.

        Raises what `step` raises. An engine with `ahead` may raise it only when it waits; steps behind the failed one are void.
        """
        step = self.step(tokens, tensors)
        return lambda: step

    def _next(self, tokens: Sequence[int]) -> F32:
        """Return the embedded tokens of the next step. Raises ModelError as `step` does."""
        if not 1 <= len(tokens) <= self.chunk:
            raise ModelError(f"{len(tokens)} tokens, the plan takes 1 to {self.chunk} a step", where=f"engine {self.name}")
        self.check_room(len(tokens))
        return self._embedding(tokens, self.position)

    def check_room(self, count: int) -> None:
        """Raises ModelError if `count` more tokens do not fit."""
        if self.position + count > self.capacity:
            raise ModelError(
                f"the KV cache holds {self.position} of {self.capacity} positions; {count} more token{'s' * (count > 1)} "
                "do not fit" if count > 1 else
                f"the KV cache is full: {self.position} of {self.capacity} positions; one more token does not fit",
                where=f"engine {self.name}",
                hint="plan for more with --positions" if self.capacity == self.model.options.positions else
                "the model's context is no longer",
            )  # fmt: skip

    def prefill(self, tokens: Sequence[int], tensors: Sequence[str] = ()) -> Iterator[TokenStep]:
        """Read a prompt in its `parts`; tensors only of the last one. Raises as `parts` does, before anything is read."""
        parts = self.parts(tokens)
        for number, part in enumerate(parts, 1):
            yield self.step(part, tensors if number == len(parts) else ())

    def parts(self, tokens: Sequence[int]) -> list[Sequence[int]]:
        """Cut a prompt into steps of the plan's maximum size. Raises ModelError if the prompt is empty or does not fit."""
        if not tokens:
            raise ModelError("an empty prompt", where=f"engine {self.name}")
        self.check_room(len(tokens))
        return [tokens[first : first + self.chunk] for first in range(0, len(tokens), self.chunk)]

    def rewind(self, position: int) -> None:
        """Discard all tokens from `position` on: the next step overwrites their cache slots. Raises ModelError."""
        if not 0 <= position <= self.position:
            raise ModelError(f"rewound to {position}, it has read {self.position}", where=f"engine {self.name}")
        self.position = position

    def reset(self) -> None:
        """Discard all tokens."""
        self.rewind(0)

    def expect(self, commits: Sequence[Commit]) -> None:  # noqa: B027  # not every engine commits instructions
        """Set the commits that the next step must produce; an engine that can ends the step at the first different one."""

    def explain(
        self, divergence: Divergence, reference: TokenStep, other: TokenStep, beside: GenerationSession | None = None
    ) -> Divergence:
        """Return the divergence of a commit of `other`, this engine's last step, with the engine's own details.

        beside: the session that made `reference`; it may be used, and can continue afterwards.
        """
        return divergence

    @abstractmethod
    def _run(self, x: F32, tensors: tuple[str, ...]) -> RanStep:
        """Run one step of embedded tokens [n, channels], after `position` others."""

    def close(self) -> None:  # noqa: B027  # not every engine holds something
        """Release the engine's resources; may be called twice."""

    def __enter__(self) -> GenerationSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
