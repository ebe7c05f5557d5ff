"""Families of language models that fleet does not read, by `model_type` or `general.architecture`, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from fleet.errors import ModelError

MIXTURE = "a mixture of experts: what is multiplied would depend on values"
_PAGE = "supported families: fleet help language-model-weights"
_REASONS: Mapping[str, str] = {
    name: reason
    for reason, names in (
        (
            MIXTURE,
            "mixtral qwen2_moe qwen2moe qwen3_moe qwen3moe qwen3vlmoe deepseek_v2 deepseek_v3 deepseek2 gpt_oss "
            "gpt-oss llama4 llama4_text grok dbrx arctic phimoe olmoe granitemoe granitemoehybrid bailingmoe "
            "bailingmoe2 dots1 ernie4_5_moe ernie4_5-moe glm4_moe glm4moe hunyuan-moe minimax minimax_m2 "
            "minimax-m2 smallthinker jamba jetmoe exaone_moe afmoe",
        ),
        (
            "a model with states in place of a cache of keys and values",
            "mamba mamba2 falcon_mamba rwkv rwkv5 rwkv6 rwkv7 arwkv7 rwkv6qwen2 recurrent_gemma bamba zamba "
            "zamba2 xlstm lfm2 falcon_h1 falcon-h1 nemotron_h qwen3_next qwen35 plamo2",
        ),
        (
            "an encoder, alone or before a decoder",
            "t5 t5encoder mt5 umt5 longt5 bart mbart pegasus marian m2m_100 whisper led bert roberta xlm-roberta "
            "distilbert albert electra deberta deberta-v2 modernbert modern-bert nomic-bert jina-bert-v2",
        ),
        ("a model with positions by ALiBi", "bloom mpt refact jais"),
        (
            "a model of images or sounds beside text",
            "gemma3 llava mllama qwen2_vl qwen2vl qwen2_5_vl qwen3_vl qwen3vl idefics "
            "paligemma pixtral phi4mm",
        ),
        ("a model whose scores and logits are capped by a tanh, as published", "gemma2"),
    )
    for name in names.split()
}  # fmt: skip


def unread_family(
    key: str, kind: object, read: Iterable[str], elsewhere: Mapping[str, str], *, experts: bool = False
) -> ModelError:
    """Return the error of a file whose family is not read.

    Args:
        key: where the family is stated.
        kind: the family.
        read: the families that are read from such files.
        elsewhere: families that are read from files of another kind -> which kind.
        experts: the file states a number of experts.
    """
    shown = f"{key} is {kind!r:.40}"
    read = sorted(read)
    if not isinstance(kind, str):
        return ModelError(f"{shown}, expected the name of a family, such as {read[0]}", hint=_PAGE)
    if experts or kind in _REASONS:
        return ModelError(f"{shown}, {MIXTURE if experts else _REASONS[kind]}; fleet does not compute it", hint=_PAGE)
    if kind in elsewhere:
        return ModelError(
            f"{shown}, which fleet reads from {elsewhere[kind]}, not from such a file", hint=f"name {elsewhere[kind]}"
        )
    near = get_close_matches(kind, read, 3, 0.7)
    nearest = f"; the nearest are {', '.join(near)}" if near else ""
    return ModelError(f"{shown}, which is not one of the {len(read)} supported families{nearest}", hint=_PAGE)
