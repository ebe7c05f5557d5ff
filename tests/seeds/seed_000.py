"""Seeds 000 and 001: the stack machine, its bytecode, the commands around it."""

from __future__ import annotations

from seed_rows import Group, Row, differs, works

_PRELUDE = '''
import numpy as np, fleet
from fleet.targets.bytecode import *
from fleet.targets.bytecode.contents import ArgumentSlot, OutputSlot

module = fleet.compile("examples/add_sample.py").program
bc = ByteCodeConverter(module).convert()
x = np.array([[1, 2, 3], [4, 5, 7]], np.float32)

def op(name, outs, *arrays, attrs=""):
    """Run one operator of hand-written bytecode on arrays."""
    types = ["x".join(map(str, a.shape)) + ("xi32" if a.dtype.kind == "i" else "xf32") for a in arrays]
    hint = "_".join(filter(None, ["device", name, "sig", "r" * len(arrays), "r", "ins", *types, "outs", outs, attrs]))
    code = [word for n in range(len(arrays)) for word in (OpCode.aload, n)] + [OpCode.invokestatic, 0, OpCode.astore, 9]
    arguments = tuple(ArgumentSlot(f"a{n}", "input", a.shape, a.dtype.name) for n, a in enumerate(arrays))
    made = ByteCodeModule([hint], code, "python", 10, (), arguments, (OutputSlot("y", 9, outs, False),))
    return VM(made).run({f"a{n}": a for n, a in enumerate(arrays)})["y"].tolist()
'''

_HINT = '"device_slice_sig_r_r_ins_1024x768xf32_outs_16x768xf32_start_0_768_size_16_768"'
_OPERATORS: tuple[tuple[str, str, str], ...] = (
    ("add", 'op("add", "2x3xf32", x, x)', "[[2.0, 4.0, 6.0], [8.0, 10.0, 14.0]]"),
    ("sub", 'op("sub", "2x3xf32", x, x)', "[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]"),
    ("mul", 'op("mul", "2x3xf32", x, x)', "[[1.0, 4.0, 9.0], [16.0, 25.0, 49.0]]"),
    ("div", 'op("div", "2x3xf32", x, x)', "[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]"),
    ("transpose", 'op("transpose", "3x2xf32", x)', "[[1.0, 4.0], [2.0, 5.0], [3.0, 7.0]]"),
    ("matmul", 'op("matmul", "2x2xf32", x, x.T.copy())', "[[14.0, 35.0], [35.0, 90.0]]"),
    ("mean", 'op("mean", "2x1xf32", x, attrs="axis_-1_keepdims_True")', "[[2.0], [5.3"),
    ("var", 'op("var", "2x1xf32", x, attrs="axis_-1_keepdims_True")', "[[0.6666"),
    ("sqrt", 'op("sqrt", "2x3xf32", x * x)', "[[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]]"),
    ("pow", 'op("pow", "2x3xf32", x, x)', "[[1.0, 4.0, 27.0], [256.0, 3125.0, 823543.0]]"),
    ("tanh", 'op("tanh", "2x3xf32", x * 0)', "[[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]"),
    ("max", 'op("max", "2xf32", x, attrs="axis_1")', "[3.0, 7.0]"),
    ("exp", 'op("exp", "2x3xf32", x * 0)', "[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]"),
    ("slice", 'op("slice", "2x2xf32", x, attrs="start_0_1_size_2_2")', "[[2.0, 3.0], [5.0, 7.0]]"),
    ("concat", 'op("concat", "4x3xf32", x, x, attrs="axis_0")', "[[1.0, 2.0, 3.0], [4.0, 5.0, 7.0], [1.0, 2.0, 3.0], [4.0"),
    ("reshape", 'op("reshape", "3x2xf32", x)', "[[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]"),
    ("reduce_sum", 'op("reduce_sum", "2xf32", x, attrs="axes_1")', "[6.0, 16.0]"),
    ("reduce_max", 'op("reduce_max", "3xf32", x, attrs="axes_0")', "[4.0, 5.0, 7.0]"),
    ("cast", 'op("cast", "2x3xi32", x)', "[[1, 2, 3], [4, 5, 7]]"),
    ("splat", "pytest tests/targets/bytecode/test_seeds.py::test_splat", ""),
    ("print", 'VM(fleet.compile("examples/add_sample.py").bytecode()).run()', "43"),
)


def _operators() -> tuple[Row, ...]:
    return tuple(works(f"operator `{name}`", command, gives) for name, command, gives in _OPERATORS)


VM = Group(
    "vm",
    "Seed 000: VM and GPT-2",
    (
        works("`ByteCodeConverter(module).convert()`", "type(ByteCodeConverter(module).convert()).__name__", "ByteCodeModule"),
        works("`VM(bc).run()`", "VM(bc).run()", "43"),
        works("ByteCodeModule: code", "bc.code[:2]", "[<OpCode.iconst_3: 5>,"),
        works(
            "ByteCodeModule: consts", "bc.consts", "[40, 'device_add_sig_ii_i_ins_i32_i32_outs_i32', 'python_print_sig_i_ins_i32']"
        ),
        works("variable_size", "bc.variable_size", "3"),
        works("target == 'python'", "bc.target", "python"),
        works(
            "target selects the back end",
            'VM(ByteCodeModule(bc.consts, bc.code, "cuda", 3)).run()',
            "a module for the target 'cuda'; the NumPy VM runs modules for 'python'",
            fails=True,
        ),
        works(
            "hand-written ByteCodeModule runs", 'VM(ByteCodeModule(bc.consts, list(map(int, bc.code)), "python", 3)).run()', "43"
        ),
        differs(
            "`StackFrame`, `push_operand`, `pop_operand`, `local_variable`",
            "VM(bc).run(); VM(bc).push_operand(1)",
            "'VM' object has no attribute 'push_operand'",
            "bytecode is decoded once into one Python function, whose variables are the slots: there is no loop with a frame",
            fails=True,
        ),
        works("operand stack machine, locals", "fleet compile --emit vm examples/add_sample.py", "iconst"),
        works("`fconst_0..2`, `iconst_m1..5`", "[o.name for o in OpCode][:10]", "['iconst_m1', 'iconst_0',"),
        works("`invokestatic` + hint constant", "bc.code.index(OpCode.invokestatic), bc.consts[1]", "device_add_sig_ii_i"),
        works("`astore` index", 'op("add", "2x3xf32", x, x)[0]', "[2.0, 4.0, 6.0]"),
        works("`ldc` scalar", "bc.code[1:4]", "[<OpCode.ldc: 11>, <TypeCode.scalar: 1>, 0]"),
        works(
            "`ldc` tensor: rank, dims, element, const",
            "code = [OpCode.ldc, TypeCode.tensor, 2, 1, 2, TypeCode.float32, 0, OpCode.astore, 0]\n"
            'VM(ByteCodeModule([[3.0, 4.0]], code, "python", 1, (), (), (OutputSlot("y", 0, "1x2xf32", False),))).run()',
            "[[3., 4.]]",
        ),
        differs(
            "`ldc`: 'element type unused here'",
            "code = [OpCode.ldc, TypeCode.tensor, 1, 2, TypeCode.int32, 0, OpCode.astore, 0]\n"
            'VM(ByteCodeModule([[3, 4]], code, "python", 1, (), (), (OutputSlot("y", 0, "2xi32", False),))).run()["y"].dtype',
            "int32",
            "the array has the element type that the code names; in the seed it has the constant's",
        ),
        works(
            "`ldc` fill from scalar",
            "code = [OpCode.ldc, TypeCode.tensor, 1, 3, TypeCode.float32, 0, OpCode.astore, 0]\n"
            'VM(ByteCodeModule([0.5], code, "python", 1, (), (), (OutputSlot("y", 0, "3xf32", False),))).run()',
            "[0.5, 0.5, 0.5]",
        ),
        works(
            "`DispatchHintParser(hint).parse()`",
            "DispatchHintParser(bc.consts[1]).parse()",
            "DispatchInfo(type='device', name='add'",
        ),
        works(
            "DispatchInfo: type, target, name, sig, in_types, out_types, attrs",
            "list(vars(DispatchHintParser(bc.consts[1]).parse()))",
            "['type', 'name', 'sig', 'in_types', 'out_types', 'attrs', 'target']",
        ),
        works("hint device_add...", "DispatchHintParser(bc.consts[1]).parse().sig", "['ii', 'i']"),
        works("hint python_print...", "DispatchHintParser(bc.consts[2]).parse().type", "python"),
        works(
            "hint device_slice ... start_0_768_size_16_768",
            f"DispatchHintParser({_HINT}).parse().attrs",
            "{'start': [0, 768], 'size': [16, 768]}",
        ),
        works(
            "`python_get_dispatch_function(info)`",
            "python_get_dispatch_function(DispatchHintParser(bc.consts[1]).parse())(3, 40)",
            "43",
        ),
        *_operators(),
        works("operator `gather`", 'op("gather", "1x3xf32", x, np.array([1], np.int32))', "[[4.0, 5.0, 7.0]]"),
        works(
            "Source -> AST -> IR -> MLIR -> bytecode -> VM",
            "fleet_compiler_cli --dump-intermediates-to stages examples/add_sample.py",
            "43",
        ),
        works("`time fleet_compiler_cli examples/gpt2.py`", "fleet_compiler_cli examples/gpt2.py", "7.29883", nightly=True),
        differs(
            "its printed logits",
            "fleet_compiler_cli examples/gpt2.py",
            "4.21660262e-04",
            "the last two digits (2e-8 relative): NumPy's own, and those of the machine's BLAS",
            nightly=True,
        ),
        works("result aligned with python's", "fleet_compiler_cli --validation examples/gpt2.py", "PASS", nightly=True),
        differs(
            "'over 95 % of time is compiling'",
            "fleet_compiler_cli --only-compile examples/gpt2.py",
            "",
            "compiling is a small part here: [Performance](performance.md)",
            nightly=True,
        ),
        works(
            "compile once, run elsewhere",
            "fleet compile --emit bytecode -o add.fbc examples/add_sample.py && fleet run add.fbc",
            "43",
        ),
        works("C version of the VM, compiler and runtime apart", "fleet run --engines cvm examples/add_sample.py", "43"),
        differs(
            "SYCL backend",
            "fleet_compiler_cli --target-backend sycl examples/add_sample.py",
            "no code is made for sycl",
            "the same kernels are OpenCL C here (`--target-backend opencl`), which runs where SYCL would",
            fails=True,
        ),
        works("CUDA backend", "fleet compile --emit cuda examples/digits/model.py:forward", "__global__"),
    ),
    _PRELUDE,
)

_DYNAMIC = """import numpy as np


def forward(x: "float32[N, 3]"):
    return x * 2
"""
_IF = """import numpy as np


def forward(x: "float32[3]"):
    if x.sum() > 0:
        return x
    return -x
"""

BYTECODE = Group(
    "bytecode",
    "Seed 001: bytecode",
    (
        works(
            "`fleet_compile_cli --emitByteCode --opt --vm add_sample.py`",
            "fleet_compile_cli --emitByteCode --opt --vm examples/add_sample.py",
            "43",
        ),
        works(
            "add_sample.py consts",
            "fleet_compile_cli --emitByteCode --opt examples/add_sample.py",
            "consts=[40, 'device_add_sig_ii_i_ins_i32_i32_outs_i32', 'python_print_sig_i_ins_i32']",
        ),
        works(
            "code list with <OpCode.iconst_3: 5> ...",
            "fleet_compile_cli --emitByteCode --opt examples/add_sample.py",
            "code=[<OpCode.iconst_3: 5>, <OpCode.ldc: 11>",
        ),
        works("<TypeCode.scalar: 1>", "fleet_compile_cli --emitByteCode --opt examples/add_sample.py", "<TypeCode.scalar: 1>, 0"),
        works(
            "variable_size=3, target='python'", "fleet_compile_cli --emitByteCode --opt examples/add_sample.py", "variable_size=3"
        ),
        works("flag --emitToken", "fleet_compile_cli --emitToken examples/add_sample.py", "NAME 'print'"),
        works("flag --emitAST", "fleet_compile_cli --emitAST examples/add_sample.py", "Name(id='print')"),
        works("flag --emitMLIR", "fleet_compile_cli --emitMLIR examples/add_sample.py", "func.func"),
        works("flag --emitByteCode", "fleet_compile_cli --emitByteCode examples/add_sample.py", "ByteCodeModule("),
        works("flag --opt", "fleet_compile_cli --opt --emitByteCode examples/add_sample.py", "variable_size=3"),
        works("flag --vm", "fleet_compile_cli --vm examples/add_sample.py", "43"),
        works("`aload_1` = `aload 1`", 'op("sub", "2x3xf32", x, x)[0]', "[0.0, 0.0, 0.0]"),
        works("opcodes iconst", "pytest tests/targets/bytecode/test_seeds.py::test_integer_constants"),
        works("opcodes fconst", "pytest tests/targets/bytecode/test_seeds.py::test_float_constants"),
        works("opcodes ldc", "OpCode.ldc", "11"),
        works("opcodes iload/istore", "pytest tests/targets/bytecode/test_seeds.py::test_loads_and_stores"),
        works("opcodes aload/astore", "pytest tests/targets/bytecode/test_seeds.py::test_loads_and_stores"),
        works("opcodes invokestatic", "OpCode.invokestatic", "12"),
        works("opcodes fload/fstore", "pytest tests/targets/bytecode/test_seeds.py::test_loads_and_stores"),
        works("codes 1 to 42", "[o.value for o in OpCode][:42] == list(range(1, 43))", "True"),
        works("stack machine", "fleet compile --emit vm examples/add_sample.py", "istore_2"),
        works(
            "dynamic inputs in the VM",
            'vm = VM(fleet.compile("dynamic.py:forward", dynamic=["N"]).bytecode())\n'
            '[vm.run({"x": np.ones((n, 3), np.float32)})["out0"].shape for n in (1, 5)]',
            "[(1, 3), (5, 3)]",
        ),
        works("jumps in bytecode", "pytest tests/targets/bytecode/test_jumps.py::test_jumps_keep_the_stack_machines_meaning"),
        works("front end emits jumps (if/while/for on data)", "fleet compile --emit vm if.py:forward", "if_"),
        works(
            "host part dispatches ops to device",
            "fleet cosim examples/digits/model.py:forward --weights examples/digits/weights.npz --batch 4 --engines "
            "vm,iss --device hbm_small",
            "PASS",
        ),
        differs(
            "C VM for sycl/cuda/llvm",
            "fleet run --engines cvm examples/add_sample.py",
            "43",
            "kernels of the C VM are LLVM's, for x86-64, AArch64 and RISC-V; those for GPUs run from `opencl`",
        ),
        works("llvm backend", "fleet_compiler_cli --target-backend llvm-cpu examples/add_sample.py", "43"),
        differs(
            "llvm-gpu",
            "fleet_compiler_cli --target-backend llvm-gpu examples/add_sample.py",
            "no code is made for llvm-gpu",
            "a GPU gets OpenCL C or CUDA C++, which its own compiler translates",
            fails=True,
        ),
    ),
    _PRELUDE,
    {"dynamic.py": _DYNAMIC, "if.py": _IF},
)
