"""Seed 004: graphs of the accelerator's operators under dlavm's names, and the figures of its hardware."""

from __future__ import annotations

from seed_rows import Group, Row, differs, missing, works

_PRELUDE = '''
import numpy as np
from fleet.dlavm import adr, backend, device, ne, transform
from fleet.dlavm.target import targets

token = ne.Var("token", max_data=2048)
last_token = ne.Var("last_token", max_data=2048)
a = adr.hbm.var_ddr(name="a", shape=(1, token, 4096))
b = adr.hbm.const_hbm(name="b", data="hbm_weight.bin", shape=(4096, 256))
c = adr.hbm.mvm(a, b)
typed = transform.infer_type(c, device.hbm_accel.HBM0923, attrs={"last_token": last_token})
blocks = {"global": 0x0, "weight": "global", "runtime": "weight", "insts": "runtime", "hbm": 0x0, "hbm_cache": "hbm"}
settings = {"wt2hbm": False, "debug": True, "ddr_base": 0x20000_0000, "hbm_base": 0x0, "align": 0x4000}
mod = backend.build(typed, blocks, "model_mvm", True, targets.hpp, settings)

def built(**changed):
    return backend.build(typed, blocks, "model_mvm", True, targets.hpp, settings | changed).get_source()

T = ne.Var("token", max_data=8)
L = ne.Var("last_token", max_data=16)
rng = np.random.default_rng(0)

def var(name="x", shape=(1, T, 128)):
    return adr.hbm.var_ddr(name, shape)

def weight(name="w", rows=128, columns=128):
    return adr.hbm.const_hbm(name, rng.normal(size=(rows, columns)).astype(np.float32) / 12, (rows, columns))

def pairs(name="bn", channels=128):
    return adr.hbm.const_ddr(name, np.repeat(np.float16([1, 0]), channels), (2 * channels,))

def table(pairs=32):
    return adr.hbm.const_ddr("table", np.ones((2, 24, pairs), np.float16), (1, 48, pairs))

def iss(node, chip="hbm_small"):
    """Build the graph and run a step of three tokens on the functional model; the shapes of its results."""
    from fleet.llm.sessions.run_module import build
    made = build(transform.infer_type(node, chip, attrs={"last_token": L}), name="row", build_config={"spill": True})
    data = {name: np.ones(made.shape_of(name, token=3, last_token=0), np.float16) for name in made.inputs}
    found = made.run(data, token=3, last_token=0)
    return [np.asarray(v).shape for v in found.values()]

q = lambda: var("q", (2, T, 64))
keys = lambda: adr.hbm.dat_hbm(var("k", (1, T, 64)), 1, L)
values = lambda: adr.hbm.dat_hbm(var("v", (1, T, 64)), 0, L)
'''

_OPERATORS: tuple[tuple[str, str, str], ...] = (
    ("mvm", "iss(adr.hbm.mvm(var(), weight()))", "(1, 3, 128)"),
    ("mvm_bn", "iss(adr.hbm.mvm_bn(var(), weight(), pairs()))", "(1, 3, 128)"),
    ("relu", "iss(adr.hbm.mvm_bn(var(), weight(), pairs(), relu=1))", "(1, 3, 128)"),
    ("argmax", "iss(adr.hbm.mvm_bn(var(), weight(), pairs(), arg_max=1)[1])", "(1, 3)"),
    ("mvm_bn_res", "iss(adr.hbm.mvm_bn_res(var(), weight(), pairs(), var('r')))", "(1, 3, 128)"),
    ("res_mul", "iss(adr.hbm.mvm_bn_res(var(), weight(), pairs(), var('r'), res_mul=1))", "(1, 3, 128)"),
    ("add", "iss(adr.hbm.add(var(), var('r')))", "(1, 3, 128)"),
    ("mul", "iss(adr.hbm.mul(var(), var('r')))", "(1, 3, 128)"),
    ("sub", "iss(adr.hbm.sub(var(), var('r')))", "(1, 3, 128)"),
    ("layer_norm", "iss(adr.hbm.layer_norm(var(), pairs()))", "(1, 3, 128)"),
    ("rms_norm", "iss(adr.hbm.rms_norm(var(), pairs()))", "(1, 3, 128)"),
    ("silu", "iss(adr.hbm.silu(var()))", "(1, 3, 128)"),
    ("gelu", "iss(adr.hbm.gelu(var()))", "(1, 3, 128)"),
    ("activate", "iss(adr.hbm.activate(var(), adr.hbm.const_ddr('t', np.ones(48, np.float16), (48,))))", "(1, 3, 128)"),
    ("trp_mvm", "iss(adr.hbm.trp_mvm(q(), keys()))", "(2, 3, 3)"),
    ("softmax", "iss(adr.hbm.softmax(adr.hbm.trp_mvm(q(), keys())))", "(2, 3, 3)"),
    ("f2w_mvm", "iss(adr.hbm.f2w_mvm(adr.hbm.softmax(adr.hbm.trp_mvm(q(), keys())), values()))", "(2, 3, 64)"),
    ("dat_hbm", "iss(adr.hbm.trp_mvm(q(), keys()))", "(2, 3, 3)"),
    ("attention", "iss(adr.hbm.attention(q(), var('k', (1, T, 64)), var('v', (1, T, 64))))", "(2, 3, 64)"),
    ("pos_emb", "iss(adr.hbm.pos_emb(q(), table()))", "(2, 3, 64)"),
    ("rope_glm", "iss(adr.hbm.rope_glm(q(), table(16)))", "(2, 3, 64)"),
    ("cache", "iss(adr.hbm.mvm_afterTRP(q(), adr.hbm.cache(adr.hbm.silu(var('k', (1, T, 64))))))", "(2, 3, 3)"),
    ("kcache2hbm", "iss(adr.hbm.trp_mvm(q(), adr.hbm.kcache2hbm(var('k', (1, T, 64)))))", "(2, 3, 3)"),
    ("transpose/feature2weight", "iss(adr.hbm.trp_mvm(q(), adr.hbm.transpose(var('k', (1, T, 64)))))", "(2, 3, 3)"),
    ("realloc", "iss(adr.hbm.add(adr.realloc(var(), (1, T, 256)), var('r')))", "(1, 3, 128)"),
    ("gather", "iss(adr.gather(adr.hbm.silu(var())))", "(1, 1, 128)"),
    ("onchip", "pytest tests/targets/graph/test_meaning.py::test_steps_compute_what_the_graph_means", ""),
)


def _operators() -> tuple[Row, ...]:
    return tuple(works(f"op {name} built and run on iss", command, gives) for name, command, gives in _OPERATORS)


_REFUSED = 'print(transform.infer_type(adr.hbm.mvm(var(), {}), "hbm_small"))'

DLAVM = Group(
    "dlavm",
    "Seed 004: dlavm",
    (
        works("learn.py with only the prefix changed", "pytest tests/dlavm/test_seed_build.py::test_the_script_writes_its_files"),
        works("printout 1", "c", "  %0 = accel.hbm.mvm(a, b)\n  return %0\n}"),
        works(
            "printout 2 with ret=...",
            "typed",
            "%0 = accel.hbm.mvm(a, b) /* ret=(1, token, 256), dtype=(float16, ddr), device=hbm */",
        ),
        works("ne.Var(name, max_data)", "token", "token"),
        works("adr.hbm.var_ddr / const_hbm / mvm", "c.op", "accel.hbm.mvm"),
        works("transform.infer_type(..., attrs)", "typed.attrs['last_token']", "last_token"),
        works("backend.build(6 arguments)", "type(mod).__name__", "Module"),
        works("mod.get_source()", "mod.get_source()", "void model_mvm(HANDLE& device"),
        works("mod.get_insts_bin()", "len(mod.get_insts_bin())", "4160"),
        works("worked example words", "pytest tests/dlavm/test_seed_build.py::test_registers"),
        works("output = runtime1 at 0x1000000", "pytest tests/dlavm/test_seed_build.py::test_storages"),
        works(
            "b_load_param, model_mvm_load_params, model_mvm, aux_block_1",
            "pytest tests/dlavm/test_seed_build.py::test_the_header_has_what_the_script_describes",
        ),
        differs(
            "first line 'generated by dlavm.backend in DATE'",
            "mod.get_source().splitlines()[0]",
            "// generated by fleet",
            "a hash of the content instead of the date: the same graph gives the same file",
        ),
        works("a = (runtime0 + 8589934592)", "mod.get_source()", "uint64_t a = (runtime0 + 8589934592);"),
        works(
            "no setrecursionlimit needed",
            "g = var()\nfor _ in range(3000):\n    g = adr.hbm.silu(g)\nlen(str(g).splitlines())",
            "6004",
        ),
        works("mvm CHin check", _REFUSED.format('weight("w", 256, 128)'), "GraphError", fails=True),
        works("int4/hbm check", _REFUSED.format("var('r')"), "GraphError", fails=True),
        works(
            "required blocks: six", 'backend.build(typed, {"global": 0}, "m", True, targets.hpp, settings)', "weight", fails=True
        ),
        works("cache, onchip blocks", "pytest tests/targets/graph/test_bad_input.py::test_too_much_on_chip_is_refused_or_spilled"),
        works("ping-pong runtime", "mod.storage.report()", "runtime"),
        works(
            "follow-by-name addresses; circle refused",
            'backend.build(typed, blocks | {"global": "insts"}, "m", True, targets.hpp, settings)',
            "Error",
            fails=True,
        ),
        works("setting wt2hbm", "len(built(wt2hbm=True)) > len(built())", "True"),
        works("setting debug", "len(built(debug=False)) < len(built())", "True"),
        works("setting ddr_base", "built(ddr_base=0x1000_0000)", "uint64_t a = (runtime0 + 268435456);"),
        works("setting hbm_base", "built(hbm_base=0x1000) != built()", "True"),
        works("setting align", "built(align=0x400000) != built()", "True"),
        works("setting lite", "pytest tests/targets/graph/test_binary.py::test_lite_refuses_what_it_has_no_instructions_for"),
        works("setting namespace", "built(namespace=True)", "namespace model_mvm"),
        works(
            "Regs mode", 'backend.build(typed, blocks, "m", False, targets.hpp, settings).get_source()', "mvm_step_1(HANDLE& device"
        ),
        works("Aux mode", "mod.get_source()", "aux_block_1(device);"),
        works("header compiles in C++", "pytest tests/targets/graph/test_header.py::test_aux"),
        works("target hpp", "'hpp' in dir(targets)", "True"),
        missing(
            "other code targets",
            "targets.cpp",
            "AttributeError",
            "`hpp` alone, as in the seed; another one is a printer of the same statements",
        ),
        *_operators(),
        works(
            "op rope_qwen",
            "pytest tests/transforms/graph/test_neighbours.py::test_the_device_runs_what_weights_in_another_order_give",
        ),
        works(
            "op conv2d",
            "k = adr.hbm.const_hbm('k', np.ones((3, 3, 64, 32), np.float32), (3, 3, 64, 32))\n"
            "iss(adr.hbm.conv2d(adr.hbm.var_ddr('x', (8, 8, 64)), k, (1, 1), (1, 1)))",
            "[(8, 8, 32)]",
        ),
        works(
            "concat of parts of two products",
            "x = var()\n"
            "p, o = adr.hbm.mvm(x, weight()), adr.hbm.mvm(x, weight('w2'))\n"
            "iss(adr.concat([adr.split(p, 2, (64, 64))[0], adr.split(o, 2, (64, 64))[0]], dim=2))",
            "[(1, 3, 128)]",
        ),
        works(
            "heads of 32 channels",
            "pytest tests/transforms/graph/test_fill_heads.py::test_the_device_runs_narrow_heads_over_several_steps",
        ),
        works(
            "device choice, macros", "device.hbm_accel.HBM0923.DAT_BRAM_DEPTH, device.hbm_accel.HBM1128.DAT_BRAM_DEPTH", "8192 4096"
        ),
        missing(
            "other upstream devices (HBM0912, 0603, booth, ohbm)",
            "device.hbm_accel.HBM0912",
            "no device 'hbm0912'",
            "their registers are not published; a device file adds one",
        ),
        works("assigning device.MAX_TOKEN", "device.hbm_accel.HBM_SMALL.MAX_TOKEN = 7\ndevice.hbm_accel.HBM_SMALL.MAX_TOKEN", "7"),
        missing(
            "package `codegen` ('no longer maintained' in the seed)",
            "import fleet.dlavm.codegen",
            "No module named",
            "the seed itself has left it for `backend`",
        ),
        works("package driver", "from fleet.dlavm.driver import config\nconfig.__name__", "config"),
        differs(
            "package clib", "from fleet.dlavm import clib\ndir(clib)", "quantise", "its functions in Python; no C library is needed"
        ),
        works("frontend: ONNX (from_onnx)", "from fleet.dlavm.frontend import from_onnx\nfrom_onnx.__name__", "from_onnx"),
        works("ONNX -> accelerator (main command)", "pytest tests/cosim/test_accelerated.py::test_everything_agrees"),
        works(
            "ONNX or NumPy -> C++ header", "fleet compile --emit hpp examples/digits/model.py:forward --device hbm_small", "HANDLE"
        ),
        works("ONNX/program -> adr graph", "pytest tests/targets/graph/test_from_program.py::test_the_digits_run_as_a_graph"),
        works(
            "llm graphs ready to use",
            "pytest tests/dlavm/test_model_script.py::test_models_are_ready_and_passes_run_one_after_the_other",
        ),
        works("upstream's own llama graph, prefix changed", "pytest tests/dlavm/test_model_script.py::test_the_script"),
        missing(
            "cogvlm2",
            "from fleet.dlavm.llm import preset\npreset('cogvlm2')",
            "cogvlm2",
            "its vision tower and its two experts a layer are no graph of the device's operators",
        ),
        works("ne expressions", "ne.If(token > 1, ne.ceil_div(token, 32) * 2048, 64).evaluate(token=33)", "4096"),
        works("ne `.export('cpp')`", "(token * 4096).export('cpp')", "int64_t(token) * 4096"),
        works("runtime ('not finished' in the seed)", "iss(adr.hbm.mvm(var(), weight()))", "(1, 3, 128)"),
        works("utils log, StdCout, LOG_*", "pytest tests/dlavm/test_model_script.py::test_a_log_and_an_expression_as_text"),
        works("transform: shape, weights offline", "typed.checked_type", "ret=(1, token, 256)"),
        works(
            "transform.Sequential/FusedOps/EliminateReshape",
            "transform.Sequential([transform.FusedOps(opt_level=1)])(typed)",
            "accel.hbm.mvm",
        ),
        works("future: direct run", "iss(adr.hbm.silu(var()))", "(1, 3, 128)"),
        works(
            "future: graph picture",
            "from fleet.ir.accel.rows import graph_rows\n"
            "from fleet.report.pictures.graph_picture import graph_picture\n"
            "print(graph_picture(graph_rows(typed))[:200])",
            "<svg",
        ),
        works("mod.storage / log", "print(mod.storage.report())\nmod.log", "mvm"),
    ),
    _PRELUDE,
)

_HEADS = """import numpy as np


def forward(q: "float32[4, 8, 32]", k: "float32[4, 8, 32]", v: "float32[4, 8, 32]", w: "float32[32, 64]"):
    scores = np.exp(q @ k.swapaxes(1, 2) / np.sqrt(32))
    attended = scores / scores.sum(axis=-1, keepdims=True) @ v
    return attended.reshape(32, 32) @ w
"""
_CASE = (
    "fleet cosim examples/digits/model.py:forward --weights examples/digits/weights.npz --input examples/digits/test.npz --batch 4"
)

HARDWARE = Group(
    "hardware",
    "Figures of the hardware",
    (
        works("register words, cfg ids of the example", "pytest tests/dlavm/test_seed_build.py::test_the_script_writes_its_files"),
        works("wt2hbm by the device", "fleet case run sim/cases/mvm4096.toml", "PASS", nightly=True),
        works("AUX unit", "pytest tests/targets/graph/test_binary.py::test_fetched_steps_leave_what_written_ones_leave"),
        works("4096x256, 1 token, hbm0923", "fleet case run sim/cases/mvm4096.toml", "PASS", nightly=True),
        works("4096x4096 against 10,780 cycles", "python benchmarks/mvm_cycles.py"),
        works("block 102,736", "pytest sim/transformer_block/test_block.py::test_blocks_follow_each_other"),
        works("structured sparsity 1/2, 1/4, 1/8", f"{_CASE} --engines vm,iss --device hbm_small_sparse --sparse 4", "PASS"),
        works("GLM-6B sparse 85.8 token/s", "python benchmarks/sparse_models.py"),
        works("aarch64 host target", "fleet run --engines aarch64 examples/add_sample.py", "43"),
        works("three ways in one command + plots", f"{_CASE} --engines vm,iss,riscv --device hbm_small --report out", "PASS"),
        works(
            "stages.py eight engines",
            f"{_CASE} --engines vm,interp,cpython,llvm-cpu,riscv,aarch64,cvm,iss --device hbm_small",
            "PASS",
        ),
        works("engines behind the host split", "fleet cosim heads.py:forward --engines vm,iss --device hbm_small", "PASS"),
        works("`pytest sim/` nightly", "pytest sim/conformance/test_registers.py::test_registers_hold_their_reset_values"),
    ),
    files={"heads.py": _HEADS},
)
