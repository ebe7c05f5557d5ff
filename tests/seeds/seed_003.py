"""Seed 003: the chapters of a small `@jit` compiler, and its exercises."""

from __future__ import annotations

from seed_rows import Group, differs, works

_TENSORS = """
import numpy as np, fleet
from fleet import Tensor, jit
from fleet.compiler import optimised

ones = np.ones((2, 3), np.float32)
a = Tensor(shape=(2, 3), dtype="float32")
b = Tensor(shape=(2, 3), dtype="float32")
a.data = ones
b.data = ones
"""
_ADD = """@jit
def add(a: Tensor((2, 3), "float32"), b: Tensor((2, 3), "float32")):
    return a + b
"""
_TWICE = """@jit
def add(a, b):
    out = a + b
    out = out + a
    return out
"""
_SHOWN = '@jit(target="cpu")\ndef add():\n    print("add")\n'
_TWO = "@jit\ndef add():\n    out = 1 + 1\n    return out\n"
_CHAPTER = "pytest tests/seeds/test_seed_003_chapters.py::test_the_script_prints_what_the_chapter_shows"
_EXERCISE = "pytest tests/seeds/test_seed_003_chapters.py::test_the_exercise"

CHAPTERS = Group(
    "chapters",
    "Seed 003: chapters",
    (
        works("01 `@jit` takes over add()", f"{_SHOWN}add()", "add"),
        differs(
            "01 prints 'jit is called'",
            f"{_SHOWN}add()",
            "add",
            "what is called is the function, compiled: it prints what it would",
        ),
        works("02 getsource + ast", f'{_SHOWN}add.lower().text("ast")', "FunctionDef"),
        works(
            "02 `ast.dump` line", f'{_SHOWN}add.lower().text("ast-dump")', "Module(body=[FunctionDef(name='add', args=arguments("
        ),
        works("03 target='cpu'", f"{_SHOWN}add.target", "cpu"),
        works(
            "03 target='gpu'",
            "import warnings; warnings.simplefilter('ignore')\n" + _ADD.replace("@jit", '@jit(target="gpu")') + "add(a, b)",
            "[[2. 2. 2.]",
        ),
        works("03 assert on unknown target", 'jit(target="tpu")', "@jit: no target is called tpu", fails=True),
        works(
            "04 `CodeGenerator(ast.NodeVisitor)`, 'Visit X' lines",
            f'{_SHOWN}add.lower().text("visits")',
            "Visit Module\nVisit FunctionDef\nVisit arguments\nVisit Expr\nVisit Call\nVisit Name\nVisit Load\nVisit Constant",
        ),
        differs(
            "05 Relax IRModule",
            f'{_ADD}add.lower(a, b).text("ir")',
            '"fleet.add"(%a, %b)',
            "the dialect `fleet` in MLIR's form, which every target here is made from",
        ),
        works("06 pass -> function without result", "@jit\ndef add():\n    pass\nadd()", "None"),
        works("07 1 + 1, symbol table", f'{_TWO}add.lower().text("ir")', "func.func @add()"),
        works("08 runs: 2", f"{_TWO}add()", "2"),
        works(
            "09 module before / after a pass",
            f'{_TWICE}[p.name for p in optimised(add.lower(a, b), "riscv").records][:2]',
            "['canonicalise', 'fold-constants']",
        ),
        works("09 LegalizeOps -> TensorIR loops", f'{_TWICE}add.lower(a, b).text("loops")', "fleet.fused"),
        works("10 Tensor class, .data, str float32[2, 3]", "print(a, a.data.shape)", "float32[2, 3] (2, 3)"),
        differs("10 type(a.data)", "type(a.data)", "numpy.ndarray", "NumPy's arrays are what everything here shares"),
        works(
            "10 ValueError on mismatch",
            "try:\n    a.data = np.ones(3, np.float32)\nexcept ValueError as error:\n    print(error)",
            "declared float32[2, 3], the data are float32[3]",
        ),
        differs(
            "10 annotation required",
            "@jit\ndef add(a, b):\n    return a + b\nadd(ones, ones)",
            "[[2. 2. 2.]",
            "an annotation is checked where there is one; shapes come from the arguments",
        ),
        works("10 DLPack, zero copy", "a.data = ones\nnp.shares_memory(a.data, ones)", "True"),
        works(
            "10 torch tensors",
            "class Other:\n"
            "    def __dlpack__(self, **k): return ones.__dlpack__(**k)\n"
            "    def __dlpack_device__(self): return ones.__dlpack_device__()\n"
            "a.data = Other()\n"
            "np.shares_memory(a.data, ones)",
            "True",
        ),
        works(
            "10 DynTensorType / unknown dims in @jit",
            "@jit\n"
            'def add(a: Tensor((None, 3), "float32")):\n'
            "    return a + a\n"
            "print(add(ones).shape, add(np.ones((5, 3), np.float32)).shape)",
            "(2, 3) (5, 3)",
        ),
        works("10 add(a,b) = 2.", f"{_ADD}add(a, b)", "[[2. 2. 2.]\n [2. 2. 2.]]"),
        works("11 GPU run, Dlight thread binding", "pytest tests/compiler/test_jit_gpu.py::test_chapter_11_runs_and_says_where"),
        differs(
            "11 torch cuda tensor by DLPack",
            "pytest tests/engines/test_cuda_engine.py::test_tensors_on_the_gpu_are_read_where_they_lie_and_results_stay_there",
            "",
            "results are CuPy's arrays; tested with CuPy's functions standing in, not yet on a GPU",
        ),
        works("12 CUDA source text", f'{_ADD}add.lower(a, b).text("cuda")', 'extern "C" __global__'),
        works("13 out=a+b; out=out+a -> 3.", f"{_TWICE}add(a, b)", "[[3. 3. 3.]\n [3. 3. 3.]]"),
        works("13 ConvertToDataflow", f'{_TWICE}add.lower(a, b).text("dataflow")', "dataflow"),
        works("13 FuseOps/FuseTIR: one kernel", f'{_TWICE}add.lower(a, b).text("cuda").count("__global__")', "1"),
        works("13 pass sequence", "fleet-opt --list", "fuse-loops"),
    ),
    _TENSORS,
)

_IF_DATA = "@jit\ndef f(x):\n    if x.sum() > 0:\n        y = x + 1\n    else:\n        y = x - 1\n    return y\nf(ones), f(-ones)"
_SHORT_IF = "@jit\ndef f(x):\n    if x.sum() > 0:\n        x = x + 1\n    return x\nf(ones), f(-ones)"
_WHILE = "@jit\ndef f(x):\n    while x.sum() < 100:\n        x = x * 2\n    return x\nf(ones)"

EXERCISES = Group(
    "exercises",
    "Seed 003: exercises",
    (
        works("1 multiplication", "@jit\ndef mul(a, b):\n    return a * b\nmul(a, b)", "[[1. 1. 1.]"),
        works(
            "2 Meta Schedule / schedule search",
            "@jit(tune=True)\ndef f(x):\n    return x + x\nlen(f.tuning(ones).costs) in (0, 7, 8)",
            "True",
        ),
        works(
            "3 if/else, condition known",
            "@jit\ndef f(x, more=True):\n    if more:\n        return x + 1\n    else:\n        return x - 1\nf(ones, False)",
            "[[0. 0. 0.]",
        ),
        works("3 if/else on tensor data", _IF_DATA, "[[2. 2. 2.]"),
        works(
            "3 if without else, known",
            "@jit\ndef f(x, more=True):\n    if more:\n        x = x + 1\n    return x\nf(ones)",
            "[[2. 2. 2.]",
        ),
        works("3 if without else on data", _SHORT_IF, "[[-1. -1. -1.]"),
        works(
            "4 for, known count, unrolled",
            "@jit\n"
            "def f(x):\n"
            "    for i in range(3):\n"
            "        x = x + i\n"
            "    return x\n"
            "print(f(ones))\n"
            "len(list(f.lower(ones).program.operations()))",
            "[[4. 4. 4.]",
        ),
        works("4 for with run-time count, while on data", _WHILE, "[[32. 32. 32.]"),
        works(
            "4 unroll threshold (loop kept above it)",
            "@jit\n"
            "def f(x):\n"
            "    for i in range(20000):\n"
            "        x = x + 1\n"
            "    return x\n"
            "print(f(ones))\n"
            "len(list(f.lower(ones).program.operations())) < 100",
            "True",
        ),
        works(
            "4 recursion form",
            "def rest(x, n):\n    return x if n == 0 else rest(x + n, n - 1)\n@jit\ndef f(x, n=3):\n    return rest(x, n)\nf(ones)",
            "[[7. 7. 7.]",
        ),
        works("5 library sigmoid", "@jit\ndef f(x):\n    return fleet.sigmoid(x)\nf(ones)", "0.73105"),
        works(
            "5 own functions called",
            "def half(x):\n    return x / 2\n@jit\ndef f(x):\n    return half(x)\nf(ones)",
            "[[0.5 0.5 0.5]",
        ),
        works(
            "6 user's TensorIR kernel",
            "@fleet.kernel\n"
            "def custom(x, y, out):\n"
            "    for i in range(2):\n"
            "        for j in range(3):\n"
            "            out[i, j] = x[i, j] + y[i, j]\n"
            "    return out\n"
            "@jit\n"
            "def f(x, y):\n"
            "    return custom(x, x + y, np.zeros_like(x))\n"
            "f(ones, ones)",
            "[[3. 3. 3.]",
        ),
        works(
            "6 extra: without placeholder",
            "@fleet.kernel\n"
            "def custom(x, y):\n"
            "    out = np.zeros_like(x)\n"
            "    for i in range(2):\n"
            "        for j in range(3):\n"
            "            out[i, j] = x[i, j] + y[i, j]\n"
            "    return out\n"
            "@jit\n"
            "def f(x, y):\n"
            "    return custom(x, x + y)\n"
            "f(ones, ones)",
            "[[3. 3. 3.]",
        ),
        works(
            "7 `with device(...)` heterogeneous",
            "from fleet import device\n"
            "@jit\n"
            "def add(x, y):\n"
            '    with device("cpu"):\n'
            "        sum = x + y\n"
            '    with device("riscv"):\n'
            "        out = sum + x\n"
            "    return out\n"
            'print(add(ones, ones), add.lower(ones, ones).text("placed"))',
            "copy sum from cpu to riscv",
        ),
        works(
            "7 heterogeneous by placement",
            "fleet cosim examples/heterogeneous/model.py:forward --batch 4 --engines vm,mixed",
            "PASS      mixed part 2 on hbm_small: iss-vs-vm-rounded",
        ),
        works("8 TensorIR as IR", f'{_TWICE}add.lower(a, b).text("loops")', "fleet.fused"),
        works("code kept between calls", f"{_TWICE}add(a, b); add(a, b)\nlen(add.programs)", "1"),
        works(
            "kept between processes",
            "pytest tests/compiler/test_kept_code.py::test_a_second_process_takes_the_code_of_the_first",
        ),
        works(
            "@jit on the accelerator",
            "w = np.eye(64, dtype=np.float32)\n"
            '@jit(target="hbm_small", engine="iss")\n'
            "def f(x):\n"
            "    return x @ w\n"
            "f(ones[:1, :1] * w[:1])",
            "[[1. 0. 0.",
        ),
    ),
    _TENSORS,
)
