"""Faults in the front end, the passes, the lowerings, the VM, the RISC-V generator and the compiler of graphs."""

from __future__ import annotations

from data import CASE, DEVICE, FOLDER, cosim
from planting import Edit, Fault, tests

PASSES = "fleet/transforms"
IDIOMS = f"{FOLDER}/idioms.py"
ORACLES = ("--engines", "vm,cpython,riscv")
BISECT = ("fleet.cli.main", "bisect-pass", f"{IDIOMS}:forward")
BISECT_ATTENTION = ("fleet.cli.main", "bisect-pass", f"{IDIOMS}:attention")
INTEGERS = ("fleet.cli.main", "cosim", f"{IDIOMS}:integers", *ORACLES)
INDICES = ("fleet.cli.main", "cosim", f"{IDIOMS}:indices", *ORACLES)
GENERATE = (
    "fleet.cli.main",
    "generate",
    "--model",
    "tiny",
    "--prompt",
    "abcabcab",
    "--engines",
    "vm,iss",
    *DEVICE,
    "--tokens",
    "2",
)

REST = Edit(
    "fleet/targets/riscv/kernels/loops.py", "found.append((count - width, width, 1))", "found.append((count - width - 1, width, 1))"
)
STORAGE = Edit("fleet/targets/planner.py", "life.first <= other.last)", "life.first < other.last)")


def _graph_lives(steps: int) -> Edit:
    """An argument's life in a graph ends so many steps early."""
    return Edit("fleet/targets/accel/memory/place.py", "lives.use(argument, step)", f"lives.use(argument, step - {steps})")


def _integers(name: str, what: str, product: str, edit: Edit, *, at: str) -> Fault:
    """Found by the test of a product ("MatMulInteger") of codes with any zero point."""
    file = "tests/transforms/test_integer_products.py"
    command = tests(file, "-k", f"any_zero_point and {product}")
    return Fault(name, what, command, "Arrays are not equal", (rf"FAILED {file}.*",), (edit,), at=at, kind="compiler")


def _pass(name: str, what: str, found: str, operation: str, edit: Edit, command: tuple[str, ...] = BISECT) -> Fault:
    """found: the pass that has to be named; operation: whose result changed."""
    return Fault(
        name, what, command, "FIRST DIFFERENCE", (rf"{found} +FIRST DIFFERENCE +{operation} \(.*",), (edit,),
        at=f"pass {found}, {operation}", kind="compiler",
    )  # fmt: skip


FAULTS = (
    _pass(
        "pass-slice-step",
        "canonicalise: of two slices the second start is not multiplied by the first step",
        "canonicalise",
        "slice.2",
        Edit(f"{PASSES}/simplify/canonicalise.py", 'a["start"][i] + b["start"][i] * one[i]', 'a["start"][i] + b["start"][i]'),
    ),
    _pass(
        "pass-transpose",
        "canonicalise: two permutations are composed in the wrong order",
        "canonicalise",
        r"transpose\.\d",
        Edit(f"{PASSES}/simplify/canonicalise.py", "[first[p] for p in second]", "[second[p] for p in first]"),
    ),
    _pass(
        "pass-negative-zero",
        "canonicalise: x + 0.0 is taken for x, which changes -0.0",
        "canonicalise",
        "zero",
        Edit(f"{PASSES}/simplify/canonicalise.py", '_is(other, 0, "f", negative_zero=True)', '_is(other, 0, "f")'),
    ),
    _pass(
        "pass-cast",
        "canonicalise: int32 is taken to fit into float32",
        "canonicalise",
        "cast.1",
        Edit(f"{PASSES}/simplify/canonicalise.py", "8 * source.itemsize <= bits", "4 * source.itemsize <= bits"),
    ),
    _pass(
        "pass-cse-axis",
        "cse: sums along different axes are taken for the same",
        "cse",
        "mul.2",
        Edit(f"{PASSES}/simplify/cse.py", '"at", "covers"})', '"at", "covers", "axes"})'),
    ),
    _pass(
        "pass-fold-weights",
        "fold-weights: a recipe's last step takes its operands in ascending order",
        "fold-weights",
        "folded",
        Edit(
            f"{PASSES}/simplify/fold_weights.py",
            "found.append(call(*(found[p] for p in places)))",
            "found.append(call(*(found[p] for p in (sorted(places, reverse=True) if i == len(steps) - 1 else places))))",
        ),
    ),
    _pass(
        "pass-softmax",
        "raise-softmax: what is divided by twice the sum is taken for a softmax",
        "raise-softmax",
        "half",
        Edit(f"{PASSES}/raising/softmax.py", "if abs(c * length - 1) >", "if abs(c * length - 1) > 1 +"),
    ),
    _pass(
        "pass-norm-eps",
        "raise-norm: eps is forgotten",
        "raise-norm",
        "norm",
        Edit(f"{PASSES}/raising/norm.py", "eps = total.get((), 0.0) / factor", "eps = 0.0 * factor"),
    ),
    _pass(
        "pass-fuse-order",
        "fuse-linear: what is added behind an activation is taken for a bias before it",
        "fuse-linear",
        "late",
        Edit(
            f"{PASSES}/products/fuse_linear.py",
            'if chain.bias is None and chain.activation == "none" and _is_bias',
            "if chain.bias is None and _is_bias",
        ),
    ),
    _pass(
        "pass-attention-mask",
        "raise-attention: a mask that hides the token itself too, or one less, is taken for the causal one",
        "raise-attention",
        "matmul.1",
        Edit(f"{PASSES}/raising/masks.py", "np.tri(n, m, m - n, dtype=bool)", "np.tri(n, m, m - n - 1, dtype=bool)"),
        BISECT_ATTENTION,
    ),
    Fault(
        "quantiser-levels",
        "quantiser: scales are one level too small, so that the largest weights are clipped",
        ("fleet.cli.main", "case", "run", CASE),
        "FAIL      vm-vs-golden",
        (r"hbm_small: commit 0 \(h1\): stored .* now .*",),
        (Edit(f"{PASSES}/quantise.py", "absmax * (factor / levels)", "absmax * (factor / (levels + 1))"),),
        at="commit 0, h1",
        kind="compiler",
    ),
    Fault(
        "frontend-negative-index",
        "front end: a negative index counts from one before the end",
        INDICES,
        "FAIL      vm-vs-cpython",
        (r"last \(\S*idioms.py:\d+:\d+\).*element \[\d+.*\]: expected \S+, found \S+",),
        (
            Edit(
                "fleet/frontend/arrays/indices/items.py",
                "start.append(item.value % dim if dim >= 0",
                "start.append((item.value - (item.value < 0)) % dim if dim >= 0",
            ),
        ),
        at="operation last",
        kind="compiler",
    ),
    Fault(
        "frontend-slice-length",
        "front end: a slice with a step of -2 is one element too short",
        INDICES,
        "FAIL      vm-vs-cpython",
        (r"\bback\b.*",),
        (
            Edit(
                "fleet/frontend/arrays/indices/items.py",
                "length = len(range(first, last, by))",
                "length = len(range(first, last, by)) - (by == -2)",
            ),
        ),
        at="operation back",
        kind="compiler",
    ),
    Fault(
        "vm-mod",
        "VM: the remainder has the sign of the dividend",
        INTEGERS,
        "FAIL      vm-vs-cpython",
        (r"left \(\S*idioms.py:\d+:\d+\).*element \[\d+, \d+\]: expected \S+, found \S+",),
        (
            Edit(
                "fleet/targets/bytecode/operators.py",
                "    d.PowOp: _power,",
                "    d.PowOp: _power, d.ModOp: _elementwise(np.fmod, operator.mod),",
            ),
        ),
        at="operation left",
        kind="VM",
    ),
    Fault(
        "vm-moment",
        "VM: the variance is the sample's, not the population's",
        INTEGERS,
        "FAIL      vm-vs-cpython",
        (r"spread \(\S*idioms.py:\d+:\d+\).*element \[\d+\]: expected \S+, found \S+",),
        (
            Edit(
                "fleet/targets/bytecode/operators.py",
                'd.VarOp: _moment("var")',
                "d.VarOp: lambda i: lambda x: x.var(_axes(i), ddof=1, keepdims=_keepdims(i))",
            ),
        ),
        at="operation spread",
        kind="VM",
    ),
    Fault(
        "riscv-modulo",
        "RISC-V code generator: quotients of integers are rounded towards zero",
        INTEGERS,
        "FAIL      riscv-vs-vm",
        (r"(floor_div\.\d+|down) \(\S*idioms.py:\d+:\d+\).*element \[\d+, \d+\]: expected \S+, found \S+",),
        (
            Edit(
                "fleet/targets/riscv/kernels/division.py",
                "quotient = b.select(away, b.sub(quotient, one), quotient)",
                "quotient = b.select(away, quotient, quotient)",
            ),
        ),
        at="operation down",
        kind="RISC-V",
    ),
    Fault(
        "riscv-rest",
        "RISC-V code generator: the rest of a loop in vectors begins one element too early",
        tests("tests/targets/riscv/test_riscv_loops.py"),
        "FAILED tests/targets/riscv/test_riscv_loops.py",
        (r"test_every_element_is_done",),
        (REST,),
        at="the pieces of a loop",
        kind="RISC-V",
    ),
    Fault(
        "riscv-rest-run",
        "the same, by running it (needs the emulator qemu)",
        ("fleet.cli.main", "cosim", f"{IDIOMS}:ragged", "--engines", "vm,riscv", "--riscv-isa", "rv64gcv"),
        "FAIL      riscv-vs-vm",
        (r"y \(\S*idioms.py:\d+:\d+\).*element \[\d+, \d+\]: expected \S+, found \S+",),
        (REST,),
        at="operation y",
        kind="RISC-V",
        needs="qemu-system-riscv64",
    ),
    Fault(
        "riscv-storage",
        "RISC-V: a value's storage is given away at its last use, to what is computed of it",
        tests("tests/targets/test_planner.py"),
        "FAILED tests/targets/test_planner.py",
        (r"test_what_lives_together_never_overlaps",),
        (STORAGE,),
        at="the sharing of storage",
        kind="RISC-V",
    ),
    _integers(
        "pass-integer-padding",
        "integer-products: what a convolution pads with is the code 0, not the zero point's",
        "ConvInteger",
        Edit(f"{PASSES}/products/integer_products.py", "_INT8) if found.zero is None else found.zero]", "_INT8)]"),
        at="a convolution's border",
    ),
    _integers(
        "pass-integer-sign",
        "integer-products: uint8 codes are read as int8, without moving them by 128",
        "MatMulInteger",
        Edit(f"{PASSES}/products/integer_products.py", 'number(op, "middle", _HALF, _INT32)', 'number(op, "middle", 0, _INT32)'),
        at="a product of uint8 codes",
    ),
    _integers(
        "pass-group-diagonal",
        "split-groups: every group's weights stand before the first group's inputs",
        "depthwise",
        Edit(f"{PASSES}/products/split_groups.py", "where[each, :, each] =", "where[each, :, 0] ="),
        at="a depthwise convolution",
    ),
    Fault(
        "vm-print",
        "VM: a text with places for values ends a line more",
        ("fleet", "cosim", "tests/frontend/corpus/complex_impedance.py", "--engines", "vm,cpython"),
        "FAIL      vm-vs-cpython",
        (r"line \d+ of what is printed differs: cpython .*, vm .*",),
        (Edit("fleet/targets/bytecode/printing.py", 'echo(text.format(*values), end="")', "echo(text.format(*values))"),),
        at="the line of a print",
        kind="VM",
    ),
    Fault(
        "riscv-host-strides",
        "RISC-V: the host reads an operand that is a view as if its elements lay side by side",
        tests("tests/engines/test_riscv_host_calls.py"),
        "FAILED tests/engines/test_riscv_host_calls.py::test_operands_are_views",
        (r"test_operands_are_views",),
        (
            Edit(
                "fleet/engines/riscv_host.py",
                "return read_array(self._machine, address, array.shape, array.strides, array.dtype)",
                "return read_array(self._machine, address, array.shape, replace(array, given=None).strides, array.dtype)",
            ),
            Edit(
                "fleet/engines/riscv_host.py",
                "from functools import partial",
                "from dataclasses import replace\nfrom functools import partial",
            ),
        ),
        at="an operand that is a view",
        kind="RISC-V",
        nightly=True,
    ),
    Fault(
        "vm-integer-kernel",
        "VM: the compiled product of integers takes the first of two rows for the second, too",
        tests("tests/targets/bytecode/test_products.py"),
        "FAILED tests/targets/bytecode/test_products.py",
        (r"test_\w+",),
        (Edit("fleet/targets/bytecode/kernels/integer_kernel.py", "b.shl(high, splat(typ, 16))", "b.shl(low, splat(typ, 16))"),),
        at="a product of int32",
        kind="VM",
    ),
    Fault(
        "riscv-storage-run",
        "the same, by a language model, whose session keeps no operation's value",
        ("fleet.cli.main", "generate", "--model", "tiny", "--prompt", "abcabcab", "--engines", "vm,riscv", "--tokens", "2"),
        "riscv-vs-vm        ✘ fail",
        (r"riscv-vs-vm: step 0: SQNR of the logits is \S+ dB, expected at least 80 dB",),
        (STORAGE,),
        at="step 0 of engine riscv",
        kind="RISC-V",
    ),
    Fault(
        "accel-storage",
        "memory plan: a tensor's room is given away behind the first that reads it, though a later one does too",
        ("fleet.cli.main", "cosim", f"{IDIOMS}:shortcut", "--engines", "vm,iss", *DEVICE),
        "FAIL      iss-vs-vm-rounded",
        (r"first divergence \(iss-vs-vm-rounded\): operations add\.0.*",),
        (
            Edit(
                "fleet/targets/accel/memory/lives.py",
                "lives.use(value, at)\n        for value in node.results:",
                "lives.use(value, min(at, lives.of[lives.roots(value)[0]][0] + 1))\n        for value in node.results:",
            ),
        ),
        at="operation add.0",
        kind="compiler",
    ),
    Fault(
        "accel-tensors-late",
        "functional model: tensors are read behind the last commit, when others have their room",
        ("fleet.cli.main", "cosim", f"{IDIOMS}:shortcut", "--engines", "vm,iss", *DEVICE),
        "FAIL      iss-vs-vm-rounded",
        (r"first divergence \(iss-vs-vm-rounded\): operations maximum\.0.*",),
        (Edit("fleet/engines/iss.py", "later[0].seq == commit.seq", "len(commits) == len(calls)"),),
        at="operation maximum.0",
        kind="compiler",
    ),
    Fault(
        "rtl-tensors-late",
        "rtl: tensors are read behind the last commit of the job, when others have their room",
        ("fleet.cli.main", "cosim", f"{IDIOMS}:shortcut", "--engines", "vm,iss,rtl", *DEVICE),
        "FAIL      rtl-vs-iss",
        (r"first divergence \(rtl-vs-iss\): operations maximum\.0.*",),
        (Edit("fleet/engines/rtl_sim/segment.py", "[(s.seq - self.first_seq, s.offset,", "[(len(self.calls) - 1, s.offset,"),),
        at="operation maximum.0",
        kind="harness",
        nightly=True,
    ),
    Fault(
        "riscv-linker",
        "RISC-V linker: the upper part of an address is not rounded for the signed lower part",
        cosim("difference", *ORACLES),
        "riscv did not run",
        (r"riscv did not run: .* crashed on riscv: jump to unmapped memory.*",),
        (Edit("fleet/targets/riscv/linker.py", "return (value + 0x800) & 0xFFFFF000", "return value & 0xFFFFF000"),),
        at="engine riscv",
        kind="RISC-V",
    ),
    Fault(
        "riscv-exp",
        "RISC-V: a coefficient of 2**r is another one in its seventh digit",
        tests("tests/targets/riscv/test_coefficients.py", "-k", "coefficients_are_current"),
        "FAILED tests/targets/riscv/test_coefficients.py",
        (r"test_coefficients_are_current",),
        (Edit("fleet/targets/riscv/kernels/coefficients.py", "0.05550357114219078", "0.05550356114219078"),),
        at="the table of coefficients",
        kind="RISC-V",
    ),
    Fault(
        "graph-storage",
        "graph compiler: a tensor's storage is free one step before its last use",
        tests("tests/targets/graph/test_bad_input.py", "-k", "cache_filled"),
        "the compiler made an illegal instruction",
        (r"trp_mvm_out_addr: \S+ \S+ meets \S+ \S+ of trp_mvm_in_addr, expected no overlap",),
        (_graph_lives(1),),
        at="instruction trp_mvm, whose result lies in its input",
        kind="compiler",
        nightly=True,
    ),
    Fault(
        "graph-storage-early",
        "graph compiler: a tensor's storage is free two steps before its last use",
        GENERATE,
        "iss-vs-vm-rounded  ✘ fail",
        (r"iss-vs-vm-rounded: node blocks\.0\.up: SQNR of its values is \S+ dB, expected at least 20 dB",),
        (_graph_lives(2),),
        at="node blocks.0.up, whose input stood there",
        kind="compiler",
        nightly=True,
    ),
    Fault(
        "riscv-link-zeros",
        "RISC-V linker: data that begins as zeros alone has no room",
        tests("tests/targets/riscv/test_riscv_linker.py", "-k", "test_data_that_begins_as_zeros_alone_has_room"),
        "FAILED tests/targets/riscv/test_riscv_linker.py::test_data_that_begins_as_zeros_alone_has_room",
        (r"FAILED tests/targets/riscv/test_riscv_linker.py::test_data_that_begins_as_zeros_alone_has_room",),
        (Edit("fleet/targets/riscv/linker.py", "if self.bss_end > self.data_base:", "if self.data_end > self.data_base:"),),
        at="the segment of data",
        kind="RISC-V",
        nightly=True,
    ),
    Fault(
        "riscv-link-overflow",
        "RISC-V linker: an address that does not fit 32 bits loses its upper ones",
        tests("tests/targets/riscv/test_riscv_linker.py", "-k", "test_an_address_of_32_bits"),
        "FAILED tests/targets/riscv/test_riscv_linker.py::test_an_address_of_32_bits",
        (r"FAILED tests/targets/riscv/test_riscv_linker.py::test_an_address_of_32_bits",),
        (
            Edit(
                "fleet/targets/riscv/linker.py",
                "if kind == 1 and not -(1 << 31) <= value < 1 << 32:",
                "if kind == 1 and value is None:",
            ),
        ),
        at="relocation 32",
        kind="RISC-V",
        nightly=True,
    ),
)
