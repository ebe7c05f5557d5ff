"""The public compiler's command line, and seed 002: from NumPy to MLIR and RISC-V."""

from __future__ import annotations

from seed_rows import Group, differs, works

_SAMPLE = "examples/add_sample.py"
_DIGITS = "examples/digits/model.py:forward --weights examples/digits/weights.npz"

COMMAND_LINE = Group(
    "command-line",
    "The public compiler's command line",
    (
        works("--compile-to token", f"fleet_compiler_cli --compile-to token {_SAMPLE}", "NAME 'print'"),
        works("--compile-to ast", f"fleet_compiler_cli --compile-to ast {_SAMPLE}", "Name(id='print')"),
        works("--compile-to ir", f"fleet_compiler_cli --compile-to ir {_SAMPLE}", "builtin.module"),
        works("--compile-to mlir", f"fleet_compiler_cli --compile-to mlir {_SAMPLE}", "arith.addi"),
        works("--compile-to vm", f"fleet_compiler_cli --compile-to vm {_SAMPLE}", "istore_2"),
        works("--compile-to bc", f"fleet_compiler_cli --compile-to bc {_SAMPLE}", "ByteCodeModule("),
        works("--runner vm", f"fleet_compiler_cli --runner vm {_SAMPLE}", "43"),
        works("--runner interpreter", f"fleet_compiler_cli --runner interpreter {_SAMPLE}", "43"),
        works("--target-backend python", f"fleet_compiler_cli --target-backend python {_SAMPLE}", "43"),
        works("--target-backend llvm-cpu", f"fleet_compiler_cli --target-backend llvm-cpu {_SAMPLE}", "43"),
        works("--only-compile", f"fleet_compiler_cli --only-compile -o add.txt {_SAMPLE}"),
        works("--validation", f"fleet_compiler_cli --validation {_SAMPLE}", "PASS"),
        works("--dump-ir-before-pass", f"fleet_compiler_cli --dump-ir-before-pass {_SAMPLE}", "func.func"),
        works("--dump-ir-after-pass", f"fleet_compiler_cli --dump-ir-after-pass {_SAMPLE}", "func.func"),
        works("--target-backend riscv (fleet's own)", f"fleet_compiler_cli --target-backend riscv {_SAMPLE}", "43"),
        works(
            "--dump-intermediates-to",
            f"fleet_compiler_cli --target-backend riscv --dump-intermediates-to stages {_SAMPLE} && fleet run stages/riscv.elf",
            "43\n43\ninstructions",
        ),
        works("-o FILE", f"fleet_compiler_cli -o add.fbc {_SAMPLE} && fleet run add.fbc", "43"),
        works(
            "serialised bytecode through the seeds' program",
            f"fleet_compiler_cli -o add.fbc {_SAMPLE} && fleet_compiler_cli add.fbc",
            "43",
        ),
        works("scalar float arithmetic, pow", "fleet_compiler_cli flow.py", "2.25"),
        works("constant 0", "fleet_compiler_cli --compile-to bc flow.py", "iconst_0"),
        works("`3-1`", "fleet_compiler_cli minus.py", "2"),
        works("comparison, if/else, for (known)", "fleet_compiler_cli flow.py", "more"),
    ),
    files={
        "flow.py": "a = 1.5\n"
        "b = a**2\n"
        "print(b)\n"
        "zero = 0\n"
        "if b > 2:\n"
        '    print("more")\n'
        "else:\n"
        '    print("less")\n'
        "for i in range(3):\n"
        "    print(i + zero)\n",
        "minus.py": "print(3-1)\n",
    },
)

_NUMPY = """import numpy as np


def forward(x: "float32[N, 4]", w: "float32[4, 3]"):
    return np.tanh(x @ w).sum(axis=1)
"""

COMPILER = Group(
    "compiler",
    "Seed 002: compiler",
    (
        works("lexer / tokens", f"fleet_compile_cli --emitToken {_SAMPLE}", "NAME 'print'"),
        works("parser / AST", f"fleet_compile_cli --emitAST {_SAMPLE}", "Name(id='print')"),
        works("semantic analysis, errors with place", "fleet compile wrong.py:forward", "wrong.py:2", fails=True),
        differs(
            "hand-written lexer and parser",
            f"fleet_compile_cli --emitAST {_SAMPLE}",
            "Name(id='print')",
            "Python's own `tokenize` and `ast`, as seed 003 argues: what they take is Python",
        ),
        works("AST runtime", f"fleet_compiler_cli --runner interpreter {_SAMPLE}", "43"),
        works("IR, own dialect", "fleet compile numpy_model.py:forward", '"fleet.matmul"'),
        differs(
            "TOSA + numpy + arith + math + tensor dialects",
            "fleet compile --emit mlir numpy_model.py:forward",
            "linalg.",
            "the dialect `fleet`, exported to func, linalg, tensor, arith, math; TOSA is read: it has no float64, no order of sums",
        ),
        works(
            "export parsed by mlir-opt",
            "pytest tests/targets/mlir/test_mlir_export.py::test_every_example_is_lowered_and_gives_the_golden_numbers",
        ),
        works(
            "export at any point of optimisation", "fleet compile --pipeline riscv --emit mlir numpy_model.py:forward", "func.func"
        ),
        works(
            "IR itself accepted by mlir-opt",
            "pytest tests/targets/mlir/test_mlir_export.py::test_every_example_is_lowered_and_gives_the_golden_numbers",
        ),
        works(
            "run by MLIR/LLVM",
            "pytest tests/targets/mlir/test_mlir_export.py::test_every_example_is_lowered_and_gives_the_golden_numbers",
        ),
        works("numpy -> MLIR", "fleet compile --emit mlir numpy_model.py:forward", "linalg."),
        works("numpy -> ONNX", "fleet compile --emit onnx numpy_model.py:forward", "MatMul"),
        works(
            "MLIR read back / import",
            "fleet compile --emit mlir numpy_model.py:forward -o export.mlir && fleet cosim export.mlir --engines vm,riscv",
            "verdict: PASS",
        ),
        works(
            "own IR read back", "fleet compile numpy_model.py:forward -o ir.mlir && fleet-opt --pipeline vm ir.mlir", "fleet.matmul"
        ),
        works("rewrite / pass mechanism", "fleet-opt --list", "fold-constants"),
        works("op interfaces of MLIR kind", "fleet.ir.operations.operation.FleetOp.infer.__name__", "infer"),
        works("shape inference", "fleet-opt --list", "infer-shapes"),
        works("canonicalize", "fleet-opt --list", "canonicalise"),
        works("TargetBackend", f"fleet_compiler_cli --target-backend llvm-cpu {_SAMPLE}", "43"),
        works("lowering to LLVM IR", "fleet compile --emit llvm numpy_model.py:forward", "fmul"),
        works("LLVM IR as a stage to look at", "fleet compile --emit llvm numpy_model.py:forward", "define"),
        works("LLVM code generation", "fleet compile --emit riscv-asm numpy_model.py:forward", "fmadd"),
        works("RISC-V code", "fleet compile --emit riscv-asm numpy_model.py:forward", "ret"),
        works("RISC-V ELF ahead of time", "fleet compile --emit riscv-asm numpy_model.py:forward -o m.elf"),
        works("running that ELF", f"fleet compile --emit riscv-asm {_SAMPLE} -o m.elf && fleet run m.elf", "43"),
        works("run on RISC-V emulator", f"fleet run --engines riscv {_SAMPLE}", "43"),
        works(
            "executable = vm bytecode + RISC-V kernels, run by a hand-written VM", f"fleet run --engines cvm-riscv {_SAMPLE}", "43"
        ),
        works(
            "GPT-2 in 60 lines (picoGPT functions)",
            "pytest tests/cosim/test_picogpt.py::test_picogpt_generates_the_same_tokens_on_every_engine",
        ),
        works("picoGPT generate() loop", "fleet run examples/picogpt.py:main --seed 3", "out"),
        works("dtype, dynamic, flexible numpy", "fleet compile --dynamic N numpy_model.py:forward", "tensor<?x4xf32>"),
    ),
    "import fleet, fleet.ir.operations.operation",
    {
        "numpy_model.py": _NUMPY,
        "wrong.py": 'def forward(x: "float32[3]"):\n    return x + unknown\n',
    },
)
