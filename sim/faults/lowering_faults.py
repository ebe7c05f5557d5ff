"""Faults in vgemm's lowering, schedule and description."""

from __future__ import annotations

import vgemm_faults
from planting import Edit, Fault, Project, keep_generated, tests

NETWORK = vgemm_faults.digits("--engines", "vm,iss")


def _keep(project: Project) -> None:
    keep_generated(project, "vgemm_pkg.sv")


FAULTS = (
    Fault(
        "vgemm-tap-order",
        "vgemm lowering: the taps of a convolution are listed column by column",
        NETWORK,
        "FAIL      iss-vs-vm-rounded",
        (r"first divergence \(iss-vs-vm-rounded\): operations h1\b.*",),
        (
            Edit(
                "fleet/sets/vgemm/lower/windows.py",
                "(tap // window.taps[1] * line + tap % window.taps[1] * inputs + i, n)",
                "(tap % window.taps[0] * line + tap // window.taps[0] * inputs + i, n)",
            ),
        ),
        at="the first convolution",
        kind="compiler",
    ),
    Fault(
        "vgemm-bias-block",
        "vgemm lowering: the bias of a tile's second block of outputs is that of the first",
        NETWORK,
        "FAIL      iss-vs-vm-rounded",
        (r"first divergence \(iss-vs-vm-rounded\): operations \w+.*",),
        (Edit("fleet/sets/vgemm/lower/tiles.py", "AluOp.ADD, extents, each, (0, 1))", "AluOp.ADD, extents, each, (0, 0))"),),
        at="the first product with a bias",
        kind="compiler",
    ),
    Fault(
        "vgemm-quantise-truncates",
        "vgemm lowering: activations are truncated to INT8, not rounded",
        tests("tests/sets/vgemm/test_vgemm_lowering.py"),
        "FAILED tests/sets/vgemm/test_vgemm_lowering.py",
        (r"test_\w+",),
        (
            Edit(
                "fleet/sets/vgemm/lower/tiles.py",
                "(AluOp.ADD, 1 << shift - 1), (AluOp.SHR, shift)",
                "(AluOp.ADD, 0), (AluOp.SHR, shift)",
            ),
        ),
        at="the first product",
        kind="compiler",
    ),
    Fault(
        "attention-sequence-keys",
        "hbm0923 lowering: every sequence of an attention has the keys and values of the first one",
        tests("tests/targets/accel/test_encoder_layer.py"),
        "FAILED tests/targets/accel/test_encoder_layer.py",
        (r"test_several_sequences_run_on_the_device",),
        (
            Edit(
                "fleet/sets/hbm0923/lower/attention.py",
                "context.address(op.k if keys else op.v) + first * PIXEL_BYTES",
                "context.address(op.k if keys else op.v)",
            ),
        ),
        at="the attention of several sequences",
        kind="compiler",
    ),
    Fault(
        "attention-sequence-row",
        "hbm0923 lowering: a sequence's results are a token too far",
        tests("tests/targets/accel/test_encoder_layer.py"),
        "FAILED tests/targets/accel/test_encoder_layer.py",
        (r"test_several_sequences_run_on_the_device",),
        (
            Edit(
                "fleet/sets/hbm0923/lower/attention.py",
                "first = sequence * s.tokens",
                "first = sequence * (s.tokens + 1)",
            ),
        ),
        at="the attention of several sequences",
        kind="compiler",
    ),
    Fault(
        "vgemm-schedule-war",
        "vgemm schedule: a write does not wait for what is read before it",
        tests("tests/sets/vgemm/test_vgemm_schedule.py"),
        "FAILED tests/sets/vgemm/test_vgemm_schedule.py",
        (r"FAILED \S*test_vgemm_schedule.py::test_what_must_not_overlap_does_not",),
        (
            Edit(
                "fleet/sets/vgemm/lower/schedule.py",
                "(self.writes, earlier.reads), (self.writes, earlier.writes))",
                "(self.writes, earlier.writes))",
            ),
        ),
        at="the schedule",
        kind="compiler",
    ),
    Fault(
        "vgemm-words",
        "vgemm formats: the rows of zeros above and below are exchanged in the description and in the operands generated from it",
        tests("tests/sets/vgemm/test_vgemm_operands.py", "-k", "by_hand"),
        "FAILED tests/sets/vgemm/test_vgemm_operands.py",
        (r"FAILED \S*test_vgemm_operands.py::test_words_by_hand",),
        (
            Edit("fleet/sets/vgemm/vgemm.rdl", "y_pad_before[19:16]", "y_pad_before[23:20]"),
            Edit("fleet/sets/vgemm/vgemm.rdl", "y_pad_after[23:20]", "y_pad_after[19:16]"),
            Edit(
                "fleet/sets/vgemm/operands.py", '"y_pad_before", (Bits("load_w3", 16, 4)', '"y_pad_before", (Bits("load_w3", 20, 4)'
            ),
            Edit(
                "fleet/sets/vgemm/operands.py", '"y_pad_after", (Bits("load_w3", 20, 4)', '"y_pad_after", (Bits("load_w3", 16, 4)'
            ),
        ),
        at="the literal words",
        kind="description and tables",
    ),
    Fault(
        "vgemm-rdl-stale",
        "vgemm description: an opcode is another one, the hardware's package not generated again",
        vgemm_faults.NETWORK,
        "rtl did not run",
        (r"vgemm\w*\.\w+:\d+: generated from description [0-9a-f]{16}, vgemm.rdl is now [0-9a-f]{16}",),
        (
            Edit("fleet/sets/vgemm/vgemm.rdl", "fleet_opcode = 5;", "fleet_opcode = 6;"),
            Edit("fleet/sets/vgemm/vgemm.rdl", "cfg_id[7:0] = 5;", "cfg_id[7:0] = 6;"),
        ),
        _keep,
        at="the generated files",
        kind="description and tables",
        code=2,
    ),
)
