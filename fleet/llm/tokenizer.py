"""Converts text to tokens and back: BPE from a GGUF file's fields or a tokenizer.json, with package `tokenizers`.

Every token is a string of bytes, written in one of two spellings. Byte-level: one printable character per byte. SentencePiece: text
with U+2581 for a space, and <0x0A> for a byte without a character in the vocabulary. Decoding needs only the bytes, so this module
does it itself: tokens come one by one, and a token may end inside a character.
"""

from __future__ import annotations

import codecs
import importlib
import json
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from fleet.core.codec import is_table
from fleet.core.json_text import parse_json
from fleet.errors import ModelError, SetupError
from fleet.llm.chat import TEMPLATES
from fleet.llm.pre_tokenizers import PRE_TOKENIZERS, PreTokenizer

MAX_TEXT = 1 << 20
"""Maximum characters of a text."""
_MAX_JSON = 1 << 26
_UNKNOWN, _CONTROL, _USER_DEFINED = 2, 3, 4
"""GGUF's token types of tokens that no merge produces."""
_SPACE = "\u2581"
_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def byte_characters() -> list[str]:
    """Return the printable character for each byte: the byte itself if it is printable Latin-1, else one from U+0100 on."""
    printable = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = iter(range(256))
    return [chr(byte) if byte in printable else chr(256 + next(others)) for byte in range(256)]


_BYTES: Mapping[str, int] = {character: byte for byte, character in enumerate(byte_characters())}


class TextStream:
    """Turns a sequence of tokens into text. Holds back the bytes of an incomplete character."""

    def __init__(self, tokenizer: BpeTokenizer) -> None:
        self._tokenizer = tokenizer
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def push(self, token: int) -> str:
        """Return the text that is complete now. Raises ModelError for an id outside the vocabulary."""
        return self._decoder.decode(self._tokenizer.token_bytes(token))

    def finish(self) -> str:
        """Return the rest: U+FFFD if the tokens ended inside a character."""
        return self._decoder.decode(b"", final=True)


class BpeTokenizer:
    """A BPE tokenizer with a chat template.

    Attributes:
        vocabulary: number of ids.
        special: ids of control tokens by their text; they decode to nothing.
        note: why the model's chat template is left out; "" where it is used, or where there is none.
    """

    def __init__(
        self, library: Any, special: Mapping[str, int], *, place: str, chat: str = "plain", system: str = "",
        bos: int | None = None, pieces: bool = False, leading: bool = False,
    ) -> None:  # fmt: skip
        """Args:
            library: a `tokenizers.Tokenizer`.
            special: control tokens.
            place: for messages.
            chat: a name in `chat.TEMPLATES`, or "plain".
            system: the template's default system message.
            bos: put in front of every text, or None.
            pieces: tokens are spelled as in SentencePiece.
            leading: a space is put in front of every text, and removed again by `decode`.

        A template whose tokens the vocabulary lacks is left out: a prompt is then encoded as it is.
        """
        self._library, self.special, self.place, self._system, self._bos = library, dict(special), place, system, bos
        self._template, self._pieces, self._leading = TEMPLATES.get(chat), pieces, leading
        ids: dict[str, int] = library.get_vocab(with_added_tokens=True)
        self._by_id = {i: text for text, i in ids.items()}
        controls = frozenset[str]() if self._template is None else self._template.controls
        self._controls = {text: self.special.get(text, ids.get(text, -1)) for text in controls}
        self.note = ""
        if missing := sorted(text for text, i in self._controls.items() if i < 0):
            words = " and ".join(missing)
            self.note = f"the chat template is left out: the vocabulary has no {words}; the prompt is continued as it is"
            self._template = None
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

        Without a template the prompt alone. system: the system message; None: the template's default, "": none.
        """
        if self._template is None:
            return self.encode(prompt)
        tokens: list[int] = []
        for piece in self._template.written(prompt, self._system if system is None else system):
            tokens += [self._controls[piece]] if piece in self._controls else self._ids(piece)
        return tokens

    def token_bytes(self, token: int) -> bytes:
        """Return the bytes of a token; empty for a control token. Raises ModelError for an id outside the vocabulary."""
        if not 0 <= token < self.vocabulary:
            raise ModelError(f"token {token}, expected 0 to {self.vocabulary - 1}", where=self.place)
        text = self._by_id.get(token, "")
        if token in self._special_ids:
            return b""
        if self._pieces:
            byte = _BYTE.fullmatch(text)
            return bytes([int(byte[1], 16)]) if byte else text.replace(_SPACE, " ").encode("utf-8", "replace")
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
        text = b"".join(self.token_bytes(int(t)) for t in tokens).decode("utf-8", "replace")
        return text.removeprefix(" ") if self._leading else text

    def stream(self) -> TextStream:
        """Return a decoder that takes one token at a time."""
        return TextStream(self)


def tokenizer_from_gguf(fields: Mapping[str, Any], *, place: str, chat: str = "plain", system: str = "") -> BpeTokenizer:
    """Return the tokenizer in a GGUF file's fields (`tokenizer.ggml.*`).

    Raises:
        ModelError: another kind of tokenizer, or fields missing or contradictory.
        SetupError: package tokenizers is missing.
    """
    model = fields.get("tokenizer.ggml.model")
    if model not in ("gpt2", "llama"):
        what = f"tokenizer.ggml.model is {model!r:.40}, expected 'gpt2' (byte-level BPE) or 'llama' (SentencePiece)"
        raise ModelError(what, where=place)
    pieces = starts = model == "llama"
    tokens = _strings(fields, "tokenizer.ggml.tokens", place)
    types = fields.get("tokenizer.ggml.token_type")
    kinds = np.ones(len(tokens), int) if types is None else np.asarray(types)
    if kinds.shape != (len(tokens),):
        raise ModelError(f"tokenizer.ggml.token_type has {kinds.size} entries, expected {len(tokens)}", where=place)
    ids = {token: i for i, token in enumerate(tokens)}
    if len(ids) != len(tokens):
        raise ModelError("tokenizer.ggml.tokens holds a token twice", where=place)
    add_bos, bos = fields.get("tokenizer.ggml.add_bos_token"), fields.get("tokenizer.ggml.bos_token_id")
    if bos is not None and (type(bos) is not int or not 0 <= bos < len(tokens)):
        raise ModelError(f"tokenizer.ggml.bos_token_id is {bos!r:.40}, expected a token", where=place)
    special = {tokens[i]: int(i) for i in np.flatnonzero(kinds == _CONTROL)}
    others = [tokens[i] for i in np.flatnonzero(kinds == _USER_DEFINED)]
    leading = pieces and fields.get("tokenizer.ggml.add_space_prefix") is not False
    if pieces:
        special |= {tokens[i]: int(i) for i in np.flatnonzero(kinds == _UNKNOWN)}
        library = _library_pieces(ids, _scores(fields, len(tokens), place), leading, place)
    else:
        pre = _pre_tokenizer(fields, place)
        starts = starts or pre.bos
        library = _library_bpe(ids, _pairs(fields, ids, place), pre, place)
    with _Panics(place):
        added = _tokenizers(place).AddedToken
        library.add_special_tokens([added(token, special=True, normalized=False) for token in special])
        library.add_tokens([added(token, normalized=False) for token in others])
    first = bos if add_bos is True or (starts and add_bos is None) else None
    return BpeTokenizer(
        library, special, place=place, chat=chat, system=system, bos=first, pieces=pieces, leading=leading,
    )  # fmt: skip


def _pairs(fields: Mapping[str, Any], ids: Mapping[str, int], place: str) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for merge in _strings(fields, "tokenizer.ggml.merges", place):
        left, _, right = merge.partition(" ")
        if left not in ids or right not in ids or left + right not in ids:
            raise ModelError(f"tokenizer.ggml.merges holds {merge!r:.60}, whose parts or result are no tokens", where=place)
        pairs.append((left, right))
    return pairs


def _scores(fields: Mapping[str, Any], count: int, place: str) -> np.ndarray:
    found = fields.get("tokenizer.ggml.scores")
    scores = np.asarray(found if found is not None else [], np.float64)
    if scores.shape != (count,) or not np.isfinite(scores).all():
        raise ModelError(f"tokenizer.ggml.scores has {scores.size} numbers, expected {count}, finite ones", where=place)
    return scores


def _library_pieces(ids: dict[str, int], scores: np.ndarray, leading: bool, place: str) -> Any:
    """Return SentencePiece's BPE: of the pairs whose joined token exists, the one with the best score is merged first."""
    merges: list[tuple[float, int, int, str, str]] = []
    for token, i in ids.items():
        for at in range(1, len(token)):
            left, right = token[:at], token[at:]
            if left in ids and right in ids:
                merges.append((-float(scores[i]), ids[left], ids[right], left, right))
    merges.sort()
    tokenizers = _tokenizers(place)
    unknown = next((token for token in ("<unk>", "<UNK>") if token in ids), None)
    with _Panics(place):
        pairs = [(left, right) for *_, left, right in merges]
        model = tokenizers.models.BPE(vocab=ids, merges=pairs, unk_token=unknown, fuse_unk=True, byte_fallback=True)
        library = tokenizers.Tokenizer(model)
        normal = tokenizers.normalizers
        spaces = normal.Replace(" ", _SPACE)
        library.normalizer = normal.Sequence([normal.Prepend(_SPACE), spaces]) if leading else spaces
        return library


def _strings(fields: Mapping[str, Any], key: str, place: str) -> list[str]:
    value = fields.get(key)
    if not isinstance(value, list) or (not value and key.endswith("tokens")):
        raise ModelError(f"{key} is missing or no list of strings", where=place)
    return value


def _pre_tokenizer(fields: Mapping[str, Any], place: str) -> PreTokenizer:
    """Return how a byte-level BPE splits texts. Raises ModelError for a name that is not known."""
    pre = fields.get("tokenizer.ggml.pre") or "default"
    found = PRE_TOKENIZERS.get(pre) if isinstance(pre, str) else None
    if found is None:
        near = ", ".join(get_close_matches(str(pre), PRE_TOKENIZERS, 3) or ["llama-bpe", "qwen2", "gpt-2"])
        what = f"tokenizer.ggml.pre is {pre!r:.40}, expected one of the {len(PRE_TOKENIZERS)} known ways to split: {near}, ..."
        raise ModelError(what, where=place, hint="read the model from a folder with tokenizer.json, which states the way")
    return found


def _library_bpe(ids: dict[str, int], merges: list[tuple[str, str]], pre: PreTokenizer, place: str) -> Any:
    tokenizers = _tokenizers(place)
    splits = tokenizers.pre_tokenizers
    words = [splits.Split(tokenizers.Regex(expression), "isolated") for expression in pre.splits]
    with _Panics(place):
        library = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=ids, merges=merges, ignore_merges=pre.whole))
        library.pre_tokenizer = splits.Sequence([*words, splits.ByteLevel(add_prefix_space=False, use_regex=False)])
        return library


def tokenizer_from_json(path: Path, *, chat: str = "plain", system: str = "") -> BpeTokenizer:
    """Return the tokenizer in a Hugging Face tokenizer.json.

    Raises:
        ModelError: the file cannot be read, or its tokens are spelled in another way.
        SetupError: package tokenizers is missing.
    """
    place = str(path)
    try:
        if path.stat().st_size > _MAX_JSON:
            raise ModelError(f"is larger than {_MAX_JSON >> 20} MiB", where=place)
        data = path.read_bytes()
    except OSError as error:
        older = any((path.parent / name).is_file() for name in ("vocab.json", "tokenizer.model"))
        hint = "transformers writes it: AutoTokenizer.from_pretrained(folder).save_pretrained(folder)" if older else None
        raise ModelError(f"cannot be read ({error.strerror or error})", where=place, hint=hint) from error
    content = parse_json(data, path, "is not JSON text")
    table = content if is_table(content) else {}
    model = table.get("model")
    decoder = json.dumps(table.get("decoder"))
    pieces = "ByteFallback" in decoder or "Metaspace" in decoder
    if not is_table(model) or model.get("type", "BPE") != "BPE" or not (pieces or "ByteLevel" in decoder):
        kind = model.get("type", "BPE") if is_table(model) else "nothing"
        what = f"is a tokenizer of kind {kind!r:.40}, expected BPE, byte-level or of SentencePiece"
        raise ModelError(what, where=place)
    tokenizers = _tokenizers(place)
    with _Panics(place):
        library = tokenizers.Tokenizer.from_str(data.decode())
        library.no_truncation()
        library.no_padding()
        special = {token.content: i for i, token in library.get_added_tokens_decoder().items() if token.special}
        before = _put_before(library)
        leading = pieces and _adds_space(library)
    if len(before) > 1:
        raise ModelError(f"puts {len(before)} tokens before a text, expected one at most", where=place)
    bos = before[0] if before else None
    return BpeTokenizer(
        library, special, place=place, chat=chat, system=system, bos=bos, pieces=pieces, leading=leading,
    )  # fmt: skip


def _adds_space(library: Any) -> bool:
    """Return whether a space is put in front of a text."""
    return any(token.startswith(_SPACE) for token in library.encode("a", add_special_tokens=False).tokens[:1])


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
