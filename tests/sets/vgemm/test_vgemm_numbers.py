"""Real numbers in fixed point: how many bits a weight gets, and a convolution of real numbers, written out from docs/vgemm.md."""

from __future__ import annotations

import math

import numpy as np
import pytest
from test_vgemm_lowering import run

from fleet.sets.vgemm.numbers import narrow_weight, scale_bits

CONVOLUTION = """
import numpy as np


def forward(x: "float32[{n}, {h}, {v}, {c}]", w: "float32[{t}, {k}]", b: "float32[{k}]"):
    taps = [x[:, i : i + {eh}, j : j + {ev}, :] for i in range({kh}) for j in range({kv})]
    return np.maximum(np.concatenate(taps, axis=-1) @ w + b, 0)
"""


@pytest.mark.parametrize("power", range(-20, 8))
@pytest.mark.parametrize("top", [1.0, 1.5, 127 / 128])
def test_a_weight_has_as_many_bits_as_keep_it_within_127_and_at_most_12(power: int, top: float) -> None:
    weight = np.array([[0.1, -1.0], [0.25, 0.5]]) * top * 2.0**power
    bits = scale_bits(weight)
    assert bits <= 12, "sums have 16 fraction bits, activations 4: none is shifted away"
    assert bits == 12 or np.abs(weight).max() * 2.0 ** (bits + 1) > 127
    assert np.abs(weight).max() * 2.0**bits <= 127
    codes, same = narrow_weight(weight)
    assert same == bits
    assert np.array_equal(codes, np.rint(weight * 2.0**bits))


def test_weights_that_are_all_zero() -> None:
    codes, bits = narrow_weight(np.zeros((2, 3)))
    assert bits == 12
    assert not codes.any()


@pytest.mark.parametrize("device", ["vgemm_small", "vgemm16"])
@pytest.mark.parametrize(("h", "v", "c", "k"), [(3, 4, 70, 5), (9, 3, 20, 33)])
def test_a_convolution_of_real_numbers_is_that_of_fixed_point(device: str, h: int, v: int, c: int, k: int) -> None:
    n, kh, kv = 2, 2, 2
    eh, ev, t = h - kh + 1, v - kv + 1, kh * kv * c
    rng = np.random.default_rng([h, v, c, k])
    x = rng.normal(0, 2, (n, h, v, c)).astype(np.float32)
    w, b = rng.uniform(-0.9, 0.9, (t, k)).astype(np.float32) / math.sqrt(t), rng.normal(0, 1, k).astype(np.float32)
    source = CONVOLUTION.format(n=n, h=h, v=v, c=c, k=k, t=t, kh=kh, kv=kv, eh=eh, ev=ev)
    trace, _ = run(source, device, {"x": x}, {"w": w, "b": b})
    assert "device" in trace.placement.values(), trace.meta["host_reasons"]
    bits = scale_bits(w)
    inputs = np.clip(np.floor(np.rint(x.astype(float) * 65536) / 4096 + 0.5), -128, 127)
    columns = np.concatenate([inputs[:, i : i + eh, j : j + ev] for i in range(kh) for j in range(kv)], axis=-1)
    sums = columns @ np.rint(w.astype(float) * 2**bits) * 2 ** (12 - bits) + np.rint(b.astype(float) * 65536)
    (found,) = trace.outputs.values()
    assert np.array_equal(found, (np.maximum(sums, 0) / 65536).astype(np.float32))
