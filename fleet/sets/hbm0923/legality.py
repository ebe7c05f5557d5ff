"""Constraints on an MVM instruction's registers: one line per violation, naming the register and the expected value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fleet.sdk import Device
from fleet.sets.hbm0923 import mvm_operands as op
from fleet.sets.hbm0923.mvm_operands import LOG2_COUNT, LOG2_TGROUP, PIXEL_BYTES, MvmFields, ceil_div
from fleet.sets.hbm0923.ranges import bn_bytes, feature_hull
from fleet.sets.hbm0923.units import refusals as check
from fleet.sets.hbm0923.units.refusals import Hull, Refusal, RefusalCause

TBLKS = (32, 64, 128)


def violations(device: Device, fields: Mapping[str, int], modes: tuple[int, ...]) -> list[Refusal]:
    """Return all violated constraints. Ranges are checked only if everything else is legal."""
    absent = check.given(fields, op.FIELDS)
    if absent:
        return absent
    found, sizes = list(_constants(device, fields, modes)), list(_sizes(device, fields))
    found += sizes
    o = MvmFields.decode(device, fields)
    if not sizes and fields["mvm_sparse"] in (0, *op.SPARSE):
        found += _buffers(device, fields, o)
    found += _aligned(fields, o)
    return found or list(_ranges(device, fields, o))


def _constants(device: Device, f: Mapping[str, int], modes: tuple[int, ...]) -> Iterator[Refusal]:
    yield from check.mode("mvm_start", f["mvm_start"], modes)
    tgroup = device.parameters["TgroupCh"]
    expected = dict.fromkeys(op.ZERO_FIELDS, 0) | {
        "mvm_hin": 1,
        "mvm_hout": 1,
        "mvm_bank_step": device.parameters["Log2BankStep"],
        "mvm_tgroup": (LOG2_TGROUP << LOG2_COUNT) + tgroup,
    }
    yield from check.one_of(f, {name: (value,) for name, value in expected.items()})
    block = f["mvm_tblk"] & ((1 << LOG2_COUNT) - 1)
    if block not in TBLKS or f["mvm_tblk"] >> LOG2_COUNT != block.bit_length() - 1:
        line = f"mvm_tblk: {f['mvm_tblk']:#x}, expected (log2 Tblk << {LOG2_COUNT}) + Tblk with Tblk 32, 64 or 128"
        yield Refusal(RefusalCause.UNSUPPORTED, line)
    yield from _sparse(device, f, block)
    residual = f["mvm_start"] & op.MODE_RES
    yield from check.only_bits("mvm_onchip", f["mvm_onchip"], op.ONCHIP_IN | op.ONCHIP_OUT | op.ONCHIP_SECOND)
    if f["mvm_onchip"] & op.ONCHIP_SECOND and not residual:
        yield Refusal(RefusalCause.UNSUPPORTED, "mvm_onchip: bit 2 without a residual, expected 0")
    if f["mvm_res_mode"] & ~(op.RES_RELU | op.RES_MUL):
        line = f"mvm_res_mode: {f['mvm_res_mode']:#x}, expected only bit 0 (ReLU) and bit 1 (multiply)"
        yield Refusal(RefusalCause.UNSUPPORTED, line)
    elif f["mvm_res_mode"] & op.RES_MUL and not residual:
        yield Refusal(RefusalCause.UNSUPPORTED, "mvm_res_mode: bit 1 (multiply) without a residual, expected 0")
    if not f["mvm_start"] & op.MODE_ARGMAX and f["mvm_argmax_addr"] != f["mvm_splits_m1"]:
        line = f"mvm_argmax_addr: {f['mvm_argmax_addr']:#x} without argmax, expected mvm_splits_m1 ({f['mvm_splits_m1']:#x})"
        yield Refusal(RefusalCause.UNSUPPORTED, line)


def _sparse(device: Device, f: Mapping[str, int], block: int) -> Iterator[Refusal]:
    kept = f["mvm_sparse"]
    if kept and not device.parameters["Sparse"]:
        yield Refusal(RefusalCause.UNSUPPORTED, f"mvm_sparse: {kept}, expected 0: {device.name} has no sparse weights (Sparse)")
    elif kept and kept not in op.SPARSE:
        yield Refusal(RefusalCause.UNSUPPORTED, f"mvm_sparse: {kept}, expected 0, 4, 2 or 1")
    elif kept and block != op.SPARSE_TBLK:
        line = f"mvm_sparse: {kept} with blocks of {block} (mvm_tblk), expected blocks of {op.SPARSE_TBLK}"
        yield Refusal(RefusalCause.UNSUPPORTED, line)


def _sizes(device: Device, f: Mapping[str, int]) -> Iterator[Refusal]:
    tokens, tout = f["mvm_win"], device.parameters["Tout"]
    yield from check.between("mvm_win", tokens, 1, device.parameters["MaxToken"], "MaxToken")
    for name in ("mvm_wout", "mvm_win_dup"):
        yield from check.same(name, f[name], tokens, "mvm_win")
    yield from _input_channels(device, f)
    slice_, last_slice, splits = f["mvm_chout_slice"], f["mvm_chout_last"], f["mvm_splits_m1"]
    if not 1 <= last_slice <= slice_:
        yield Refusal(RefusalCause.BAD_SIZE, f"mvm_chout_last: {last_slice}, expected 1 to mvm_chout_slice ({slice_})")
    if splits and slice_ % tout:
        line = f"mvm_chout_slice: {slice_} in {splits + 1} slices, expected a multiple of {tout} (Tout)"
        yield Refusal(RefusalCause.BAD_SIZE, line)
    if (channels := slice_ * splits + last_slice) >= 1 << LOG2_COUNT:
        line = f"mvm_chout_slice: {channels} output channels, expected fewer than {1 << LOG2_COUNT}"
        yield Refusal(RefusalCause.BAD_SIZE, line)


def _input_channels(device: Device, f: Mapping[str, int]) -> Iterator[Refusal]:
    p = device.parameters
    chin, last, tgroup = f["mvm_chin"], f["mvm_chin_last"], p["TgroupCh"]
    exact = (ceil_div(chin, tgroup) - 1) * tgroup + last
    if not 1 <= last <= tgroup:
        yield Refusal(RefusalCause.BAD_SIZE, f"mvm_chin_last: {last}, expected 1 to {tgroup}")
        return
    if chin == 0 or chin != ceil_div(exact, op.PIXEL_LANES) * op.PIXEL_LANES:
        line = f"mvm_chin: {chin} with mvm_chin_last {last}, expected the exact channels rounded up to a multiple of 32"
        yield Refusal(RefusalCause.BAD_SIZE, line)
        return
    if (words := ceil_div(exact, p["Tin"])) > p["WtDepth"]:
        line = f"mvm_chin: {exact} channels take {words} words, expected at most {p['WtDepth']} (WtDepth)"
        yield Refusal(RefusalCause.BAD_SIZE, line)
        return
    block = f["mvm_tblk"] & ((1 << LOG2_COUNT) - 1)
    kept = f["mvm_sparse"]
    # The expected value is known only if inputs, blocks and sparsity are.
    known = block in TBLKS and kept in (0, *op.SPARSE)
    if known and f["mvm_wt_bits"] != (bits := 8 * op.channel_bytes(device, exact, block, kept)):
        of = f", {kept} of 8 kept" if kept else ""
        line = f"mvm_wt_bits: {f['mvm_wt_bits']}, expected {bits} for {exact} inputs in blocks of {block}{of}"
        yield Refusal(RefusalCause.UNSUPPORTED, line)


def _buffers(device: Device, f: Mapping[str, int], o: MvmFields) -> Iterator[Refusal]:
    depth = device.parameters["DatDepth"]
    # Rows are whole steps of the array, not whole words of Tin.
    words = ceil_div(o.tokens * o.row_words * op.BEAT_CODES, device.parameters["Tin"])
    if words > depth:
        line = f"mvm_win: {o.tokens} tokens take {words} words, expected at most {depth} (DatDepth)"
        yield Refusal(RefusalCause.BAD_SIZE, line)
    for name, surfaces in (("mvm_in_surface", o.in_surfaces), ("mvm_out_surface", o.out_surfaces)):
        yield from check.pixel_stride(name, f[name], surfaces, o.tokens)


def _aligned(f: Mapping[str, int], o: MvmFields) -> Iterator[Refusal]:
    names = ["mvm_in_addr", "mvm_out_addr", "mvm_in_surface", "mvm_in_line", "mvm_out_surface", "mvm_out_line"]
    optional = {"mvm_bn_addr": o.bn, "mvm_res_addr": o.residual, "mvm_argmax_addr": o.argmax}
    yield from check.aligned(f, [*names, *(name for name, address in optional.items() if address is not None)], PIXEL_BYTES)
    yield from check.beats_aligned(f, ("mvm_wt_addr",))


def _ranges(device: Device, f: Mapping[str, int], o: MvmFields) -> Iterator[Refusal]:
    space_in, space_out, space_res = o.spaces
    sources = [Hull("mvm_in_addr", space_in, *feature_hull(o.input, o.in_surfaces, o.in_surface, o.tokens))]
    outputs = [Hull("mvm_out_addr", space_out, *feature_hull(o.output, o.out_surfaces, o.out_surface, o.tokens))]
    if o.bn is not None:
        sources.append(Hull("mvm_bn_addr", "ddr", o.bn, o.bn + bn_bytes(o.chout)))
    if o.residual is not None:
        hull = feature_hull(o.residual, o.out_surfaces, o.out_surface, o.tokens)
        sources.append(Hull("mvm_res_addr", space_res, *hull))
    if o.argmax is not None:
        outputs.append(Hull("mvm_argmax_addr", "ddr", o.argmax, o.argmax + 4 * o.tokens))
    weights = Hull("mvm_wt_addr", "hbm", o.weights, o.weights + o.channels_per_port(device) * f["mvm_wt_bits"] // 8)
    yield from check.in_memory(device, (*sources, *outputs, weights))
    yield from check.apart(device, sources, outputs)
