"""Writes a model as llama.cpp's converter does, with package `gguf`, without a tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fleet.llm.files.gguf_families import layout_of
from fleet.llm.files.naming import FileLayout, stored_arrays
from fleet.llm.files.tiny_files import describe
from fleet.llm.weights import ModelWeights

gguf: Any = pytest.importorskip("gguf", reason="package gguf is not installed (extra llm)")
FUSED = ("gptneox", "falcon", "starcoder", "phi3", "gpt2")


def write_plain_gguf(
    path: Path, weights: ModelWeights, architecture: str, fields: Mapping[str, Any] | None = None,
    factors: Mapping[str, float] | None = None, tensors: Mapping[str, np.ndarray] | None = None,
) -> None:  # fmt: skip
    """Write the weights in float32.

    fields: more of them, by key without the architecture; factors: that readers multiply stored weights by; tensors: more of them.
    """
    c = weights.config
    writer = gguf.GGUFWriter(str(path), architecture)
    describe(writer, c)
    writer.add_vocab_size(c.vocabulary)
    writer.add_key_length(c.head_channels)
    writer.add_value_length(c.head_channels)
    for key, value in (fields or {}).items():
        kinds = {bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32, str: writer.add_string}
        kinds[type(value)](f"{architecture}.{key}", value)
    layout = layout_of(architecture, fused=architecture in FUSED)
    if c.parallel == "two" and architecture == "falcon":
        names = {**layout.names, "norm1": "attn_norm_2", "norm2": "attn_norm"}
        layout = FileLayout(names, halves=layout.halves)
    has_betas = any(name.endswith("norm1.beta") for name in weights)
    layout = FileLayout(
        layout.names, halves=layout.halves, factors=factors or {}, norms=architecture != "olmo",
        norm_biases=has_betas and architecture not in {"olmo", "command-r", "cohere2"},
    )  # fmt: skip
    for name, array in {**stored_arrays(weights, c, layout), **(tensors or {})}.items():
        writer.add_tensor(name, np.ascontiguousarray(array))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
