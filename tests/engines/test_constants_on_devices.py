"""Constants of a product's full shape, and weights that no device can hold, on both instruction sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fleet

DEVICES = ("hbm_small", "vgemm_small")
HEAD = "import numpy as np\n\n\ndef forward(x: np.ndarray, w: np.ndarray):\n    "
CONSTANTS = [
    "out = np.zeros_like(x[:, :16])\n    out += x @ w\n    return out",
    "return np.ones((6, 16), np.float32) + x @ w",
    "return x @ w + np.full((6, 16), 2.5, np.float32)",
    "return x @ w - np.ones((6, 16), np.float32)",
    "return np.ones((6, 16), np.float32) - x @ w",
    "return np.full((6, 16), 0.5, np.float32) * (x @ w)",
    "return np.maximum((x @ w) + np.ones((6, 16), np.float32), 0)",
    "return np.ones((6, 64), np.float32) @ w + x @ w",
    "y = np.ones((6, 16), np.float32)\n    return y + x @ w, y * 2, y",
    "return x @ w + np.full((6, 16), 1e6, np.float32)",
]
SOFTMAX = "\n    e = np.exp(s - s.max(axis=-1, keepdims=True))\n    return e / e.sum(axis=-1, keepdims=True)"
MASKS = [
    "s = x @ w\n    s = s + np.triu(np.full((6, 16), -np.inf, dtype=np.float32), k=1)" + SOFTMAX,
    "s = np.triu(np.full((6, 16), -1e9, dtype=np.float32), k=1) + x @ w" + SOFTMAX,
    "s = x @ w + np.where(np.arange(16) > 12, -np.inf, 0).astype(np.float32)" + SOFTMAX,
    "s = x @ w + np.array([0] * 13 + [-np.inf] * 3, np.float32)" + SOFTMAX,
]


@pytest.fixture(scope="module")
def arrays() -> tuple[np.ndarray, np.ndarray]:
    """Small whole numbers in x, weights that both devices store exactly: what is left is the arithmetic."""
    rng = np.random.default_rng(0)
    return rng.integers(-2, 3, (6, 64)).astype(np.float32), rng.choice([-0.5, 0.0, 0.5], (64, 16)).astype(np.float32)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("body", [*CONSTANTS, *MASKS])
def test_the_device_gives_what_numpy_gives(tmp_path: Path, arrays, body: str, device: str) -> None:
    x, w = arrays
    path = tmp_path / "model.py"
    path.write_text(HEAD + body + "\n")
    compiled = fleet.compile(f"{path}:forward", weights={"w": w}, inputs={"x": x})
    golden, found = compiled.run("vm"), compiled.run("iss", device=device)
    assert "device" in found.placement.values()
    assert found.outputs.keys() == golden.outputs.keys()
    for name, expected in golden.outputs.items():
        np.testing.assert_allclose(found.outputs[name], expected, rtol=2e-3, atol=2e-3, err_msg=name)


def test_the_reason_names_the_weight(tmp_path: Path, arrays) -> None:
    x, w = arrays
    path = tmp_path / "model.py"
    path.write_text(HEAD + MASKS[0] + "\n")
    found = fleet.compile(f"{path}:forward", weights={"w": w}, inputs={"x": x}).run("iss", device="hbm_small")
    reasons = dict(found.meta["host_reasons"])
    assert any("has NaN, an infinity or a number beyond FP16" in reason for reason in reasons.values()), reasons


@pytest.mark.parametrize("device", DEVICES)
def test_a_clip_is_a_maximum_to_a_device(tmp_path: Path, arrays, device: str) -> None:
    """The product takes the maximum with it, the minimum is the host's."""
    x, w = arrays
    path = tmp_path / "model.py"
    path.write_text(HEAD + "return np.clip(x @ w, 0, 6)\n")
    compiled = fleet.compile(f"{path}:forward", weights={"w": w}, inputs={"x": x})
    golden, found = compiled.run("vm"), compiled.run("iss", device=device)
    assert sorted(found.placement.values()) == ["device", "device", "host"]
    np.testing.assert_allclose(found.outputs["out0"], golden.outputs["out0"], rtol=2e-3, atol=2e-3)
