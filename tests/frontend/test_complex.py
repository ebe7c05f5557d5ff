"""Complex numbers: what CPython prints, in every bit, by the VM; refused by name elsewhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers_corpus import Program, by_python, by_vm

import fleet
from fleet.cosim.campaign import cosim
from fleet.cosim.options import CosimOptions
from fleet.cosim.what_ran import DataProvenance
from fleet.errors import DeviceError, SourceError
from fleet.frontend.interpreter import run
from fleet.frontend.source import load

Z = "z = np.array([1 + 2j, 3 - 4j, 0.5j]); "
SPECIAL = "z = np.array([complex(-0.0, -0.0), complex(np.inf, 1), complex(np.nan, -0.0), complex(1, -np.inf)]); "
LINES = [
    "print(1j, (1+2j)*(3-1j), abs(3+4j), (1+2j).conjugate(), (2j).imag, complex(1, 2), -1j, 2**(1j), (1+1j)**2)",
    "z = 3 + 4j; print(f'{z} {z:.2f} {abs(z):.3f}', str(z), repr(z), z == 3 + 4j, bool(0j), '%s' % z, [z, 1j])",
    "import cmath; print(cmath.phase(1j), cmath.exp(1j * cmath.pi), cmath.sqrt(-1), cmath.polar(1 + 1j), cmath.rect(1, 0.5))",
    Z + "print(z + 1, z * 2.5, z - 1j, 1j * z, z / (2 + 1j), 2 ** z, z ** 1j, z == z, z != 1j, z[0] == 1 + 2j, z > 1, z < 2j)",
    Z + "print(z ** 2, z ** 0.5, z ** -1, z ** 3, z ** 2.0, z[0] ** 2, z[0] ** 0.5, np.power(z, 2), np.square(z), z ** 0)",
    Z + "print(z.real, z.imag, np.abs(z), np.angle(z, deg=True), z.conj(), np.conjugate(z), -z, +z, abs(z), np.real(z))",
    Z + "print(z.sum(), z.mean(), z.prod(), z.cumsum(), np.exp(z), np.sqrt(z), np.log(z), np.sin(z), np.tanh(z), np.var(z))",
    Z + "print(z @ z, np.dot(z, z), np.vdot(z, z), np.outer(z, z), np.inner(z, z), np.linalg.norm(z), np.sort(z), np.argmax(z))",
    Z + "print(np.concatenate([z, [1]]), np.vstack([z, np.ones(3)]), np.append(z, 3j), np.roll(z, 1), z[::-1], z[np.abs(z) > 1])",
    "L, K = [1 + 2j, 3j], [2j, 1]; print(np.vdot(L, K), np.linalg.norm(L), np.vdot([1j], [1j]), np.dot(L, K), np.inner(L, K))",
    "A = np.array([[1, 1j], [2, -1]]); print(A @ A, A.conj().T, np.linalg.inv(A), np.linalg.det(A), np.kron(A, A), np.trace(A))",
    "x = np.linspace(0, 1, 4, dtype=np.float32); print((x * 1j).dtype, (x[0] * 1j).dtype, x * 1j, np.multiply(x, 1j).dtype)",
    "z = np.zeros(3, dtype=complex); z[0] = 1j; z[1] += 2; z *= 1j; z -= 1; print(z, np.full(2, 1j), np.eye(2, dtype=complex))",
    "z = np.arange(4) + 1j * np.arange(4)[::-1]; z[z.real > 1] = 0; print(z, np.where(z == 0, 1j, z), np.iscomplexobj(z))",
    SPECIAL
    + "print(z * 1, z + 0, z - 0, z / 1, z * 0, 1 * z, 0 + z, z ** 1, z * -1, -z, 0.0 - z, z * (1 + 0j), z + 0j, z - z, z / z)",
    "print(np.fft.fft([1, 0, 0, 0]), np.fft.ifft([0, 4, 0, 0]), np.fft.irfft([1, -1j, -1]), np.fft.fft(np.arange(5.0), 8))",
    "x = np.arange(64.0) % 7; s = np.fft.rfft(x); s[10:] = 0; print(np.fft.irfft(s, n=64)[:4], np.abs(s[:4]) ** 2, s.dtype)",
    "print(np.fft.fft2(np.mgrid[:3, :3][0]), np.fft.ifft2(np.eye(2)), np.fft.fftshift(np.fft.fft(np.arange(4))))",
    "z = 0j; c = -0.5 + 0.5j; zs = [z := z * z + c for _ in range(5)]; print(zs, abs(z) < 2)",
    "print(np.roots([1, 0, 1]), np.linalg.eigvals([[0, 1], [-1, 0]]), np.linalg.eig(np.diag([2.0, 3.0])).eigenvalues)",
    "z = np.array([1j]); r = z.real; r[0] = 7; print(z, r); z.imag = 0; z.real -= 8; print(z, r)",
    "z = np.zeros((3, 4), complex); z.real = np.arange(12).reshape(3, 4); z.imag[1:3] = -z.real[:2]; z.imag += 1; print(z)",
    "z = np.arange(6) * 1j; w = z[1:]; w.real[::2] = 7; i = z.imag; i[0] = -0.0; i[2] *= np.inf; print(z, w, i, w.real)",
    "z = np.ones((2, 3), complex); t = z.T; t.imag[2] = [5, 6]; z[:, 1].imag = np.nan; np.real(z)[0, 0] = 42; print(z, t)",
    "z = np.ones(3, np.complex64); z.imag = z.real * 0.1; z.real[z.imag > 0] = 3; print(z, z.dtype, z.real.dtype)",
    "x = np.ones(3); x.real = 4; x.real[1] = 2; print(x); z = np.array(1j); z.real = 2; print(z)",
    "print(np.mgrid[-1:1:5j], np.ogrid[0:1:3j, 0:2], np.r_[0:1:5j, 9], np.r_[1j, 2], np.mgrid[0:1:0.25])",
]


@pytest.mark.parametrize("line", LINES)
def test_what_python_prints(tmp_path: Path, line: str) -> None:
    path = tmp_path / "line.py"
    path.write_text(f"import numpy as np\n\n{line}\n")
    program = Program(path, None, {}, "", "")
    _, text = by_python(program)
    assert by_vm(program)[1] == text
    assert run(str(path), {}).printed == text


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("print((1 + 2j) < 1j)", "F703"),
        ("print(float(1j))", "F703"),
        ("x = np.ones(2); x.imag = 1; print(x)", "F703"),
    ],
)
def test_what_is_refused(tmp_path: Path, line: str, code: str) -> None:
    path = tmp_path / "line.py"
    path.write_text(f"import numpy as np\n\n{line}\n")
    with pytest.raises(SourceError) as caught:
        by_vm(Program(path, None, {}, "", ""))
    assert caught.value.code == code


MODEL = """import numpy as np


def forward(x):
    z = np.zeros(8, dtype=complex)
    s = np.fft.fft(z + x * 1j)
    while np.abs(s).max() > 1:
        s = s * 0.5j
    return np.abs(s), s
"""


def test_a_model_of_complex_numbers_runs_where_numpy_is_and_is_refused_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    inputs = {"x": np.arange(8.0)}
    model = fleet.compile(f"{path}:forward", inputs=inputs)
    names: dict[str, object] = {}
    exec(MODEL, names)
    expected = names["forward"](inputs["x"])  # type: ignore[operator]  # a function of the text above
    for engine in ("vm", "interp", "cpython"):
        for found, wanted in zip(model.run(engine).outputs.values(), expected, strict=True):
            assert np.asarray(found).tobytes() == wanted.tobytes()
    for engine in ("riscv", "onnxruntime", "mlir"):
        with pytest.raises(DeviceError, match=r"complex|region|while"):
            model.run(engine)


def test_a_result_with_a_nan_in_one_part_is_what_its_operation_left(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text("import numpy as np\n\n\ndef forward(x):\n    z = x + 1j\n    z.imag[1] = np.nan\n    return z\n")
    (found,) = fleet.compile(f"{path}:forward", inputs={"x": np.arange(3.0)}).run("vm").outputs.values()
    assert np.isnan(found[1].imag)
    inputs = {"x": np.arange(3.0)}
    options = CosimOptions(str(path), DataProvenance("random", 1, None, None, None))
    result = cosim(load(f"{path}:forward", {}, inputs), inputs, None, ("vm", "cpython"), options)
    assert result.verdict == "pass", result.reasons
