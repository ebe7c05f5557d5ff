"""HBM0923's numbers, typed in from the public description and never generated: the one independent source of the tests.

Every other part (codec, register block, package, stream) comes out of the .rdl file, so a wrong entry there is wrong
everywhere at once and no comparison of two engines sees it. `differences` is what does.
"""

from __future__ import annotations

from collections.abc import Iterator

from fleet.isa.description import Description

# Register number -> name.
REGISTERS = {
    1: "mvm_status", 2: "mvm_chin", 3: "mvm_win", 4: "mvm_hin", 5: "mvm_wout", 6: "mvm_hout", 7: "mvm_chout_slice",
    8: "mvm_chout_last", 9: "mvm_win_dup", 10: "mvm_in_addr", 11: "mvm_wt_addr", 12: "mvm_wt_bits", 13: "mvm_out_addr",
    14: "mvm_splits_m1", 15: "mvm_bank_step", 16: "mvm_res_mode", 17: "mvm_argmax_addr", 18: "mvm_onchip",
    19: "mvm_sparse", 20: "mvm_zero20", 21: "mvm_zero21", 22: "mvm_tgroup", 23: "mvm_tblk", 24: "mvm_chin_last",
    25: "mvm_zero25", 26: "mvm_bn_addr", 27: "mvm_res_addr", 28: "mvm_zero28", 29: "mvm_in_surface", 30: "mvm_in_line",
    31: "mvm_out_surface", 32: "mvm_out_line", 33: "mvm_start", 40: "mvm_result",
    64: "aux_status", 65: "aux_insts_addr", 66: "aux_beats", 67: "aux_tasks", 68: "aux_ddr_addr", 69: "aux_hbm_low",
    70: "aux_hbm_high", 71: "aux_bits", 72: "aux_port", 73: "aux_start",
    129: "elementwise_status", 130: "elementwise_mode", 131: "elementwise_a_addr", 132: "elementwise_a_surface",
    133: "elementwise_a_line", 134: "elementwise_out_addr", 135: "elementwise_out_surface", 136: "elementwise_out_line",
    137: "elementwise_surfaces", 138: "elementwise_hin", 139: "elementwise_win", 140: "elementwise_b_addr",
    141: "elementwise_onchip", 142: "elementwise_start",
    193: "sfu_status", 194: "sfu_r194", 195: "sfu_r195", 196: "sfu_r196", 197: "sfu_r197", 198: "sfu_r198", 199: "sfu_r199",
    200: "sfu_r200", 201: "sfu_r201", 202: "sfu_r202", 203: "sfu_r203", 204: "sfu_r204", 205: "sfu_r205", 206: "sfu_r206",
    207: "sfu_r207", 208: "sfu_r208", 209: "sfu_start", 224: "eps", 225: "err_cause",
    226: "err_instr", 227: "irq_en", 228: "irq_stat", 229: "desc_hash", 230: "cycles", 231: "cycles_compute",
    232: "cycles_weight_wait", 233: "cycles_activation_wait", 234: "cycles_write_back", 235: "cycles_issue",
    236: "cycles_dependency", 237: "commits", 238: "tasks_done",
}  # fmt: skip

# Register number -> value of the published example: (1, 1 token, 4096) x (4096, 256) as a plain product.
PRODUCT = {
    2: 4096, 3: 1, 4: 1, 5: 1, 6: 1, 7: 256, 8: 256, 9: 1, 10: 0, 11: 0, 12: 16896, 13: 0x1000000, 14: 0, 15: 28, 16: 0,
    17: 0, 18: 0, 19: 0, 20: 0, 21: 0, 22: 5769216, 23: 3670144, 24: 2048, 25: 0, 26: 0, 27: 0, 28: 0,
    29: 64, 30: 64, 31: 64, 32: 64, 33: 287,
}  # fmt: skip

OPERANDS = {"mvm": range(2, 33), "aux": range(65, 73), "elementwise": range(130, 142), "sfu": range(194, 209)}
"""Unit -> numbers of its operand registers in write order; the start register's follows."""

# Instruction -> opcode (cfg_id), every value of its start register that means it.
INSTRUCTIONS = {
    "elementwise": (0x01, (1,)), "f2w_mvm": (0x02, (0x01,)), "trp_mvm": (0x03, (0x02,)), "pos_emb": (0x04, (0x04,)),
    "softmax": (0x05, (0x08,)), "act": (0x06, (0x10,)), "norm": (0x07, (0x20,)), "dat2hbm": (0x30, (0x40,)),
    "wt2hbm": (0x20, (2,)), "aux_run": (0x21, (1,)), "mvm": (0x08, (0x11F,)),
    "mvm_bn": (0x48, (0x31F, 0xB1F)),
    "mvm_bn_res": (0xC8, (0x71F, 0xF1F)),
}  # fmt: skip

# Instruction -> beats of 64 bytes in the binary form, where it is not one; 0: none.
BEATS = {"mvm": 2, "mvm_bn": 2, "mvm_bn_res": 2, "wt2hbm": 0, "aux_run": 0}

# Instruction -> what it calls registers 194 to 208.
VIEWS = {
    "norm": ("wt_addr", "in_addr", "in_surface", "in_line", "out_addr", "out_surface", "out_line", "surfaces", "hin", "win",
             "pixels", "recip_channels", "burst_m1", "layer", "onchip"),
    "pos_emb": ("table_addr", "in_addr", "in_head", "in_surface", "out_addr", "out_surface", "out_head", "surfaces", "tokens",
                "last", "heads", "table_head", "table_surface", "zero207", "onchip"),
    "softmax": ("mask", "in_addr", "in_surface", "in_line", "out_addr", "out_surface", "out_line", "surfaces", "heads", "chin",
                "tokens", "win", "last", "zero207", "onchip"),
    "act": ("table_addr", "in_addr", "in_surface", "in_line", "out_addr", "out_surface", "out_line", "surfaces", "hin", "win",
            "pixels", "surfaces_dup", "chout", "zero207", "onchip"),
    "trp_mvm": ("wt_addr", "in_addr", "in_surface", "in_line", "out_addr", "out_surface", "out_line", "wt_head", "wt_line",
                "chin", "total", "tokens", "scale", "heads", "onchip"),
    "f2w_mvm": ("wt_addr", "in_addr", "in_surface", "in_line", "out_addr", "out_surface", "out_line", "wt_head", "wt_line",
                "chout", "total", "tokens", "scale", "heads", "onchip"),
    "dat2hbm": ("zero194", "in_addr", "in_surface", "in_line", "out_addr", "wt_head", "wt_line", "bank_step", "last", "tokens",
                "heads", "surfaces", "trp", "zero207", "zero208"),
}  # fmt: skip

# Register -> field -> (high bit, low bit), of registers with more than one field.
FIELDS = {
    "mvm_res_mode": {"relu": (0, 0), "mul": (1, 1), "zero": (31, 2)},
    "mvm_onchip": {"in": (0, 0), "out": (1, 1), "res": (2, 2), "zero": (31, 3)},
    "aux_start": {"mode": (1, 0), "zero": (31, 2)},
    "elementwise_surfaces": {"count": (15, 0), "lanes": (31, 16)},
    "elementwise_onchip": {"in": (0, 0), "out": (1, 1), "b": (2, 2), "zero": (31, 3)},
    "elementwise_start": {"run": (0, 0), "zero": (31, 1)},
    "sfu_start": {
        "f2w_mvm": (0, 0), "trp_mvm": (1, 1), "pos_emb": (2, 2), "softmax": (3, 3), "act": (4, 4), "norm": (5, 5),
        "dat2hbm": (6, 6), "zero": (31, 7),
    },
    "mvm_tgroup": {"inputs": (18, 0), "log2": (31, 19)},
    "mvm_tblk": {"inputs": (18, 0), "log2": (31, 19)},
    "mvm_start": {"mvm": (8, 0), "bn": (9, 9), "res": (10, 10), "argmax": (11, 11), "zero": (31, 12)},
    "irq_en": {"done": (0, 0), "error": (1, 1)},
    "irq_stat": {"done": (0, 0), "error": (1, 1)},
}  # fmt: skip

_HEADS = {"kv": (7, 0), "query": (15, 8), "ratio_m1": (31, 16)}
_ONCHIP = {"in": (0, 0), "out": (1, 1), "zero": (31, 2)}

# The same of the views' registers.
VIEW_FIELDS = {
    "norm_surfaces": {"count": (15, 0), "lanes": (31, 16)},
    "norm_recip_channels": {"value": (19, 0), "zero": (31, 20)},
    "trp_mvm_heads": _HEADS,
    "f2w_mvm_heads": _HEADS,
    **{f"{name}_onchip": _ONCHIP for name in ("norm", "pos_emb", "softmax", "act", "trp_mvm", "f2w_mvm")},
}

# Register of an address -> memory space.
SPACES = {
    "mvm_in_addr": "ddr", "mvm_wt_addr": "hbm", "mvm_out_addr": "ddr", "mvm_argmax_addr": "ddr", "mvm_bn_addr": "ddr",
    "mvm_res_addr": "ddr", "aux_insts_addr": "ddr", "aux_ddr_addr": "ddr", "aux_hbm_low": "hbm", "elementwise_a_addr": "ddr",
    "elementwise_b_addr": "ddr", "elementwise_out_addr": "ddr",
}  # fmt: skip

# Register -> value -> name, of registers whose values have names.
VALUES = {"elementwise_mode": {0: "add", 1: "sub", 2: "mul"}}

ERROR_CAUSES = {
    0: "none", 1: "illegal_mode", 2: "bad_size", 3: "unaligned", 4: "out_of_range", 5: "busy", 6: "bus_error", 7: "unsupported",
    8: "bad_binary",
}  # fmt: skip


def differences(description: Description) -> list[str]:
    """One line for everything in which the description is not what stands above; [] when it is right."""
    return [*_registers(description), *_fields(description), *_instructions(description), *_views(description)]


def _views(d: Description) -> Iterator[str]:
    for name, word in d.instructions.items():
        found = None if word.view is None else tuple((r.number, r.name) for r in word.view)
        expected = tuple(zip(range(194, 209), (f"{name}_{n}" for n in VIEWS[name]), strict=True)) if name in VIEWS else None
        if found != expected:
            yield f"instruction {name}: expected the view {expected}, found {found}"
        for r in word.view or ():
            fields = {f.name: (f.high, f.low) for f in r.fields}
            known = VIEW_FIELDS.get(r.name)
            if fields != known if known else len(fields) != 1:
                yield f"register {r.name}: expected fields {known}, found {fields}"
            in_hbm = r.name in ("trp_mvm_wt_addr", "f2w_mvm_wt_addr", "dat2hbm_out_addr")
            space = None if not r.name.endswith("_addr") else "hbm" if in_hbm else "ddr"
            if [f.space for f in r.fields if f.space != space]:
                yield f"register {r.name}: expected space {space}"


def _registers(d: Description) -> Iterator[str]:
    found = {r.number: r.name for r in d.registers}
    for number in sorted(REGISTERS.keys() | found.keys()):
        name, expected = found.get(number, "no register"), REGISTERS.get(number, "no register")
        if name != expected:
            yield f"register {number}: expected {expected}, found {name}"
    for name, unit in d.units.items():
        order = tuple(r.number for r in unit.operands)
        if order != tuple(OPERANDS.get(name, ())):
            yield f"unit {name}: write order is {order}"


def _fields(d: Description) -> Iterator[str]:
    for r in d.registers:
        fields = {f.name: (f.high, f.low) for f in r.fields}
        if r.name in FIELDS and fields != FIELDS[r.name]:
            yield f"register {r.name}: expected fields {FIELDS[r.name]}, found {fields}"
        if r.name not in FIELDS and len(fields) != 1:
            yield f"register {r.name}: expected one field, found {fields}"
        for f in r.fields:
            if f.space != SPACES.get(r.name):
                yield f"register {r.name}: expected space {SPACES.get(r.name)}, found {f.space}"
            named = {e.value: e.name for e in f.encode}
            expected = ERROR_CAUSES if r.name == "err_cause" else VALUES.get(r.name, {})
            if named != expected:
                yield f"register {r.name}: expected values {expected}, found {named}"


def _instructions(d: Description) -> Iterator[str]:
    for name in sorted(INSTRUCTIONS.keys() | d.instructions.keys()):
        if name not in INSTRUCTIONS or name not in d.instructions:
            yield f"instruction {name}: {'not in the description' if name in INSTRUCTIONS else 'unknown'}"
            continue
        (opcode, starts), word = INSTRUCTIONS[name], d.instructions[name]
        if word.opcode != opcode:
            yield f"instruction {name}: expected opcode {opcode:#04x}, found {word.opcode:#04x}"
        if word.beats != BEATS.get(name, 1):
            yield f"instruction {name}: expected {BEATS.get(name, 1)} beats, found {word.beats}"
        accepted = tuple(v for v in range(1 << 12) if word.accepts(v))
        if accepted != starts:
            yield f"instruction {name}: expected start values {[*map(hex, starts)]}, found {[*map(hex, accepted)]}"
