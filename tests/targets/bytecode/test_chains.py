"""Chains of elementwise steps in one compiled call: the bits of NumPy's steps, whatever goes in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fleet.frontend.source import load
from fleet.sdk.native import target
from fleet.targets.bytecode import VM, ByteCodeConverter
from fleet.targets.bytecode.kernels.chains import ElementChain

pytestmark = pytest.mark.skipif(target() is None, reason="needs llvmlite and a known processor")
RNG = np.random.default_rng(0)
REQUANTISED = "np.minimum(np.maximum(np.rint((x + b).astype(np.float64) * 0.0137) + 3.0, 0.0), 255.0).astype(np.uint8)"


def made(folder: Path, body: str, **inputs: np.ndarray) -> VM:
    words = ", ".join(f'{n}: "{v.dtype}[{", ".join(map(str, v.shape))}]"' for n, v in inputs.items())
    path = folder / "m.py"
    path.write_text(f"import numpy as np\n\n\ndef forward({words}):\n    return {body}\n")
    vm = VM(ByteCodeConverter(load(f"{path}:forward", {}, inputs)).convert())
    with np.errstate(all="ignore"):
        vm.run(inputs)  # the first run generates the code
    return vm


def chains_of(vm: VM) -> list[ElementChain]:
    code = vm._generated  # pyright: ignore[reportPrivateUsage]
    assert code is not None
    return [f for f in code._kept if isinstance(f, ElementChain)]  # pyright: ignore[reportPrivateUsage]


def held(
    folder: Path, monkeypatch: pytest.MonkeyPatch, body: str, *, joined: bool = True, compiled: bool = True, **inputs: Any
) -> None:
    """The compiled chain gives the bits of the steps one by one. compiled: whether the kernel takes these values."""
    vm = made(folder, body, **inputs)
    assert bool(chains_of(vm)) == joined, "the steps are one"
    left: list[ElementChain] = []
    for chain in chains_of(vm):
        separate = chain._separate  # pyright: ignore[reportPrivateUsage]
        monkeypatch.setattr(chain, "_separate", noted(separate, lambda chain=chain: left.append(chain)))
    with np.errstate(all="ignore"):
        found = [v.copy() for v in vm.run(inputs).values()]
        assert bool(left) == (joined and not compiled), "the kernel ran where it should"
        with monkeypatch.context() as m:
            m.setenv("FLEET_KERNEL", "numpy")
            wanted = vm.run(inputs).values()
    for got, want in zip(found, wanted, strict=True):
        assert (got.dtype, got.shape, got.tobytes()) == (want.dtype, want.shape, want.tobytes())


def noted(function: Callable[..., Any], note: Callable[[], None]) -> Callable[..., Any]:
    def run(*values: Any) -> Any:
        note()
        return function(*values)

    return run


def sums(*shape: int) -> np.ndarray:
    return RNG.integers(-40_000, 40_000, shape).astype(np.int32)


@pytest.mark.parametrize("shape", [(1, 16, 12, 12), (2, 3, 17, 23), (5, 33, 16)])
def test_requantised_sums(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...]) -> None:
    """Bias a channel, scale, zero point, clipped; more images than one, and lengths that no vector divides."""
    bias = sums(*([shape[1]] + [1] * (len(shape) - 2)))
    held(tmp_path, monkeypatch, REQUANTISED, x=sums(*shape), b=bias)
    held(tmp_path, monkeypatch, f"{REQUANTISED}.astype(np.int32) - 3", x=sums(*shape), b=bias)


def test_a_scale_a_channel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "np.minimum(np.maximum(np.rint(x.astype(np.float64) * s), -128.0), 127.0).astype(np.int8)"
    held(tmp_path, monkeypatch, body, x=sums(2, 8, 20, 16), s=RNG.uniform(1e-4, 1e-2, (8, 1, 1)))


def test_ties_go_to_the_even_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "np.minimum(np.maximum(np.rint(x.astype(np.float64) * 0.5), 0.0), 255.0).astype(np.uint8)"
    held(tmp_path, monkeypatch, body, x=np.arange(-8, 2040, dtype=np.int32))


def test_operands_on_either_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = "np.minimum(np.maximum(np.rint(255.0 - 7.5 / (x + 1.5)), 0.0), 255.0).astype(np.uint8)"
    held(tmp_path, monkeypatch, body, x=RNG.uniform(0, 9, 4096).astype(np.float32))


def test_codes_without_a_float(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for dtype in (np.int8, np.uint8):
        held(tmp_path, monkeypatch, "x.astype(np.int32) - 128", x=RNG.integers(0, 100, (64, 1024)).astype(dtype))


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, 1e30])
def test_what_no_integer_holds_is_left_to_numpy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: float) -> None:
    x = RNG.uniform(-9, 9, 4096).astype(np.float32)
    x[77] = odd
    held(tmp_path, monkeypatch, "(np.rint(x * 3.5) + 4.0 - 1.0 + 2.0).astype(np.int32)", compiled=False, x=x)


def test_nan_that_is_clipped_is_left_to_numpy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = RNG.uniform(-9, 9, 4096).astype(np.float32)
    x[4095] = np.nan
    body = "np.minimum(np.maximum(np.rint(x * 3.5) + 4.0, 0.0), 255.0).astype(np.uint8)"
    held(tmp_path, monkeypatch, body, compiled=False, x=x)
    x[4095] = np.inf  # clipped: it fits
    held(tmp_path, monkeypatch, body, x=x)


@pytest.mark.parametrize(
    "body",
    [
        "np.maximum(x * 2.0 + 1.0, 0.0)",  # floats come out
        "np.rint(x * 2.0), (np.rint(x * 2.0) + 1.0).astype(np.int32)",  # two that are short
        "(x * 2.0).astype(np.int32)",  # too short
    ],
)
def test_other_steps_stay_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    held(tmp_path, monkeypatch, body, joined=False, x=RNG.uniform(-9, 9, 2048).astype(np.float32))


def test_operands_may_change_between_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another array, and another content of the same one; of an array that is no neighbour of itself a copy is made each time."""
    x, bias = sums(4, 16, 64), sums(16, 2)
    vm = made(tmp_path, REQUANTISED, x=x, b=bias[:, :1])
    (chain,) = chains_of(vm)

    def run(b: np.ndarray) -> np.ndarray:
        (found,) = vm.run({"x": x, "b": b}).values()
        with monkeypatch.context() as m:
            m.setenv("FLEET_KERNEL", "numpy")
            (wanted,) = vm.run({"x": x, "b": b}).values()
        np.testing.assert_array_equal(found, wanted)
        return found.copy()

    packed = np.ascontiguousarray(bias[:, :1])
    seen = [run(packed), run(bias[:, 1:])]
    packed += 9_000
    bias[:, 1] -= 9_000
    seen += [run(packed), run(bias[:, 1:])]
    assert len({s.tobytes() for s in seen}) == 4
    assert chain._last is not None  # pyright: ignore[reportPrivateUsage]
