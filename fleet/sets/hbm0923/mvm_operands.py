"""The registers of an MVM instruction: names as in the description, encoding and decoding.

docs/arithmetic.md defines numbers and layouts. All other modules of this folder use `MvmFields` instead of registers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fleet.sdk import Device, DeviceError

PIXEL_LANES = 32
PIXEL_BYTES = 64
BEAT_BYTES = 32
"""Bytes that an HBM port delivers per cycle (256 bits)."""
LOG2_COUNT = 19
"""A register may hold two counts: log2 of the second is in the bits from this one on."""
LOG2_TGROUP = 11

MODE_MVM, MODE_BN, MODE_RES, MODE_ARGMAX = 0x11F, 0x200, 0x400, 0x800
RES_RELU, RES_MUL = 1, 2
ONCHIP_IN, ONCHIP_OUT, ONCHIP_SECOND = 1, 2, 4
"""Bits of the on-chip registers: input, output, second input (residual, B of elementwise)."""

RESULT_REGISTER = 4 * 40
"""Byte address of the argmax result register."""

FIELDS: tuple[str, ...] = (
    "mvm_chin", "mvm_win", "mvm_hin", "mvm_wout", "mvm_hout", "mvm_chout_slice", "mvm_chout_last", "mvm_win_dup",
    "mvm_in_addr", "mvm_wt_addr", "mvm_wt_bits", "mvm_out_addr", "mvm_splits_m1", "mvm_bank_step", "mvm_res_mode",
    "mvm_argmax_addr", "mvm_onchip", "mvm_sparse", "mvm_zero20", "mvm_zero21", "mvm_tgroup", "mvm_tblk", "mvm_chin_last",
    "mvm_zero25", "mvm_bn_addr", "mvm_res_addr", "mvm_zero28", "mvm_in_surface", "mvm_in_line", "mvm_out_surface",
    "mvm_out_line", "mvm_start",
)  # fmt: skip
"""Registers 2 to 33 in order; `Call.fields` contains all of them."""

ZERO_FIELDS: tuple[str, ...] = ("mvm_zero20", "mvm_zero21", "mvm_zero25", "mvm_zero28")


def ceil_div(a: int, b: int) -> int:
    """Return the quotient, rounded up."""
    return -(-a // b)


SPARSE = (4, 2, 1)
"""Weights that a sparse product keeps of each block of `BLOCK` inputs."""
BLOCK, BEAT_CODES = 8, 64
"""Inputs of a block of sparse weights; codes of a beat."""
SPARSE_STEP = 256
"""Inputs that the array looks at in a cycle of a sparse product, at most."""
SPARSE_TBLK = 128
"""Inputs that share a scale in a sparse product."""


def covered(kept: int) -> int:
    """Return the inputs whose kept codes fill a beat."""
    return BEAT_CODES * BLOCK // kept


def code_beats(n: int, kept: int) -> tuple[int, int]:
    """Return the beats (codes, places) of n inputs, at most 2,048; kept: 0 for dense weights, which have no places."""
    if not kept:
        return ceil_div(n, BEAT_CODES), 0
    codes = ceil_div(n, covered(kept))
    return codes, ceil_div(codes, 2) if kept == SPARSE[0] else codes - codes // 4


def step_inputs(kept: int) -> int:
    """Return the inputs of a cycle of the array; kept: 0 for dense weights."""
    return min(covered(kept), SPARSE_STEP) if kept else BEAT_CODES


def row_words(chin: int, kept: int) -> int:
    """Return the words of 64 inputs that a token takes in the data buffer: whole steps of the array."""
    step = step_inputs(kept)
    return ceil_div(chin, step) * step // BEAT_CODES


def channel_bytes(device: Device, chin: int, tblk: int, kept: int = 0) -> int:
    """Return the bytes of one output channel in its HBM port: scales and codes of every 2,048 inputs, in whole 32-byte beats."""
    tgroup = device.parameters["TgroupCh"]

    def of(n: int) -> int:
        return BEAT_BYTES * (ceil_div(ceil_div(n, tblk), BEAT_BYTES // 2) + sum(code_beats(n, kept)))

    whole, rest = divmod(chin, tgroup)
    return whole * of(tgroup) + of(rest)


@dataclass(frozen=True)
class MvmFields:
    """The decoded registers of one MVM instruction.

    Attributes:
        chin, chout, tokens: exact sizes.
        tblk: inputs that share a scale.
        input, weights, output: offsets (DDR, every HBM port, DDR).
        bn, residual, argmax: DDR offsets; None if the mode has none.
        in_surface, out_surface: bytes between groups of 32 channels.
        in_line, out_line: bytes between lines.
        relu, mul: bits of the residual mode.
        onchip: ONCHIP_* bits of tensors in the on-chip memory instead of DDR; `spaces` names the memories.
        kept: weights stored of each block of 8 inputs, one of `SPARSE`; 0: all of them.
    """

    chin: int
    chout: int
    tokens: int
    tblk: int
    input: int
    weights: int
    output: int
    in_surface: int
    in_line: int
    out_surface: int
    out_line: int
    bn: int | None = None
    residual: int | None = None
    argmax: int | None = None
    relu: bool = False
    mul: bool = False
    onchip: int = 0
    kept: int = 0

    @property
    def spaces(self) -> tuple[str, str, str]:
        """Memory spaces of input, output and residual."""
        first, second, third = ("onchip" if self.onchip & bit else "ddr" for bit in (ONCHIP_IN, ONCHIP_OUT, ONCHIP_SECOND))
        return first, second, third

    @property
    def groups(self) -> int:
        """Quantisation groups of one channel."""
        return ceil_div(self.chin, self.tblk)

    @property
    def in_surfaces(self) -> int:
        """Pixels of 32 lanes per input token."""
        return ceil_div(self.chin, PIXEL_LANES)

    @property
    def out_surfaces(self) -> int:
        """Pixels of 32 lanes per output token."""
        return ceil_div(self.chout, PIXEL_LANES)

    def channels_per_port(self, device: Device) -> int:
        """Return the channels in every port, including padding channels."""
        return ceil_div(self.chout, device.parameters["Tout"])

    def channel_bytes(self, device: Device) -> int:
        """Return the bytes of one output channel in its HBM port."""
        return channel_bytes(device, self.chin, self.tblk, self.kept)

    @property
    def row_words(self) -> int:
        """Words of 64 inputs that a token takes in the data buffer."""
        return row_words(self.chin, self.kept)

    @property
    def mode(self) -> int:
        """Value of the start register."""
        return (
            MODE_MVM
            + (MODE_BN if self.bn is not None else 0)
            + (MODE_RES if self.residual is not None else 0)
            + (MODE_ARGMAX if self.argmax is not None else 0)
        )

    def encode(self, device: Device) -> dict[str, int]:
        """Return register name -> value, with one slice of output channels. Tokens, addresses and strides may be expressions."""
        tgroup = device.parameters["TgroupCh"]
        fields = dict.fromkeys(FIELDS, 0)
        fields |= {
            "mvm_chin": ceil_div(self.chin, PIXEL_LANES) * PIXEL_LANES,
            "mvm_win": self.tokens,
            "mvm_hin": 1,
            "mvm_wout": self.tokens,
            "mvm_hout": 1,
            "mvm_chout_slice": self.chout,
            "mvm_chout_last": self.chout,
            "mvm_win_dup": self.tokens,
            "mvm_in_addr": self.input,
            "mvm_wt_addr": self.weights,
            "mvm_wt_bits": 8 * self.channel_bytes(device),
            "mvm_out_addr": self.output,
            "mvm_bank_step": device.parameters["Log2BankStep"],
            "mvm_res_mode": RES_RELU * self.relu + RES_MUL * self.mul,
            "mvm_argmax_addr": 0 if self.argmax is None else self.argmax,
            "mvm_onchip": self.onchip,
            "mvm_sparse": self.kept,
            "mvm_tgroup": (LOG2_TGROUP << LOG2_COUNT) + tgroup,
            "mvm_tblk": ((self.tblk.bit_length() - 1) << LOG2_COUNT) + self.tblk,
            "mvm_chin_last": (self.chin - 1) % tgroup + 1,
            "mvm_bn_addr": 0 if self.bn is None else self.bn,
            "mvm_res_addr": 0 if self.residual is None else self.residual,
            "mvm_in_surface": self.in_surface,
            "mvm_in_line": self.in_line,
            "mvm_out_surface": self.out_surface,
            "mvm_out_line": self.out_line,
            "mvm_start": self.mode,
        }
        return fields

    @classmethod
    def decode(cls, device: Device, fields: Mapping[str, int]) -> MvmFields:
        """Return the operands of legal fields; for illegal fields the result is meaningless.

        Raises:
            DeviceError: a register is missing.
        """
        try:
            f = {name: fields[name] for name in FIELDS}
        except KeyError as error:
            raise DeviceError(f"no value for register {error}", where="MVM instruction") from None
        tgroup, mode = device.parameters["TgroupCh"], f["mvm_start"]
        return cls(
            chin=(ceil_div(f["mvm_chin"], tgroup) - 1) * tgroup + f["mvm_chin_last"],
            chout=f["mvm_chout_slice"] * f["mvm_splits_m1"] + f["mvm_chout_last"],
            tokens=f["mvm_win"],
            tblk=f["mvm_tblk"] & ((1 << LOG2_COUNT) - 1),
            input=f["mvm_in_addr"],
            weights=f["mvm_wt_addr"],
            output=f["mvm_out_addr"],
            in_surface=f["mvm_in_surface"],
            in_line=f["mvm_in_line"],
            out_surface=f["mvm_out_surface"],
            out_line=f["mvm_out_line"],
            bn=f["mvm_bn_addr"] if mode & MODE_BN else None,
            residual=f["mvm_res_addr"] if mode & MODE_RES else None,
            argmax=f["mvm_argmax_addr"] if mode & MODE_ARGMAX else None,
            relu=bool(f["mvm_res_mode"] & RES_RELU),
            mul=bool(f["mvm_res_mode"] & RES_MUL),
            onchip=f["mvm_onchip"],
            kept=f["mvm_sparse"],
        )
