"""Kinds of files, by their bytes, with advice for those that fleet does not read.

A name is asked only where the bytes leave it open (a text named "x.pt"). At most a few kilobytes are read, a zip archive's list of
names and the first level of a protobuf message; nothing is unpacked, unpickled or executed.
"""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fleet.errors import ModelError

MODEL_BUNDLE = "model.json"
"""The name of the file of a stored model, by which it is known."""

_HEAD = 1 << 16
_MAX_FIELDS, _MAX_ENTRIES, _MAX_LIST = 1 << 14, 1 << 14, 1 << 24


@dataclass(frozen=True)
class FileKind:
    """A kind of file.

    Attributes:
        name: one word, for programs.
        title: with its article, for people.
        convert: of a framework's model, the two lines that make an ONNX model of it; "{path}" and "{stem}" stand for the file.
        language, weights: the line that makes of it a folder for `fleet generate`, and a .npz of its weights.
        hint: what to do with it, where it has no lines.
    """

    name: str
    title: str
    convert: tuple[str, ...] = ()
    language: str = ""
    weights: str = ""
    hint: str = ""

    def lines(self, wanted: str) -> tuple[str, ...]:
        """Return the advice for "convert", "language" or "weights"; that of "convert" if the kind lacks the one asked for."""
        chosen = {"language": self.language, "weights": self.weights}.get(wanted)
        return (chosen,) if chosen else self.convert


_PURPOSES = {
    "convert": "convert it to ONNX in its framework",
    "language": "make a folder with safetensors in its framework",
    "weights": "make a .npz in its framework",
}
_TORCH_WEIGHTS = 'numpy.savez("{stem}.npz", **{{k: v.numpy() for k, v in torch.load("{path}", map_location="cpu").items()}})'
_TORCH_LANGUAGE = 'AutoModelForCausalLM.from_pretrained(...).save_pretrained("{stem}"), with its tokenizer beside it'
_TF2ONNX = "pip install tf2onnx"

_KINDS: Mapping[str, FileKind] = {
    kind.name: kind
    for kind in (
        FileKind("python", "Python source"),
        FileKind("onnx", "an ONNX model", hint="name it {stem}.onnx"),
        FileKind("gguf", "a language model (GGUF)", hint='ask it: fleet generate --model {path} --prompt "..."'),
        FileKind("safetensors", "weights (safetensors)", hint="`fleet generate --model FOLDER` reads the folder that it lies in"),
        FileKind("language-model", "a language model's folder", hint='ask it: fleet generate --model {path} --prompt "..."'),
        FileKind("bytecode", "a bytecode file of fleet", hint="name it {stem}.fbc"),
        FileKind("stream", "an accelerator's instruction stream", hint="`fleet inspect {path}` shows it"),
        FileKind(
            "bytecode-text", "bytecode as text", hint="what runs is a file: fleet compile --emit bytecode MODEL -o {stem}.fbc"
        ),
        FileKind("assembler", "RISC-V assembler", hint="what runs is a file: fleet compile --emit riscv-asm MODEL -o {stem}.elf"),
        FileKind("llvm", "LLVM IR", hint="what runs is a file: fleet compile --emit riscv-asm MODEL -o {stem}.elf"),
        FileKind("elf", "an ELF file", hint="name it {stem}.elf if `fleet compile --emit riscv-asm` wrote it; fleet runs no other"),
        FileKind("npz", "NumPy arrays (.npz)", hint="arrays are given with --weights and --input, behind a model"),
        FileKind("npy", "a NumPy array (.npy)", hint="arrays are given with --weights and --input, behind a model"),
        FileKind("result", "a stored result of fleet", hint="fleet report {path}"),
        FileKind("generation", "a stored answer of a language model", hint="fleet report {path}"),
        FileKind("bundle", "a stored model", hint="fleet cosim {path}"),
        FileKind("stored-stream", "a stored stream", hint="fleet stream run {path}"),
        FileKind("case", "a case of the regression", hint="fleet case run {path}"),
        FileKind("instruction-set", "a description of an instruction set", hint="fleet isa check {path}"),
        FileKind("set-folder", "a folder with an instruction set", hint="fleet isa check {path}"),
        FileKind("mlir", "MLIR text", hint="name it {stem}.mlir"),
        FileKind(
            "pytorch",
            "a PyTorch file",
            (
                'model = MyModel(); model.load_state_dict(torch.load("{path}")); model.eval()',
                'torch.onnx.export(model, (example_input,), "{stem}.onnx", dynamo=True)',
            ),
            _TORCH_LANGUAGE,
            _TORCH_WEIGHTS,
        ),
        FileKind(
            "torchscript",
            "a TorchScript model",
            (
                'model = torch.jit.load("{path}", map_location="cpu").eval()',
                'torch.onnx.export(model, (example_input,), "{stem}.onnx", dynamo=False)',
            ),
            _TORCH_LANGUAGE,
        ),
        FileKind(
            "torch-export",
            "an exported PyTorch program (pt2)",
            (
                'program = torch.export.load("{path}")',
                'torch.onnx.export(program, (), "{stem}.onnx", dynamo=True)',
            ),
            _TORCH_LANGUAGE,
        ),
        FileKind(
            "saved-model",
            "a TensorFlow SavedModel",
            (_TF2ONNX, "python -m tf2onnx.convert --saved-model {folder} --output {stem}.onnx"),
        ),
        FileKind(
            "tensorflow-graph",
            "a frozen TensorFlow graph",
            (_TF2ONNX, "python -m tf2onnx.convert --graphdef {path} --inputs INPUT:0 --outputs OUTPUT:0 --output {stem}.onnx"),
        ),
        FileKind("tflite", "a TFLite model", (_TF2ONNX, "python -m tf2onnx.convert --tflite {path} --output {stem}.onnx")),
        FileKind(
            "keras",
            "a Keras model",
            ('model = keras.models.load_model("{path}")', 'model.export("{stem}.onnx", format="onnx")'),
        ),
        FileKind(
            "jax",
            "a JAX or Flax checkpoint",
            (
                "from jax2onnx import to_onnx  # pip install jax2onnx",
                'to_onnx(lambda x: apply(params, x), [("B", 64)], return_mode="file", output_path="{stem}.onnx")',
            ),
            weights='numpy.savez("{stem}.npz", **params)',
        ),
        FileKind("core-ml", "a Core ML model", hint="export ONNX where it was trained"),
        FileKind(
            "pickle", "a Python pickle", hint="fleet opens none: load it where you trust it, and save arrays with numpy.savez"
        ),
        FileKind("hdf5", "an HDF5 file", hint="save its arrays with numpy.savez"),
        FileKind("zip", "a zip archive", hint="unpack it and name the model in it"),
        FileKind("gzip", "a gzip archive", hint="unpack it and name the model in it"),
        FileKind("tar", "a tar archive", hint="unpack it and name the model in it"),
        FileKind("hardware", "a hardware design", hint="fleet isa adopt {path} reads its ports and makes a bench for it"),
        FileKind("lfs", "a pointer of Git LFS, not the file itself", hint="fetch it: git lfs pull"),
        FileKind("html", "an HTML page", hint="the download went wrong: fetch the file itself"),
        FileKind("empty", "an empty file", hint="write or fetch it again"),
        FileKind("folder", "a folder", hint="name the file in it"),
        FileKind("special", "neither a file nor a folder", hint="name a file"),
        FileKind("json", "JSON text"),
        FileKind("toml", "TOML text"),
        FileKind("text", "a text file"),
        FileKind("unknown", "a file of no kind that fleet knows"),
    )
}

_BY_NAME: Mapping[str, str] = {
    ".pt": "pytorch", ".pth": "pytorch", ".ckpt": "pytorch", ".pt2": "torch-export", ".torchscript": "torchscript",
    ".tflite": "tflite", ".lite": "tflite", ".pb": "tensorflow-graph", ".keras": "keras", ".h5": "keras", ".hdf5": "keras",
    ".msgpack": "jax", ".orbax": "jax", ".mlmodel": "core-ml", ".mlpackage": "core-ml", ".gguf": "gguf", ".pkl": "pickle",
    ".safetensors": "safetensors", ".onnx": "onnx", ".npz": "npz", ".npy": "npy", ".fbc": "bytecode", ".stream": "stream",
    ".py": "python", ".toml": "toml", ".json": "json", ".rdl": "instruction-set", ".mlir": "mlir",
}  # fmt: skip
"""File suffix -> kind, for files whose bytes leave it open."""

_WRITTEN: Mapping[str, tuple[str, ...]] = {
    "bytecode-text": ("bytecodemodule(",),
    "assembler": (".attribute", ".text", ".file"),
    "llvm": ("; moduleid", "target triple =", "target datalayout ="),
}
"""Kind of a text of fleet that does not run -> what it begins with, in small letters."""

_STORED: Mapping[str, str] = {
    "result.json": "result", "generation.json": "generation", MODEL_BUNDLE: "bundle", "stream.json": "stored-stream",
}  # fmt: skip
"""Files of fleet that are JSON text."""

_MAGIC: Sequence[tuple[int, bytes, str]] = (
    (0, b"GGUF", "gguf"),
    (0, b"\x93NUMPY", "npy"),
    (0, b"FLEETBC\0", "bytecode"),
    (0, b"FLEETST\0", "stream"),
    (0, b"\x7fELF", "elf"),
    (0, b"\x89HDF\r\n\x1a\n", "hdf5"),
    (4, b"TFL3", "tflite"),
    (0, b"\x1f\x8b", "gzip"),
    (257, b"ustar", "tar"),
    (0, b"ML\xefR", "mlir"),
    (0, b"version https://git-lfs.github.com/spec/", "lfs"),
    # The number 0x1950a86a20f9469cfc6c, pickled: with it files of PyTorch began before 1.6.
    (2, b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", "pytorch"),
)


def kind_of(path: Path) -> FileKind:
    """The kind of a file or folder. Raises ModelError where it cannot be read."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            return _KINDS[_folder(path)]
        if not stat.S_ISREG(status.st_mode):
            return _KINDS["special"]
        with path.open("rb") as file:
            return _KINDS[_file(file, path, status.st_size)]
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ModelError(f"cannot be read ({reason})", where=_shown(path), hint="check the path") from None


def named_kind(path: Path) -> FileKind | None:
    """The kind that a name promises, None where it promises none."""
    name = _BY_NAME.get(path.suffix.lower())
    return _KINDS[name] if name else None


def refuse_foreign(path: Path, expected: str, own: Sequence[str], lines: str = "convert") -> None:
    """Raise ModelError if the file is of another kind than expected, with the reason.

    Args:
        path: the file; of one that cannot be read nothing is said here.
        expected: with its article, "a Python source or an ONNX model".
        own: names of the kinds that may go on to their reader, which says more of damage than a kind can.
        lines: which of a framework's lines help here: "convert", "language" or "weights".
    """
    try:
        kind = kind_of(path)
    except ModelError:
        return
    named = named_kind(path)
    if kind.name in ("text", "unknown", "empty") and named is not None and named.convert and named.name not in own:
        raise _refusal(path, named, f"is named as {named.title}, and is {kind.title}; expected {expected}", lines)
    if kind.name not in own:
        raise _refusal(path, kind, f"is {kind.title}, expected {expected}", lines)


def remedy(kind: FileKind, path: Path, lines: str = "convert") -> tuple[str, ...]:
    """Return lines that convert a file for fleet: its framework's, else one line of advice, else none."""
    words = {"path": _shown(path), "stem": _stem(path), "folder": _shown(path if path.is_dir() else path.parent)}
    return tuple(line.format(**words) for line in kind.lines(lines) or (kind.hint,) if line)


def _refusal(path: Path, kind: FileKind, what: str, lines: str) -> ModelError:
    told = remedy(kind, path, lines)
    if not kind.convert:
        return ModelError(what, where=_shown(path), hint="; ".join(told) or None)
    purpose = _PURPOSES["convert" if kind.lines(lines) is kind.convert else lines]
    return ModelError(what, where=_shown(path), hint=f"{purpose}:", detail="\n".join(f"  {line}" for line in told))


def _stem(path: Path) -> str:
    name = _shown(Path(path.name)).removesuffix(path.suffix) or "model"
    return f"{name}-exported" if path.suffix == ".onnx" else name  # not over the file itself


def _shown(path: Path) -> str:
    """A path as text that every terminal takes."""
    return os.fsencode(path).decode(errors="replace")


def _file(file: IO[bytes], path: Path, size: int) -> str:
    head = file.read(_HEAD)
    if not head:
        return "empty"
    for at, magic, name in _MAGIC:
        if head.startswith(magic, at):
            return "keras" if name == "hdf5" and path.suffix.lower() in (".h5", ".hdf5", ".keras") else name
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"):
        return _zip(file, head)
    length = int.from_bytes(head[:8], "little")
    if size > 9 and head[8:9] == b"{" and length < 1 << 32 and head[9:10] in (b'"', b"}", b" ", b"\n"):
        return "safetensors"
    if (text := _text(head, size)) is not None:
        return _of_text(text, path)
    if head[0] == 0x80 and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05") and (size > _HEAD or head.endswith(b".")):
        return "pytorch" if path.suffix.lower() in (".pt", ".pth", ".ckpt") else "pickle"
    return _protobuf(file, size, path) or ("jax" if path.suffix.lower() == ".msgpack" else "unknown")


def _zip(file: IO[bytes], head: bytes) -> str:
    # The list stands at the end, and may be cut off; the first entry's name stands at the beginning.
    length = int.from_bytes(head[26:28], "little")
    names = _listed(file) or [head[30 : 30 + length].decode(errors="replace")]
    inner = {name.partition("/")[2] for name in names}
    if any(n.endswith("exported_program.json") or n.endswith("archive_format") for n in names) or any(
        n.startswith("models/") and n.endswith(".json") for n in inner
    ):
        return "torch-export"
    if "data.pkl" in inner:
        return "torchscript" if any(n.startswith("code/") for n in inner) else "pytorch"
    if "model.weights.h5" in names or {"metadata.json", "config.json"} <= set(names):
        return "keras"
    if names and all(name.endswith(".npy") for name in names):
        return "npz"
    return "zip"


def _listed(file: IO[bytes]) -> list[str]:
    """Names in an archive; none where its list is damaged or larger than a model's could be."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - (1 << 16) - 22))
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or int.from_bytes(tail[at + 12 : at + 16], "little") > _MAX_LIST:
        return []
    try:
        with zipfile.ZipFile(file) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError):
        return []


def _text(head: bytes, size: int) -> str | None:
    """Return the beginning of a file as text, without a character that is cut in two; None if it is not UTF-8."""
    if b"\0" in head:
        return None
    for cut in range(4 if size > len(head) else 1):
        try:
            text = head[: len(head) - cut].decode("utf-8-sig")
        except UnicodeDecodeError:
            continue
        controls = sum(c < " " and c not in "\t\n\r\f\x1b" for c in text[:4096])
        return text if controls == 0 else None
    return None


def _of_text(text: str, path: Path) -> str:
    begin = text.lstrip()[:200].lower()
    if begin.startswith(("<!doctype html", "<html")):
        return "html"
    suffix = path.suffix.lower()
    if suffix == ".py":
        return "python"
    if suffix == ".rdl":
        return "instruction-set"
    if suffix in (".v", ".sv", ".vhd", ".vhdl"):
        return "hardware"
    if suffix == ".mlir" or begin.startswith(("module @", "module {", "module attributes", "#loc")):
        return "mlir"
    for name, words in _WRITTEN.items():
        if begin.startswith(words):
            return name
    if begin.startswith(("{", "[")) and suffix != ".toml":
        return _STORED.get(path.name, "json")
    if suffix == ".toml":
        keys = {line.partition("=")[0].strip() for line in text.splitlines() if "=" in line}
        return "case" if {"name", "model"} <= keys else "toml"
    return "text"


def _protobuf(file: IO[bytes], size: int, path: Path) -> str | None:
    """Return the kind of a protobuf message by the numbers and wire types of its first level; None if it is unknown."""
    found: set[tuple[int, int]] = set()
    whole = True
    for number, wire, end in _fields(file, size):
        found.add((number, wire))
        whole = end <= size
    if not found or min(n for n, _ in found) < 1:
        return None
    if (7, 2) in found and ((1, 0) in found or (8, 2) in found) and max(n for n, _ in found) <= 32:
        return "onnx"
    if path.name == "saved_model.pb" or (found == {(1, 0), (2, 2)} and path.suffix.lower() == ".pb"):
        return "saved-model"
    if path.suffix.lower() == ".mlmodel":
        return "core-ml"
    if path.suffix.lower() == ".pb" and whole and (1, 2) in found:
        return "tensorflow-graph"
    return None


def _fields(file: IO[bytes], size: int) -> Iterator[tuple[int, int, int]]:
    """Number, wire type and end of every field of a message's first level; ends at what is not a field."""
    at = 0
    for _ in range(_MAX_FIELDS):
        file.seek(at)
        data = file.read(20)
        if not data:
            return
        key, used = _varint(data)
        wire = key & 7
        if not used or not key >> 3 or wire not in (0, 1, 2, 5):
            yield 0, wire, size
            return
        value, more = _varint(data[used:]) if wire in (0, 2) else (0, {1: 8, 5: 4}[wire])
        if not more:
            return
        at += used + more + (value if wire == 2 else 0)
        yield key >> 3, wire, at
        if at >= size:
            return


def _varint(data: bytes) -> tuple[int, int]:
    """A number and the bytes that it takes; 0 bytes where it has no end."""
    value = 0
    for i, byte in enumerate(data[:10]):
        value |= (byte & 127) << (7 * i)
        if byte < 128:
            return value, i + 1
    return 0, 0


def _folder(path: Path) -> str:
    with os.scandir(path) as entries:
        names = {entry.name for _, entry in zip(range(_MAX_ENTRIES), entries, strict=False)}
    if "saved_model.pb" in names:
        return "saved-model"
    if "config.json" in names and any(n.endswith((".safetensors", ".safetensors.index.json")) for n in names):
        return "language-model"
    for name, kind in _STORED.items():
        if name in names:
            return kind
    if names & {"_CHECKPOINT_METADATA", "_METADATA", "checkpoint", "manifest.ocdbt"}:
        return "jax"
    if any(n.endswith(".rdl") for n in names):
        return "set-folder"
    return "folder"
