"""Arrays that nobody has room for: refused before they are read, drawn or made, in one line that names the size and the limit."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import click
import numpy as np
import pytest

from fleet.cli.main import main, run_command
from fleet.core.room import archive_limit, limit
from fleet.cosim.models.data import load_arrays, random_like
from fleet.errors import ModelError


def bomb(path: Path, claimed: int, *, honest: bool = True) -> Path:
    """A .npz whose array of zeros says `claimed` bytes: by its size, or by its header alone."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|u1", "fortran_order": False, "shape": (claimed,)})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("x.npy", "w", force_zip64=True) as file:
        file.write(header.getvalue())
        for _ in range(claimed >> 20 if honest else 1):
            file.write(bytes(1 << 20))
    return path


def test_an_archive_that_unpacks_to_gigabytes_is_refused_by_its_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLEET_MEMORY", raising=False)
    path = bomb(tmp_path / "bomb.npz", 1100 << 20)
    assert path.stat().st_size < 4 << 20
    monkeypatch.setattr(np, "load", lambda *_, **__: pytest.fail("it was read"))
    with pytest.raises(
        ModelError, match=r"bomb\.npz: what the archive unpacks to needs 1,153,433,\d{3} bytes; the limit is 1,073,741,824"
    ):
        load_arrays(path, what="input")


def test_a_stated_limit_counts_instead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bomb(tmp_path / "few.npz", 64 << 20)
    monkeypatch.setenv("FLEET_MEMORY", "32M")
    with pytest.raises(ModelError, match=r"the limit is 33,554,432; .*FLEET_MEMORY"):
        load_arrays(path, what="weights")
    monkeypatch.setenv("FLEET_MEMORY", "100M")
    assert load_arrays(path, what="weights")["x"].shape == (64 << 20,)
    monkeypatch.setenv("FLEET_MEMORY", "much")
    with pytest.raises(ModelError, match="FLEET_MEMORY is 'much'"):
        limit()


def test_a_header_that_says_more_than_the_file_holds_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ModelError, match=r"x\.npy: its header says uint8\[1099511627776\], 1,099,511,627,776 bytes, and it holds 1,048,\d{3}"
    ):
        load_arrays(bomb(tmp_path / "lie.npz", 1 << 40, honest=False), what="input")
    plain = tmp_path / "lie.npy"
    with plain.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (1 << 40,)})
    with pytest.raises(ModelError, match="its header says float32"):
        load_arrays(plain, what="input")


def test_an_archive_of_large_arrays_is_not_a_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLEET_MEMORY", raising=False)
    assert archive_limit(6 << 30) == limit()
    assert archive_limit(28 << 20) <= 64 * (28 << 20)


def test_what_would_be_drawn_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ModelError, match=r"a drawn w, float32\[2147483648, 1048576\], needs 18,014,398,509,481,984 bytes"):
        random_like({"w": ((2**31, 2**20), np.dtype(np.float32))}, 0)
    path = tmp_path / "m.py"
    path.write_text("import numpy as np\n\ndef f(x: 'float32[65536, 1048576]'):\n    return x + 1\n")
    assert main(["run", f"{path}:f"]) == 2
    said = capsys.readouterr().err
    assert "a drawn x, float32[65536, 1048576], needs 549,755,813,888 bytes; the limit is" in said
    assert said.count("\n") == 1


def test_an_onnx_input_of_any_size_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLEET_MEMORY", "4G")
    onnx = pytest.importorskip("onnx")
    value = onnx.helper.make_tensor_value_info
    kind = onnx.TensorProto.FLOAT
    for shape in ([2**31, 2**20], [2**15, 2**16]):
        graph = onnx.helper.make_graph(
            [onnx.helper.make_node("Relu", ["x"], ["y"])], "g", [value("x", kind, shape)], [value("y", kind, None)]
        )
        onnx.save(
            onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx"
        )
        assert main(["run", str(tmp_path / "m.onnx")]) == 2
        said = capsys.readouterr().err
        assert "a drawn x, " in said
        assert "bytes; the limit is" in said
        assert said.count("\n") == 1


def test_memory_that_runs_out_anywhere_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    def full() -> None:
        raise MemoryError("Unable to allocate 16.0 PiB for an array with shape (2147483648, 1048576) and data type float64")

    assert run_command(click.command()(full), "fleet", []) == 2
    assert "fleet: out of memory: Unable to allocate 16.0 PiB" in capsys.readouterr().err
