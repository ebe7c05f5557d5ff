"""Faults in the hardware, its functional model and the simulation around it."""

from __future__ import annotations

from data import DEVICE, cosim, digits
from planting import Edit, Fault

RTL = "rtl_models/hbm0923/hbm0923"
ISA = "fleet/isa/hbm0923"
BITS = ("--engines", "vm,iss,rtl", *DEVICE)
MODEL = ("--engines", "vm,iss", *DEVICE)

FAULTS = (
    Fault(
        "rtl-mac",
        "multiplier: lane 17 takes 0.375 * -6 as +6 (one product in 16 images)",
        digits(*BITS),
        "FAIL      rtl-vs-iss",
        (r"[123] of 3 commits differ", r"instruction 0 mvm_bn, operations \S*, \S*, h1", r"element \[14, 105\] at ddr 0x\w+: .*"),
        (
            Edit(
                f"{RTL}_mvm_array.sv",
                "sign = 64'd0 - 64'(w[4*l+3]);",
                "sign = 64'd0 - 64'(w[4*l+3] && !(l == 17 && w[4*l+:4] == 4'hE && fixed[l] == 64'sd6291456));",
            ),
        ),
    ),
    Fault(
        "iss-rounding",
        "functional model: conversion to FP16 truncates instead of rounding to nearest even",
        digits(*BITS),
        "FAIL      rtl-vs-iss",
        (r"1 of 3 commits differ", r"instruction 0 mvm_bn", r"element \[0, \d+\] at ddr 0x\w+: .*"),
        (
            Edit(
                f"{ISA}/arithmetic.py",
                "half = v.astype(np.float16)\n",
                "half = v.astype(np.float16)\n"
                "        half = np.where(np.abs(half.astype(v.dtype)) > np.abs(v), np.nextafter(half, np.float16(0)), half)\n",
            ),
        ),
    ),
    Fault(
        "rtl-last-beat",
        "DDR writer: the last beat of an output is never written",
        digits(*BITS),
        "FAIL      rtl-vs-iss",
        (r"bytes written expected \d+, found \d+", r"first divergence \(rtl-vs-iss\): instruction 0 mvm_bn.*"),
        (
            Edit(
                f"{RTL}_ddr_writer.sv",
                "assign push          = valid_i || extra_push;",
                "assign push          = (valid_i && !(out_i.last_block && out_i.last_token)) || extra_push;",
            ),
        ),
    ),
    Fault(
        "rtl-group-boundary",
        "issue: a group of 128 inputs ends a beat too early",
        cosim("groups", *BITS),
        "FAIL      rtl-vs-iss",
        (r"instruction 0 mvm, operations matmul\.0|instruction 0 mvm, operations y", r"element \[0, 0\] at ddr 0x\w+: .*"),
        (
            Edit(
                f"{RTL}_mvm_issue.sv",
                "ctrl_o.group_end   = plan_i.group != 2'd2 || beat_q[0] || last_beat;",
                "ctrl_o.group_end   = plan_i.group != 2'd2 || !beat_q[0] || last_beat;",
            ),
        ),
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
        (Edit(f"{RTL}_mvm_argmax.sv", "if (key[c+s] > key[c]) begin", "if (key[c+s] >= key[c]) begin"),),
        nightly=True,
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
        (Edit(f"{RTL}_mvm_argmax.sv", "block_key_q > best_key[", "block_key_q >= best_key["),),
        nightly=True,
    ),
    Fault(
        "rtl-relu-zero",
        "ReLU leaves -0",
        cosim("corners:zeros", *BITS),
        "FAIL      rtl-vs-iss",
        (r"1 of 2 commits differ", r"element \[\d+, 9\] at ddr 0x\w+: expected 0x0000 = 0, found 0x8000 = -0"),
        (Edit(f"{RTL}_mvm_epilogue.sv", "(on && x[31] &&", "(on && x[31] && x[30:0] != 31'd0 &&"),),
        nightly=True,
    ),
    Fault(
        "rtl-residual-address",
        "the residual is read one pixel too far",
        digits(*BITS),
        "FAIL      rtl-vs-iss",
        (r"instruction 1 mvm_bn_res", r"element \[0, \d+\] at ddr 0x\w+: .*"),
        (Edit(f"{RTL}_mvm_reads.sv", ".addr_i   (plan_i.res_addr),", ".addr_i   (plan_i.res_addr + 32'd64),"),),
        nightly=True,
    ),
    Fault(
        "rtl-cycle-classes",
        "a cycle of every instruction is counted twice",
        digits(*BITS),
        "rtl did not run",
        (r"instruction 0 \(mvm_bn", r"an assertion of the design failed at \S*hbm0923_unit_ctrl.sv:\d+"),
        (
            Edit(
                f"{RTL}_unit_ctrl.sv",
                "if (spent == 3'(i)) class_d[i] = class_q[i] + 32'd1;",
                "if (spent == 3'(i)) class_d[i] = class_q[i] + 32'd1 + 32'(i == Issue);",
            ),
        ),
        nightly=True,
    ),
    Fault(
        "rtl-write-handshake",
        "DDR writer takes data as accepted when they were only offered (shows on a memory that stalls)",
        digits(*BITS, "--memory", "stall:1"),
        "rtl",
        (r"instruction 0 \(?mvm_bn.*",),
        (
            Edit(
                f"{RTL}_ddr_writer.sv",
                "assign w_take    = wvalid_o && wready_i;",
                "assign w_take    = wvalid_o;",
            ),
        ),
        nightly=True,
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
    ),
    Fault(
        "packer-scale-index-text",
        "the same, by the packer written from the text",
        ("pytest", "-q", "-p", "no:cacheprovider", "tests/isa/hbm0923/test_packing.py", "-k", "against_the_text"),
        "FAILED tests/isa/hbm0923/test_packing.py",
        (r"test_against_the_text\[\S*2049-2-128\]",),
        (
            Edit(
                f"{ISA}/weights.py",
                "scales[first // group : ceil_div(first + n, group)].T)",
                "scales[first // group : ceil_div(first + n, group)][::-1].T)",
            ),
        ),
    ),
    Fault(
        "compiler-residual-address",
        "compiler: the residual's address is one pixel too far (iss and rtl agree on it)",
        digits(*MODEL),
        "FAIL      iss-vs-vm-rounded",
        (r"beyond the bound", r"h2 \(.*element \[\d+, \d+\]: expected \S+, found \S+"),
        (
            Edit(
                f"{ISA}/patterns.py",
                "residual=None if chain.residual is None else context.address(chain.residual),",
                "residual=None if chain.residual is None else context.address(chain.residual) + 64,",
            ),
        ),
    ),
)
