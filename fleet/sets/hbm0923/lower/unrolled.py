"""The emission of operators (`fleet.sets.hbm0923.operators`) for a program: every size is a number, so loops over tiles unroll."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

from fleet.sdk import Call, DeviceError
from fleet.sdk.ir import FleetOp, op_id
from fleet.sdk.lowering import EmitContext
from fleet.sdk.symbols import Expr, Numb, Number, Var, as_expr
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES
from fleet.sets.hbm0923.operators.operands import FeatureOperand

_Emitted = tuple[str, Mapping[str, Number], tuple[Number, Number]]


class Unrolled:
    """The services of `fleet.sdk.tasks.TaskContext` inside a pattern."""

    def __init__(self, context: EmitContext, ops: Sequence[FleetOp], tokens: tuple[int, int]) -> None:
        """ops: what the instructions implement. tokens: [first, end) of an instruction that names none."""
        self.device = context.device
        self._context, self._ops, self._tokens = context, tuple(map(op_id, ops)), tokens
        self._body: list[_Emitted] | None = None

    def emit(self, instruction: str, fields: Mapping[str, Number], tokens: tuple[Number, Number] | None = None) -> None:
        """Append one instruction, or inside a loop one for each round."""
        emitted = instruction, fields, tokens or self._tokens
        if self._body is None:
            self._append(emitted, {})
        else:
            self._body.append(emitted)

    @contextmanager
    def loop(self, name: str, count: Number) -> Generator[Expr]:
        """Repeat what is emitted inside."""
        rounds = _number(count, {})
        if rounds == 1:
            yield Numb(0)
            return
        index, self._body = Var(name, max_data=rounds - 1), []
        yield index
        body, self._body = self._body, None
        for i in range(rounds):
            for emitted in body:
                self._append(emitted, {name: i})

    def parameter(self, register: str, value: int) -> None:
        """Set a parameter register for the whole run."""
        self._context.parameter(register, value)

    def require(self, value: Number, most: int, what: str) -> None:
        """Raise DeviceError if `value` is above `most`."""
        if (number := _number(value, {})) > most:
            raise DeviceError(f"{number} {what}, at most {most} are possible", where=self.device.name)

    def _append(self, emitted: _Emitted, dims: Mapping[str, int]) -> None:
        instruction, fields, (first, end) = emitted
        known = {name: _number(value, dims) for name, value in fields.items()}
        self._context.emit(Call(instruction, known, self._ops, (_number(first, dims), _number(end, dims))))


def feature_at(tokens: int, channels: int, address: int) -> FeatureOperand:
    """Return a feature of a program: one line of all tokens in DDR, as `FeatureLayout` has it."""
    row = tokens * PIXEL_BYTES
    return FeatureOperand(1, tokens, channels, address, row, row, onchip=False)


def _number(value: Number, dims: Mapping[str, int]) -> int:
    return as_expr(value).evaluate(dict(dims)) if isinstance(value, Expr) else int(value)
