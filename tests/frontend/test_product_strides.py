"""Products of views: the last digits depend on strides, and NumPy's functions copy different ones before they add."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fleet

PRODUCTS = [
    "np.dot(a[::-2], b=a[::-2][::-1])", "np.dot(a[::2], b[::-2])", "np.dot(a[::-1], b[::-1])", "a[::-2].dot(b[::2])",
    "np.inner(a[::-2], b[::2])", "np.vdot(a[::-2], b[::2])", "a[::-2] @ b[::2]", "np.matmul(a[::2], b[::2])",
    "np.linalg.norm(a[::-2])", "np.linalg.norm(a[::3])", "np.tensordot(a[::-2], b[::2], 1)",
    "np.dot(m[::-1], a)", "np.dot(m[:, ::-1], a)", "np.dot(m.T[::-1], a)", "np.dot(m, a[::-1])", "m[::-1] @ a",
    "m[:, ::-1] @ a[::-1]", "np.vdot(a[:1] * 0, -b[:1])", "np.dot(a[:1] * 0, -abs(b[:1]))", "np.vdot(a[:1] * 0, -abs(b[:1]))",
    "np.dot(m[:1, ::2][::-1], a[::2])", "np.dot(m[::-2], m.T[:, ::-1])", "np.dot(m[None, 3, ::-1], a)",
    "np.dot(np.broadcast_to(a[:1], (37,)), b)", "np.dot(np.flip(a), b)", "np.dot(m[3, ::-1].reshape(1, 37), a)",
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("product", PRODUCTS)
def test_the_bits_are_numpys(tmp_path: Path, product: str, dtype: str) -> None:
    source = tmp_path / "model.py"
    arguments = f'a: "{dtype}[37]", b: "{dtype}[37]", m: "{dtype}[37, 37]"'
    source.write_text(f"import numpy as np\n\n\ndef forward({arguments}):\n    return {product}\n")
    rng = np.random.default_rng(3)
    for _ in range(5):
        inputs = {n: rng.normal(size=s).astype(dtype) for n, s in (("a", 37), ("b", 37), ("m", (37, 37)))}
        expected = np.asarray(eval(product, {"np": np, **inputs}))
        found = next(iter(fleet.compile(f"{source}:forward", inputs=inputs).run("vm").outputs.values()))
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes(), (found, expected)
