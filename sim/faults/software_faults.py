"""Faults in the description, the VM, the RISC-V image, the data and the goldens."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from data import CASE, DEVICE, cosim, digits
from planting import Edit, Fault, Project, keep_generated

RDL = "fleet/sets/hbm0923/hbm0923.rdl"
GOLDEN = "golden/small_digits"
RUN_CASE = ("fleet.cli.main", "case", "run", CASE)
VALUE = "16/op/h2/value"
DIGESTS = "16/digests/hbm_small"


def _keep(project: Project) -> None:
    keep_generated(project, "hbm0923_pkg.sv")


# The image is patched after linking: 4 more in the immediate of the first `flw` of operation y.
_PATCH = '''"""Planted: patches an immediate of a linked image."""

from fleet.targets.riscv.elf import read_image


def patched(compiled):
    symbol = compiled.symbols[next(o.body for o in compiled.operations if o.id == "y")]
    segment = next(s for s in read_image(compiled.elf).segments if s.address <= symbol.address < s.address + len(s.data))
    code = segment.data[symbol.address - segment.address :][: symbol.size]
    at = 0
    while at < len(code):
        word = int.from_bytes(code[at : at + 4], "little")
        if word & 3 != 3:
            at += 2
            continue
        if word & 0x707F == 0x2007:
            assert compiled.elf.count(code) == 1
            changed = code[:at] + (word + (4 << 20)).to_bytes(4, "little") + code[at + 4 :]
            return compiled.elf.replace(code, changed)
        at += 4
    raise AssertionError("no such instruction")
'''


def _patch_image(project: Project) -> None:
    (project.folder / "fleet/engines/planted.py").write_text(_PATCH, encoding="utf-8")


def _golden(project: Project, key: str, index: int, value: object, *, provenance: bool) -> None:
    """One stored value is changed, and the checksum in the provenance where that is asked for."""
    from fleet.core.files import npz_bytes, read_npz

    folder = project.folder / GOLDEN
    old = (folder / "golden.npz").read_bytes()
    sha256 = hashlib.sha256(old).hexdigest()
    arrays = read_npz(folder / "golden.npz", sha256, recorded_in="", hint="")
    array = arrays[key].copy()
    assert array[index] != value
    array[index] = value
    new = npz_bytes({**arrays, key: array})
    (folder / "golden.npz").write_bytes(new)
    if provenance:
        file = Path(GOLDEN) / "provenance.toml"
        project.edit(Edit(str(file), sha256, hashlib.sha256(new).hexdigest()))


def _bit(digest_line: str) -> str:
    """The same commit with one bit of its digest changed."""
    name, digest, result = digest_line.split()
    return f"{name} {int(digest, 16) ^ 1:016x} {result}"


def _edit_digest(project: Project) -> None:
    from fleet.core.files import read_npz

    path = project.folder / GOLDEN / "golden.npz"
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    line = str(read_npz(path, sha256, recorded_in="", hint="")[DIGESTS][1])
    _golden(project, DIGESTS, 1, _bit(line), provenance=True)


def _other_weights(project: Project) -> None:
    path = project.folder / "examples/digits/weights.npz"
    with np.load(path) as z:
        weights = dict(z)
    weights["w2"] = weights["w2"][:, ::-1]
    np.savez(path, **weights)


REGISTERS = (
    Edit(RDL, "} mvm_zero25 @ 4 * 25;", "} mvm_zero25 @ 4 * 26;"),
    Edit(RDL, "} mvm_bn_addr @ 4 * 26;", "} mvm_bn_addr @ 4 * 25;"),
)
OPCODE = (
    Edit(RDL, "fleet_opcode = 0x48;", "fleet_opcode = 0x49;"),
    Edit(RDL, "cfg_id[7:0] = 0x48;", "cfg_id[7:0] = 0x49;"),
)
ORACLES = ("--engines", "vm,cpython,riscv")

FAULTS = (
    Fault(
        "rdl-stale",
        "description: two registers exchanged, the hardware's package not generated again",
        digits("--engines", "vm,iss,rtl", *DEVICE),
        "rtl did not run",
        (r"hbm0923_?\w*\.\w+:\d+: generated from description [0-9a-f]{16}, hbm0923.rdl is now [0-9a-f]{16}",),
        REGISTERS,
        _keep,
        at="the generated files",
        kind="description and tables",
        code=2,
    ),
    Fault(
        "rdl-generated",
        "description: another opcode, hardware generated again (both sides agree on it): by the literal tests",
        ("pytest", "-q", "-p", "no:cacheprovider", "tests/sets/test_hbm0923_encoding.py"),
        "FAILED tests/sets/test_hbm0923_encoding.py",
        (r"test_modes_and_opcodes\[mvm_bn-\S+\]",),
        OPCODE,
        at="the opcode of mvm_bn",
        kind="description and tables",
    ),
    Fault(
        "rdl-register",
        "description: two registers exchanged, hardware generated again: by the literal tests",
        ("pytest", "-q", "-p", "no:cacheprovider", "tests/sets/test_hbm0923_encoding.py"),
        "FAILED tests/sets/test_hbm0923_encoding.py",
        (r"test_the_description_has_the_literal_numbers", r"register 25: expected mvm_zero25, found mvm_bn_addr"),
        REGISTERS,
        at="register 25",
        kind="description and tables",
    ),
    Fault(
        "vm-sub",
        "VM: sub takes its operands the wrong way round",
        cosim("difference", *ORACLES),
        "FAIL      vm-vs-cpython",
        (r"FAIL      riscv-vs-vm", r"y \(\S*difference.py:8:\d+\).*element \[\d+, \d+\]: expected \S+, found \S+"),
        (
            Edit(
                "fleet/targets/bytecode/operators.py",
                "    d.PowOp: _power,",
                "    d.PowOp: _power, d.SubOp: _elementwise(lambda a, b: np.subtract(b, a), operator.sub),",
            ),
        ),
        at="operation y",
        kind="VM",
    ),
    Fault(
        "vm-stack",
        "VM: operands come off the stack the wrong way round",
        cosim("difference", *ORACLES),
        "FAIL      vm-vs-cpython",
        (r"FAIL      riscv-vs-vm", r"h \(\S*difference.py:7:\d+\).*element \[\d+, \d+\]: expected \S+, found \S+"),
        (
            Edit(
                "fleet/targets/bytecode/decode.py",
                "sources = tuple(self._stack.pop() for _ in info.in_types)[::-1]",
                "sources = tuple(self._stack.pop() for _ in info.in_types)",
            ),
        ),
        at="operation h",
        kind="VM",
    ),
    Fault(
        "riscv-immediate",
        "RISC-V image: the offset of one `flw` is 4 too large, after linking",
        cosim("difference", *ORACLES),
        "FAIL      riscv-vs-vm",
        (r"y \(\S*difference.py:8:\d+\).*element \[\d+, \d+\]: expected \S+, found \S+",),
        (
            Edit(
                "fleet/engines/riscv.py",
                "trace = run_image(compiled, compiled.elf, inputs, options, emulator)",
                "from fleet.engines.planted import patched\n\n"
                "            trace = run_image(compiled, patched(compiled), inputs, options, emulator)",
            ),
        ),
        _patch_image,
        at="operation y",
        kind="RISC-V",
    ),
    Fault(
        "riscv-loop-bound",
        "RISC-V code generator: the product's inner loop ends one step early",
        digits("--engines", "vm,riscv"),
        "FAIL      riscv-vs-vm",
        (r"add.2 \(\S*model.py:\d+:\d+\).*element \[\d+, \d+\]: expected \S+, found \S+",),
        (
            Edit(
                "fleet/targets/riscv/kernels/matmul.py",
                "sums = fold(b, self.p.depth, ",
                "sums = fold(b, self.p.depth - 1, ",
            ),
        ),
        at="operation add.2",
        kind="RISC-V",
    ),
    Fault(
        "golden-edited",
        "golden: one stored value of h2 edited",
        RUN_CASE,
        "FAIL      vm-vs-golden",
        (r"golden/small_digits/golden.npz: checksum is not the one in provenance.toml",),
        plant=lambda p: _golden(p, VALUE, 7, 9.5, provenance=False),
        at="golden.npz of small_digits",
        kind="goldens",
    ),
    Fault(
        "golden-edited-provenance",
        "golden: one stored value of h2 edited, and the provenance to match",
        RUN_CASE,
        "FAIL      vm-vs-golden",
        (r"golden/small_digits/golden.npz: h2: 1 of 64 elements beyond the bound.*",),
        plant=lambda p: _golden(p, VALUE, 7, 9.5, provenance=True),
        at="h2 in golden.npz of small_digits",
        kind="goldens",
    ),
    Fault(
        "golden-digest",
        "golden: one bit of a commit's digest edited, and the provenance to match",
        RUN_CASE,
        "FAIL      vm-vs-golden",
        (r"golden/small_digits/golden.npz: hbm_small: commit 1 \(h2\): stored .* now .*",),
        plant=_edit_digest,
        at="commit 1, h2",
        kind="goldens",
    ),
    Fault(
        "golden-gone",
        "golden: deleted",
        RUN_CASE,
        "FAIL      vm-vs-golden",
        (r"golden/small_digits/golden.npz: there is no golden",),
        plant=lambda p: (p.folder / GOLDEN / "golden.npz").unlink(),
        at="golden.npz of small_digits",
        kind="goldens",
    ),
    Fault(
        "weights-file",
        "another weight file (the columns of w2 in reverse): every engine agrees on it",
        RUN_CASE,
        "FAIL      vm-vs-golden",
        (r"golden.npz: made with another weights \([0-9a-f]{16}, now [0-9a-f]{16}\)",),
        plant=_other_weights,
        at="the weights",
        kind="goldens",
    ),
    Fault(
        "iss-rounding-golden",
        "functional model: conversion to FP16 truncates; without the hardware, by the golden's digests",
        RUN_CASE,
        "FAIL      vm-vs-golden",
        (r"golden.npz: hbm_small: commit 0 \(h1\): stored .* now .*",),
        (
            Edit(
                "fleet/sets/hbm0923/numerics/mvm.py",
                "half = v.astype(np.float16)\n",
                "half = v.astype(np.float16)\n"
                "        half = np.where(np.abs(half.astype(v.dtype)) > np.abs(v), np.nextafter(half, np.float16(0)), half)\n",
            ),
        ),
        at="commit 0, h1",
        kind="functional model",
    ),
)
