"""Faults in the hardware, its functional model and the simulation around it."""

from __future__ import annotations

from data import DEVICE, cosim, digits
from planting import Choice, Edit, Fault

RTL = "rtl_models/hbm0923/hbm0923"
ISA = "fleet/sets/hbm0923"
BITS = ("--engines", "vm,iss,rtl", *DEVICE)
MODEL = ("--engines", "vm,iss", *DEVICE)

FAULTS = (
    Fault(
        "rtl-mac",
        "multiplier: lane 17 takes 0.375 * -6 as +6 (one product in 16 images)",
        digits(*BITS),
        "FAIL      rtl-vs-iss",
        (r"[123] of 3 commits differ", r"instruction 0 mvm_bn, operations \S*, \S*, h1", r"element \[14, 105\] at ddr 0x\w+: .*"),
        choices=(
            Choice(
                f"{RTL}_mvm_array.sv",
                "w[4*l+3]",
                "w[4*l+3] && !(l == 17 && w[4*l+:4] == 4'hE && fixed[l] == 64'sd6291456)",
                "sign = 64'd0 - 64'(",
                in_task=True,
            ),
        ),
        at="instruction 0 mvm_bn",
        kind="RTL",
    ),
    Fault(
        "iss-rounding",
        "functional model: conversion to FP16 truncates instead of rounding to nearest even",
        digits(*BITS),
        "FAIL      rtl-vs-iss",
        (r"1 of 3 commits differ", r"instruction 0 mvm_bn", r"element \[0, \d+\] at ddr 0x\w+: .*"),
        choices=(
            Choice(
                f"{ISA}/numerics/mvm.py",
                "v.astype(np.float16)",
                "(lambda h: np.where(np.abs(h.astype(v.dtype)) > np.abs(v), np.nextafter(h, np.float16(0)), h))"
                "(v.astype(np.float16))",
                "half = ",
                "\n",
            ),
        ),
        at="instruction 0 mvm_bn",
        kind="functional model",
    ),
    Fault(
        "rtl-last-beat",
        "DDR writer: the last beat of an output is never written",
        digits(*BITS),
        "FAIL      rtl-vs-iss",
        (r"bytes written expected \d+, found \d+", r"first divergence \(rtl-vs-iss\): instruction 0 mvm_bn.*"),
        choices=(
            Choice(
                f"{RTL}_ddr_writer.sv",
                "valid_i",
                "(valid_i && !(out_i.last_block && out_i.last_token))",
                "assign push          = ",
                " || extra_push",
            ),
        ),
        at="instruction 0 mvm_bn",
        kind="RTL",
    ),
    Fault(
        "rtl-group-boundary",
        "issue: a group of 128 inputs ends a beat too early",
        cosim("groups", *BITS),
        "FAIL      rtl-vs-iss",
        (r"instruction 0 mvm, operations matmul\.0|instruction 0 mvm, operations y", r"element \[0, 0\] at ddr 0x\w+: .*"),
        choices=(
            Choice(
                f"{RTL}_mvm_issue.sv", "beat_q[0]", "!beat_q[0]", "ctrl_o.group_end   = plan_i.group != 2'd2 || ", " || last_beat"
            ),
        ),
        at="instruction 0 mvm",
        kind="RTL",
    ),
    Fault(
        "rtl-argmax-block",
        "argmax: of equal logits in one block of channels the last wins",
        cosim("corners:ties", *BITS),
        "FAIL      rtl-vs-iss",
        (
            r"result register expected 3, found 5",
            r"of best",
            r"element \[0\] at ddr 0x\w+: expected 0x00000003 = 3, found 0x00000005 = 5",
        ),
        choices=(
            Choice(
                f"{RTL}_mvm_argmax.sv",
                "$signed(best[c+(1<<n)][21:5]) > $signed(best[c][21:5])",
                "$signed(best[c+(1<<n)][21:5]) >= $signed(best[c][21:5])",
                "if (",
            ),
        ),
        at="instruction 0 mvm_bn, the index",
        kind="RTL",
    ),
    Fault(
        "rtl-argmax-across",
        "argmax: of equal logits in two blocks of channels the last wins",
        cosim("corners:ties", *BITS),
        "FAIL      rtl-vs-iss",
        (
            r"result register expected 3, found 17",
            r"of best",
            r"element \[0\] at ddr 0x\w+: expected 0x00000003 = 3, found 0x00000011 = 17",
        ),
        choices=(
            Choice(
                f"{RTL}_mvm_argmax.sv",
                "block_key > best_key[out.token[Tw-1:0]]",
                "block_key >= best_key[out.token[Tw-1:0]]",
            ),
        ),
        at="instruction 0 mvm_bn, the index",
        kind="RTL",
    ),
    Fault(
        "rtl-relu-zero",
        "ReLU leaves -0",
        cosim("corners:zeros", *BITS),
        "FAIL      rtl-vs-iss",
        (r"1 of 2 commits differ", r"element \[\d+, 9\] at ddr 0x\w+: expected 0x0000 = 0, found 0x8000 = -0"),
        choices=(Choice(f"{RTL}_mvm_epilogue.sv", "x[31]", "x[31] && x[30:0] != 31'd0", "(on && ", " &&"),),
        at="instruction 1 mvm_bn_res, channel 9",
        kind="RTL",
    ),
    Fault(
        "rtl-residual-address",
        "the residual is read one pixel too far",
        digits(*BITS),
        "FAIL      rtl-vs-iss",
        (r"instruction 1 mvm_bn_res", r"element \[0, \d+\] at ddr 0x\w+: .*"),
        choices=(Choice(f"{RTL}_mvm_reads.sv", "plan_i.res_addr", "plan_i.res_addr + 32'd64", ".addr_i   (", "),"),),
        at="instruction 1 mvm_bn_res",
        kind="RTL",
    ),
    Fault(
        "rtl-cycle-classes",
        "a cycle of every instruction is counted twice",
        digits(*BITS),
        "rtl did not run",
        (r"the classes of cycles sum to \d+, from start to commit the bench measured \d+",),
        choices=(
            Choice(
                f"{RTL}_unit_ctrl.sv", "32'd1", "32'd1 + 32'(i == Issue)", "if (spent == 3'(i)) class_d[i] = class_q[i] + ", ";"
            ),
        ),
        at="the bench's clock over the classes of cycles",
        kind="RTL",
    ),
    Fault(
        "rtl-write-handshake",
        "DDR writer takes data as accepted when they were only offered (shows on a memory that stalls)",
        digits(*BITS, "--memory", "stall:1"),
        "rtl",
        (r"instruction 0 \(?mvm_bn.*",),
        choices=(Choice(f"{RTL}_ddr_writer.sv", "w_valid && ddr_rsp_i.w_ready", "w_valid", "assign w_take    = "),),
        at="instruction 0 mvm_bn",
        kind="RTL",
    ),
    Fault(
        "hbm-ports",
        "HBM ports 2 and 3 are connected crosswise",
        digits(*BITS),
        "FAIL      rtl-vs-iss",
        (r"instruction 0 mvm_bn", r"element \[0, \d+\] at ddr 0x\w+: .*"),
        (
            Edit(
                "fleet/engines/rtl_sim/segment.py",
                "hbm={bank: path.absolute()",
                "hbm={bank ^ (bank in (2, 3)): path.absolute()",
            ),
        ),
        at="instruction 0 mvm_bn",
        kind="memory",
    ),
    Fault(
        "memory-image",
        "one bit of a weight that only zeros meet flips in HBM between the compile and the run",
        digits(*BITS),
        "FAIL      rtl-vs-iss",
        (r"w1\.int4g128 at hbm port 3 0x28: packed 0x\w\w, found 0x\w\w",),
        (
            Edit(
                "fleet/engines/rtl.py",
                "self._model = memory_model(",
                'memory.view("hbm", 0x28, 1, 3)[0] ^= 1\n        self._model = memory_model(',
            ),
        ),
        at="weight w1, HBM port 3, byte 0x28",
        kind="memory",
    ),
    Fault(
        "memory-image-used",
        "one bit of a scale flips in HBM between the compile and the run",
        digits(*BITS),
        "FAIL      rtl-vs-iss",
        (r"instruction 0 mvm_bn", r"h1\)?: .*w1\.int4g128 at hbm port 3 0x0: packed 0x\w\w, found 0x\w\w"),
        (
            Edit(
                "fleet/engines/rtl.py",
                "self._model = memory_model(",
                'memory.view("hbm", 0, 1, 3)[0] ^= 4\n        self._model = memory_model(',
            ),
        ),
        at="instruction 0 mvm_bn; weight w1, HBM port 3, byte 0",
        kind="memory",
    ),
    Fault(
        "packer-scale-index",
        "packer: the scales of a channel's groups in reverse",
        cosim("groups", *MODEL),
        "FAIL      iss-vs-vm-rounded",
        (
            r"elements beyond the bound",
            r"first divergence \(iss-vs-vm-rounded\): operations y\n.*element \[\d+, \d+\]: expected .*",
        ),
        (
            Edit(
                f"{ISA}/weights.py",
                "scales[first // group : ceil_div(first + n, group)].T)",
                "scales[first // group : ceil_div(first + n, group)][::-1].T)",
            ),
        ),
        at="operation y",
        kind="compiler",
    ),
    Fault(
        "packer-scale-index-text",
        "the same, by the packer written from the text",
        ("pytest", "-q", "-p", "no:cacheprovider", "tests/sets/hbm0923/test_packing.py", "-k", "against_the_text"),
        "FAILED tests/sets/hbm0923/test_packing.py",
        (r"test_against_the_text\[\S*2049-2-128\]",),
        (
            Edit(
                f"{ISA}/weights.py",
                "scales[first // group : ceil_div(first + n, group)].T)",
                "scales[first // group : ceil_div(first + n, group)][::-1].T)",
            ),
        ),
        at="the packer of weights",
        kind="compiler",
    ),
    Fault(
        "compiler-residual-address",
        "compiler: the residual's address is behind the result (iss and rtl agree on it)",
        digits(*MODEL),
        "FAIL      iss-vs-vm-rounded",
        (r"beyond the bound", r"h2 \(.*element \[\d+, \d+\]: expected \S+, found \S+"),
        (
            Edit(
                f"{ISA}/patterns.py",
                "residual=None if chain.residual is None else context.address(chain.residual),",
                "residual=None if chain.residual is None else context.address(chain.residual) + 0x2000,",
            ),
        ),
        at="operation h2",
        kind="compiler",
    ),
)
