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
from fleet.llm.config import ModelConfig, Rope, check_sizes
from fleet.llm.files.families import ACTIVATIONS, FAMILIES, KEYS, NAMES, Draft, Family
from fleet.llm.files.naming import FileLayout, unknown_tensors, weights_from
from fleet.llm.files.rope import scaled
from fleet.llm.files.safetensors import TensorFolder, read_json
from fleet.llm.weights import ModelWeights

_MAX_CONFIG = 1 << 20
_COMPUTED = (
    "rotary_emb.inv_freq", "rotary_pos_emb.inv_freq", ".attn.bias", ".attn.masked_bias", ".attention.bias",
    ".attention.masked_bias",
)  # fmt: skip
"""Suffixes of tensor names that some checkpoints store although they follow from the configuration."""
_MIXTURES = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
_STRETCHED = ("rope_parameters", "rope_scaling")


def open_hugging_face(folder: Path) -> ModelWeights:
    """Return the weights in a folder.

    Raises:
        ModelError: files missing, truncated or contradictory, unknown architecture, invalid sizes.
    """
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
    content = read_json(path, _MAX_CONFIG)
    if not is_table(content):
        raise ModelError("is no JSON object", where=str(path))
    try:
        return _config(content, tensors)
    except ModelError as error:
        raise ModelError(error.what, where=str(path), hint=error.hint) from None


def _config(content: Mapping[str, Any], tensors: TensorFolder) -> tuple[ModelConfig, FileLayout]:
    kind = content.get("model_type")
    family = FAMILIES.get(kind) if isinstance(kind, str) else None
    if family is None:
        what = f"model_type is {kind!r:.40}, expected one of {', '.join(FAMILIES)}"
        if any(isinstance(content.get(key), int) for key in _MIXTURES):
            what = f"model_type is {kind!r:.40}, a mixture of experts: what is multiplied would depend on values"
        raise ModelError(what)
    for key, fine in family.expects.items():
        if content.get(key) not in fine:
            raise ModelError(f"{key} is {content.get(key)!r:.40}, expected {fine[0]!r}", hint="fleet would compute something else")
    draft = Draft(content, _fields(content, family), {"names": {**NAMES, **family.names}, **family.layout})
    draft.config["architecture"] = "chatglm2" if kind == "chatglm" else kind
    check_sizes(draft.config)
    if family.more is not None:
        family.more(draft)
    if draft.config.get("rotary") != 0:
        _rotate(draft)
    _window(draft)
    return _seen(draft, tensors)


def _fields(content: Mapping[str, Any], family: Family) -> dict[str, Any]:
    """Return the fields stated by keys. Raises ModelError if a value has the wrong type."""
    keys = {**KEYS, **family.keys}
    found: dict[str, Any] = {}
    optional = {"kv_heads", "head_channels", "ffn"}
    for name, key in keys.items():
        value = content.get(key) if key else None
        value = family.context if value is None and name == "context" else value
        if name == "activation":
            older = content.get("hidden_act")  # in gemma's first files "gelu" meant the form with tanh
            value = older if value is None and key == "hidden_activation" and older != "gelu" else value
            value = family.activation if value is None else value
            if not isinstance(value, str) or value not in ACTIVATIONS:
                raise ModelError(f"{key} is {value!r:.40}, expected {', '.join(ACTIVATIONS)}")
            found[name] = ACTIVATIONS[value]
        elif name == "norm_eps":
            if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
                raise ModelError(f"{key} is {value!r:.40}, expected a number")
            found[name] = (1e-6 if "rms" in key else 1e-5) if value is None else float(value)
        elif type(value) is int or (value is None and (name in optional)):
            found[name] = value
        else:
            raise ModelError(f"{key} is {value!r:.40}, expected int")
    heads = max(found["heads"], 1)
    found["kv_heads"] = found["kv_heads"] or heads
    found["head_channels"] = found["head_channels"] or found["channels"] // heads
    found["ffn"] = found["ffn"] or 4 * found["channels"]
    return found | dict(family.config)


def _rotate(draft: Draft) -> None:
    """Add the rotary embedding of heads."""
    content, c = draft.content, draft.config
    parameters: Any = next((content[key] for key in _STRETCHED if content.get(key) is not None), {})
    name = next((key for key in _STRETCHED if content.get(key) is not None), "rope_parameters")
    if not is_table(parameters):
        raise ModelError(f"{name} is {parameters!r:.80}, expected a table")
    kinds = _kinds(content)
    sets: dict[str, Mapping[str, Any]] = {k: v for k, v in parameters.items() if k.endswith("_attention") and is_table(v)}
    if not sets and "rope_local_base_freq" in content:  # as in the first files of gemma3
        sets = {"full_attention": parameters, "sliding_attention": {"rope_theta": content["rope_local_base_freq"]}}
        pattern = content.get("sliding_window_pattern", 6)
        if type(pattern) is not int or pattern < 1:
            raise ModelError(f"sliding_window_pattern is {pattern!r:.40}, expected a positive integer")
        kinds = kinds or ["sliding_attention" if (i + 1) % pattern else "full_attention" for i in range(c["blocks"])]
    first = sets.get("full_attention", next(iter(sets.values()), parameters))

    def stated(one: Mapping[str, Any], keys: tuple[str, ...], default: float) -> float:
        value = next((v for k in keys for v in (one.get(k), content.get(k)) if v is not None), default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ModelError(f"{keys[0]} is {value!r:.40}, expected a number")
        return float(value)

    part = stated(first, ("partial_rotary_factor", "rotary_pct", "rope_pct"), 1.0)
    if not 0 < part <= 1:
        raise ModelError(f"partial_rotary_factor is {part}, expected more than 0 and at most 1")
    width = content.get("rotary_dim") if isinstance(content.get("rotary_dim"), int) else int(c["head_channels"] * part)
    c["rotary"] = c.get("rotary", width)
    check_sizes(c)
    context = c["context"]
    made: list[tuple[Rope | None, float]] = []
    for one in sets.values() if sets else [parameters]:
        base = stated(one, ("rope_theta", "rotary_emb_base", "rope_base"), 10000.0)
        if not (1 < base <= 1e12) or c["rotary"] <= 0:
            c["rope_base"] = base
            return  # `ModelConfig` refuses it by name
        given = dict(one)
        given.setdefault("original_max_position_embeddings", content.get("original_max_position_embeddings"))
        rope, reach = scaled(given, base, c["rotary"], c["context"], name=name)
        context = min(context, reach)
        made.append((rope, base))
    c["context"], c["rope_base"] = context, made[0][1]
    plain = all(rope is None for rope, _ in made) and len({base for _, base in made}) == 1
    if not plain:
        c["ropes"] = tuple(rope or Rope.of_base(base, c["rotary"]) for rope, base in made)
    if not plain and sets:
        ways = list(sets)
        c["block_ropes"] = tuple(ways.index(kind) if kind in ways else 0 for kind in kinds)


def _kinds(content: Mapping[str, Any]) -> list[str]:
    """Return the kind of every block's attention, [] if none is stated. Raises ModelError for another kind."""
    kinds: Any = content.get("layer_types")
    if kinds is None:
        return []
    if not isinstance(kinds, list):
        raise ModelError(f"layer_types is {kinds!r:.40}, expected a list")
    if other := [k for k in kinds if k not in ("full_attention", "sliding_attention")]:
        raise ModelError(f"layer_types has {other[0]!r:.40}, expected full_attention or sliding_attention")
    return kinds


def _window(draft: Draft) -> None:
    """Limit the context to the positions within which blocks see everything."""
    content, c = draft.content, draft.config
    kinds = _kinds(content)
    window = content.get("sliding_window")
    used = content.get("use_sliding_window", not str(content.get("model_type")).startswith("qwen"))
    used = "sliding_attention" in kinds if kinds else used
    if used and window is not None:
        if type(window) is not int or window < 1:
            raise ModelError(f"sliding_window is {window!r:.40}, expected a positive integer")
        c["context"] = min(c["context"], window)


def _seen(draft: Draft, tensors: TensorFolder) -> tuple[ModelConfig, FileLayout]:
    """Add fields derived from the tensors: biases, and whether the head is the embedding."""
    content, c = draft.content, draft.config
    layout = FileLayout(**draft.layout, factors=draft.factors)

    def bias(name: str) -> bool:
        stored = f"{layout.stored(name)}.bias"
        return stored in tensors.shapes or stored.partition(".")[2] in tensors.shapes

    tied = content.get("tie_word_embeddings")
    if tied is not None and type(tied) is not bool:
        raise ModelError(f"tie_word_embeddings is {tied!r:.40}, expected bool")
    c.setdefault("tied", f"{layout.names['head']}.weight" not in tensors.shapes if tied is None else tied)
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
