"""How texts are split into words before pairs are merged, by `tokenizer.ggml.pre` of GGUF files, whose names are llama.cpp's.

The expressions are those of the models' own tokenizers. Names that are left out are refused, never read as another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class PreTokenizer:
    """A way to split.

    Attributes:
        splits: expressions, one after another; each isolates its matches in what the others left.
        whole: a word that is a token is taken as it is, whatever the merges.
        bos: the token at the start is put before a text, if the file does not say.
    """

    splits: tuple[str, ...]
    whole: bool = False
    bos: bool = False


_END = r"\s*[\r\n]+|\s+(?!\S)|\s+"
_SHORT = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_LOWER, _UPPER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_CJK = "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
_ASCII = r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~]"""


def _words(digits: str, letters: str = r"\p{L}", marks: str = "") -> str:
    """The expression of cl100k, with `digits` of a number at once."""
    return rf"{_SHORT}|[^\r\n\p{{L}}\p{{N}}]?{letters}+|\p{{N}}{digits}| ?[^\s\p{{L}}{marks}\p{{N}}]+[\r\n]*|{_END}"


def _cased(digits: str, short: str) -> str:
    """The expression of o200k: a word ends where lower case becomes upper case."""
    start = r"[^\r\n\p{L}\p{N}]?"
    words = rf"{start}{_UPPER}*{_LOWER}+{short}|{start}{_UPPER}+{_LOWER}*{short}"
    return rf"{words}|\p{{N}}{digits}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_END}"


_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_THREES = "[0-9][0-9][0-9]"
_LLAMA3 = _words("{1,3}")
_DEEPSEEK3 = (
    r"\p{N}{1,3}", _CJK,
    rf"{_ASCII}[A-Za-z]+|[^\r\n\p{{L}}\p{{P}}\p{{S}}]?[\p{{L}}\p{{M}}]+| ?[\p{{P}}\p{{S}}]+[\r\n]*|{_END}",
)  # fmt: skip
_KINDS: tuple[tuple[str, PreTokenizer], ...] = (
    ("default", PreTokenizer((r"[\p{P}$+<=>^~|]+", _GPT2, r"\p{N}+", _THREES))),
    (
        "gpt-2 gpt2 mpt olmo jais phi-2 exaone4 trillion granite-docling gigachat a.x-4.0 mellum", PreTokenizer((_GPT2,)),
    ),
    (
        "smollm starcoder refact command-r codeshell exaone minerva-7b mellum2", PreTokenizer((r"\p{N}", _GPT2)),
    ),
    ("falcon", PreTokenizer((r"[\p{P}$+<=>^~|`]+", _GPT2, _THREES))),
    (
        "qwen2 deepseek-r1-qwen kormo f2llmv2 megrez stablelm2 hunyuan solar-open grok-2", PreTokenizer((_words(""),)),
    ),
    ("qwen35", PreTokenizer((_words("", r"[\p{L}\p{M}]", r"\p{M}"),))),
    (
        "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2", PreTokenizer((_LLAMA3,), whole=True, bos=True),
    ),
    ("dbrx smaug-bpe chatglm-bpe glm4", PreTokenizer((_LLAMA3,))),
    ("gpt-4o llama4 kanana2 talkie", PreTokenizer((_cased("{1,3}", f"{_SHORT}?"),))),
    ("tekken", PreTokenizer((_cased("", ""),), whole=True, bos=True)),
    ("deepseek-v3 hunyuan-dense", PreTokenizer(_DEEPSEEK3)),
    (
        "deepseek-coder",
        PreTokenizer(("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", r"\p{N}")),
    ),
    ("superbpe", PreTokenizer((r"\p{N}+", r"(?=(\d{3})+(?!\d))"))),
)  # fmt: skip


def _by_name() -> Iterator[tuple[str, PreTokenizer]]:
    for names, kind in _KINDS:
        for name in names.split():
            yield name, kind


PRE_TOKENIZERS: Mapping[str, PreTokenizer] = dict(_by_name())
"""`tokenizer.ggml.pre` -> how it splits; "default" where a file has none."""
