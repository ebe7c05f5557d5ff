"""Pages of language models: GGUF, folders with safetensors, names."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from typing import TYPE_CHECKING

from fleet.cli.looking.inspecting.page import InspectedFile, InspectRequest, LanguageModel, Page
from fleet.cli.looking.inspecting.rows import listed
from fleet.errors import ModelError

if TYPE_CHECKING:
    from fleet.llm.config import ModelConfig


def gguf_file(page: Page, file: InspectedFile) -> None:
    """Show tensors by format, and the model that the header describes."""
    from fleet.llm.files.gguf import gguf_config
    from fleet.llm.files.gguf_file import GgufFile

    gguf = GgufFile(file.path)
    formats = Counter(gguf.format_of(name) for name in gguf.tensors)
    page.rows["tensors"] = [f"{len(gguf.tensors):,}: {', '.join(f'{n} {name}' for name, n in formats.most_common())}"]
    named = gguf.fields.get("general.name")
    if isinstance(named, str):
        page.rows["name"] = [named[:200]]
    page.facts |= {"tensors": len(gguf.tensors), "formats": dict(formats)}
    try:
        _config(page, gguf_config(gguf)[0])
    except ModelError as error:
        page.problem = error


def language_folder(page: Page, file: InspectedFile) -> None:
    """Show a folder with config.json, tokenizer and safetensors."""
    from fleet.llm.files.hugging_face import open_hugging_face

    try:
        _config(page, open_hugging_face(file.path).config)
    except ModelError as error:
        page.problem = error


def _config(page: Page, c: ModelConfig) -> None:
    """Show dimensions, weights, work per token, and the devices whose HBM holds the weights."""
    from fleet.isa.registry import instruction_sets
    from fleet.llm.weights import linear_names, weight_shapes

    shapes = weight_shapes(c)
    numbers = sum(math.prod(shape) for name, shape in shapes.items() if name != "head" or not c.tied)
    work = sum(math.prod(shapes[name]) for name in linear_names(c))
    page.rows["model"] = [
        f"{c.architecture}: {c.blocks} blocks of {c.channels} channels, {c.heads} heads ({c.kv_heads} of keys and values), "
        f"{c.ffn} hidden, {c.vocabulary:,} tokens, context {c.context:,}"
    ]
    page.rows["inputs"] = ["a prompt; tokens int32[N], N free up to the context"]
    page.rows["weights"] = [f"{numbers:,} numbers, {'head tied to the embedding' if c.tied else 'a head of its own'}"]
    page.rows["work"] = [f"{work:,} multiply-accumulates a token, without attention"]
    devices = [d for s in instruction_sets(tell=False).values() if s.tasks is not None for d in s.devices.values()]
    able = [d for d in devices if work // 2 <= d.memory.get("hbm", 0) * d.parameters.get("HbmPorts", 1)]
    page.rows["devices"] = [
        f"{d.name:<12} {'runs the blocks' if d in able else f'too small: {work // 2:,} bytes of weights'}" for d in devices
    ]
    page.facts |= {"config": vars(c) | {"eos": list(c.eos)}, "weight_numbers": numbers, "macs_per_token": work,
                   "devices": [{"device": d.name, "fits": d in able} for d in devices]}  # fmt: skip
    spec = shlex.quote(page.spec)
    ask = f'fleet generate --model {spec} --prompt "Hello" --tokens 4'
    chosen = min(able, key=lambda d: sum(d.memory.values()), default=None)
    page.commands = [
        f"fleet try {spec}",
        *([f"{ask} --engines vm,iss --device {chosen.name}"] if chosen else []),
        f"{ask} --engines vm",
    ]
    page.language = LanguageModel(numbers, chosen.name if chosen else None)
    page.facts["device"] = page.language.device


def safetensors_file(page: Page, file: InspectedFile) -> None:
    """Show the tensors of one file; a language model is the folder around it."""
    from fleet.llm.files.safetensors import read_header

    tensors = read_header(file.path)
    kinds = Counter(t.dtype for t in tensors.values())
    page.rows["tensors"] = listed([f"{name} {t.dtype}{list(t.shape)}" for name, t in tensors.items()])
    page.rows["weights"] = [f"{len(tensors):,} tensors: {', '.join(f'{n} {kind}' for kind, n in kinds.most_common())}"]
    page.facts["tensors"] = {name: {"dtype": t.dtype, "shape": list(t.shape)} for name, t in tensors.items()}
    folder = file.path.resolve().parent
    if (folder / "config.json").is_file():
        page.commands = [f"fleet inspect {shlex.quote(str(file.path.parent))}"]
    else:
        page.problem = ModelError(
            "holds weights alone", where=str(file.path), hint="a language model has config.json and tokenizer.json beside it"
        )


def named_model(asked: InspectRequest) -> Page | None:
    """Return the page of a language model that fleet knows by name ("tiny", "smollm2"), or None."""
    from fleet.llm.files.fetch import LANGUAGE_MODELS
    from fleet.llm.load import load_model

    if asked.spec not in LANGUAGE_MODELS and asked.spec != "tiny" and not asked.spec.startswith("tiny-"):
        return None
    page = Page(asked.spec, "language-model", "a language model")
    _config(page, load_model(asked.spec).weights.config)
    return page
