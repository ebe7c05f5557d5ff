"""What is said of models that are not read: why, and what to do, in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_families import STORED, written

from fleet.errors import ModelError
from fleet.llm.files.families import FAMILIES
from fleet.llm.files.gguf_families import FAMILIES as GGUF_FAMILIES
from fleet.llm.files.hugging_face import open_hugging_face
from fleet.llm.files.unread import unread_family


def said(folder: Path, **changes: Any) -> str:
    path = written("llama", folder) / "config.json"
    path.write_text(json.dumps(STORED["models"]["llama"]["config"] | changes))
    with pytest.raises(ModelError) as caught:
        open_hugging_face(folder)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value).replace(str(folder), "")) < 260
    return str(caught.value)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"quantization_config": {"quant_method": "gptq", "bits": 4}},
            "the weights are quantised (gptq), expected F64, F32, F16 or BF16",
        ),
        ({"quantization_config": {"quant_method": "fp8"}}, "the weights are quantised (fp8)"),
        ({"model_type": "mamba"}, "model_type is 'mamba', a model with states in place of a cache of keys and values"),
        ({"model_type": "t5"}, "an encoder, alone or before a decoder"),
        ({"model_type": "qwen9", "num_experts": 8}, "model_type is 'qwen9', a mixture of experts"),
        ({"model_type": "lama"}, "which is not one of the 35 supported families; the nearest are llama"),
        ({"model_type": "starcoder"}, "which fleet reads from a GGUF file"),
        ({"model_type": 3}, "model_type is 3, expected the name of a family"),
    ],
)
def test_a_folder_says_why(changes: dict[str, Any], says: str, tmp_path: Path) -> None:
    assert says in said(tmp_path, **changes)


def test_quantised_tensors_are_not_opened_first(tmp_path: Path) -> None:
    """FP8 is no dtype that the reader knows; the configuration says more."""
    written("llama", tmp_path)
    path = tmp_path / "model.safetensors"
    path.write_bytes(path.read_bytes().replace(b'"F32"', b'"F8_"', 1))
    content = json.loads((tmp_path / "config.json").read_text()) | {"quantization_config": {"quant_method": "fp8"}}
    (tmp_path / "config.json").write_text(json.dumps(content))
    with pytest.raises(ModelError, match=r"quantised \(fp8\)"):
        open_hugging_face(tmp_path)


def test_pickled_tensors_are_said_to_be_converted(tmp_path: Path) -> None:
    written("llama", tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"tensors that Python pickled.*save_pretrained\(folder\)"):
        open_hugging_face(tmp_path)


@pytest.mark.parametrize("name", ["qwen2moe", "qwen3moe", "deepseek2", "gpt-oss", "llama4"])
def test_a_gguf_mixture_is_called_one(name: str) -> None:
    assert "a mixture of experts" in str(unread_family("general.architecture", name, GGUF_FAMILIES, {}))


def test_families_that_are_read_are_no_reason() -> None:
    """But Gemma 2, whose caps may be switched off in a folder, and Gemma 3, whose GGUF files have the text alone."""
    for read in (FAMILIES, GGUF_FAMILIES):
        said = {name: str(unread_family("general.architecture", name, read, {})) for name in read}
        assert {name for name, text in said.items() if "does not compute" in text} <= {"gemma2", "gemma3"}
