"""What a file is by its bytes, whatever its name, and what is said of files that fleet does not read."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from fleet.core.file_kinds import kind_of, named_kind, refuse_foreign, remedy
from fleet.errors import ModelError


def zipped(*names: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in names:
            archive.writestr(name, b"0" * 64)
    return buffer.getvalue()


def arrays() -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, w=np.zeros(3))
    return buffer.getvalue()


def field(number: int, content: bytes | int) -> bytes:
    """One field of a protobuf message, of less than 128 bytes."""
    return bytes([number << 3, content]) if isinstance(content, int) else bytes([number << 3 | 2, len(content)]) + content


ONNX = field(1, 8) + field(2, b"torch") + field(7, field(1, b"node")) + field(8, field(2, 18))
LEGACY = b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."
HEADER = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'

FILES: dict[str, tuple[str, bytes]] = {
    # of the bytes: the name says something else, or nothing
    "model.py": ("python", b"import numpy as np\n"),
    "a.dat": ("onnx", ONNX),
    "cut.dat": ("onnx", ONNX[:14]),
    "top.sv": ("hardware", b"module top (input logic clk); endmodule\n"),
    "top.v": ("hardware", b"module top (clk); input clk; endmodule\n"),
    "b.dat": ("gguf", b"GGUF" + struct.pack("<IQQ", 3, 0, 0)),
    "c.dat": ("safetensors", struct.pack("<Q", len(HEADER)) + HEADER + bytes(4)),
    "d.dat": ("bytecode", b"FLEETBC\0" + bytes(60)),
    "e.dat": ("stream", b"FLEETST\0" + bytes(60)),
    "f.dat": ("npz", arrays()),
    "g.dat": ("npy", b"\x93NUMPY\1\0"),
    "h.onnx": ("pytorch", zipped("archive/data.pkl", "archive/data/0", "archive/version")),
    "i.dat": ("torchscript", zipped("m/data.pkl", "m/code/__torch__.py")),
    "j.dat": ("torch-export", zipped("serialized_exported_program.json", "version")),
    "k.dat": ("torch-export", zipped("m/archive_format", "m/models/model.json", "m/data/weights/w")),
    "l.dat": ("pytorch", LEGACY + bytes(30)),
    "m.pt": ("pytorch", pickle.dumps({"w": [1.0]})),
    "n.pkl": ("pickle", pickle.dumps({"w": [1.0]})),
    "o.dat": ("tflite", b"\x1c\0\0\0TFL3" + bytes(30)),
    "p.h5": ("keras", b"\x89HDF\r\n\x1a\n" + bytes(30)),
    "q.dat": ("keras", zipped("metadata.json", "config.json", "model.weights.h5")),
    "r.pb": ("saved-model", field(1, 1) + field(2, b"\x0a\x00")),
    "s.pb": ("tensorflow-graph", field(1, field(1, b"x") + field(2, b"Placeholder"))),
    "t.dat": ("lfs", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"),
    "u.onnx": ("html", b"<!DOCTYPE html><html></html>"),
    "v.dat": ("zip", zipped("readme.txt")),
    "w.dat": ("gzip", b"\x1f\x8b\x08" + bytes(30)),
    "x.dat": ("empty", b""),
    "y.dat": ("unknown", bytes(range(256))),
    "z.dat": ("text", "grüße\n".encode()),
    # of the name, where the bytes are text
    "case.toml": ("case", b'name = "a"\nmodel = "m.py:f"\n'),
    "other.toml": ("toml", b"[tool]\nx = 1\n"),
    "result.json": ("result", b"{}"),
    "set.rdl": ("instruction-set", b"addrmap top {};"),
}


@pytest.mark.parametrize("name", FILES)
def test_the_kind_is_that_of_the_bytes(name: str, tmp_path: Path) -> None:
    kind, data = FILES[name]
    (tmp_path / name).write_bytes(data)
    assert kind_of(tmp_path / name).name == kind


def test_a_name_of_other_bytes_changes_nothing(tmp_path: Path) -> None:
    """But where text, or nothing at all, is all that the bytes are."""
    for data, kind in ((FILES["h.onnx"][1], "pytorch"), (ONNX, "onnx"), (b"GGUF" + bytes(40), "gguf")):
        for suffix in (".py", ".onnx", ".npz", ".tflite", ""):
            path = tmp_path / f"m{suffix}"
            path.write_bytes(data)
            assert kind_of(path).name == kind, suffix


def test_folders(tmp_path: Path) -> None:
    for names, kind in (
        (("saved_model.pb", "variables"), "saved-model"),
        (("config.json", "model.safetensors"), "language-model"),
        (("config.json",), "folder"),
        (("result.json",), "result"),
        (("_CHECKPOINT_METADATA",), "jax"),
    ):
        folder = tmp_path / "-".join(names)
        folder.mkdir()
        for name in names:
            (folder / name).touch()
        assert kind_of(folder).name == kind


def test_a_truncated_archive_is_known_by_its_first_entry(tmp_path: Path) -> None:
    (tmp_path / "m.bin").write_bytes(zipped("archive/data.pkl", "archive/data/0")[:100])
    assert kind_of(tmp_path / "m.bin").name == "pytorch"


def test_an_archive_whose_list_lies_is_no_crash(tmp_path: Path) -> None:
    data = bytearray(zipped("a", "b", "c"))
    rng = np.random.default_rng(3)
    for _ in range(300):
        at = int(rng.integers(len(data)))
        old, data[at] = data[at], int(rng.integers(256))
        (tmp_path / "m.bin").write_bytes(data)
        kind_of(tmp_path / "m.bin")
        data[at] = old


def test_random_bytes_are_never_a_crash(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    begins = [data[:40] for _, data in FILES.values()]
    for i in range(400):
        (tmp_path / "m").write_bytes(begins[i % len(begins)] + rng.bytes(int(rng.integers(200))))
        kind_of(tmp_path / "m")


def test_what_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"^.*gone: cannot be read \(No such file or directory\); check the path$"):
        kind_of(tmp_path / "gone")


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("a.pt", "torch.load"), ("a.pth", "torch.load"), ("a.pt2", "torch.export.load"), ("a.tflite", "tf2onnx"),
        ("a.keras", "load_model"), ("a.h5", "load_model"), ("a.pb", "tf2onnx"), ("a.msgpack", "to_onnx"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("data", [b"", b"junk", bytes(range(256))])
def test_every_framework_s_file_gets_its_two_lines(name: str, first: str, data: bytes, tmp_path: Path) -> None:
    """Also a damaged one: by its name."""
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(ModelError) as caught:
        refuse_foreign(path, "a model", ("python", "text", "empty", "unknown"))
    line, *lines = str(caught.value).splitlines()
    assert line.endswith("convert it to ONNX in its framework:")
    assert len(lines) == 2
    assert first in lines[0]
    assert "a.onnx" in lines[1]


def test_own_kinds_are_left_to_their_reader(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_bytes(b"x = (")
    (tmp_path / "m.onnx").write_bytes(b"junk")
    refuse_foreign(tmp_path / "m.py", "a model", ("python",))
    refuse_foreign(tmp_path / "m.onnx", "a model", ("onnx", "text"))
    refuse_foreign(tmp_path / "gone.py", "a model", ("python",))
    with pytest.raises(ModelError, match=r"is a text file, expected a model"):
        refuse_foreign(tmp_path / "m.onnx", "a model", ("onnx",))


def test_an_export_does_not_go_over_the_file_itself(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(FILES["h.onnx"][1])
    assert '"m-exported.onnx"' in remedy(kind_of(path), path)[1]
    assert named_kind(path) is not None
