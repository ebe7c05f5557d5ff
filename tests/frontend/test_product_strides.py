"""Products and sums of views and of new arrays: the last digits depend on strides, and on what NumPy copies before it adds."""

from __future__ import annotations

from collections.abc import Callable
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


MADE = [
    "np.meshgrid(c, c)[1]", "np.meshgrid(c, c)[0]", "np.full((17, 17), c[0])", "np.full((17, 17), c)",
    "np.full_like(m, c[:, None])", "np.tile(c, (17, 1))", "np.tile(c[:, None], 17)", "np.repeat(c[:, None], 17, axis=1)",
    "np.repeat(c[None], 17, axis=0)", "np.stack([c] * 17)", "np.stack([c] * 17, axis=1)", "np.broadcast_to(c, (17, 17)).copy()",
    "np.array(np.broadcast_to(c, (17, 17)))", "np.copy(np.broadcast_to(c[:, None], (17, 17)))",
    "np.broadcast_to(c[:, None], (17, 17)) * 1", "np.broadcast_to(c, (17, 17)).astype(np.float64)",
    "np.where(True, np.broadcast_to(c[:, None], (17, 17)), 0.0)", "np.kron(np.ones((17, 1)), c)", "np.outer(c, np.ones(17))",
    "np.ascontiguousarray(np.broadcast_to(c, (17, 17)))", "np.concatenate([np.broadcast_to(c, (16, 17)), c[None]])",
    "np.broadcast_to(c, (17, 17))", "np.zeros((17, 17)) + c", "np.pad(c[None], ((0, 16), (0, 0)), mode='edge')",
    "np.take(c[None], [0] * 17, axis=0)", "c[None][[0] * 17]", "np.resize(c, (17, 17))", "np.vander(c)",
    "np.flip(np.tile(c, (17, 1)))", "np.roll(np.tile(c, (17, 1)), 3)",
]  # fmt: skip
USED = [
    "np.inner(v, v)", "v @ v.T", "np.dot(v, v.T)", "np.dot(v, m)", "v @ m", "np.sum(v, axis=0)", "np.sum(v, axis=1)", "np.sum(v)",
    "v.mean()", "np.einsum('ij,kj->ik', v, v)", "np.cumsum(v)",
]  # fmt: skip


@pytest.mark.parametrize("made", MADE)
def test_what_is_computed_of_it_is_numpys(tmp_path: Path, made: str) -> None:
    """An array of which NumPy knows that elements repeat is a view there only where NumPy returns one."""
    rng = np.random.default_rng(0)
    inputs = {"c": rng.normal(size=17), "m": rng.normal(size=(17, 17))}
    source = tmp_path / "model.py"
    head = "import numpy as np\n\n\ndef forward(c: 'float64[17]', m: 'float64[17, 17]'):\n"
    text = f"{head}    v = {made}\n    return {', '.join(USED)}\n"
    source.write_text(text)
    space: dict[str, Callable[..., tuple[np.ndarray, ...]]] = {}
    exec(text, space)
    expected = space["forward"](**inputs)
    found = fleet.compile(f"{source}:forward", inputs=inputs).run("vm").outputs.values()
    assert [u for u, a, b in zip(USED, expected, found, strict=True) if np.asarray(a).tobytes() != b.tobytes()] == []


CHOSEN = [
    "m[:, i]", "m[:, [3, 1, 0]]", "m[i]", "m[:, m[0] > 0]", "m[1:, i]", "m[::-1, i]", "m.T[:, i]", "c[:, i, 2]", "c[:, i, i]",
    "c[0][:, i]", "m[:, j]", "c[:, i]", "c[:, :, i]", "c[i, :, i]", "m[:, i] + 0.0", "m[:, i].copy()", "np.take(m, i, axis=1)",
]  # fmt: skip
OF_CHOSEN = [
    "v.reshape(len(v), -1) @ w[: v[0].size]", "v.sum()", "v.sum(axis=0)", "v.sum(axis=-1)", "v.mean()", "np.cumsum(v)", "v.ravel()",
]  # fmt: skip


@pytest.mark.parametrize("known", ["known", "of the run"])
@pytest.mark.parametrize("chosen", CHOSEN)
def test_what_indices_choose_lies_as_in_numpy(tmp_path: Path, chosen: str, known: str) -> None:
    """Their dimensions are outermost in memory wherever they stand, so that sums and products go in another order."""
    source = tmp_path / "model.py"
    made = "i = np.array([3, 1, 0])\n    " if known == "known" else ""
    arguments = 'm: "float64[19, 7]", c: "float64[6, 5, 7]", w: "float64[200]", j: "int64[2, 3]"' + (
        "" if made else ', i: "int64[3]"'
    )
    rng = np.random.default_rng(1)
    inputs = {"m": rng.normal(size=(19, 7)), "c": rng.normal(size=(6, 5, 7)), "w": rng.normal(size=200)}
    inputs |= {"i": np.array([3, 1, 0]), "j": np.array([[0, 6, 1], [2, 2, 5]])}
    if "m[0] > 0" in chosen:  # its shape depends on values: the reader has to know them
        chosen = chosen.replace("m[0] > 0", "[True, False, True, True, False, False, True]")
    values = eval(chosen, {"np": np, **inputs})
    results = ", ".join(OF_CHOSEN)
    source.write_text(f"import numpy as np\n\n\ndef forward({arguments}):\n    {made}v = {chosen}\n    return {results}\n")
    expected = [np.asarray(eval(use, {"np": np, "v": values, **inputs})) for use in OF_CHOSEN]
    given = {n: a for n, a in inputs.items() if n != "i" or not made}
    found = fleet.compile(f"{source}:forward", inputs=given).run("vm").outputs
    for use, array, right in zip(OF_CHOSEN, found.values(), expected, strict=True):
        assert array.tobytes() == right.tobytes(), (chosen, use)
