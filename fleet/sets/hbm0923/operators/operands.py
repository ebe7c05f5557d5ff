"""Operands of instructions as tensors in memory: features, their tiles of tokens, and questions about the operands of a call."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

from fleet.sdk import Device, DeviceError
from fleet.sdk.symbols import Expr, Numb, Number, as_expr, dim, minimum, upper
from fleet.sdk.tasks import TaskCall, TaskContext, TaskOperand
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES, PIXEL_LANES, ceil_div

ONCHIP = "onchip"


def as_int(value: Number) -> int:
    """An expression where the encoders' operands say int: `encode` only adds, multiplies and divides, which expressions can."""
    return cast("int", value)


def known(value: Number, call: TaskCall, what: str) -> int:
    """A size that must not depend on the step. Raises DeviceError."""
    number = dim(value)
    if isinstance(number, Expr):
        raise refused(call, f"{what} is {number}, expected a size that is the same in every step")
    return number


def same(a: Number, b: Number) -> bool:
    """Return whether two numbers are the same in every step, as far as simplifying shows it."""
    difference = dim(a - b)
    return not isinstance(difference, Expr) and difference == 0


def refused(call: TaskCall, what: str, hint: str | None = None) -> DeviceError:
    """The error that names the call."""
    return DeviceError(what, where=f"{call.node} ({call.op})", hint=hint)


@dataclass(frozen=True)
class FeatureOperand:
    """A feature operand: lines (heads), tokens, channels of a token, where it stands."""

    lines: int
    tokens: Number
    channels: Number
    address: int
    surface: int
    line: int
    onchip: bool

    @property
    def surfaces(self) -> int:
        """Groups of 32 channels."""
        return ceil_div(as_int(self.channels), PIXEL_LANES)

    def part(self, tile: TokenTile) -> FeatureOperand:
        """Return the tokens of a tile."""
        return self if tile.whole else replace(self, tokens=tile.size, address=tile.moved(self.address))


class TokenTile(NamedTuple):
    """The tokens of one instruction: `size` of them from `first` on. whole: all tokens of the step."""

    first: Number
    size: Number
    whole: bool

    @property
    def tokens(self) -> tuple[Number, Number] | None:
        """The tokens as `TaskContext.emit` takes them."""
        return None if self.whole else (self.first, as_expr(self.first) + self.size)

    def moved(self, address: int, step: int = PIXEL_BYTES) -> int:
        """Return the address of the first token. step: bytes of a token."""
        return address if self.whole else address + as_int(dim(as_expr(self.first) * step))


@contextmanager
def tiles(context: TaskContext, tokens: Number, at_most: int) -> Generator[TokenTile]:
    """Repeat what is emitted inside for tiles of `at_most` tokens: a loop, if a step may have more."""
    if most(context.device, tokens) <= at_most:
        yield TokenTile(0, tokens, True)
        return
    with context.loop("tile", ceil_div_of(tokens, at_most)) as index:
        if isinstance(index, Numb):  # without a loop every step fits
            yield TokenTile(0, tokens, True)
        else:
            first = index * at_most
            yield TokenTile(first, dim(minimum(as_expr(tokens) - first, at_most)), False)


def most(device: Device, value: Number) -> int:
    """Return the largest value of a size. A size that depends on the step counts tokens, at most MaxToken."""
    number = dim(value)
    return number if isinstance(number, int) else min(upper(number), device.parameters["MaxToken"])


def ceil_div_of(a: Number, b: int) -> Number:
    """Return the quotient rounded up, for numbers and expressions."""
    return dim((as_expr(a) + (b - 1)) // b)


def feature(call: TaskCall, operand: TaskOperand, what: str) -> FeatureOperand:
    """Return an operand as a feature. Raises DeviceError if it is not one."""
    if operand.space not in {"ddr", ONCHIP} or operand.dtype != "float16" or len(operand.shape) != 3:
        shape = ", ".join(str(d) for d in operand.shape)
        raise refused(
            call, f"{what} is ({shape}) of {operand.dtype} in {operand.space}, expected a feature (heads, tokens, channels)"
        )
    tokens, channels = operand.shape[1], dim(operand.shape[2])
    lines = known(operand.shape[0], call, f"the number of heads of {what}")
    # One line needs no stride: the public compiler writes that of the surfaces.
    line = operand.surface if lines == 1 else operand.line
    onchip = operand.space == ONCHIP
    return FeatureOperand(lines, tokens, channels, as_int(operand.address), as_int(operand.surface), as_int(line), onchip)


def argument(call: TaskCall, index: int, what: str) -> TaskOperand:
    """An argument. Raises DeviceError where the call has fewer."""
    if index >= len(call.args):
        raise refused(call, f"{len(call.args)} operands, expected {what} as operand {index + 1}")
    return call.args[index]


def constant(call: TaskCall, index: int, what: str) -> int:
    """Address of an argument that has to be a constant in DDR. Raises DeviceError for another one."""
    operand = argument(call, index, what)
    if not operand.name or operand.space != "ddr":
        raise refused(call, f"{what} is computed, expected a constant in DDR")
    return as_int(operand.address)


def flag(call: TaskCall, name: str) -> bool:
    """An attribute that is on or off."""
    return bool(call.attrs.get(name, 0))


def last_token(call: TaskCall) -> Number:
    """Tokens before this step's."""
    given = call.number("last_token")
    return 0 if given is None else given
