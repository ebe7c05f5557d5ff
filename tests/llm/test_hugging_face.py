"""Hugging Face folders: read bit for bit, as other programs write them; damage is one line."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.errors import ModelError
from fleet.llm.config import ARCHITECTURES
from fleet.llm.files.hugging_face import open_hugging_face
from fleet.llm.files.safetensors import TensorFolder, write_safetensors
from fleet.llm.files.tiny_files import write_hugging_face
from fleet.llm.reference import forward
from fleet.llm.tiny import tiny_model


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("files", [1, 3])
def test_every_architecture_comes_back_bit_for_bit(tmp_path: Path, architecture: str, files: int) -> None:
    model = tiny_model(architecture)
    write_hugging_face(tmp_path, model, files=files)
    weights = open_hugging_face(tmp_path)
    assert weights.config == model.config
    for name, array in model.items():
        np.testing.assert_array_equal(weights[name], array, err_msg=name)


def test_the_rotary_base_is_found_where_newer_files_have_it(tmp_path: Path) -> None:
    write_hugging_face(tmp_path, tiny_model())
    path = tmp_path / "config.json"
    content = json.loads(path.read_text())
    del content["rope_theta"]
    path.write_text(json.dumps(content | {"rope_parameters": {"rope_type": "default", "rope_theta": 1e6}}))
    assert open_hugging_face(tmp_path).config == tiny_model().config


def test_llama_is_stored_in_halves_under_the_known_names(tmp_path: Path) -> None:
    """An independent reading: the raw tensors in their own order give the same logits."""
    import dataclasses

    model = tiny_model()
    write_hugging_face(tmp_path, model)
    raw = TensorFolder(tmp_path)
    names = {"embedding": "model.embed_tokens.weight", "norm.gamma": "model.norm.weight"}
    arrays = {name: raw.read(stored) for name, stored in names.items()}
    for i in range(2):
        b, layer = f"blocks.{i}", f"model.layers.{i}"
        arrays[f"{b}.norm1.gamma"] = raw.read(f"{layer}.input_layernorm.weight")
        arrays[f"{b}.norm2.gamma"] = raw.read(f"{layer}.post_attention_layernorm.weight")
        for kind in "qkvo":
            arrays[f"{b}.attention.{kind}"] = raw.read(f"{layer}.self_attn.{kind}_proj.weight").T
        for kind in ("gate", "up", "down"):
            arrays[f"{b}.ffn.{kind}"] = raw.read(f"{layer}.mlp.{kind}_proj.weight").T
    arrays["head"] = arrays["embedding"].T
    tokens = [9, 8, 7, 9, 8]
    split = dataclasses.replace(model.config, rope_interleaved=False)
    np.testing.assert_allclose(forward(split, arrays, tokens), forward(model.config, dict(model), tokens), rtol=1e-3, atol=1e-3)


def test_the_packages_own_files_are_read(tmp_path: Path) -> None:
    package: Any = pytest.importorskip("safetensors.numpy", reason="package safetensors is not installed")
    arrays = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.ones((4,), np.float16), "c": np.full((1, 2), 1e300)}
    package.save_file(arrays, tmp_path / "model.safetensors", metadata={"format": "pt"})
    folder = TensorFolder(tmp_path)
    assert dict(folder.shapes) == {"a": (2, 3), "b": (4,), "c": (1, 2)}
    np.testing.assert_array_equal(folder.read("a"), arrays["a"])
    np.testing.assert_array_equal(folder.read("b"), np.ones(4))
    assert np.isinf(folder.read("c")).all()  # refused as a weight
    write_safetensors(tmp_path / "ours.safetensors", {"x": arrays["a"]})
    np.testing.assert_array_equal(package.load_file(tmp_path / "ours.safetensors")["x"], arrays["a"])


def test_bfloat16_is_the_upper_half_of_float32(tmp_path: Path) -> None:
    header = json.dumps({"x": {"dtype": "BF16", "shape": [3], "data_offsets": [0, 6]}}).encode()
    data = struct.pack("<HHH", 0x3F80, 0xC040, 0x0001)  # 1, -3, the least subnormal
    (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + data)
    np.testing.assert_array_equal(TensorFolder(tmp_path).read("x"), np.array([1, -3, 2.0**-133], np.float32))


def refused(folder: Path, says: str) -> None:
    with pytest.raises(ModelError) as caught:
        dict(open_hugging_face(folder))
    text = str(caught.value)
    assert text.startswith(str(folder))
    assert "\n" not in text
    assert says in text, text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"model_type": "mamba"}, "model_type is 'mamba'"),
        ({"model_type": None}, "model_type is None"),
        ({"hidden_act": "tanh"}, "hidden_act is 'tanh', expected silu"),
        ({"rope_scaling": {"type": "yarn"}}, "rope_scaling.factor is None, expected a positive number"),
        ({"rope_scaling": {"type": "ntk"}}, "rope_scaling is 'ntk', expected default, linear"),
        ({"rope_parameters": {"rope_type": "llama3", "factor": -1}}, "rope_parameters.factor is -1"),
        ({"rope_parameters": {"rope_type": "longrope", "short_factor": [1, 2]}}, "short_factor has 2 numbers, expected 32"),
        ({"sliding_window": "all"}, "sliding_window is 'all'"),
        ({"layer_types": ["full_attention", "linear_attention"]}, "layer_types has 'linear_attention'"),
        ({"model_type": "mixtral", "num_local_experts": 8}, "a mixture of experts"),
        ({"rope_parameters": 3}, "rope_parameters is"),
        ({"num_hidden_layers": 3}, "model.layers.2.input_layernorm.weight is missing"),
        ({"num_hidden_layers": 1}, "is not known"),
        ({"num_hidden_layers": 1 << 80}, "blocks is"),
        ({"num_hidden_layers": "2"}, "num_hidden_layers is '2'"),
        ({"hidden_size": 64}, "has shape"),
        ({"num_attention_heads": 0}, "heads is 0"),
        ({"rms_norm_eps": float("nan")}, "norm_eps is nan"),
        ({"tie_word_embeddings": False}, "lm_head.weight is missing"),
        ({"eos_token_id": [2, "x"]}, "eos is 'x'"),
    ],
)
def test_a_wrong_configuration_is_named(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    write_hugging_face(tmp_path, tiny_model())
    path = tmp_path / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    refused(tmp_path, says)


def test_an_index_may_not_point_outside_the_folder(tmp_path: Path) -> None:
    write_hugging_face(tmp_path / "m", tiny_model(), files=2)
    path = tmp_path / "m" / "model.safetensors.index.json"
    index = json.loads(path.read_text())
    for outside in ("../other.safetensors", "/etc/passwd", "a\\b.safetensors", "x.bin", "a\0.safetensors"):
        path.write_text(json.dumps({"weight_map": index["weight_map"] | {"model.norm.weight": outside}}))
        refused(tmp_path / "m", "in the same folder")
    path.write_text(json.dumps({"weight_map": index["weight_map"] | {"model.norm.weight": "gone.safetensors"}}))
    refused(tmp_path / "m", "gone.safetensors: cannot be read")
    path.write_text('{"weight_map": 3}')
    refused(tmp_path / "m", "weight_map")


def test_files_that_are_damaged_are_refused(tmp_path: Path) -> None:
    write_hugging_face(tmp_path, tiny_model())
    path = tmp_path / "model.safetensors"
    good = path.read_bytes()
    for cut in (0, 4, 8, 100, len(good) // 2, len(good) - 1):
        path.write_bytes(good[:cut])
        refused(tmp_path, "model.safetensors")
    path.write_bytes(struct.pack("<Q", 1 << 62) + good[8:])
    refused(tmp_path, "announces a header of")
    path.write_bytes(good.replace(b'"F32"', b'"F8_"', 1))
    refused(tmp_path, "is of type 'F8_'")
    deep = b"[" * 100_000
    path.write_bytes(struct.pack("<Q", len(deep)) + deep)
    refused(tmp_path, "JSON")
    path.unlink()
    refused(tmp_path, "holds neither")
    path.write_bytes(good)
    (tmp_path / "config.json").write_bytes(b"\xff\xfe")
    refused(tmp_path, "JSON")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 3000), st.binary(min_size=1, max_size=12))
def test_changed_bytes_never_give_anything_but_a_model_error(tmp_path: Path, at: int, data: bytes) -> None:
    path = tmp_path / "model.safetensors"
    if not (tmp_path / "good").exists():
        write_hugging_face(tmp_path, tiny_model())
        (tmp_path / "good").write_bytes(path.read_bytes())
    good = (tmp_path / "good").read_bytes()
    path.write_bytes(good[:at] + data + good[at + len(data) :])
    said = ""
    try:
        open_hugging_face(tmp_path)["norm.gamma"]
    except ModelError as error:
        said = str(error)
    assert "\n" not in said


def test_files_whose_index_was_left_behind_are_read_where_they_are_whole(tmp_path: Path) -> None:
    write_hugging_face(tmp_path / "parts", tiny_model(), files=2)
    (tmp_path / "parts" / "model.safetensors.index.json").unlink()
    write_hugging_face(tmp_path / "one", tiny_model())
    (tmp_path / "one" / "model.safetensors").rename(tmp_path / "one" / "weights.safetensors")
    for name in ("parts", "one"):
        assert open_hugging_face(tmp_path / name).keys() == tiny_model().keys()
    next((tmp_path / "parts").glob("*.safetensors")).unlink()
    refused(tmp_path / "parts", "1 .safetensors file is not a whole set")


@pytest.mark.parametrize("beside", ["jinja", "json", "list", "list without default"])
def test_templates_are_found_where_files_have_them(tmp_path: Path, beside: str) -> None:
    write_hugging_face(tmp_path, tiny_model())
    table = tmp_path / "tokenizer_config.json"
    template = json.loads(table.read_text())["chat_template"]
    table.write_text("{}")
    match beside:
        case "jinja":
            (tmp_path / "chat_template.jinja").write_text(template)
        case "json":
            (tmp_path / "chat_template.json").write_text(json.dumps({"chat_template": template}))
        case _:
            name = "default" if beside == "list" else ["tool_use"]
            table.write_text(
                json.dumps({"chat_template": [1, {"name": "rag", "template": "x"}, {"name": name, "template": template}]})
            )
    assert open_hugging_face(tmp_path).config.chat == ("plain" if beside == "list without default" else "chatml")
