"""`fleet shrink` and `fleet stream renew` as a user meets them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from fleet.cli.main import main
from fleet.cli.regression.shrink import command
from fleet.cli.running.stream import command as stream
from fleet.isa.registry import find_device
from fleet.sdk import Device, Memory, Write
from fleet.streams.bundle import load_bundle

NAME = "hbm_small/program/1"


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Every instruction of the functional model loses the lowest bit of large numbers."""
    for cls in find_device("hbm_small")[0].instructions.values():

        def execute(_: type, device: Device, fields: Mapping[str, int], memory: Memory, right=cls.execute) -> Sequence[Write]:
            writes = right(device, fields, memory)
            if not writes or writes[0].space == "reg":
                return writes
            data = writes[0].data.copy()
            words = data.reshape(-1)[: data.size // 2 * 2].view("<u2")
            words[(words & 0x7FFF) > 0x3C00] ^= 1
            return [replace(writes[0], data=data), *writes[1:]]

        monkeypatch.setattr(cls, "execute", classmethod(execute))
    return monkeypatch


def test_a_stream_by_name_becomes_a_bundle_that_is_a_test(
    wrong: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong.chdir(tmp_path)
    done = CliRunner().invoke(command, [NAME, "--budget", "30", "--memory", "stall:2"], standalone_mode=False)
    assert done.return_value == 1, done.output
    for words in ("instructions  ", "-> 1", "setting       stall:2/regs -> ideal/regs", "attempts in", "sim/bundles", "fleet why"):
        assert words in done.output, (words, done.output)
    (path,) = (tmp_path / "reports" / "shrunk").glob("*/stream.json")
    bundle, arrays = load_bundle(path)
    assert (bundle.expect, bundle.verdict, len(bundle.calls)) == ("passes", "fail", 1)
    assert bundle.signature is not None
    assert bundle.made_by.startswith(f"fleet shrink {NAME}")
    assert bundle.divergence is not None
    assert bundle.case(arrays, str(path)).calls[0].instruction == bundle.signature.instruction
    assert sum(f.stat().st_size for f in path.parent.iterdir()) < 20_000

    # Without a name it takes the last failure, which is this one; nothing of it can go.
    again = CliRunner().invoke(command, ["--budget", "20", "--expect", "diverges", "--report", "other"], standalone_mode=False)
    assert again.return_value == 1, again.output
    assert "instructions  1 -> 1" in again.output
    (second,) = (tmp_path / "other").glob("*/stream.json")
    assert load_bundle(second)[0].expect == "diverges"
    renewed = CliRunner().invoke(stream, ["renew", str(second)], standalone_mode=False)
    assert renewed.return_value == 0, renewed.output
    wrong.undo()
    mended = CliRunner().invoke(stream, ["renew", str(second), str(path)], standalone_mode=False)
    assert mended.return_value == 1
    assert "it passes" in mended.output
    assert f"DONE {path}" in mended.output, "the bug is mended, and the bundle holds it"
    capsys.readouterr()


def test_a_case_means_its_last_stored_result(wrong: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong.chdir(tmp_path)
    source = 'import numpy as np\n\n\ndef f(x: "float32[4, 32]", w: "float32[32, 32]"):\n    return np.maximum(x @ w, 0)\n'
    (tmp_path / "m.py").write_text(source)
    table = 'name = "small"\nmodel = "m.py:f"\ngolden = false\nengines = ["vm", "iss"]\ndevices = ["hbm_small"]\n[[runs]]\n'
    (tmp_path / "small.toml").write_text(table)
    assert main(["shrink", "small.toml"]) == 2
    assert "nothing was compared yet" in capsys.readouterr().err
    wrong.setattr("fleet.compare.bounds.tolerance._INFLATE", 1e-3)  # so that the lost bit is beyond the bound
    assert main(["case", "run", "small.toml", "--report", "reports/small"]) == 1
    for what in ("small.toml", "small"):
        done = CliRunner().invoke(command, [what, "--budget", "3", "--report", f"out-{what}"], standalone_mode=False)
        assert done.return_value == 1, done.output
        assert "operations    " in done.output
        assert "a test:  move the folder" in done.output
        (stored,) = (tmp_path / f"out-{what}").glob("*/model.json")
        assert json.loads(stored.read_text())["signature"]["comparison"] == "iss-vs-vm-rounded"
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([NAME], "does not fail: there is nothing to shrink"),
        (["nothing/here"], "nothing was compared yet"),
        (["hbm_small/nothing/random/3"], "nothing is drawn for an instruction 'nothing'"),
        (["broken"], "holds no stored result"),
        (["broken/stream.json"], "not a stored result"),
        (["other/stream.json"], "stream has schema 1, this fleet reads 2"),
        ([NAME, "--budget", "0"], "0 is not a duration"),
        ([NAME, "--memory", "sometimes"], "sometimes"),
        (["model/result.json"], "arrays cannot be read"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    failed = json.dumps({"verdict": "fail", "arrays_file": "x"})
    for name, text in (("broken", None), ("other", failed), ("model", failed)):
        (tmp_path / name).mkdir()
        if text is not None:
            (tmp_path / name / ("result.json" if name == "model" else "stream.json")).write_text(text)
    if arguments == ["broken/stream.json"]:
        (tmp_path / "broken" / "stream.json").write_text("[")
    if arguments == ["other/stream.json"]:
        np.savez(tmp_path / "other" / "x", names=np.frombuffer(b"[]", np.uint8))
        import hashlib

        digest = hashlib.sha256((tmp_path / "other" / "x.npz").read_bytes()).hexdigest()
        table = {"schema": 1, "kind": "stream", "verdict": "fail", "arrays_file": "x.npz", "arrays_sha256": digest}
        (tmp_path / "other" / "stream.json").write_text(json.dumps(table))
    assert main(["shrink", *arguments]) == 2
    told = capsys.readouterr().err
    assert words in told, told
    assert len(told.strip().splitlines()) == 1
