"""GGUF files: what the package writes is read; what is damaged is one line, in bounded time."""

from __future__ import annotations

import struct
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fleet.errors import ModelError
from fleet.llm.config import ARCHITECTURES
from fleet.llm.files.gguf import open_gguf
from fleet.llm.files.gguf_file import GgufFile
from fleet.llm.files.tiny_files import write_gguf
from fleet.llm.reference import forward
from fleet.llm.tiny import tiny_model
from fleet.llm.weights import interleaved_order

gguf: Any = pytest.importorskip("gguf", reason="package gguf is not installed (extra llm)")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    write_gguf(path, tiny_model())
    return path


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_architecture_comes_back_bit_for_bit(tmp_path: Path, architecture: str) -> None:
    model = tiny_model(architecture)
    write_gguf(tmp_path / "m.gguf", model)
    weights, _ = open_gguf(tmp_path / "m.gguf")
    assert weights.config == model.config
    assert list(weights) == list(model)
    for name, array in model.items():
        np.testing.assert_array_equal(weights[name], array, err_msg=name)


@pytest.mark.parametrize("form", ["F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_1"])
def test_quantised_forms_are_read_as_the_package_reads_them(tmp_path: Path, form: str) -> None:
    path = tmp_path / "m.gguf"
    write_gguf(path, tiny_model(), form=form)
    ours = GgufFile(path)
    tensors = {t.name: t for t in gguf.GGUFReader(path).tensors}
    assert ours.tensors.keys() == tensors.keys()
    for name, tensor in tensors.items():
        expected = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        np.testing.assert_array_equal(ours.read(name), expected, err_msg=name)
    assert ours.format_of("blk.0.attn_q.weight") == form
    assert ours.format_of("output_norm.weight") == "F32"
    weights, _ = open_gguf(path)
    tokens = [70, 71, 72, 73, 70, 71, 72]
    assert int(forward(weights.config, dict(weights), tokens)[-1].argmax()) == 73


def test_names_and_order_are_those_that_other_programs_expect(tmp_path: Path, whole: Path) -> None:
    """Literal: llama's q as it is, qwen2's in halves; a fused tensor has q, k, v one below the other."""
    model = tiny_model()
    raw = {t.name: np.asarray(t.data) for t in gguf.GGUFReader(whole).tensors}
    np.testing.assert_array_equal(raw["blk.1.attn_q.weight"], model["blocks.1.attention.q"].T)
    assert "output.weight" not in raw  # tied
    model = tiny_model("qwen2")
    write_gguf(tmp_path / "q.gguf", model)
    raw = {t.name: np.asarray(t.data) for t in gguf.GGUFReader(tmp_path / "q.gguf").tensors}
    np.testing.assert_array_equal(raw["blk.0.attn_k.weight"].T[:, interleaved_order(1, 64, 64)], model["blocks.0.attention.k"])
    np.testing.assert_array_equal(raw["blk.0.attn_k.bias"][[0, 32, 1, 33]], model["blocks.0.attention.k.bias"][:4])
    model = tiny_model("chatglm2")
    write_gguf(tmp_path / "c.gguf", model)
    raw = {t.name: np.asarray(t.data) for t in gguf.GGUFReader(tmp_path / "c.gguf").tensors}
    np.testing.assert_array_equal(raw["blk.0.attn_qkv.weight"][128:192], model["blocks.0.attention.k"].T)
    np.testing.assert_array_equal(raw["blk.0.ffn_up.weight"][256:], model["blocks.0.ffn.up"].T)


def refused(path: Path) -> str:
    start = time.monotonic()
    with pytest.raises(ModelError) as caught:
        dict(open_gguf(path)[0])
    assert time.monotonic() - start < 5
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(str(path))
    return text


@pytest.mark.parametrize("part", [0, 3, 4, 8, 20, 24, 100, 0.1, 0.5, 0.9999])
def test_a_file_cut_short_is_refused(tmp_path: Path, whole: Path, part: float) -> None:
    data = whole.read_bytes()
    (tmp_path / "cut.gguf").write_bytes(data[: part if isinstance(part, int) else int(len(data) * part)])
    refused(tmp_path / "cut.gguf")


def changed(whole: Path, to: Path, before: bytes, after: bytes) -> Path:
    data = whole.read_bytes()
    assert before in data
    at = data.index(before)
    to.write_bytes(data[:at] + after + data[at + len(after) :])
    return to


def entry(key: str, form: str, value: float) -> bytes:
    kind = {"I": 4, "f": 6}[form]
    return struct.pack("<Q", len(key)) + key.encode() + struct.pack(f"<I{form}", kind, value)


@pytest.mark.parametrize(
    ("key", "old", "new", "says"),
    [
        ("llama.block_count", 2, 3, "blk.2.attn_norm.weight is missing"),
        ("llama.block_count", 2, 1, "blk.1.attn_k.weight is not known"),
        ("llama.block_count", 2, 4_000_000_000, "blocks is 4000000000"),
        ("llama.embedding_length", 128, 256, "has shape"),
        ("llama.attention.head_count", 2, 0, "head_count is 0"),
        ("llama.attention.head_count", 2, 3, "head_count is 3"),
        ("llama.attention.head_count_kv", 1, 2, "attn_k.weight has shape"),
        ("llama.feed_forward_length", 256, 4_294_967_295, "ffn is 4294967295"),
        ("llama.context_length", 512, 0, "context is 0"),
        ("llama.rope.dimension_count", 64, 63, "rotary is 63"),
        ("tokenizer.ggml.eos_token_id", 2, 320, "eos is 320"),
    ],
)
def test_sizes_that_do_not_fit_name_field_or_tensor(tmp_path: Path, whole: Path, key: str, old: int, new: int, says: str) -> None:
    text = refused(changed(whole, tmp_path / "bad.gguf", entry(key, "I", old), entry(key, "I", new)))
    assert says in text


def test_other_damage_is_named(tmp_path: Path, whole: Path) -> None:
    bad = tmp_path / "bad.gguf"
    assert "'mamba', a model with states in place of a cache" in refused(
        changed(whole, bad, b"\x05\0\0\0\0\0\0\0llama", b"\x05\0\0\0\0\0\0\0mamba")
    )
    assert "twice" in refused(changed(whole, bad, b"blk.0.attn_k.weight", b"blk.0.attn_q.weight"))
    assert "not UTF-8" in refused(changed(whole, bad, b"blk.0.attn_k.weight", b"blk.0.attn_\xff.weight"))
    assert "version 7" in refused(changed(whole, bad, b"GGUF\x03\0\0\0", b"GGUF\x07\0\0\0"))
    model = tiny_model()
    broken = dict(model)
    broken["blocks.0.ffn.up"] = np.where(broken["blocks.0.ffn.up"] > 3, np.inf, broken["blocks.0.ffn.up"])
    broken["blocks.0.ffn.up"][0, 0] = np.nan
    write_gguf(bad, model.replaced({}, "as it is"))
    data, q = bad.read_bytes(), model["blocks.0.ffn.up"].T.tobytes()
    bad.write_bytes(data.replace(q, broken["blocks.0.ffn.up"].T.tobytes()))
    assert "blocks.0.ffn.up holds nan at [0, 0]" in refused(bad)
    assert "cannot be read" in refused(tmp_path)
    assert "cannot be read" in refused(tmp_path / "nothing.gguf")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 9000), st.binary(min_size=1, max_size=16))
@example(8, struct.pack("<QQ", 1 << 63, 1 << 63))
@example(16, struct.pack("<Q", 1 << 40))
@example(24, struct.pack("<Q", (1 << 64) - 1))
@example(48, b"\0\0\0\n\t")
def test_changed_bytes_never_give_anything_but_a_model_error(tmp_path: Path, whole: Path, at: int, data: bytes) -> None:
    good = whole.read_bytes()
    path = tmp_path / "fuzz.gguf"
    path.write_bytes(good[:at] + data + good[at + len(data) :])
    start, said = time.monotonic(), str(path)
    try:
        weights, _ = open_gguf(path)
        weights["blocks.0.attention.q"]
    except ModelError as error:
        said = str(error)
    assert said.startswith(str(path))
    assert "\n" not in said
    assert time.monotonic() - start < 5


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=400), st.booleans())
def test_random_bytes_are_refused(tmp_path: Path, data: bytes, magic: bool) -> None:
    path = tmp_path / "random.gguf"
    path.write_bytes((b"GGUF\x03\0\0\0" if magic else b"") + data)
    refused(path)
