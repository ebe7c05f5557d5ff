"""The text of TOSA's operations, which all have one form; xDSL knows but a few of them."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, var_operand_def, var_result_def
from xdsl.parser import Parser


class TosaOperation(IRDLOperation):
    """An operation of TOSA, whose text is `tosa.NAME OPERANDS {ATTRIBUTES} : FUNCTION-TYPE`."""

    inputs = var_operand_def()
    outputs = var_result_def()

    @classmethod
    def parse(cls, parser: Parser) -> TosaOperation:
        """Parse the operands, the attributes and the function type, which follow the name."""
        operands = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        attributes: Mapping[str, Attribute] = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        start = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, FunctionType):
            parser.raise_error("expected the types of operands and results", start)
        values = parser.resolve_operands(operands or [], type_.inputs.data, start)
        return cls.create(operands=values, result_types=type_.outputs.data, attributes=attributes)
