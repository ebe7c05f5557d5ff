"""MLIR text -> operations of xDSL with the line of each. What xDSL cannot parse or verify is an error with file and line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from xdsl.context import Context
from xdsl.dialects import arith, func, linalg, math, scf, tensor
from xdsl.dialects.builtin import AnyFloat, Builtin, ModuleOp, UnregisteredOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from fleet.core.file_kinds import kind_of, refuse_foreign
from fleet.errors import ModelError
from fleet.frontend.mlir.named import NAMED
from fleet.frontend.mlir.operation_classes import operation_class
from fleet.frontend.mlir.stablehlo.text import DIALECTS as STABLE_DIALECTS
from fleet.frontend.mlir.stablehlo.text import StableOperation
from fleet.frontend.mlir.tosa_text import TosaOperation
from fleet.ir.text import check_strings

MAX_TEXT = 256 << 20
"""Bytes of a file."""

DIALECTS = (Builtin, func.Func, linalg.Linalg, tensor.Tensor, arith.Arith, math.Math, scf.Scf)
"""The dialects that are read, besides TOSA and StableHLO. Operations of other dialects, and those that xDSL lacks, are parsed in
generic form; the importer names those that it refuses."""


@dataclass(frozen=True, eq=False)
class MlirText:
    """A parsed file. name: for messages. starts, lines: operation -> where it begins: position, line."""

    name: str
    module: ModuleOp
    text: str
    starts: dict[Operation, int]
    lines: dict[Operation, int]

    def at(self, op: Operation) -> str:
        """Return "file:line" of an operation."""
        return f"{self.name}:{self.lines.get(op, 1)}"

    def names(self, op: Operation, count: int, pattern: str) -> list[str]:
        """Return the first names of values in the text of an operation, whole: xDSL cuts the number off `w_1`."""
        found = re.compile(pattern).finditer(self.text, self.starts[op])
        names = [one[1] for one, _ in zip(found, range(count), strict=False)]
        return [f"arg{name}" if name[:1].isdigit() else name for name in names]

    def refuse(self, op: Operation, what: str, hint: str | None = None) -> NoReturn:
        """Raise ModelError at an operation."""
        raise ModelError(what, where=self.at(op), hint=hint)


class _Number(Parser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage]
    """An element of `dense<...>`. Of a float, `0x` begins its bits; xDSL takes them for its value."""

    def to_type(self, parser: Any, type: Any) -> Any:
        if isinstance(type, AnyFloat) and isinstance(self.value, int) and self.span.text[:2] in ("0x", "0X"):
            return next(iter(type.iter_unpack(self.value.to_bytes(type.compile_time_size, "little"))))
        return super().to_type(parser, type)


class _Parser(Parser):
    """xDSL's parser, which notes where each operation begins."""

    _TensorLiteralElement = _Number
    starts: dict[Operation, int]

    def parse_operation(self) -> Operation:
        start = self._current_token.span.start
        op = super().parse_operation()
        self.starts[op] = start
        return op

    def _get_op_by_name(self, name: str) -> type[Operation]:
        if name.startswith(STABLE_DIALECTS):
            return operation_class(StableOperation, name)
        return operation_class(TosaOperation, name) if name.startswith("tosa.") else super()._get_op_by_name(name)

    def parse_comma_separated_list(self, delimiter: Any, parse: Any, context_msg: str = "") -> list[Any]:
        """Take several result types in parentheses, as MLIR writes them and xDSL's own printer does."""
        if delimiter is self.Delimiter.NONE and parse == self.parse_attribute and self._current_token.text == "(":
            delimiter = self.Delimiter.PAREN
        return super().parse_comma_separated_list(delimiter, parse, context_msg)


def text_of(path: str) -> str:
    """Return the text of a file. Raises ModelError for a file of another kind."""
    file = Path(path)
    refuse_foreign(file, "MLIR text", ("mlir", "text", "empty", "unknown"))
    try:
        if file.stat().st_size > MAX_TEXT:
            raise ModelError(f"larger than {MAX_TEXT >> 20} MiB", where=path, hint="give weights as arguments, with --weights")
        data = file.read_bytes()
    except OSError as error:
        raise ModelError(f"cannot be read ({error.strerror})", where=path, hint="check the path") from None
    if data.startswith(b"ML\xefR"):
        raise ModelError("is MLIR's bytecode", where=path, hint="mlir-opt writes it as text: mlir-opt FILE -o NAME.mlir")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ModelError(f"is no UTF-8 text, but {kind_of(file).title}", where=path, hint="give MLIR as text") from None


def parse_text(text: str, name: str) -> MlirText:
    """Parse and verify. Raises ModelError with the line."""
    check_strings(text, name, "MLIR")
    context = Context(allow_unregistered=True)
    for dialect in DIALECTS:
        context.load_dialect(dialect)
    for op in NAMED:
        context.load_op(op)
    parser = _Parser(context, text, name)
    parser.starts = {}
    module = _tried(parser.parse_module, text, name)
    ends = _line_numbers(text)
    lines = {op: ends(start) for op, start in parser.starts.items()}
    found = MlirText(name, module, text, parser.starts, lines)
    for op in module.walk():
        if isinstance(
            op, UnregisteredOp | TosaOperation | StableOperation | tensor.ReshapeOp
        ):  # xDSL multiplies unknown sizes as if they were -1
            continue
        try:
            op.verify(verify_nested_ops=False)
        except VerifyException as error:
            found.refuse(op, f"does not verify: {_last_line(error)}")
        except Exception as error:  # verifiers of xDSL raise anything for what they did not expect
            found.refuse(op, f"does not verify: {type(error).__name__}: {_last_line(error)}")
    return found


def _tried(parse: Callable[[], ModuleOp], text: str, name: str) -> ModuleOp:
    try:
        return parse()
    except ParseError as error:
        line = text.count("\n", 0, error.span.start) + 1
        hint = "mlir-opt --mlir-print-op-generic writes the form that is always read"
        raise ModelError(f"cannot be parsed: {error.args[-1]}", where=f"{name}:{line}", hint=hint) from error
    except VerifyException as error:
        raise ModelError(f"does not verify: {_last_line(error)}", where=name) from error
    except RecursionError:
        raise ModelError("nested too deeply", where=name, hint="split it into functions") from None
    except Exception as error:  # the parser raises anything for text that is far from MLIR
        raise ModelError(f"cannot be parsed ({type(error).__name__}: {_last_line(error)})", where=name) from error


def _line_numbers(text: str) -> Callable[[int], int]:
    """Return what gives the line of a position."""
    from bisect import bisect_right

    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return lambda position: bisect_right(starts, position)


def _last_line(error: object) -> str:
    lines = str(error).strip().splitlines() or [""]
    return lines[-1].strip()
