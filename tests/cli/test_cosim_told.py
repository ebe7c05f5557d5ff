"""What a comparison tells in the terminal: outputs side by side, and what to do where little of the signal is left."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from command_line import Fleet

from fleet.cosim.result import CosimResult

DENSE = """
def f(x: "float32[4, 16]", w: "float32[16, 16]"):
    return x @ w
"""


@pytest.fixture
def saturating(tmp_path: Path) -> tuple[str, ...]:
    """Activations of 50, which the device's INT8 without a calibration cuts off at 8."""
    rng = np.random.default_rng(0)
    (tmp_path / "m.py").write_text(DENSE)
    np.savez(tmp_path / "w.npz", w=rng.standard_normal((16, 16)).astype(np.float32))
    np.savez(tmp_path / "x.npz", x=50 * rng.standard_normal((4, 16)).astype(np.float32))
    return ("cosim", "m.py:f", "--weights", "w.npz", "--input", "x.npz", "--engines", "vm,iss", "--device", "vgemm_small")


def test_little_signal_offers_a_calibration_that_helps(saturating: tuple[str, ...], fleet: Fleet) -> None:
    told = fleet(*saturating).out
    (command,) = [line.partition(": ")[2] for line in told.splitlines() if "fit the quantisation to your data" in line]
    assert command == f"fleet {' '.join(saturating)} --calibrate DATA.npz"
    assert re.search(r"\d\.\d dB after matmul.0, the first below 20 \(iss\); worst: matmul.0", told), "19.6 is not 20"
    after = fleet(*command.replace("DATA.npz", "x.npz").split()[1:]).out
    assert "verdict: PASS" in after
    assert "fit the quantisation" not in after
    assert "the first below 20" not in after


def test_outputs_stand_side_by_side(saturating: tuple[str, ...], fleet: Fleet, tmp_path: Path) -> None:
    lines = fleet(*saturating).out.splitlines()
    with np.load(tmp_path / "x.npz") as x, np.load(tmp_path / "w.npz") as w:
        expected = (x["x"] @ w["w"]).reshape(-1)[:5]
    at = next(i for i, line in enumerate(lines) if line.endswith(" float32[4, 16]"))
    vm, iss = (line.split() for line in lines[at + 1 : at + 3])
    assert (vm[0], iss[0]) == ("vm", "iss")
    np.testing.assert_allclose(np.array(vm[1:6], float), expected, rtol=1e-4)
    assert "largest difference" in lines[at + 2]
    assert not np.allclose(np.array(iss[1:6], float), expected, rtol=1e-2)


def test_without_a_device_the_one_that_runs_most_is_taken(saturating: tuple[str, ...], fleet: Fleet, tmp_path: Path) -> None:
    """It is said, and a run that is made again names it."""
    named = saturating[: saturating.index("--device")]
    told = fleet(*named, "--report", "r")
    first = told.out.splitlines()[0]
    assert re.fullmatch(r"device \w+: it runs the largest share of the model; --device names another", first)
    device = first.split()[1].rstrip(":")
    assert f"device {device}, memory ideal" in told.out
    request = CosimResult.load(tmp_path / "r").identity.request
    assert request is not None
    assert request.arguments[-2:] == ("--device", device)
    ran = fleet("run", "m.py:f", "--weights", "w.npz", "--input", "x.npz", "--engines", "iss")
    assert (ran.code, ran.err.split(":")[1]) == (0, f" device {device}")


@pytest.mark.parametrize("command", [("cosim", "--engines", "vm,iss"), ("run", "--engines", "iss")])
def test_a_model_of_which_no_device_runs_anything_needs_a_device_named(
    command: tuple[str, ...], fleet: Fleet, tmp_path: Path
) -> None:
    (tmp_path / "m.py").write_text('import numpy as np\ndef f(x: "int64[4, 16]"):\n    return np.sort(x)\n')
    told = fleet(command[0], "m.py:f", *command[1:])
    assert (told.code, told.err.splitlines()[-1].partition("; ")[0]) == (2, "fleet: --device: engine 'iss' needs a device")
