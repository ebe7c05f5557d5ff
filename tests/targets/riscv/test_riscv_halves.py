"""float16 on the RISC-V target and on the processor itself: conversions to the bit, operations rounded as NumPy rounds them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fleet

ALL = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
ENGINES = ("riscv", "llvm-cpu")


def held(folder: Path, body: str, **inputs: np.ndarray) -> None:
    """Every engine gives the VM's bits; NaN's payload is left open."""
    path = folder / "m.py"
    words = ", ".join(f'{n}: "{v.dtype}[{", ".join(map(str, v.shape))}]"' for n, v in inputs.items())
    path.write_text(f"import numpy as np\n\n\ndef forward({words}):\n    return {body}\n")
    compiled = fleet.compile(f"{path}:forward", inputs=inputs)
    with np.errstate(all="ignore"):
        wanted = compiled.run("vm").outputs
    for engine in ENGINES:
        found = compiled.run(engine).outputs
        assert wanted.keys() == found.keys()
        for name, want in wanted.items():
            got = np.asarray(found[name])
            assert got.dtype == np.asarray(want).dtype, (engine, name)
            np.testing.assert_array_equal(got, want, err_msg=f"{engine} {name}")
            if got.dtype.kind == "f":
                assert (np.isnan(got) | (np.signbit(got) == np.signbit(want))).all(), (engine, name)


def test_every_half_becomes_what_numpy_makes_of_it(tmp_path: Path) -> None:
    held(tmp_path, "x.astype(np.float32), x.astype(np.float64), x.astype(bool), np.isnan(x), x.view(np.int16)", x=ALL)


def test_numbers_between_two_halves(tmp_path: Path) -> None:
    """The middle between neighbours goes to the even one; just above and just below it does not."""
    with np.errstate(invalid="ignore"):
        middle = (ALL[:-1].astype(np.float64) + ALL[1:].astype(np.float64)) / 2
    middle = middle[np.isfinite(middle)]
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, 1 << 32, 20_000, dtype=np.uint64).astype(np.uint32).view(np.float32)
    edges = [65504, 65519.99, 65520, 65535, 65536, 1e30, np.inf, -np.inf, np.nan, 0.0, -0.0, 2.0**-25, 2.0**-24, 6.1e-5]
    single = np.concatenate([middle.astype(np.float32), drawn, np.array(edges, np.float32)])
    double = np.concatenate([middle, np.nextafter(middle, np.inf), np.nextafter(middle, -np.inf), [1e300, -1e300, 1e-300, *edges]])
    held(tmp_path, "x.astype(np.float16), y.astype(np.float16)", x=single, y=double)


def test_integers_become_halves(tmp_path: Path) -> None:
    held(tmp_path, "i.astype(np.float16), i * h, j.astype(np.float16)", i=np.array([0, 1, -7, 100, -128, 127], np.int8),
         h=np.arange(6, dtype=np.float16), j=np.array([2047, 2049, 2051, 65519, 65520, -70000]))  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        "x + y, x - y, x * y, x / y, np.maximum(x, y), -x, abs(x), np.sqrt(abs(x))",
        "x * 0.1, 1 / x, x > 0.1, x == y, np.where(x > y, x, 2)",  # 0.1 is float16's, as NumPy 2 has it
        "x.max(axis=1), x.argmax(axis=1), np.sort(x, axis=1), x.min()",
        "x.T, x[1:, ::2], np.concatenate([x, y]), np.pad(x, 1), x[np.array([2, 0])], x.reshape(-1)",
        "np.floor(x), np.rint(x), np.exp(x), np.tanh(x)",
    ],
)
def test_operations_have_the_vms_bits(tmp_path: Path, body: str) -> None:
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal((4, 6)).astype(np.float16) for _ in range(2))
    held(tmp_path, body, x=x, y=y)


def test_products_and_composites_are_as_near_as_their_roundings(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    x, w = rng.standard_normal((5, 32)).astype(np.float16), rng.standard_normal((32, 7)).astype(np.float16)
    path = tmp_path / "m.py"
    path.write_text(
        "import numpy as np\n\n\ndef forward(x: 'float16[5, 32]', w: 'float16[32, 7]'):\n    h = x @ w\n"
        "    e = np.exp(h - h.max(axis=1, keepdims=True))\n    return h, e / e.sum(axis=1, keepdims=True), h.mean(axis=1)\n"
    )
    compiled = fleet.compile(f"{path}:forward", inputs={"x": x, "w": w})
    wanted, found = compiled.run("vm").outputs, compiled.run("riscv").outputs
    for name, want in wanted.items():
        np.testing.assert_allclose(found[name], want, rtol=2e-3, atol=1e-3, err_msg=name)
