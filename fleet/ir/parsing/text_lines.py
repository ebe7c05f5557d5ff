"""Operations as `print_ir` writes them, each read from its line at once: xDSL's parser takes ten times as long for them."""

from __future__ import annotations

import re
from collections.abc import Callable

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.parser import Parser

_NAME = r"%(?:[0-9]+|[a-zA-Z$._-][a-zA-Z0-9$._-]*)"
_HEAD = re.compile(rf'(?:({_NAME}) = )?"([a-zA-Z0-9_.]+)"\(((?:{_NAME}(?:, {_NAME})*)?)\)(?: (<\{{)| : )')
"""Result, kind, operands, and the beginning of the properties."""

_ENTRY = re.compile(
    r'([a-zA-Z_][a-zA-Z0-9_$.]*) = (?:"([^"\\\n\v\f\ud800-\udfff]*)"'
    r'|(array<[^"<>{}()\[\]/\n]*>|\[[^\\<>{}()\[\]/\n]*\]|[^"<>{}()\[\],/\n]+))(?:, |(\}> : ))'
)
"""A property: its name, the text of a string or the spelling of another value, and the end of the properties."""

_SIGNATURE = re.compile(r'(\([^\n]*)\n *(?=[%"}]|func\.)')
"""The types of operands and results: a line that ends before something that cannot continue it."""


class LineParser(Parser):
    """xDSL's parser, which reads operations without regions from their lines where these are as `print_ir` writes them.

    A line that has another form, or anything wrong with it, is xDSL's from its beginning, which says what is wrong and where. xDSL
    also parses every spelling of a type or of a value that is no string, once in a text.
    """

    def __init__(self, context: Context, text: str, name: str) -> None:
        super().__init__(context, text, name)
        self._kinds: dict[str, type[Operation]] = {}
        self._spellings: dict[tuple[str, str], Attribute | None] = {}
        self._types: dict[Attribute, Attribute] = {}

    def _parse_block_body(self, block: Block) -> None:
        while True:
            begun = position = self._current_token.span.start
            while (read := self._line(position)) is not None:
                op, position = read
                block.add_op(op)
            if position != begun:
                self._resume_from(position)
            op = self.parse_optional_operation()
            if op is None:
                return
            block.add_op(op)

    def _line(self, position: int) -> tuple[Operation, int] | None:
        """The operation at a position and where the next one begins; None, and nothing changed, for what xDSL must read."""
        text = self.lexer.input.content
        assert isinstance(text, str)
        head = _HEAD.match(text, position)
        if head is None:
            return None
        name, kind, operands, braces = head.groups()
        op_type = self._kind(kind)
        if op_type is None:
            return None
        properties: dict[str, Attribute] = {}
        at = head.end()
        while braces is not None:
            entry = _ENTRY.match(text, at)
            if entry is None:
                return None
            key, string, spelling, end = entry.groups()
            value = StringAttr(string) if spelling is None else self._spelled(op_type, spelling, Parser.parse_attribute)
            if value is None or key in properties:
                return None
            properties[key] = value
            at = entry.end()
            if end is not None:
                break
        line = _SIGNATURE.match(text, at)
        if line is None:
            return None
        signature = self._spelled(op_type, line[1], Parser.parse_function_type)
        if not isinstance(signature, FunctionType):
            return None
        values = self._operands(operands, signature.inputs.data)
        results = signature.outputs.data
        if values is None or (name is not None and (len(results) != 1 or not self._is_new(name[1:]))):
            return None
        op = op_type.create(operands=values, result_types=results, properties=properties)
        if name is not None:
            self.ssa_values[name[1:]] = (op.results[0],)
            if SSAValue.is_valid_name(name[1:]):
                op.results[0].name_hint = name[1:]
        return op, line.end()

    def _is_new(self, name: str) -> bool:
        return name not in self.ssa_values and name not in self.forward_ssa_references

    def _kind(self, name: str) -> type[Operation] | None:
        found = self._kinds.get(name)
        if found is None:
            found = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
            if found is not None:
                self._kinds[name] = found
        return found

    def _operands(self, names: str, types: tuple[Attribute, ...]) -> list[SSAValue] | None:
        """The values of these names, which are defined and have these types; None if one is not or has not."""
        split = names.split(", ") if names else []
        if len(split) != len(types):
            return None
        found: list[SSAValue] = []
        for name, type_ in zip(split, types, strict=True):
            values = self.ssa_values.get(name[1:])
            if values is None or (values[0].type is not type_ and values[0].type != type_):
                return None
            found.append(values[0])
        return found

    def _spelled(self, op_type: type[Operation], text: str, parse: Callable[[Parser], Attribute]) -> Attribute | None:
        """What xDSL makes of the whole text inside such an operation; None if it makes nothing of it."""
        key = op_type.dialect_name(), text
        if key not in self._spellings:
            self._spellings[key] = self._parsed(*key, parse)
        return self._spellings[key]

    def _parsed(self, dialect: str, text: str, parse: Callable[[Parser], Attribute]) -> Attribute | None:
        try:
            parser = Parser(self.ctx, text, self.lexer.input.name)
            parser._parser_state.dialect_stack = [*self._parser_state.dialect_stack, dialect]  # pyright: ignore[reportPrivateUsage]
            found = parse(parser)
            whole = parser.pos == len(text)
        except Exception:  # it is raised again, with its place, when xDSL reads the line
            return None
        if not whole:
            return None
        if isinstance(found, FunctionType):
            # Equal types are one object: operands are compared with them.
            one = self._types.setdefault
            return FunctionType.from_lists([one(t, t) for t in found.inputs], [one(t, t) for t in found.outputs])
        return found
