"""Faults in the kernels of GPUs and of the functional model, in the C VM and in the reader of TOSA."""

from __future__ import annotations

from planting import Edit, Fault, tests

_GPU = "tests/targets/gpu/test_tensor_cores.py"
_CUBLAS = "tests/targets/gpu/test_cublas.py"
_CVM = "tests/engines/test_cvm_engine.py"
_TOSA = "tests/targets/mlir/test_tosa.py"
_GROUPS = "tests/sets/hbm0923/test_sums_of_groups.py"


def _found(name: str, what: str, file: str, test: str, edit: Edit, *, at: str, kind: str) -> Fault:
    """Found by a test of a file."""
    return Fault(name, what, tests(file, "-k", test), f"FAILED {file}", (rf"FAILED {file}::\S*{test}",), (edit,), at=at, kind=kind)


FAULTS = (
    _found(
        "gpu-tensor-rest",
        "CUDA C++: the last tile of a product on tensor cores is not filled with zeros beyond the depth",
        _GPU,
        "products_of_halves",
        Edit("fleet/targets/gpu/tiles.py", "if count < self._tile_depth:", "if count < 0:"),
        at="a product of depth 41",
        kind="compiler",
    ),
    _found(
        "gpu-tensor-columns",
        "CUDA C++: every warp of a tile takes the columns of the first",
        _GPU,
        "products_of_halves",
        Edit(
            "fleet/targets/gpu/tensor_tiles.py",
            "first_column = moved(b, right, across, columns * _FRAGMENT)",
            "first_column = moved(b, right, across, 0)",
        ),
        at="a product on tensor cores",
        kind="compiler",
    ),
    _found(
        "gpu-bfloat16",
        "CUDA C++: float32 is cut to bfloat16, not rounded",
        _GPU,
        "exact_unless_bfloat16",
        Edit("fleet/targets/gpu/tensor_tiles.py", "(bits + 0x7fff + (bits >> 16 & 1)) >> 16", "(bits >> 16)"),
        at="a product in bfloat16",
        kind="compiler",
    ),
    _found(
        "gpu-cublas-turned",
        "cuBLAS: an operand whose columns lie in one piece is not turned",
        _CUBLAS,
        "calls_compute",
        Edit(
            "fleet/engines/gpu/cublas.py",
            '"CUBLAS_OP_T" if operand.turned else "CUBLAS_OP_N"',
            '"CUBLAS_OP_N" if operand.turned else "CUBLAS_OP_N"',
        ),
        at="a product of a turned operand",
        kind="compiler",
    ),
    _found(
        "cvm-jump-back",
        "C VM: behind a jump the last uses of slots are looked for where the code goes on in the file",
        _CVM,
        "",
        Edit("fleet/targets/cvm/vm/liveness.c", "memcpy(sets->live, set_of(code, sets, step->index), bytes);", ";"),
        at="a loop",
        kind="VM",
    ),
    _found(
        "iss-groups-error",
        "functional model: a sum over groups in binary64 counts as exact however large its error may be",
        _GROUPS,
        "binary64_leaves_open",
        Edit("fleet/sets/hbm0923/numerics/sum_bounds.py", "return (terms + 5) * 2.0**-53", "return 0.0 * terms"),
        at="an instruction whose sum lies at a tie of binary32",
        kind="functional model",
    ),
    _found(
        "tosa-cast",
        "TOSA: a cast to integers truncates",
        _TOSA,
        "cast",
        Edit("fleet/frontend/mlir/tosa.py", 'x = b.emit("rint", x)', "x = x"),
        at="tosa.cast",
        kind="compiler",
    ),
)
