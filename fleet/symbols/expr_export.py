"""Texts of expressions: for people, in Python, in C++.

The Python and C++ texts have the value of `Expr.evaluate`, for every binding within the variables' bounds. C++ computes in int64_t:
an expression with a part that may exceed 64 bits is refused. If an operand may be negative, rounding down is written out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from fleet.symbols.expr_bounds import bounds, infinite
from fleet.symbols.expr_tree import Expr, ExprError, If, Numb, Var, post_order

MAX_TEXT = 1 << 16
MAX_DEPTH = 180
"""Approximate maximum length of an expression's text, and maximum nesting of its operators (Python's parser accepts 200 brackets).
Parts that are used often or nest deeply become variables of a function instead.
"""

_DEPTH = 40
"""Maximum nesting of operators in a line of a function; Python's and C++'s parsers have their own limits."""

_RANK = {"if": 0, "|": 2, "<": 1, "<=": 1, "==": 1, "!=": 1, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5, "*": 6, "//": 6, "%": 6,
         "neg": 7}  # fmt: skip
"""Precedence of Python's operators; operators that are not listed bind tightest."""

_INT64 = (-(1 << 63), (1 << 63) - 1)

Text = tuple[str, int]
"""A text and the precedence of its outermost operator."""


def show(e: Expr) -> str:
    """Return text for people: Python, or just the size if the text is too long to read."""
    try:
        return _render(e, _people)
    except ExprError:
        parts = sum(1 for _ in post_order((e,)))
        return f"<{parts} operations on {', '.join(v.name for v in e.variables) or 'numbers'}>"


def to_python(e: Expr) -> str:
    """Compute `Expr.to_python`. Raises ExprError beyond `MAX_TEXT` or `MAX_DEPTH`; `python_function` has no such limits."""
    return _render(e, _python)


def to_cpp(e: Expr, wide: Iterable[str] = ()) -> str:
    """Compute `Expr.to_cpp`. Raises ExprError if a part may exceed 64 bits, or beyond `MAX_TEXT` or `MAX_DEPTH`."""
    _check_width((e,))
    return _render(e, _Cpp(frozenset(wide)))


def _render(e: Expr, write: Callable[[Expr, Sequence[Text]], Text]) -> str:
    depth: dict[Expr, int] = {}
    length: dict[Expr, int] = {}
    for part in post_order((e,)):
        depth[part] = 1 + max((depth[a] for a in part.args), default=0)
        length[part] = 2 + sum(length[a] for a in part.args)
        if length[part] > MAX_TEXT or depth[part] > MAX_DEPTH:
            raise ExprError(f"the text of an expression would exceed {MAX_TEXT} characters or nest {MAX_DEPTH} operators deep",
                            hint="export it as a function")  # fmt: skip
    made: dict[Expr, Text] = {}
    for part in post_order((e,)):
        made[part] = write(part, [made[a] for a in part.args])
    return made[e][0]


def _at(text: Text, rank: int) -> str:
    return text[0] if text[1] >= rank else f"({text[0]})"


def _python(e: Expr, args: Sequence[Text]) -> Text:
    if isinstance(e, Var):
        return e.name, 9
    if isinstance(e, Numb):
        return str(e.data), 9 if e.data >= 0 else 7
    if isinstance(e, If):
        return f"{_at(args[1], 1)} if {_at(args[0], 1)} else {_at(args[2], 1)}", 0
    if e.op == "neg":
        return f"-{_at(args[0], 8)}", 7
    if e.op == "log2":
        return f"(({args[0][0]}).bit_length() - 1)", 9
    rank = _RANK[e.op]
    if rank == 1:  # comparisons do not chain
        return f"int({_at(args[0], 2)} {e.op} {_at(args[1], 2)})", 9
    return f"{_at(args[0], rank)} {e.op} {_at(args[1], rank + 1)}", rank


def _people(e: Expr, args: Sequence[Text]) -> Text:
    if _RANK.get(e.op) == 1:
        return f"{_at(args[0], 2)} {e.op} {_at(args[1], 2)}", 1
    return (f"log2({args[0][0]})", 9) if e.op == "log2" else _python(e, args)


class _Cpp:
    """Writes C++; every text has a 64-bit type."""

    def __init__(self, wide: Collection[str]) -> None:
        self.wide = wide

    def __call__(self, e: Expr, args: Sequence[Text]) -> Text:
        if isinstance(e, Var):
            return (e.name if e.name in self.wide else f"int64_t({e.name})"), 9
        if isinstance(e, Numb):
            return _cpp_number(e.data), 9
        if isinstance(e, If):
            return f"({_at(args[0], 1)} ? {_at(args[1], 1)} : {_at(args[2], 1)})", 9
        if e.op == "neg":
            return f"(-{_at(args[0], 9)})", 9
        if e.op == "log2":
            return f"int64_t(63 - __builtin_clzll({args[0][0]}))", 9
        return self._binary(e, args)

    def _binary(self, e: Expr, args: Sequence[Text]) -> Text:
        (a, b), (x, y) = args, e.args
        (low, _), (b_low, b_high) = bounds(x), bounds(y)
        if isinstance(y, Numb) and not isinstance(x, Numb) and abs(y.data) < 1 << 31:
            b = (str(y.data) if y.data >= 0 else f"({y.data})"), 9  # a plain literal beside 64 bits
        elif isinstance(x, Numb) and not isinstance(y, Numb) and abs(x.data) < 1 << 31:
            a = (str(x.data) if x.data >= 0 else f"({x.data})"), 9
        match e.op:
            case "//" | "%" if low < 0 or b_low < 0:
                return _cpp_floor(e.op, a[0], b[0]), 9
            case "//" | "%":
                return f"{_at(a, 6)} {'/' if e.op == '//' else '%'} {_at(b, 7)}", 6
            case "<<":
                # C++ before C++20 does not define left shifts of negative numbers.
                shift = f"(int64_t(1) << {_at(b, 5)})"
                return (f"{_at(a, 5)} << {_at(b, 5)}", 4) if low >= 0 and b_high < 63 else (f"{_at(a, 6)} * {shift}", 6)
            case ">>":
                return f"{_at(a, 5)} >> {_at(b, 5) if b_high < 64 else _cpp_least(b[0])}", 4
            case "<" | "<=" | "==" | "!=":
                return f"int64_t({_at(a, 5)} {e.op} {_at(b, 5)})", 9
            case "&" | "|":
                return f"({_at(a, 5)} {e.op} {_at(b, 5)})", 9  # C++ binds comparisons tighter
            case _:
                rank = _RANK[e.op]
                return f"{_at(a, rank)} {e.op} {_at(b, rank + 1)}", rank


def _cpp_number(value: int) -> str:
    if value == _INT64[0]:
        return "(-9223372036854775807 - 1)"  # C++ has no negative literals
    if abs(value) < 1 << 31:
        return f"int64_t({value})"
    return str(value) if value >= 0 else f"({value})"


def _cpp_floor(op: str, a: str, b: str) -> str:
    """Write a division that rounds down, because C++ rounds towards 0."""
    if op == "//":
        return f"([](int64_t a, int64_t b) {{ return a / b - (a % b != 0 && (a < 0) != (b < 0)); }}({a}, {b}))"
    return f"([](int64_t a, int64_t b) {{ return a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0); }}({a}, {b}))"


def _cpp_least(b: str) -> str:
    return f"([](int64_t n) {{ return n < 63 ? n : 63; }}({b}))"


def _check_width(roots: Sequence[Expr]) -> None:
    """Raises ExprError if a part may exceed 64 bits. Values that depend on an unbounded variable are the caller's concern."""
    open_: set[Expr] = set()
    for e in post_order(roots):
        if (isinstance(e, Var) and e.max_data is None) or any(a in open_ for a in e.args):
            open_.add(e)
        for end in bounds(e):
            if e not in open_ if infinite(end) else not _INT64[0] <= end <= _INT64[1]:
                most = "more" if infinite(end) else str(int(end))
                raise ExprError(f"({e}) may reach {most}, which does not fit 64 bits")


# Functions: one line for every part that is used more than once, or that would nest too deeply.


def python_function(name: str, values: Sequence[Expr], parameters: Sequence[str] | None = None) -> str:
    """Return the source of a Python function that returns the values as a list. parameters: default: variables as met."""
    arguments = list(dict.fromkeys(v.name for e in values for v in e.variables)) if parameters is None else list(parameters)
    lines, last = _lines(values, arguments, _python, lambda t, text: f"    {t} = {text}")
    return "\n".join([f"def {name}({', '.join(arguments)}):", *lines, f"    return [{', '.join(last)}]", ""])


def cpp_function(name: str, values: Sequence[Expr], parameters: Sequence[str] | None = None) -> str:
    """Return the source of a C++ function of int64_t variables that writes the values to `int64_t* out`."""
    _check_width(values)
    arguments = list(dict.fromkeys(v.name for e in values for v in e.variables)) if parameters is None else list(parameters)
    lines, last = _lines(values, arguments, _Cpp(frozenset(arguments)), lambda t, text: f"  const int64_t {t} = {text};")
    declared = ", ".join([*(f"int64_t {a}" for a in arguments), "int64_t* out"])
    stores = [f"  out[{i}] = {text};" for i, text in enumerate(last)]
    return "\n".join([f"static void {name}({declared}) {{", *lines, *stores, "}", ""])


def compile_python(values: Sequence[Expr]) -> Callable[[Mapping[str, int]], list[int]]:
    """Return a fast evaluator of many expressions: bindings -> their values, in order.

    It does not check the bounds of the variables; the caller binds only values that `Expr.evaluate` would accept.
    """
    names = list(dict.fromkeys(v.name for e in values for v in e.variables))
    space: dict[str, Callable[..., list[int]]] = {}
    exec(compile(python_function("values", values, names), "<expressions>", "exec"), space)
    function = space["values"]
    return lambda bindings: function(*(bindings[n] for n in names))


def _lines(
    values: Sequence[Expr],
    parameters: Sequence[str],
    write: Callable[[Expr, Sequence[Text]], Text],
    assign: Callable[[str, str], str],
) -> tuple[list[str], list[str]]:
    """Return the assignments of parts, and the text of every value."""
    always = set(post_order(values, lambda e: e.args[:1] if isinstance(e, If) else e.args))
    uses: dict[Expr, int] = {}
    order = list(post_order(values))
    for e in order:
        for a in e.args:
            uses[a] = uses.get(a, 0) + 1
    taken = {*parameters, "out"}
    lines: list[str] = []
    made: dict[Expr, Text] = {}
    depth: dict[Expr, int] = {}
    total: set[Expr] = set()
    for e in order:
        if all(a in total for a in e.args) and _has_value(e):
            total.add(e)
        text = write(e, [made[a] for a in e.args])
        depth[e] = 1 + max((depth[a] for a in e.args), default=0)
        # A part that may have no value must stay inside the branch that guards it.
        if e.args and (e in total or e in always) and (uses.get(e, 0) > 1 or depth[e] > _DEPTH):
            name = f"t{len(lines)}"
            while name in taken:
                name += "_"
            taken.add(name)
            lines.append(assign(name, text[0]))
            text, depth[e] = (name, 9), 0
        if len(text[0]) > MAX_TEXT:
            raise ExprError(f"the text of an expression exceeds {MAX_TEXT} characters", hint="simplify it first")
        made[e] = text
    return lines, [made[e][0] for e in values]


def _has_value(e: Expr) -> bool:
    """True if the operator has a value for all values of its operands."""
    if e.op in {"//", "%"}:
        low, high = bounds(e.args[1])
        return low > 0 or high < 0
    if e.op in {"<<", ">>"}:
        return bounds(e.args[1])[0] >= 0
    return e.op != "log2" or bounds(e.args[0])[0] > 0
