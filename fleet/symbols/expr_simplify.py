"""Simplification: sums become `number * product + ... + number`; parts that bounds or divisors decide disappear.

Every rule keeps the value for all bindings within the variables' bounds for which the original has one. An expression without a
value for some binding (a division by zero) may get one.
"""

from __future__ import annotations

from typing import Literal

from fleet.symbols.expr_bounds import bounds
from fleet.symbols.expr_evaluate import OPERATORS, rebuild
from fleet.symbols.expr_tree import Expr, ExprError, If, Numb, Operation, post_order

Atoms = tuple[Expr, ...]
"""Factors of a product, in the order in which they were met."""

Terms = dict[frozenset[tuple[Expr, int]], tuple[int, Atoms]]
"""A sum: product (factor, exponent) -> coefficient and factors; the empty product is the constant."""

_NUMBER: frozenset[tuple[Expr, int]] = frozenset()
_MAX_FACTORS = 32


def simplify(root: Expr) -> Expr:
    """Compute `Expr.simplify`."""
    if root.known_simple is None:
        for e in post_order((root,), lambda x: x.args if x.known_simple is None else ()):
            if e.known_simple is None:
                e.known_simple = _mark(e, _settle(_step(rebuild(e, [_simple(a) for a in e.args]))))
    return _simple(root)


def _simple(e: Expr) -> Expr:
    known = e.known_simple
    return known if isinstance(known, Expr) else e


def _mark(e: Expr, result: Expr) -> Expr | Literal[True]:
    result.known_simple = True  # a simplified expression simplifies to itself
    return True if result is e else result


def _settle(e: Expr) -> Expr:
    """Return a number if the bounds leave only one value."""
    low, high = bounds(e)
    return Numb(int(low)) if low == high else e


def _step(e: Expr) -> Expr:
    """Simplify one operator on simplified operands."""
    a = e.args
    if not a:
        return e
    if isinstance(e, If):
        return _choose(e)
    if all(isinstance(x, Numb) for x in a):
        try:
            return Numb(OPERATORS[e.op](*(x.data for x in a if isinstance(x, Numb))))
        except ExprError:
            return e  # it has no value: evaluation reports that
    b = a[1].data if len(a) == 2 and isinstance(a[1], Numb) else None
    match e.op:
        case "+" | "-" | "neg" | "*":
            return _sum(_linear(e))
        case "<<" if b is not None and 0 <= b <= 64:
            return _sum(_linear(Operation("*", a[0], 1 << b)))
        case ">>" if b is not None and 0 <= b <= 64:
            return _divided(a[0], 1 << b)
        case "//" if b:
            return _divided(a[0], b)
        case "%" if b:
            return _rest(a[0], b)
        case "&" | "|":
            return _bitwise(e)
        case "<" | "<=" | "==" | "!=":
            return _compared(e)
        case _:
            return e


def _linear(e: Expr) -> Terms:
    """Return `e` as a sum. Its operands are simplified, so their sums are visible."""
    terms: Terms = {}
    stack = [(e, 1)]
    while stack:
        x, sign = stack.pop()
        if x.op == "+":
            stack += [(x.args[1], sign), (x.args[0], sign)]
        elif x.op == "-":
            stack += [(x.args[1], -sign), (x.args[0], sign)]
        elif x.op == "neg":
            stack.append((x.args[0], -sign))
        elif isinstance(x, Numb):
            _gather(terms, sign * x.data, ())
        elif x.op == "*":
            _multiply(terms, x, sign)
        else:
            _gather(terms, sign, (x,))
    return terms


def _multiply(terms: Terms, product: Expr, sign: int) -> None:
    """Add sign * product; a product of a number and a sum becomes a sum."""
    number, atoms = _factors(product)
    number *= sign
    if len(atoms) == 1 and atoms[0].op in {"+", "-"}:
        for coefficient, factors in _linear(atoms[0]).values():
            _gather(terms, number * coefficient, factors)
    else:
        _gather(terms, number, tuple(atoms))


def _factors(product: Expr) -> tuple[int, list[Expr]]:
    number, atoms = 1, list[Expr]()
    stack = [product]
    while stack:
        x = stack.pop()
        # Powers of powers would expand into more factors than memory holds.
        if x.op == "*" and len(atoms) + len(stack) < _MAX_FACTORS:
            stack += [x.args[1], x.args[0]]
        elif x.op == "neg":
            number = -number
            stack.append(x.args[0])
        elif isinstance(x, Numb):
            number *= x.data
        else:
            atoms.append(x)
    return number, atoms


def _gather(terms: Terms, coefficient: int, atoms: Atoms) -> None:
    counts: dict[Expr, int] = {}
    for a in atoms:
        counts[a] = counts.get(a, 0) + 1
    key = frozenset(counts.items())
    old = terms.get(key)
    terms[key] = (coefficient + old[0], old[1]) if old else (coefficient, atoms)


def _sum(terms: Terms) -> Expr:
    """Return the terms as an expression: products first, the constant last; terms with coefficient 0 are dropped."""
    number, products = 0, list[tuple[int, Atoms]]()
    for key, (coefficient, atoms) in terms.items():
        if key == _NUMBER:
            number = coefficient
        elif coefficient:
            products.append((coefficient, atoms))
    # A sum starts with a positive term if there is one: `a - b`, not `-b + a`.
    products.sort(key=lambda p: p[0] < 0)
    made: Expr | None = None
    if products and products[0][0] < 0 and number > 0:
        made, number = Numb(number), 0
    for coefficient, atoms in products:
        made = _plus(made, coefficient, atoms)
    if made is None:
        return Numb(number)
    return made if number == 0 else Operation("+" if number > 0 else "-", made, abs(number))


def _plus(made: Expr | None, coefficient: int, atoms: Atoms) -> Expr:
    product = atoms[0]
    for a in atoms[1:]:
        product = Operation("*", product, a)
    size = abs(coefficient)
    scaled = product if size == 1 else Operation("*", product, size)
    if made is None:
        return scaled if coefficient > 0 else Operation("neg", product) if size == 1 else Operation("*", product, coefficient)
    return Operation("+" if coefficient > 0 else "-", made, scaled)


def _split(e: Expr, d: int) -> tuple[Terms, Expr]:
    """Return (q, r) with e = q * d + r: q gets the terms that `d` divides; of the constant, as much as leaves 0 <= rest < |d|."""
    quotient: Terms = {}
    rest: Terms = {}
    for key, (coefficient, atoms) in _linear(e).items():
        if key == _NUMBER:
            # Round so that the rest keeps the sign of the divisor: |d| > number >= 0 for d > 0.
            quotient[key], rest[key] = (coefficient // d, ()), (coefficient % d, ())
        elif coefficient % d == 0:
            quotient[key] = coefficient // d, atoms
        else:
            rest[key] = coefficient, atoms
    return quotient, _sum(rest)


def _divided(e: Expr, d: int) -> Expr:
    """Return e // d for a number d other than 0."""
    if d < 0:
        return _divided(_sum(_linear(Operation("neg", e))), -d)  # floor(e / d) = floor(-e / -d)
    quotient, rest = _split(e, d)
    return _sum(_linear(Operation("+", _sum(quotient), _nested(rest, d))))


def _nested(e: Expr, d: int) -> Expr:
    low, high = bounds(e)
    if low >= 0 and high < d:
        return Numb(0)
    if e.op == "//" and isinstance(e.args[1], Numb) and e.args[1].data > 0:
        return Operation("//", e.args[0], e.args[1].data * d)  # floors of positive divisors compose
    return Operation("//", e, d)


def _rest(e: Expr, d: int) -> Expr:
    """Return e % d for a number d other than 0."""
    _, rest = _split(e, d)
    low, high = bounds(rest)
    if d > 0 and low >= 0 and high < d:
        return rest
    return _settle(Operation("%", rest, d)) if not isinstance(rest, Numb) else Numb(rest.data % d)


def _bitwise(e: Expr) -> Expr:
    a, b = e.args
    if isinstance(a, Numb):
        a, b = b, a
    if a is b:
        return a
    if isinstance(b, Numb):
        mask = b.data
        if mask == 0:
            return b if e.op == "&" else a
        if mask == -1:
            return a if e.op == "&" else b
        if e.op == "&" and mask > 0 and mask & (mask + 1) == 0:
            return _rest(a, mask + 1)
    return Operation(e.op, a, b)


def _compared(e: Expr) -> Expr:
    """Return a comparison of two sums that their difference decides, or the comparison without the terms common to both sides."""
    difference = _sum(_linear(Operation("-", *e.args)))
    low, high = bounds(Operation(e.op, difference, 0))
    return Numb(int(low)) if low == high else e


def _choose(e: If) -> Expr:
    condition, then, otherwise = e.args
    low, high = bounds(condition)
    if low > 0 or high < 0 or then is otherwise:
        return then
    if low == high == 0:
        return otherwise
    if condition.op == "!=" and isinstance(condition.args[1], Numb) and condition.args[1].data == 0:
        return If(condition.args[0], then, otherwise)
    if condition.op == "<" and {*condition.args} == {then, otherwise}:
        # A minimum or maximum. If the first is never the larger, `then` is the value, also if both are equal.
        first, second = condition.args
        if bounds(_sum(_linear(Operation("-", first, second))))[1] <= 0:
            return then
    return e
