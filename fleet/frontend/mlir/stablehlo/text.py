"""The text of StableHLO's and CHLO's operations, in the short forms that JAX prints; generic forms are xDSL's to parse.

Both forms get the names of attributes that the specification of StableHLO has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, FunctionType, IntegerAttr, StringAttr, TensorType, i1, i64
from xdsl.ir import Attribute, Region
from xdsl.irdl import IRDLOperation, var_operand_def, var_region_def, var_result_def
from xdsl.parser import Parser, UnresolvedOperand

DIALECTS = ("stablehlo.", "chlo.")


class StableOperation(IRDLOperation):
    """An operation of StableHLO or CHLO; nothing of it is verified."""

    inputs = var_operand_def()
    outputs = var_result_def()
    parts = var_region_def()

    @classmethod
    def parse(cls, parser: Parser) -> StableOperation:
        """Parse what follows the name in the short form."""
        name = cls.name.partition(".")[2]
        return _FORMS.get(name, _general)(cls, parser)


Form = Callable[[type[StableOperation], Parser], StableOperation]
_Types = tuple[Sequence[Attribute], Sequence[Attribute]]


def _numbers(values: Sequence[int]) -> DenseArrayBase[Any]:
    return DenseArrayBase.from_list(i64, list(values))


def _operands(parser: Parser) -> list[UnresolvedOperand]:
    """Operands with commas, as many as there are; a comma behind the last one is taken."""
    found: list[UnresolvedOperand] = []
    while (operand := parser.parse_optional_unresolved_operand()) is not None:
        found.append(operand)
        if parser.parse_optional_punctuation(",") is None:
            break
    return found


def _in_parentheses(parser: Parser) -> list[UnresolvedOperand]:
    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)


def _types(parser: Parser, count: int) -> _Types:
    """Types of operands and results: a function type, `type -> type`, or one for all."""
    parser.parse_punctuation(":")
    found = [parser.parse_type()]
    while parser.parse_optional_punctuation(","):
        found.append(parser.parse_type())
    if parser.parse_optional_punctuation("->"):
        if parser.parse_optional_punctuation("("):
            results = [parser.parse_type()]
            while parser.parse_optional_punctuation(","):
                results.append(parser.parse_type())
            parser.parse_punctuation(")")
            return found, results
        return found, [parser.parse_type()]
    (first, *rest) = found
    if isinstance(first, FunctionType) and not rest:
        return first.inputs.data, first.outputs.data
    return (found, found) if rest else ([first] * count, [first])


def _made(
    cls: type[StableOperation], parser: Parser, operands: Sequence[UnresolvedOperand], types: _Types,
    attributes: Mapping[str, Attribute], regions: Sequence[Region] = (),
) -> StableOperation:  # fmt: skip
    values = parser.resolve_operands(operands, types[0], parser.pos)
    return cls.create(operands=values, result_types=types[1], attributes=attributes, regions=regions)


def _settings(parser: Parser) -> dict[str, Attribute]:
    """`word = value`, with commas. A value is an attribute, or words in brackets that say nothing about the result."""
    found: dict[str, Attribute] = {}
    while (word := parser.parse_optional_identifier()) is not None:
        parser.parse_punctuation("=")
        if word in ("precision", "algorithm"):
            _skipped(parser)
        elif word in ("format", "type", "distribution"):
            found[word] = StringAttr(parser.parse_identifier())
        elif word in ("batching_dims", "contracting_dims"):
            kind = word.removesuffix("_dims")
            found[f"lhs_{kind}"] = parser.parse_attribute()
            parser.parse_keyword("x")
            found[f"rhs_{kind}"] = parser.parse_attribute()
        elif (number := parser.parse_optional_integer(allow_boolean=False)) is not None:  # its type would be that of the operation
            found[_SETTINGS.get(word, word)] = _numbers([number])
        else:
            found[_SETTINGS.get(word, word)] = parser.parse_attribute()
        if parser.parse_optional_punctuation(",") is None:
            break
    return found


def _skipped(parser: Parser) -> None:
    """Skip `[WORD, WORD]`, `<word = value, ...>` or an attribute."""
    if parser.parse_optional_punctuation("["):
        while parser.parse_optional_punctuation("]") is None:
            parser.parse_identifier()
            parser.parse_optional_punctuation(",")
    elif parser.parse_optional_punctuation("<"):
        while parser.parse_optional_punctuation(">") is None:
            parser.parse_identifier()
            parser.parse_punctuation("=")
            if parser.parse_optional_integer() is None:
                parser.parse_identifier()
            parser.parse_optional_punctuation(",")
    else:
        parser.parse_attribute()


def _general(cls: type[StableOperation], parser: Parser) -> StableOperation:
    """`NAME %x, %y, word = value, ... {attributes} : types`."""
    operands = _operands(parser)
    attributes = _settings(parser) | dict(parser.parse_optional_attr_dict())
    return _made(cls, parser, operands, _types(parser, len(operands)), attributes)


def _constant(cls: type[StableOperation], parser: Parser) -> StableOperation:
    attributes: dict[str, Attribute] = dict(parser.parse_optional_attr_dict())
    value: Any = parser.parse_attribute()
    return cls.create(result_types=[value.type], attributes=attributes | {"value": value})


def _compare(cls: type[StableOperation], parser: Parser) -> StableOperation:
    """`compare LT, %x, %y, FLOAT : types`."""
    attributes: dict[str, Attribute] = {"comparison_direction": StringAttr(parser.parse_identifier())}
    parser.parse_punctuation(",")
    operands = _operands(parser)
    if (kind := parser.parse_optional_identifier()) is not None:
        attributes["compare_type"] = StringAttr(kind)
    return _made(cls, parser, operands, _types(parser, 2), attributes | parser.parse_optional_attr_dict())


def _select(cls: type[StableOperation], parser: Parser) -> StableOperation:
    """`select %p, %x, %y : type of p, type`."""
    operands = _operands(parser)
    inputs, results = _types(parser, 3)
    if len(inputs) == 2:
        inputs, results = (inputs[0], inputs[1], inputs[1]), (inputs[1],)
    return _made(cls, parser, operands, (inputs, results), {})


def _slice(cls: type[StableOperation], parser: Parser) -> StableOperation:
    """`slice %x [0:2, 1:8:3] : types`."""
    operand = parser.parse_unresolved_operand()

    def bounds() -> tuple[int, int, int]:
        start = parser.parse_integer()
        parser.parse_punctuation(":")
        limit = parser.parse_integer()
        return start, limit, parser.parse_integer() if parser.parse_optional_punctuation(":") else 1

    found = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, bounds)
    names = ("start_indices", "limit_indices", "strides")
    attributes = {name: _numbers([one[n] for one in found]) for n, name in enumerate(names)}
    return _made(cls, parser, [operand], _types(parser, 1), attributes | parser.parse_optional_attr_dict())


def _reduce(cls: type[StableOperation], parser: Parser) -> StableOperation:
    """`reduce(%x init: %i), ... applies NAME across dimensions = [1] : types`, or with a region behind them."""
    arrays, starts = list[UnresolvedOperand](), list[UnresolvedOperand]()
    while True:
        parser.parse_punctuation("(")
        arrays.append(parser.parse_unresolved_operand())
        parser.parse_keyword("init")
        parser.parse_punctuation(":")
        starts.append(parser.parse_unresolved_operand())
        parser.parse_punctuation(")")
        if parser.parse_optional_punctuation(",") is None:
            break
    attributes: dict[str, Attribute] = {}
    if parser.parse_optional_keyword("applies"):
        attributes["applies"] = StringAttr(parser.parse_identifier())
    parser.parse_keyword("across")
    parser.parse_keyword("dimensions")
    parser.parse_punctuation("=")
    attributes["dimensions"] = parser.parse_attribute()
    attributes |= parser.parse_optional_attr_dict()
    types = _types(parser, 2 * len(arrays))
    regions: list[Region] = []
    if "applies" not in attributes:
        parser.parse_keyword("reducer")
        pairs = [parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument) for _ in arrays]
        regions.append(parser.parse_region([pair[side] for side in range(2) for pair in pairs]))
    return _made(cls, parser, [*arrays, *starts], types, attributes, regions)


def _while(cls: type[StableOperation], parser: Parser) -> StableOperation:
    """`while(%a = %x, ...) : types cond {...} do {...}`."""

    def carried() -> tuple[Parser.UnresolvedArgument, UnresolvedOperand]:
        argument = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        return argument, parser.parse_unresolved_operand()

    pairs = parser.parse_comma_separated_list(parser.Delimiter.PAREN, carried)
    types: list[Attribute] = []
    if pairs:
        parser.parse_punctuation(":")
        types = [parser.parse_type()]
        while parser.parse_optional_punctuation(","):
            types.append(parser.parse_type())
    attributes = parser.parse_optional_attr_dict_with_keyword()
    arguments = [argument.resolve(type_) for (argument, _), type_ in zip(pairs, types, strict=True)]
    regions: list[Region] = []
    for word in ("cond", "do"):
        parser.parse_keyword(word)
        regions.append(parser.parse_region(arguments))
    return _made(cls, parser, [o for _, o in pairs], (types, types), dict(attributes.data) if attributes else {}, regions)


def _convolution(cls: type[StableOperation], parser: Parser) -> StableOperation:
    """`convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {...} {attributes} : types`."""
    operands = _in_parentheses(parser)
    parser.parse_keyword("dim_numbers")
    parser.parse_punctuation("=")
    texts = [_letters(parser)]
    parser.parse_keyword("x")
    texts.append(_letters(parser))
    parser.parse_punctuation("->")
    texts.append(_letters(parser))
    attributes: dict[str, Attribute] = {"dimension_numbers": StringAttr(f"{texts[0]}x{texts[1]}->{texts[2]}")}
    parser.parse_punctuation(",")
    parser.parse_keyword("window")
    parser.parse_punctuation("=")
    parser.parse_punctuation("{")
    while parser.parse_optional_punctuation("}") is None:
        word = parser.parse_identifier()
        parser.parse_punctuation("=")
        attributes[_WINDOW[word]] = parser.parse_attribute()
        parser.parse_optional_punctuation(",")
    attributes |= parser.parse_optional_attr_dict()
    return _made(cls, parser, operands, _types(parser, 2), attributes)


def _letters(parser: Parser) -> str:
    def one() -> str:
        number = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
        return parser.parse_identifier() if number is None else str(number)

    return f"[{', '.join(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, one))}]"


def _custom_call(cls: type[StableOperation], parser: Parser) -> StableOperation:
    """`custom_call @name(%x) {attributes} : types`."""
    name = parser.parse_symbol_name()
    operands = _in_parentheses(parser)
    attributes = {"call_target_name": name, **parser.parse_optional_attr_dict()}
    return _made(cls, parser, operands, _types(parser, len(operands)), attributes)


def _composite(cls: type[StableOperation], parser: Parser) -> StableOperation:
    """`composite "name" %x {attributes} : types`."""
    name = StringAttr(parser.parse_str_literal())
    operands = _operands(parser)
    attributes = {"name": name, **parser.parse_optional_attr_dict()}
    return _made(cls, parser, operands, _types(parser, len(operands)), attributes)


def _top_k(cls: type[StableOperation], parser: Parser) -> StableOperation:
    """`top_k(%x, k = 3) : type -> (type, type)`."""
    parser.parse_punctuation("(")
    operands = _operands(parser)
    attributes = _settings(parser)
    parser.parse_punctuation(")")
    return _made(cls, parser, operands, _types(parser, 1), attributes | parser.parse_optional_attr_dict())


def _return(cls: type[StableOperation], parser: Parser) -> StableOperation:
    operands = _operands(parser)
    if not operands:
        return cls.create()
    parser.parse_punctuation(":")
    types = [parser.parse_type()]
    while parser.parse_optional_punctuation(","):
        types.append(parser.parse_type())
    return _made(cls, parser, operands, (types, ()), {})


_WINDOW = {
    "stride": "window_strides", "pad": "padding", "lhs_dilate": "lhs_dilation", "rhs_dilate": "rhs_dilation",
    "reverse": "window_reversal",
}  # fmt: skip
_SETTINGS = {
    "dims": "dimensions", "dim": "dimension", "sizes": "slice_sizes", "low": "edge_padding_low", "high": "edge_padding_high",
    "interior": "interior_padding",
}  # fmt: skip
_FORMS: Mapping[str, Form] = {
    "constant": _constant, "compare": _compare, "select": _select, "slice": _slice, "reduce": _reduce, "while": _while,
    "convolution": _convolution, "custom_call": _custom_call, "composite": _composite, "top_k": _top_k, "return": _return,
}  # fmt: skip


def numbers(op: StableOperation, *names: str) -> list[int] | None:
    """Return the integers or truth values of the attribute that has one of these names, flat; None without one."""
    for name in names:
        found = op.properties.get(name, op.attributes.get(name))
        if found is not None:
            return _flat(found)
    return None


def _flat(found: Attribute) -> list[int]:
    if isinstance(found, ArrayAttr):
        return [n for one in found.data for n in _flat(one)]
    if isinstance(found, IntegerAttr):
        return [abs(found.value.data) if found.type == i1 else found.value.data]
    values: Any = found
    numbers = [int(n) for n in values.get_values()]
    shape = values.get_shape() if isinstance(getattr(values, "type", None), TensorType) else (len(numbers),)
    count = 1
    for size in shape:
        count *= size
    return numbers * count if len(numbers) == 1 else numbers


def words(op: StableOperation, name: str) -> str:
    """Return the text of an attribute, "" without it: of a word in both forms, `#stablehlo<comparison_direction LT>` and LT."""
    found = op.properties.get(name, op.attributes.get(name))
    return "" if found is None else found.data if isinstance(found, StringAttr) else str(found)
