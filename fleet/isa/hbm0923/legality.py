"""What an MVM instruction's registers must hold; one line a violation, naming the register and what was expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fleet.isa.contract import Device
from fleet.isa.hbm0923 import operands as op
from fleet.isa.hbm0923.operands import BEAT_BYTES, LOG2_COUNT, LOG2_TGROUP, PIXEL_BYTES, Operands, ceil_div
from fleet.isa.hbm0923.ranges import bn_bytes, feature_hull

TBLKS = (32, 64, 128)


def violations(device: Device, fields: Mapping[str, int], modes: tuple[int, ...]) -> list[str]:
    """All violated constraints. Those of sizes first; address checks are made only when the sizes are sound."""
    missing = [name for name in op.FIELDS if name not in fields]
    if missing:
        return [f"{name}: no value given" for name in missing]
    wide = [f"{name}: {fields[name]} does not fit in 32 bits" for name in op.FIELDS if not 0 <= fields[name] < 1 << 32]
    if wide:
        return wide
    found = [*_constants(device, fields, modes), *_sizes(device, fields)]
    if found:
        return found
    o = Operands.decode(device, fields)
    return [*_buffers(device, fields, o), *_addresses(device, fields, o)]


def _constants(device: Device, f: Mapping[str, int], modes: tuple[int, ...]) -> Iterator[str]:
    if f["mvm_start"] not in modes:
        yield f"mvm_start: mode {f['mvm_start']:#x}, expected {' or '.join(hex(m) for m in modes)}"
    tgroup = device.parameters["TgroupCh"]
    expected = dict.fromkeys(op.ZERO_FIELDS, 0) | {
        "mvm_hin": 1,
        "mvm_hout": 1,
        "mvm_bank_step": device.parameters["Log2BankStep"],
        "mvm_tgroup": (LOG2_TGROUP << LOG2_COUNT) + tgroup,
    }
    for name, value in expected.items():
        if f[name] != value:
            yield f"{name}: {f[name]:#x}, expected {value:#x}"
    if f["mvm_res_mode"] & ~(op.RES_RELU | op.RES_MUL):
        yield f"mvm_res_mode: {f['mvm_res_mode']:#x}, expected only bit 0 (ReLU) and bit 1 (multiply)"
    elif f["mvm_res_mode"] & op.RES_MUL and not f["mvm_start"] & op.MODE_RES:
        yield "mvm_res_mode: bit 1 (multiply) without a residual, expected 0"
    if not f["mvm_start"] & op.MODE_ARGMAX and f["mvm_argmax_addr"] != f["mvm_splits_m1"]:
        yield f"mvm_argmax_addr: {f['mvm_argmax_addr']:#x} without argmax, expected mvm_splits_m1 ({f['mvm_splits_m1']:#x})"


def _sizes(device: Device, f: Mapping[str, int]) -> Iterator[str]:
    tokens, tgroup, tout = f["mvm_win"], device.parameters["TgroupCh"], device.parameters["Tout"]
    if not 1 <= tokens <= device.parameters["MaxToken"]:
        yield f"mvm_win: {tokens} tokens, expected 1 to {device.parameters['MaxToken']} (MaxToken)"
    for name in ("mvm_wout", "mvm_win_dup"):
        if f[name] != tokens:
            yield f"{name}: {f[name]}, expected mvm_win ({tokens})"
    block = f["mvm_tblk"] & ((1 << LOG2_COUNT) - 1)
    if block not in TBLKS or f["mvm_tblk"] >> LOG2_COUNT != block.bit_length() - 1:
        yield f"mvm_tblk: {f['mvm_tblk']:#x}, expected (log2 Tblk << {LOG2_COUNT}) + Tblk with Tblk 32, 64 or 128"
        return
    chin, last = f["mvm_chin"], f["mvm_chin_last"]
    exact = (ceil_div(chin, tgroup) - 1) * tgroup + last
    if not 1 <= last <= tgroup:
        yield f"mvm_chin_last: {last}, expected 1 to {tgroup}"
    elif chin == 0 or chin != ceil_div(exact, op.PIXEL_LANES) * op.PIXEL_LANES:
        yield f"mvm_chin: {chin} with mvm_chin_last {last}, expected the exact channels rounded up to a multiple of 32"
    elif ceil_div(exact, device.parameters["Tin"]) > device.parameters["WtDepth"]:
        words = ceil_div(exact, device.parameters["Tin"])
        yield f"mvm_chin: {exact} channels take {words} words, expected at most {device.parameters['WtDepth']} (WtDepth)"
    elif f["mvm_wt_bits"] != (bits := 8 * op.channel_bytes(device, exact, block)):
        yield f"mvm_wt_bits: {f['mvm_wt_bits']}, expected {bits} for {exact} inputs in blocks of {block}"
    slice_, last_slice, splits = f["mvm_chout_slice"], f["mvm_chout_last"], f["mvm_splits_m1"]
    if not 1 <= last_slice <= slice_:
        yield f"mvm_chout_last: {last_slice}, expected 1 to mvm_chout_slice ({slice_})"
    if splits and slice_ % tout:
        yield f"mvm_chout_slice: {slice_} in {splits + 1} slices, expected a multiple of {tout} (Tout)"
    if slice_ * splits + last_slice >= 1 << LOG2_COUNT:
        yield f"mvm_chout_slice: {slice_ * splits + last_slice} output channels, expected fewer than {1 << LOG2_COUNT}"


def _buffers(device: Device, f: Mapping[str, int], o: Operands) -> Iterator[str]:
    words = o.tokens * ceil_div(o.chin, device.parameters["Tin"])
    if words > device.parameters["DatDepth"]:
        yield f"mvm_win: {o.tokens} tokens take {words} words, expected at most {device.parameters['DatDepth']} (DatDepth)"
    for name, surfaces in (("mvm_in_surface", o.in_surfaces), ("mvm_out_surface", o.out_surfaces)):
        if surfaces > 1 and f[name] < o.tokens * PIXEL_BYTES:
            yield f"{name}: {f[name]:#x}, expected at least {o.tokens * PIXEL_BYTES:#x} ({o.tokens} tokens)"


def _addresses(device: Device, f: Mapping[str, int], o: Operands) -> Iterator[str]:
    aligned = ["mvm_in_addr", "mvm_out_addr", "mvm_in_surface", "mvm_in_line", "mvm_out_surface", "mvm_out_line"]
    sources = {"mvm_in_addr": feature_hull(o.input, o.in_surfaces, o.in_surface, o.tokens)}
    destinations = {"mvm_out_addr": feature_hull(o.output, o.out_surfaces, o.out_surface, o.tokens)}
    if o.bn is not None:
        sources["mvm_bn_addr"] = (o.bn, o.bn + bn_bytes(o.chout))
    if o.residual is not None:
        sources["mvm_res_addr"] = feature_hull(o.residual, o.out_surfaces, o.out_surface, o.tokens)
    if o.argmax is not None:
        destinations["mvm_argmax_addr"] = (o.argmax, o.argmax + 4 * o.tokens)
    for name in dict.fromkeys([*aligned, *sources, *destinations]):
        if f[name] % PIXEL_BYTES:
            yield f"{name}: {f[name]:#x}, expected a multiple of {PIXEL_BYTES}"
    if o.weights % BEAT_BYTES:
        yield f"mvm_wt_addr: {o.weights:#x}, expected a multiple of {BEAT_BYTES}"
    for name, (_, end) in (sources | destinations).items():
        if end > device.memory["ddr"]:
            yield f"{name}: the range ends at {end:#x}, expected at most {device.memory['ddr']:#x} (ddr)"
    bank = min(device.memory["hbm"], 1 << device.parameters["Log2BankStep"])
    end = o.weights + o.channels_per_port(device) * f["mvm_wt_bits"] // 8
    if end > bank:
        yield f"mvm_wt_addr: the range ends at {end:#x}, expected at most {bank:#x} (one HBM bank)"
    for name, (first, behind) in destinations.items():
        for other, (start, stop) in (sources | destinations).items():
            if other != name and first < stop and start < behind:
                yield f"{name}: [{first:#x}, {behind:#x}) meets [{start:#x}, {stop:#x}) of {other}, expected no overlap"
