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
    19: "mvm_zero19", 20: "mvm_zero20", 21: "mvm_zero21", 22: "mvm_tgroup", 23: "mvm_tblk", 24: "mvm_chin_last",
    25: "mvm_zero25", 26: "mvm_bn_addr", 27: "mvm_res_addr", 28: "mvm_zero28", 29: "mvm_in_surface", 30: "mvm_in_line",
    31: "mvm_out_surface", 32: "mvm_out_line", 33: "mvm_start", 40: "mvm_result", 224: "eps", 225: "err_cause",
    226: "err_instr", 227: "irq_en", 228: "irq_stat", 229: "desc_hash", 230: "cycles", 231: "cycles_compute",
    232: "cycles_weight_wait", 233: "cycles_activation_wait", 234: "cycles_write_back", 235: "cycles_issue",
    236: "cycles_dependency",
}  # fmt: skip

# Register number -> value of the published example: (1, 1 token, 4096) x (4096, 256) as a plain product.
PRODUCT = {
    2: 4096, 3: 1, 4: 1, 5: 1, 6: 1, 7: 256, 8: 256, 9: 1, 10: 0, 11: 0, 12: 16896, 13: 0x1000000, 14: 0, 15: 28, 16: 0,
    17: 0, 18: 0, 19: 0, 20: 0, 21: 0, 22: 5769216, 23: 3670144, 24: 2048, 25: 0, 26: 0, 27: 0, 28: 0,
    29: 64, 30: 64, 31: 64, 32: 64, 33: 287,
}  # fmt: skip

OPERANDS = tuple(range(2, 33))
"""Numbers of the unit's operand registers in write order; 33 follows."""

# Instruction -> opcode (cfg_id), every value of register 33 that means it.
INSTRUCTIONS = {
    "mvm": (0x08, (0x11F,)),
    "mvm_bn": (0x48, (0x31F, 0xB1F)),
    "mvm_bn_res": (0xC8, (0x71F, 0xF1F)),
}

# Register -> field -> (high bit, low bit), of registers with more than one field.
FIELDS = {
    "mvm_res_mode": {"relu": (0, 0), "mul": (1, 1), "zero": (31, 2)},
    "mvm_onchip": {"in": (0, 0), "out": (1, 1), "zero": (31, 2)},
    "mvm_tgroup": {"inputs": (18, 0), "log2": (31, 19)},
    "mvm_tblk": {"inputs": (18, 0), "log2": (31, 19)},
    "mvm_start": {"mvm": (8, 0), "bn": (9, 9), "res": (10, 10), "argmax": (11, 11), "zero": (31, 12)},
    "irq_en": {"done": (0, 0), "error": (1, 1)},
    "irq_stat": {"done": (0, 0), "error": (1, 1)},
}

# Register of an address -> memory space.
SPACES = {
    "mvm_in_addr": "ddr", "mvm_wt_addr": "hbm", "mvm_out_addr": "ddr", "mvm_argmax_addr": "ddr", "mvm_bn_addr": "ddr",
    "mvm_res_addr": "ddr",
}  # fmt: skip

ERROR_CAUSES = {
    0: "none", 1: "illegal_mode", 2: "bad_size", 3: "unaligned", 4: "out_of_range", 5: "busy", 6: "bus_error", 7: "unsupported",
}  # fmt: skip


def differences(description: Description) -> list[str]:
    """One line for everything in which the description is not what stands above; [] when it is right."""
    return [*_registers(description), *_fields(description), *_instructions(description)]


def _registers(d: Description) -> Iterator[str]:
    found = {r.number: r.name for r in d.registers}
    for number in sorted(REGISTERS.keys() | found.keys()):
        name, expected = found.get(number, "no register"), REGISTERS.get(number, "no register")
        if name != expected:
            yield f"register {number}: expected {expected}, found {name}"
    order = tuple(r.number for r in d.units["mvm"].operands)
    if order != OPERANDS:
        yield f"unit mvm: write order is {order}"


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
            causes = {e.value: e.name for e in f.encode}
            if causes != (ERROR_CAUSES if r.name == "err_cause" else {}):
                yield f"register {r.name}: expected values {ERROR_CAUSES}, found {causes}"


def _instructions(d: Description) -> Iterator[str]:
    for name in sorted(INSTRUCTIONS.keys() | d.instructions.keys()):
        if name not in INSTRUCTIONS or name not in d.instructions:
            yield f"instruction {name}: {'not in the description' if name in INSTRUCTIONS else 'unknown'}"
            continue
        (opcode, starts), word = INSTRUCTIONS[name], d.instructions[name]
        if word.opcode != opcode:
            yield f"instruction {name}: expected opcode {opcode:#04x}, found {word.opcode:#04x}"
        accepted = tuple(v for v in range(1 << 12) if word.accepts(v))
        if accepted != starts:
            yield f"instruction {name}: expected start values {[*map(hex, starts)]}, found {[*map(hex, accepted)]}"
