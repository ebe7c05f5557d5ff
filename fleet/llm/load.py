"""Loads a language model by name or path: weights and tokenizer."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fleet.core.file_kinds import kind_of, refuse_foreign
from fleet.errors import ModelError
from fleet.llm.config import ARCHITECTURES, preset
from fleet.llm.files.cache import model_file
from fleet.llm.files.fetch import LANGUAGE_MODELS
from fleet.llm.shapes import ShapeTokenizer, ShapeWeights
from fleet.llm.sparsity import DENSE, Sparsity
from fleet.llm.tiny import FIRST_BYTE, VOCABULARY, tiny_model
from fleet.llm.weights import ModelWeights

_OWN = ("gguf", "language-model", "folder", "python", "text", "json", "empty", "unknown", "special")
"""Kinds of files for which the readers of language models report errors themselves."""


class TextModel(Protocol):
    """The interface of a tokenizer that generation and perplexity use."""

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text. Text that looks like a control token stays text."""
        ...

    def chat(self, prompt: str, system: str | None = None) -> list[int]:
        """Return the tokens of a question, up to where the answer begins."""
        ...

    def decode(self, tokens: Iterable[int]) -> str:
        """Return the text of tokens."""
        ...

    def token_text(self, token: int) -> str:
        """Return one token as readable text; a control token by name."""
        ...

    def token_bytes(self, token: int) -> bytes:
        """Return one token's bytes; empty for a control token."""
        ...


@dataclass(frozen=True)
class LoadedLanguageModel:
    """A loaded model. name: as given; weights: read on access; tokenizer: its text model; note: what the user should know of it."""

    name: str
    weights: ModelWeights
    tokenizer: TextModel
    note: str = ""


class TinyTokenizer:
    """The tiny model's tokenizer, one token per byte; does not need package `tokenizers`."""

    vocabulary = VOCABULARY

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text."""
        return [FIRST_BYTE + byte for byte in text.encode("utf-8", "replace")]

    def chat(self, prompt: str, system: str | None = None) -> list[int]:
        """Return the prompt's tokens: the model only continues repeated text."""
        return self.encode(prompt)

    def token_bytes(self, token: int) -> bytes:
        """Return one token's bytes; empty for a control token. Raises ModelError if the id is outside the vocabulary."""
        if not 0 <= token < self.vocabulary:
            raise ModelError(f"token {token}, expected 0 to {self.vocabulary - 1}", where="tiny")
        return bytes([token - FIRST_BYTE]) if token >= FIRST_BYTE else b""

    def token_text(self, token: int) -> str:
        """Return one token as readable text."""
        return codecs.decode(self.token_bytes(token), "utf-8", "replace") if token >= FIRST_BYTE else f"<{token}>"

    def decode(self, tokens: Iterable[int]) -> str:
        """Return the text of tokens."""
        return b"".join(self.token_bytes(int(t)) for t in tokens).decode("utf-8", "replace")


def is_language_model(spec: str) -> bool:
    """Return whether `load_model` accepts it: the name of a model, a GGUF file, or a folder with a language model."""
    path = Path(spec)
    if not path.exists():
        return spec in LANGUAGE_MODELS or spec.partition("-")[0] == "tiny"
    return kind_of(path).name in ("gguf", "language-model")


def load_model(spec: str) -> LoadedLanguageModel:
    """Load a model.

    Args:
        spec: "smollm2" (must be fetched before), "tiny" or "tiny-qwen2" (generated), a GGUF file, or a folder with config.json,
            weights as safetensors and tokenizer.json.

    Raises:
        ModelError: the model does not exist or is damaged; names the command that fetches one.
    """
    if spec == "tiny" or spec.startswith("tiny-"):
        architecture = spec.partition("-")[2] or "llama"
        if architecture not in ARCHITECTURES:
            raise ModelError("no such tiny model", where=spec, hint=f"known: {', '.join(f'tiny-{a}' for a in ARCHITECTURES)}")
        return LoadedLanguageModel(spec, tiny_model(architecture), TinyTokenizer())
    path = model_file(spec) if spec in LANGUAGE_MODELS else Path(spec)
    if spec in LANGUAGE_MODELS and not path.exists():
        raise ModelError("its weights are not here", where=f"model {spec}", hint=f"fetch them: fleet models fetch {spec}")
    refuse_foreign(path, "a GGUF file or a folder with safetensors", _OWN, "language")
    if path.is_dir():
        return _folder(spec, path)
    if not path.is_file():
        known = ", ".join(LANGUAGE_MODELS)
        raise ModelError("no such model", where=spec, hint=f"known are {known}, tiny, a .gguf file, or a folder")
    return _gguf(spec, path)


def load_shape(name: str, *, group: int, seed: int, sparse: Sparsity = DENSE) -> LoadedLanguageModel:
    """Return a published model's shape with random weights. Raises ModelError if the name is unknown."""
    weights = ShapeWeights(preset(name), group=group, seed=seed, name=name, sparse=sparse)
    return LoadedLanguageModel(f"shape {name}", weights, ShapeTokenizer())


def _gguf(spec: str, path: Path) -> LoadedLanguageModel:
    from fleet.llm.files.gguf import open_gguf
    from fleet.llm.tokenizer import tokenizer_from_gguf

    weights, fields = open_gguf(path)
    c = weights.config
    tokenizer = tokenizer_from_gguf(fields, place=str(path), chat=c.chat, system=c.system)
    return LoadedLanguageModel(spec, weights, tokenizer, tokenizer.note)


def _folder(spec: str, path: Path) -> LoadedLanguageModel:
    from fleet.llm.files.hugging_face import open_hugging_face
    from fleet.llm.tokenizer import tokenizer_from_json

    weights = open_hugging_face(path)
    c = weights.config
    tokenizer = tokenizer_from_json(path / "tokenizer.json", chat=c.chat, system=c.system)
    return LoadedLanguageModel(spec, weights, tokenizer, tokenizer.note)
