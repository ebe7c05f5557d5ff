"""Models on the functional model: integers to the bit of NumPy, real numbers to that of fixed point written out here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fleet
from fleet.engines.trace import Trace
from fleet.errors import DeviceError
from fleet.sets.vgemm.layout import VgemmLayout

DENSE = """
import numpy as np


def forward(x: "int8[{r}, {k}]", w: "int8[{k}, {n}]", b: "int32[{n}]"):
    sums = x.astype(np.int32) @ w.astype(np.int32) + b
    return np.clip((sums + 16) // 32, {low}, 127).astype(np.int8)
"""
CONVOLUTION = """
import numpy as np


def forward(x: "int8[{n}, {h}, {v}, {c}]", w: "int8[{t}, {k}]", b: "int32[{k}]"):
    padded = np.pad(x, ((0, 0), ({top}, {bottom}), ({left}, {right}), (0, 0)))
    taps = [padded[:, i : i + {eh} : {s}, j : j + {ev} : {s}, :] for i in range({kh}) for j in range({kv})]
    columns = np.concatenate(taps, axis=-1)
    sums = columns.astype(np.int32) @ w.astype(np.int32) + b
    return np.maximum(sums // 64, 0)
"""
REAL = """
import numpy as np


def forward(x: "float32[{r}, {k}]", y: "float32[{r}, {n}]", w: "float32[{k}, {n}]", b: "float32[{n}]"):
    return np.maximum(x @ w + b + y, 0)
"""
DEVICES = st.sampled_from(["vgemm_small", "vgemm16"])


def run(source: str, device: str, inputs: Mapping[str, np.ndarray], weights: Mapping[str, np.ndarray]) -> tuple[Trace, np.ndarray]:
    """The functional model's trace, and what the VM computes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.py"
        path.write_text(source)
        compiled = fleet.compile(f"{path}:forward", weights=weights, inputs=inputs)
        (golden,) = compiled.run("vm", inputs).outputs.values()
        return compiled.run("iss", inputs, device=device), golden


def small(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(-128, 128, shape).astype(np.int8)


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_integer_products_are_numpy_s(data: st.DataObject) -> None:
    """Rows, inputs and outputs around and beyond what the scratchpads hold: tiles of all three."""
    r, k, n = (data.draw(st.sampled_from(s)) for s in ((1, 7, 70), (3, 16, 33, 300, 4200), (1, 10, 17, 100)))
    device, low = data.draw(DEVICES), data.draw(st.sampled_from([-128, 0]))
    rng = np.random.default_rng([r, k, n])
    weights = {"w": small(rng, k, n), "b": rng.integers(-(10**6), 10**6, n).astype(np.int32)}
    trace, golden = run(DENSE.format(r=r, k=k, n=n, low=low), device, {"x": small(rng, r, k)}, weights)
    assert set(trace.placement.values()) == {"device"}, trace.meta["host_reasons"]
    (found,) = trace.outputs.values()
    assert found.dtype == np.int8
    assert np.array_equal(found, golden)
    assert len(trace.commits) > 5


@settings(max_examples=12, deadline=None)
@given(st.data())
def test_convolutions_are_numpy_s(data: st.DataObject) -> None:
    """Windows, strides, one-sided padding, channels that fill no block."""
    s, kh, kv = (data.draw(st.integers(1, 3)) for _ in range(3))
    c, k = data.draw(st.sampled_from([1, 5, 16])), data.draw(st.sampled_from([3, 16, 40]))
    top, bottom, left, right = (data.draw(st.integers(0, 1)) for _ in range(4))
    oh, ov = (data.draw(st.integers(1, 4)) for _ in range(2))
    eh, ev = (oh - 1) * s + 1, (ov - 1) * s + 1
    h, v = max(1, eh + kh - 1 - top - bottom), max(1, ev + kv - 1 - left - right)
    rng = np.random.default_rng([s, kh, kv, c, k])
    source = CONVOLUTION.format(
        n=2, h=h, v=v, c=c, k=k, t=kh * kv * c, s=s, kh=kh, kv=kv, top=top, bottom=bottom, left=left, right=right, eh=eh, ev=ev
    )
    weights = {"w": small(rng, kh * kv * c, k), "b": rng.integers(-1000, 1000, k).astype(np.int32)}
    trace, golden = run(source, data.draw(DEVICES), {"x": small(rng, 2, h, v, c)}, weights)
    (found,) = trace.outputs.values()
    assert np.array_equal(found, golden)
    assert "device" in trace.placement.values(), trace.meta["host_reasons"]


@pytest.mark.parametrize("device", ["vgemm_small", "vgemm16"])
def test_real_products_are_those_of_fixed_point(device: str) -> None:
    """Written out from docs/vgemm.md: weights of 7 fraction bits, inputs of 4, sums of 16."""
    r, k, n = 20, 70, 33
    rng = np.random.default_rng(1)
    x, y = (rng.normal(0, 3, (r, c)).astype(np.float32) for c in (k, n))
    x[0, 0], x[0, 1] = 100.0, -100.0  # beyond what INT8 holds
    w, b = rng.uniform(-0.9, 0.9, (k, n)).astype(np.float32), rng.normal(0, 1, n).astype(np.float32)
    w[0, 0] = 0.99
    trace, _ = run(REAL.format(r=r, k=k, n=n), device, {"x": x, "y": y}, {"w": w, "b": b})
    inputs = np.clip(np.floor(np.rint(x.astype(float) * 65536) / 4096 + 0.5), -128, 127)
    sums = inputs @ np.rint(w.astype(float) * 128) * 2**5 + np.rint(b.astype(float) * 65536) + np.rint(y.astype(float) * 65536)
    expected = (np.maximum(sums, 0) / 65536).astype(np.float32)
    (found,) = trace.outputs.values()
    assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    ("h", "v", "c", "k", "s", "kh", "kv", "pad"),
    [
        (40, 40, 16, 4, 1, 3, 3, 1),  # bands of rows
        (6, 200, 16, 20, 2, 3, 3, 1),  # rows in parts
        (12, 12, 60, 7, 3, 5, 5, 0),  # sums in parts, channels that fill no block
        (9, 300, 3, 33, 1, 2, 7, 1),  # most of a row's blocks are fill
        (20, 20, 16, 300, 1, 3, 3, 0),  # outputs in groups
    ],
)
@pytest.mark.parametrize("device", ["vgemm_small", "vgemm16"])
def test_convolutions_beyond_the_scratchpads_are_numpy_s(
    device: str, h: int, v: int, c: int, k: int, s: int, kh: int, kv: int, pad: int
) -> None:
    rng = np.random.default_rng([h, v, c, k])
    eh, ev = ((n + 2 * pad - t) // s * s + 1 for n, t in ((h, kh), (v, kv)))
    t = kh * kv * c
    source = CONVOLUTION.format(
        n=2, h=h, v=v, c=c, k=k, t=t, s=s, kh=kh, kv=kv, top=pad, bottom=pad, left=pad, right=pad, eh=eh, ev=ev
    )
    weights = {"w": small(rng, t, k), "b": rng.integers(-1000, 1000, k).astype(np.int32)}
    trace, golden = run(source, device, {"x": small(rng, 2, h, v, c)}, weights)
    assert set(trace.placement.values()) == {"device"}, trace.meta["host_reasons"]
    (found,) = trace.outputs.values()
    assert np.array_equal(found, golden)


def test_what_does_not_fit_stays_on_the_host_and_says_why() -> None:
    """A window of 7 x 7 x 256 channels; zeros that a load has no bits for."""
    rng = np.random.default_rng(0)
    for c, t, pad, reason in ((256, 7, 0, "one window takes 3136 blocks"), (64, 3, 1, "16 blocks of zeros beside a row")):
        size = {"n": 1, "h": 8, "v": 8, "c": c, "k": 4, "t": t * t * c, "s": 1, "kh": t, "kv": t}
        around = {"top": pad, "bottom": pad, "left": pad, "right": pad, "eh": 8 + 2 * pad - t + 1, "ev": 8 + 2 * pad - t + 1}
        weights = {"w": small(rng, t * t * c, 4), "b": np.zeros(4, np.int32)}
        with pytest.raises(DeviceError, match=f"no operation of the model runs on vgemm_small .*{reason}"):
            run(CONVOLUTION.format(**size, **around), "vgemm_small", {"x": small(rng, 1, 8, 8, c)}, weights)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.sampled_from([np.int8, np.int32, np.float32]))
def test_the_layout_gives_back_what_it_took(shape: list[int], dtype: type) -> None:
    rng = np.random.default_rng(len(shape))
    array = rng.integers(-100, 100, (*shape[:-1], shape[-1] * 7)).astype(dtype)
    layout = VgemmLayout()
    data = layout.pack(array)
    assert data.size == layout.size(array.shape, array.dtype)
    assert data.size % 16 == 0
    assert np.array_equal(layout.unpack(data, array.shape, array.dtype), array)


@pytest.mark.parametrize("device", ["vgemm_small", "vgemm16"])
def test_the_networks_on_the_digits_run_on_the_device(device: str) -> None:
    """All but the argmax; the integers to the bit."""
    folder = Path(__file__).parents[3] / "examples" / "digits"
    for model, weights, inputs in (
        ("conv_int8.py", "conv_int8_weights.npz", "conv_int8_test.npz"),
        ("model.py", "weights.npz", "test.npz"),
    ):
        compiled = fleet.compile(f"{folder / model}:forward", weights=folder / weights, inputs=folder / inputs, batch=2)
        trace = compiled.run("iss", device=device)
        assert [op for op, where in trace.placement.items() if where == "host"] == ["digit"]
        golden = compiled.run("vm").outputs
        assert np.array_equal(trace.outputs["digit"], golden["digit"])
        if model == "conv_int8.py":
            assert np.array_equal(trace.outputs["logits"], golden["logits"])


def test_a_weight_that_is_reshaped_and_turned_goes_on_the_device() -> None:
    source = """
import numpy as np


def forward(x: "int8[2, 6, 18]", w: "int8[5, 2, 9]"):
    return x.astype(np.int32) @ w.reshape(5, -1).T.astype(np.int32)
"""
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((2, 6, 18), (5, 2, 9)))
    trace, _ = run(source, "vgemm_small", {"x": x}, {"w": w})
    (found,) = trace.outputs.values()
    assert np.array_equal(found, x.astype(np.int32) @ w.reshape(5, -1).T.astype(np.int32))
    assert trace.placement["matmul.0"] == "device", trace.meta["host_reasons"]


@pytest.mark.parametrize(("number", "where"), [("np.inf", "host"), ("np.nan", "host"), ("-np.inf", "host"), ("0.0", "device")])
def test_a_number_that_alu_does_not_have_stays_on_the_host(number: str, where: str) -> None:
    source = f"""
import numpy as np


def forward(x: "float32[2, 16]", w: "float32[16, 16]"):
    return np.maximum(x @ w, {number})
"""
    rng = np.random.default_rng(0)
    trace, _ = run(source, "vgemm_small", {"x": rng.random((2, 16), np.float32)}, {"w": rng.random((16, 16), np.float32)})
    assert sorted(trace.placement.values()) == sorted(["device", where])
