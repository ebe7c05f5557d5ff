"""Language models in Hugging Face's layout: a folder with config.json and *.safetensors; llama, qwen2, chatglm (2) and gpt2.

A safetensors file is the length of a JSON header (8 bytes), the header, and the tensors' bytes. It is read here: NumPy has no
bfloat16, in which most checkpoints are. Nothing in the folder is executed.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from fleet.errors import ModelError
from fleet.llm.config import ModelConfig
from fleet.llm.naming import Part, hugging_face_parts, weights_from
from fleet.llm.weights import ModelWeights

__all__ = ["TensorFolder", "hugging_face_config", "open_hugging_face", "write_safetensors"]

_DTYPES: Mapping[str, str] = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
_MAX_HEADER, _MAX_CONFIG, _MAX_FILES, _MAX_DIMENSIONS = 1 << 26, 1 << 20, 1024, 8
_SINGLE, _INDEX = "model.safetensors", "model.safetensors.index.json"
_COMPUTED = (".rotary_emb.inv_freq", "rotary_pos_emb.inv_freq", ".attn.bias", ".attn.masked_bias")
"""Tensors that some checkpoints store though they follow from the configuration."""
T = TypeVar("T")


class _Tensor(NamedTuple):
    path: Path
    dtype: str
    shape: tuple[int, ...]
    offset: int
    nbytes: int


def _json(path: Path, most: int) -> dict[str, Any]:
    try:
        if path.stat().st_size > most:
            raise ModelError(f"is larger than {most:,} bytes", where=str(path))
        return _object(path.read_bytes(), str(path))
    except OSError as error:
        raise ModelError(f"cannot be read ({error.strerror or error})", where=str(path)) from error


def _object(data: bytes, place: str) -> dict[str, Any]:
    try:
        content = json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise ModelError(f"its JSON text is wrong ({' '.join(str(error).split())[:80]})", where=place) from None
    if not isinstance(content, dict):
        raise ModelError("its JSON text is no object", where=place)
    return content


def _header(path: Path) -> dict[str, _Tensor]:
    """What is where in one file, everything checked against its size."""
    place = str(path)
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if size < 8 or length > min(size - 8, _MAX_HEADER):
                raise ModelError(
                    f"announces a header of {length:,} bytes in a file of {size:,}", where=place, hint="the file is damaged"
                )
            content = _object(file.read(length), place)
    except OSError as error:
        raise ModelError(f"cannot be read ({error.strerror or error})", where=place) from error
    content.pop("__metadata__", None)
    tensors: dict[str, _Tensor] = {}
    for name, entry in content.items():
        match entry:
            case {"dtype": str(dtype), "shape": [*shape], "data_offsets": [int(start), int(end)]} if (
                len(shape) <= _MAX_DIMENSIONS
                and all(type(n) is int and 0 <= n < 1 << 40 for n in shape)
                and 0 <= start <= end <= size - 8 - length
            ):
                tensors[name] = _Tensor(path, dtype, tuple(shape), 8 + length + start, end - start)
            case _:
                raise ModelError(
                    f"tensor {name!r:.80} is described by {entry!r:.100}, expected dtype, shape and offsets within the file",
                    where=place,
                    hint="the file is damaged or cut",
                )
    return tensors


class TensorFolder:
    """The tensors of a folder's safetensors files.

    Attributes:
        place: the folder, for messages.
        shapes: by name.
    """

    def __init__(self, folder: Path) -> None:
        """Reads the headers. Raises ModelError, naming file and reason."""
        self.place = str(folder)
        self._tensors: dict[str, _Tensor] = {}
        self.files = self._files(folder)
        for path in self.files:
            self._tensors.update(_header(path))
        self.shapes: Mapping[str, tuple[int, ...]] = {name: tensor.shape for name, tensor in self._tensors.items()}

    def _files(self, folder: Path) -> list[Path]:
        if (folder / _SINGLE).is_file():
            return [folder / _SINGLE]
        if not (folder / _INDEX).is_file():
            raise ModelError(f"holds neither {_SINGLE} nor {_INDEX}", where=self.place, hint="name a GGUF file or such a folder")
        index = _json(folder / _INDEX, _MAX_HEADER)
        names = index.get("weight_map")
        if not isinstance(names, dict) or not all(isinstance(n, str) for n in names.values()):
            raise ModelError("weight_map is missing or no table of file names", where=str(folder / _INDEX))
        files = sorted(set(names.values()))
        if len(files) > _MAX_FILES:
            raise ModelError(f"names {len(files)} files, expected at most {_MAX_FILES}", where=str(folder / _INDEX))
        for name in files:
            if not name.endswith(".safetensors") or "/" in name or "\\" in name or "\0" in name:
                raise ModelError(
                    f"names file {name!r:.80}, expected a .safetensors file in the same folder", where=str(folder / _INDEX)
                )
        return [folder / name for name in files]

    def renamed(self, name: Callable[[str], str]) -> TensorFolder:
        """Uses other names: some checkpoints have a prefix, others have not."""
        self._tensors = {name(stored): tensor for stored, tensor in self._tensors.items()}
        self.shapes = {stored: tensor.shape for stored, tensor in self._tensors.items()}
        return self

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def read(self, name: str) -> np.ndarray:
        """The tensor, float32. Raises ModelError for another dtype, or when the file has changed since."""
        tensor = self._tensors[name]
        place = str(tensor.path)
        if tensor.dtype not in _DTYPES:
            raise ModelError(f"tensor {name} is of type {tensor.dtype!r:.20}, expected {', '.join(_DTYPES)}", where=place)
        dtype = np.dtype(_DTYPES[tensor.dtype])
        if math.prod(tensor.shape) * dtype.itemsize != tensor.nbytes:
            raise ModelError(
                f"tensor {name} {tensor.dtype}{list(tensor.shape)} has {tensor.nbytes:,} bytes", where=place, hint="it is damaged"
            )
        try:
            with tensor.path.open("rb") as file:
                file.seek(tensor.offset)
                data = file.read(tensor.nbytes)
        except OSError as error:
            raise ModelError(f"cannot be read ({error.strerror or error})", where=place) from error
        if len(data) != tensor.nbytes:
            raise ModelError(f"ends inside tensor {name}", where=place)
        array = np.frombuffer(data, dtype)
        if tensor.dtype == "BF16":  # the upper half of a binary32
            array = (array.astype(np.uint32) << 16).view(np.float32)
        with np.errstate(over="ignore"):
            return array.astype(np.float32).reshape(tensor.shape)

    def digest(self) -> str:
        """SHA-256 (hex) over the files."""
        total = hashlib.sha256()
        for path in self.files:
            with path.open("rb") as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
        return total.hexdigest()


def open_hugging_face(folder: Path) -> ModelWeights:
    """The weights in a folder.

    Raises:
        ModelError: files missing, cut short or contradicting each other, another architecture, sizes that cannot be.
    """
    tensors = TensorFolder(folder)
    config = hugging_face_config(folder / "config.json", tensors)
    if config.architecture == "gpt2":
        tensors.renamed(lambda name: name.removeprefix("transformer."))
    parts: Mapping[str, Part] = hugging_face_parts(config)
    weights = weights_from(tensors, config, parts)
    used = {part.stored for part in parts.values()}
    unknown = sorted(name for name in tensors.shapes if name not in used and not name.endswith(_COMPUTED))
    if config.tied:
        unknown = [name for name in unknown if name != "lm_head.weight"]  # the same numbers again
    if unknown:
        raise ModelError(
            f"tensor {unknown[0]!s:.80} is not known in a {config.architecture} model: fleet would compute something else",
            where=str(folder),
        )
    return weights


def hugging_face_config(path: Path, tensors: TensorFolder) -> ModelConfig:
    """The shape that a config.json gives. Raises ModelError naming the field."""
    content = _json(path, _MAX_CONFIG)

    def get(key: str, kind: type[T], default: T | None = None) -> T:
        value = content.get(key)
        if value is None and default is not None:
            return default
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise ModelError(f"{key} is {value!r:.40}, expected {kind.__name__}", where=str(path))
        return value

    def refuse(key: str, *fine: object) -> None:
        value = content.get(key)
        if value is not None and value not in fine:
            raise ModelError(
                f"{key} is {value!r:.40}, expected {fine[0]!r}", where=str(path), hint="fleet would compute something else"
            )

    kind = get("model_type", str)
    tokens = {"bos": content.get("bos_token_id"), "eos": content.get("eos_token_id")}
    eos = tokens["eos"] if isinstance(tokens["eos"], list) else [] if tokens["eos"] is None else [tokens["eos"]]
    try:
        match kind:
            case "llama" | "qwen2":
                config = _llama_config(kind, get, refuse)
            case "chatglm":
                config = _chatglm_config(get, refuse)
            case "gpt2":
                config = _gpt2_config(get, refuse)
            case _:
                raise ModelError(f"model_type is {kind!r:.40}, expected llama, qwen2, chatglm or gpt2")
        if kind != "chatglm" and content.get("tie_word_embeddings") is None:
            config = replace(config, tied="lm_head.weight" not in tensors)  # each family has a default of its own
        return replace(config, bos=tokens["bos"], eos=tuple(eos))
    except ModelError as error:
        raise ModelError(error.what, where=str(path), hint=error.hint) from None


_Get = Callable[..., Any]
_Refuse = Callable[..., None]


def _llama_config(kind: str, get: _Get, refuse: _Refuse) -> ModelConfig:
    refuse("hidden_act", "silu")
    refuse("rope_scaling", None)
    refuse("use_sliding_window", False)
    refuse("attention_bias", False)
    refuse("mlp_bias", False)
    channels, heads = get("hidden_size", int), get("num_attention_heads", int)
    return ModelConfig(
        kind,
        blocks=get("num_hidden_layers", int),
        channels=channels,
        heads=heads,
        kv_heads=get("num_key_value_heads", int, heads),
        head_channels=get("head_dim", int, channels // max(heads, 1)),
        ffn=get("intermediate_size", int),
        vocabulary=get("vocab_size", int),
        context=get("max_position_embeddings", int),
        rotary=get("head_dim", int, channels // max(heads, 1)),
        rope_base=get("rope_theta", float, 10000.0),
        norm_eps=get("rms_norm_eps", float, 1e-6),
        tied=get("tie_word_embeddings", bool, False),
        qkv_bias=kind == "qwen2",
    )


def _chatglm_config(get: _Get, refuse: _Refuse) -> ModelConfig:
    refuse("rmsnorm", True)
    refuse("add_bias_linear", False)
    refuse("apply_residual_connection_post_layernorm", False)
    refuse("tie_word_embeddings", False)
    refuse("rope_ratio", 1, 1.0)
    heads, head_channels = get("num_attention_heads", int), get("kv_channels", int)
    return ModelConfig(
        "chatglm2",
        blocks=get("num_layers", int),
        channels=get("hidden_size", int),
        heads=heads,
        kv_heads=get("multi_query_group_num", int) if get("multi_query_attention", bool, False) else heads,
        head_channels=head_channels,
        ffn=get("ffn_hidden_size", int),
        vocabulary=get("padded_vocab_size", int),
        context=get("seq_length", int),
        rotary=head_channels // 2,
        norm_eps=get("layernorm_epsilon", float, 1e-5),
        qkv_bias=get("add_qkv_bias", bool, False),
    )


def _gpt2_config(get: _Get, refuse: _Refuse) -> ModelConfig:
    refuse("activation_function", "gelu_new", "gelu_pytorch_tanh")
    refuse("scale_attn_by_inverse_layer_idx", False)
    refuse("scale_attn_weights", True)
    channels, heads = get("n_embd", int), get("n_head", int)
    return ModelConfig(
        "gpt2",
        blocks=get("n_layer", int),
        channels=channels,
        heads=heads,
        kv_heads=heads,
        head_channels=channels // max(heads, 1),
        ffn=get("n_inner", int, 4 * channels),
        vocabulary=get("vocab_size", int),
        context=get("n_positions", int),
        rotary=0,
        norm="layer",
        norm_eps=get("layer_norm_epsilon", float, 1e-5),
        tied=get("tie_word_embeddings", bool, True),
        qkv_bias=True,
        linear_bias=True,
        activation="gelu",
        gated=False,
    )


def write_safetensors(path: Path, tensors: Mapping[str, np.ndarray]) -> None:
    """Writes float32 tensors into one file."""
    header: dict[str, Any] = {}
    offset = 0
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [offset, offset + 4 * array.size]}
        offset += 4 * array.size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in tensors.values():
            file.write(np.ascontiguousarray(array, "<f4").tobytes())
