"""Reads language models in Hugging Face's layout: a folder with config.json and *.safetensors, of the families in `families`.

Nothing in the folder is executed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fleet.core.codec import is_list, is_table
from fleet.errors import ModelError
from fleet.llm.chat import chat_of_template
from fleet.llm.config import ModelConfig, check_sizes
from fleet.llm.files import gguf_families
from fleet.llm.files.families import ACTIVATIONS, FAMILIES, KEYS, NAMES, Draft, Family
from fleet.llm.files.missing_keys import MISSING_KEYS
from fleet.llm.files.naming import FileLayout, unknown_tensors, weights_from
from fleet.llm.files.rotation import read_positions
from fleet.llm.files.safetensors import TensorFolder, read_json
from fleet.llm.files.unread import unread_family
from fleet.llm.weights import ModelWeights

_MAX_CONFIG = 1 << 20
_COMPUTED = (
    "rotary_emb.inv_freq", "rotary_pos_emb.inv_freq", ".attn.bias", ".attn.masked_bias", ".attention.bias",
    ".attention.masked_bias",
)  # fmt: skip
"""Suffixes of tensor names that some checkpoints store although they follow from the configuration."""
_MIXTURES = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")


def open_hugging_face(folder: Path) -> ModelWeights:
    """Return the weights in a folder.

    Raises:
        ModelError: files missing, truncated or contradictory, unknown architecture, invalid sizes.
    """
    if (folder / "config.json").is_file():  # its refusals say more than those of tensors in other forms
        _stated(folder / "config.json")
    tensors = TensorFolder(folder)
    config, layout = hugging_face_config(folder / "config.json", tensors)
    prefix = layout.names["embedding"].partition(".")[0] + "."
    if f"{layout.names['embedding']}.weight" not in tensors.shapes:  # saved without its head, as base models are
        tensors.renamed(lambda name: name if name.startswith((prefix, f"{layout.names['head']}.")) else prefix + name)
    chat, system = _chat(folder)
    config = replace(config, chat=chat, system=system)
    weights = weights_from(tensors, config, layout)
    unknown = [name for name in unknown_tensors(tensors, config, layout) if not name.endswith(_COMPUTED)]
    if unknown:
        raise ModelError(
            f"tensor {unknown[0]!s:.80} is not known in a {config.architecture} model: fleet would compute something else",
            where=str(folder),
        )
    return weights


def hugging_face_config(path: Path, tensors: TensorFolder) -> tuple[ModelConfig, FileLayout]:
    """Return the shape described by a config.json, and where its weights are. Raises ModelError naming the field."""
    content, family = _stated(path)
    try:
        return _config(content, family, tensors)
    except ModelError as error:
        raise ModelError(error.what, where=str(path), hint=error.hint) from None


def _stated(path: Path) -> tuple[Mapping[str, Any], Family]:
    """Return the content of a config.json, and the family that it names. Raises ModelError if fleet does not read such a model."""
    content = read_json(path, _MAX_CONFIG)
    if not is_table(content):
        raise ModelError("is no JSON object", where=str(path))
    kind, packed = content.get("model_type"), content.get("quantization_config")
    family = FAMILIES.get(kind) if isinstance(kind, str) else None
    if family is None:
        experts = any(isinstance(content.get(key), int) for key in _MIXTURES)
        elsewhere = dict.fromkeys(gguf_families.FAMILIES.keys() - FAMILIES.keys(), "a GGUF file")
        error = unread_family("model_type", kind, FAMILIES, elsewhere, experts=experts)
        raise ModelError(error.what, where=str(path), hint=error.hint)
    if packed is not None:
        method = packed.get("quant_method") if is_table(packed) else packed
        raise ModelError(
            f"quantization_config says that the weights are quantised ({method!s:.40}), expected F64, F32, F16 or BF16",
            where=str(path), hint="take the folder that it was made from, or a GGUF file",
        )  # fmt: skip
    return content, family


def _config(content: Mapping[str, Any], family: Family, tensors: TensorFolder) -> tuple[ModelConfig, FileLayout]:
    kind = str(content["model_type"])
    given, content = content, {**MISSING_KEYS.get(kind, {}), **content}
    for key, fine in family.expects.items():
        if (value := content.get(key)) not in fine:
            shown = f"{value!r:.40}" if key in given else f"missing, which means {value!r:.40}"
            raise ModelError(f"{key} is {shown}, expected {fine[0]!r}", hint="fleet would compute something else")
    draft = Draft(content, _fields(content, family), {"names": {**NAMES, **family.names}, **family.layout}, given)
    draft.config["architecture"] = "chatglm2" if kind == "chatglm" else kind
    check_sizes(draft.config)
    if family.more is not None:
        family.more(draft)
    read_positions(draft, family)
    return _seen(draft, tensors)


def _fields(content: Mapping[str, Any], family: Family) -> dict[str, Any]:
    """Return the fields stated by keys. Raises ModelError if a value has the wrong type."""
    keys = {name: key for name, key in {**KEYS, **family.keys}.items() if name not in family.config}
    found: dict[str, Any] = {}
    optional = {"kv_heads", "head_channels", "ffn"}
    for name, key in keys.items():
        value = content.get(key) if key else None
        if name == "activation":
            older = content.get("hidden_act")  # in gemma's first files "gelu" meant the form with tanh
            value = older if value is None and key == "hidden_activation" and older != "gelu" else value
            value = "gelu_pytorch_tanh" if value is None and key == "hidden_activation" else value
            if not isinstance(value, str) or value not in ACTIVATIONS:
                raise ModelError(f"{key} is {value!r:.40}, expected {', '.join(ACTIVATIONS)}")
            found[name] = ACTIVATIONS[value]
        elif name == "norm_eps":
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ModelError(f"{key} is {value!r:.40}, expected a number")
            found[name] = float(value)
        elif type(value) is int or (value is None and (name in optional)):
            found[name] = value
        else:
            raise ModelError(f"{key} is {value!r:.40}, expected int")
    heads = max(found["heads"], 1)
    found["kv_heads"] = found["kv_heads"] or heads
    found["head_channels"] = found["head_channels"] or found["channels"] // heads
    found["ffn"] = found["ffn"] or 4 * found["channels"]
    return found | dict(family.config)


def _seen(draft: Draft, tensors: TensorFolder) -> tuple[ModelConfig, FileLayout]:
    """Add fields derived from the tensors: biases, and whether the head is the embedding."""
    content, c = draft.content, draft.config
    layout = FileLayout(**draft.layout, factors=draft.factors)

    def bias(name: str) -> bool:
        stored = f"{layout.stored(name)}.bias"
        return stored in tensors.shapes or stored.partition(".")[2] in tensors.shapes

    tied = content.get("tie_word_embeddings")
    if type(tied) is not bool and "tied" not in c:
        raise ModelError(f"tie_word_embeddings is {tied!r:.40}, expected bool")
    if "tie_word_embeddings" not in draft.given and f"{layout.names['head']}.weight" in tensors.shapes:
        tied = False
    c.setdefault("tied", tied)
    bos, eos = content.get("bos_token_id"), content.get("eos_token_id")
    config = ModelConfig(
        **c,
        qkv_bias=bias("blocks.0.attention.q"),
        o_bias=bias("blocks.0.attention.o"),
        ffn_bias=bias("blocks.0.ffn.up"),
        head_bias=bias("head"),
        bos=bos,
        eos=tuple(eos) if isinstance(eos, list) else () if eos is None else (eos,),
    )
    return config, replace(layout, norm_biases=bias("norm"))


def _chat(folder: Path) -> tuple[str, str]:
    """Return (chat, system) of the template beside the tokenizer; without one, no template."""
    path = folder / "tokenizer_config.json"
    template = read_json(path, _MAX_CONFIG).get("chat_template") if path.is_file() else None
    if is_list(template):  # several, by name
        template = next((t.get("template") for t in template if is_table(t) and t.get("name") == "default"), None)
    beside, table = folder / "chat_template.jinja", folder / "chat_template.json"
    if not isinstance(template, str) and beside.is_file() and beside.stat().st_size <= _MAX_CONFIG:
        template = beside.read_bytes().decode("utf-8", "replace")
    if not isinstance(template, str) and table.is_file():
        template = read_json(table, _MAX_CONFIG).get("chat_template")
    return chat_of_template(template if isinstance(template, str) else "")
