"""Faults in the hardware of sparse weights: which inputs a code meets, and when its scale is read."""

from __future__ import annotations

from data import cosim, digits
from planting import Choice, Fault

RTL = "rtl_models/hbm0923/hbm0923"
BITS = ("--engines", "vm,iss,rtl", "--device", "hbm_small_sparse", "--sparse")

FAULTS = (
    Fault(
        "rtl-sparse-block",
        "4 of 8 kept: the codes of a block meet the inputs of the next one",
        digits(*BITS, "4"),
        "FAIL      rtl-vs-iss",
        (r"instruction 0 mvm_bn", r"element \[0, \d+\] at ddr 0x\w+: .*"),
        choices=(Choice(f"{RTL}_mvm_select.sv", "slot[5:2]", "slot[5:2] + 4'd1", "return {1'b0, ", ", place}", in_task=True),),
        at="instruction 0 mvm_bn",
        kind="RTL",
        nightly=True,
    ),
    Fault(
        "rtl-sparse-held-places",
        "2 of 8 kept: two bits of the places of every fourth beat of codes are exchanged",
        cosim("long", *BITS, "2"),
        "FAIL      rtl-vs-iss",
        (r"instruction 0 mvm, operations y", r"element \[0, \d+\] at ddr 0x\w+: .*"),
        choices=(
            Choice(
                f"{RTL}_mvm_select.sv",
                "{beat[192+l], held1[l], held0[l]}",
                "{beat[192+l], held0[l], held1[l]}",
                "triples[3*l+:3] = ",
                ";",
                in_task=True,
            ),
        ),
        at="instruction 0 mvm",
        kind="RTL",
        nightly=True,
    ),
    Fault(
        "rtl-sparse-scale",
        "scales of sparse weights are read a cycle early, as those of dense ones",
        digits(*BITS, "4"),
        "FAIL      rtl-vs-iss",
        (r"instruction 0 mvm_bn", r"element \[\d+, \d+\] at ddr 0x\w+: .*"),
        choices=(Choice(f"{RTL}_mvm_beats.sv", "scale_addr5_q", "scale_addr4", "? scale_addr4 : ", ";"),),
        at="instruction 0 mvm_bn",
        kind="RTL",
        nightly=True,
    ),
)
