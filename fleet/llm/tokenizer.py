"""Converts text to tokens and back: byte-level BPE from a GGUF file's fields or a tokenizer.json, with package `tokenizers`.

Byte-level: every token is a string of bytes, written in files with one printable character per byte. Decoding needs only the bytes,
so this module does it itself: tokens come one by one, and a token may end inside a character.
"""

from __future__ import annotations

import codecs
import importlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fleet.core.codec import is_table
from fleet.core.json_text import parse_json
from fleet.errors import ModelError, SetupError

MAX_TEXT = 1 << 20
"""Maximum characters of a text."""
_MAX_JSON = 1 << 26
_CONTROL, _USER_DEFINED = 3, 4
"""GGUF's token types of tokens that merges do not make."""
_QWEN2 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def byte_characters() -> list[str]:
    """Return the printable character for each byte: the byte itself if it is printable Latin-1, else one from U+0100 on."""
    printable = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = iter(range(256))
    return [chr(byte) if byte in printable else chr(256 + next(others)) for byte in range(256)]


_BYTES: Mapping[str, int] = {character: byte for byte, character in enumerate(byte_characters())}


class TextStream:
    """Turns a sequence of tokens into text. Holds back the bytes of an incomplete character."""

    def __init__(self, tokenizer: ByteLevelTokenizer) -> None:
        self._tokenizer = tokenizer
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token: int) -> str:
        """Return the text that is complete now. Raises ModelError for an id outside the vocabulary."""
        return self._decoder.decode(self._tokenizer.token_bytes(token))

    def finish(self) -> str:
        """Return the rest: U+FFFD if the tokens ended inside a character."""
        return self._decoder.decode(b"", final=True)


class ByteLevelTokenizer:
    """A byte-level BPE tokenizer with a chat template.

    Attributes:
        vocabulary: number of ids.
        special: ids of control tokens by their text; they decode to nothing.
    """

    def __init__(
        self, library: Any, special: Mapping[str, int], *, place: str, chat: str = "plain", system: str = "", bos: int | None = None
    ) -> None:
        """Args:
            library: a `tokenizers.Tokenizer`.
            special: control tokens.
            place: for messages.
            chat: "chatml" or "plain".
            system: the template's default system message.
            bos: put in front of every text, or None.

        Raises:
            ModelError: the template's tokens are missing.
        """
        self._library, self.special, self.place, self._system, self._bos = library, dict(special), place, system, bos
        self._chat = chat
        if chat == "chatml" and not {"<|im_start|>", "<|im_end|>"} <= self.special.keys():
            raise ModelError("the chat template's tokens <|im_start|> and <|im_end|> are not in the vocabulary", where=place)
        self._by_id = {i: text for text, i in library.get_vocab(with_added_tokens=True).items()}
        self.vocabulary = max(self._by_id, default=-1) + 1
        self._special_ids = frozenset(self.special.values())

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text. Control tokens in the text stay text. Raises ModelError if the text is too long."""
        return ([] if self._bos is None else [self._bos]) + self._ids(text)

    def _ids(self, text: str) -> list[int]:
        if len(text) > MAX_TEXT:
            raise ModelError(f"the text has {len(text):,} characters, expected at most {MAX_TEXT:,}", where="tokenizer")
        # Lone surrogates (an argument that was not UTF-8) have no bytes.
        text = text.encode("utf-8", "replace").decode()
        self._library.encode_special_tokens = True
        return list(self._library.encode(text, add_special_tokens=False).ids)

    def chat(self, prompt: str, system: str | None = None) -> list[int]:
        """Return the tokens of a question in the model's template, up to where the answer begins.

        With template "plain" the prompt alone. system: the system message; None: the template's default, "": none.
        """
        if self._chat == "plain":
            return self.encode(prompt)
        tokens: list[int] = []
        said = self._system if system is None else system
        for role, content in ([("system", said)] if said else []) + [("user", prompt)]:
            tokens += [self.special["<|im_start|>"], *self._ids(f"{role}\n{content}"), self.special["<|im_end|>"], *self._ids("\n")]
        return [*tokens, self.special["<|im_start|>"], *self._ids("assistant\n")]

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes of a token; empty for a control token. Raises ModelError for an id outside the vocabulary."""
        if not 0 <= token < self.vocabulary:
            raise ModelError(f"token {token}, expected 0 to {self.vocabulary - 1}", where=self.place)
        text = self._by_id.get(token, "")
        if token in self._special_ids:
            return b""
        if all(c in _BYTES for c in text):
            return bytes(_BYTES[c] for c in text)
        return text.encode("utf-8", "replace")

    def token_text(self, token: int) -> str:
        """Return a token as readable text, a control token by name; U+FFFD for partial characters. Raises as `token_bytes` does."""
        if token in self._special_ids:
            return self._by_id[token]
        return self.token_bytes(token).decode("utf-8", "replace")

    def decode(self, tokens: Iterable[int]) -> str:
        """Return the text of tokens; control tokens give none. Raises ModelError for an id outside the vocabulary."""
        return b"".join(self.token_bytes(int(t)) for t in tokens).decode("utf-8", "replace")

    def stream(self) -> TextStream:
        """Return a decoder that takes one token at a time."""
        return TextStream(self)


def tokenizer_from_gguf(fields: Mapping[str, Any], *, place: str, chat: str = "plain", system: str = "") -> ByteLevelTokenizer:
    """Return the tokenizer in a GGUF file's fields (`tokenizer.ggml.*`).

    Raises:
        ModelError: another kind of tokenizer, or fields missing or contradictory.
        SetupError: package tokenizers is missing.
    """
    model = fields.get("tokenizer.ggml.model")
    if model != "gpt2":
        raise ModelError(f"tokenizer.ggml.model is {model!r:.40}, expected 'gpt2' (byte-level BPE)", where=place)
    tokens, merges = (_strings(fields, f"tokenizer.ggml.{name}", place) for name in ("tokens", "merges"))
    types = fields.get("tokenizer.ggml.token_type")
    kinds = np.ones(len(tokens), int) if types is None else np.asarray(types)
    if kinds.shape != (len(tokens),):
        raise ModelError(f"tokenizer.ggml.token_type has {kinds.size} entries, expected {len(tokens)}", where=place)
    ids = {token: i for i, token in enumerate(tokens)}
    if len(ids) != len(tokens):
        raise ModelError("tokenizer.ggml.tokens holds a token twice", where=place)
    pairs: list[tuple[str, str]] = []
    for merge in merges:
        left, _, right = merge.partition(" ")
        if left not in ids or right not in ids or left + right not in ids:
            raise ModelError(f"tokenizer.ggml.merges holds {merge!r:.60}, whose parts or result are no tokens", where=place)
        pairs.append((left, right))
    add_bos, bos = fields.get("tokenizer.ggml.add_bos_token"), fields.get("tokenizer.ggml.bos_token_id")
    if bos is not None and (type(bos) is not int or not 0 <= bos < len(tokens)):
        raise ModelError(f"tokenizer.ggml.bos_token_id is {bos!r:.40}, expected a token", where=place)
    special = {tokens[i]: int(i) for i in np.flatnonzero(kinds == _CONTROL)}
    others = [tokens[i] for i in np.flatnonzero(kinds == _USER_DEFINED)]
    library = _library_bpe(ids, pairs, list(special), others, fields.get("tokenizer.ggml.pre"), place)
    return ByteLevelTokenizer(library, special, place=place, chat=chat, system=system, bos=bos if add_bos is True else None)


def _strings(fields: Mapping[str, Any], key: str, place: str) -> list[str]:
    value = fields.get(key)
    if not isinstance(value, list) or (not value and key.endswith("tokens")):
        raise ModelError(f"{key} is missing or no list of strings", where=place)
    return value


def _library_bpe(
    ids: dict[str, int], merges: list[tuple[str, str]], special: Sequence[str], others: Sequence[str], pre: Any, place: str
) -> Any:
    tokenizers = _tokenizers(place)
    splits, levels = tokenizers.pre_tokenizers, tokenizers.pre_tokenizers.ByteLevel
    match pre:
        case "smollm":
            before = splits.Sequence([splits.Digits(individual_digits=True), levels(add_prefix_space=False)])
        case "qwen2":
            before = splits.Sequence([
                splits.Split(tokenizers.Regex(_QWEN2), "isolated"), levels(add_prefix_space=False, use_regex=False)
            ])  # fmt: skip
        case None | "gpt-2" | "gpt2" | "default":
            before = levels(add_prefix_space=False)
        case _:
            raise ModelError(f"tokenizer.ggml.pre is {pre!r:.40}, expected smollm, qwen2 or gpt-2", where=place)
    with _Panics(place):
        library = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=ids, merges=merges))
        library.pre_tokenizer = before
        library.add_special_tokens([tokenizers.AddedToken(token, special=True, normalized=False) for token in special])
        library.add_tokens([tokenizers.AddedToken(token, normalized=False) for token in others])
        return library


def tokenizer_from_json(path: Path, *, chat: str = "plain", system: str = "") -> ByteLevelTokenizer:
    """Return the tokenizer in a Hugging Face tokenizer.json.

    Raises:
        ModelError: the file cannot be read, or is not a byte-level BPE tokenizer.
        SetupError: package tokenizers is missing.
    """
    place = str(path)
    try:
        if path.stat().st_size > _MAX_JSON:
            raise ModelError(f"is larger than {_MAX_JSON >> 20} MiB", where=place)
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"cannot be read ({error.strerror or error})", where=place) from error
    content = parse_json(data, path, "is not JSON text")
    table = content if is_table(content) else {}
    model = table.get("model")
    if not is_table(model) or model.get("type", "BPE") != "BPE" or "ByteLevel" not in json.dumps(table.get("decoder")):
        raise ModelError("is not a byte-level BPE tokenizer", where=place)
    tokenizers = _tokenizers(place)
    with _Panics(place):
        library = tokenizers.Tokenizer.from_str(data.decode())
        library.no_truncation()
        library.no_padding()
        special = {token.content: i for i, token in library.get_added_tokens_decoder().items() if token.special}
        before = _put_before(library)
    if len(before) > 1:
        raise ModelError(f"puts {len(before)} tokens before a text, expected one at most", where=place)
    return ByteLevelTokenizer(library, special, place=place, chat=chat, system=system, bos=before[0] if before else None)


def _put_before(library: Any) -> list[int]:
    """Return the tokens that the file's post-processor puts before a text."""
    plain, whole = (list(library.encode("a", add_special_tokens=added).ids) for added in (False, True))
    starts = (i for i in range(len(whole)) if plain and whole[i : i + len(plain)] == plain)
    return whole[: next(starts, 0)]


class _Panics:
    """Converts failures of the library, which is written in Rust: any exception, or a panic outside `Exception`."""

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is not None and not isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise ModelError(f"the tokenizer cannot be built ({' '.join(str(error).split())[:120]})", where=self._place) from None


def _tokenizers(place: str) -> Any:
    try:
        return importlib.import_module("tokenizers")
    except ImportError:
        raise SetupError("package tokenizers is missing", where=place, hint="pip install 'fleet-cosim[llm]'") from None
