"""The normal form: different spellings of one formula become equal.

An expression is a polynomial: a sum of monomials with float coefficients. A monomial is a product of powers of atoms. An atom is
the free variable, an unexpanded value of the IR, a function of a polynomial, a mean or maximum along axes, or a sum of several
monomials under an exponent that does not expand. Square roots, reciprocals and powers are exponents; differences are coefficients;
sums are means times their length. So `(x - m) / np.sqrt(v + e) * g`, `g * (x - m) * (v + e) ** -0.5` and `x * (g * rsqrt(v + e)) -
m * g * rsqrt(v + e)` have one normal form, and `np.var(x)`, `np.mean((x - m) ** 2)` and `np.mean(x * x) - m * m` have one too.

Atoms are nested tuples, so they can be compared, sorted and hashed; axes are counted from the end (-1 is the last).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

PolynomialAtom: TypeAlias = tuple[Any, ...]
"""("x",) | ("value", n) | ("fn", name, key, ...) | ("mean" | "max", axes, key) | ("sum", key)
| ("length", axis): the length of an axis if it is unknown.
"""
Monomial: TypeAlias = tuple[tuple[PolynomialAtom, float], ...]
Poly: TypeAlias = Mapping[Monomial, float]
Key: TypeAlias = tuple[tuple[Monomial, float], ...]

X: PolynomialAtom = ("x",)
_MOST_TERMS = 24


class TooLarge(Exception):
    """The expression has more terms than an idiom could have."""


def constant(number: float) -> Poly:
    """Return a number as a polynomial."""
    return {(): float(number)} if number else {}


def atom(a: PolynomialAtom) -> Poly:
    """Return one atom as a polynomial."""
    return {((a, 1.0),): 1.0}


def key(p: Poly) -> Key:
    """Return the polynomial as a hashable tuple; equal polynomials have equal keys."""
    return tuple(sorted(p.items()))


def unkey(k: Key) -> Poly:
    """Invert `key`."""
    return dict(k)


def _collect(terms: Iterable[tuple[Monomial, float]]) -> Poly:
    found: dict[Monomial, float] = {}
    for monomial, c in terms:
        found[monomial] = found.get(monomial, 0.0) + c
    found = {m: c for m, c in found.items() if c != 0}
    if len(found) > _MOST_TERMS:
        raise TooLarge
    return found


def scale(p: Poly, factor: float) -> Poly:
    """Multiply every coefficient by a number."""
    return {m: c * factor for m, c in p.items()} if factor else {}


def add(p: Poly, q: Poly, factor: float = 1.0) -> Poly:
    """Return p + factor * q."""
    return _collect([*p.items(), *scale(q, factor).items()])


def _join(a: Monomial, b: Monomial) -> Poly:
    """Return the product of two monomials; a sum whose exponent becomes 1 is expanded."""
    exponents = dict(a)
    for one, e in b:
        exponents[one] = exponents.get(one, 0.0) + e
    exponents = {one: e for one, e in exponents.items() if e}
    whole = [one for one, e in exponents.items() if one[0] == "sum" and e == 1.0]
    for one in whole:
        del exponents[one]
    result: Poly = {tuple(sorted(exponents.items())): 1.0}
    for one in whole:
        result = multiply(result, unkey(one[1]))
    return result


def multiply(p: Poly, q: Poly) -> Poly:
    """Return p * q, expanded. Raises TooLarge."""
    if len(p) * len(q) > 4 * _MOST_TERMS:
        raise TooLarge
    return _collect((m, ca * cb * c) for a, ca in p.items() for b, cb in q.items() for m, c in _join(a, b).items())


def power(p: Poly, exponent: float) -> Poly:
    """Return p ** exponent. Raises TooLarge.

    Small natural exponents are expanded. A single monomial takes the exponent inside if that is valid for real numbers. Everything
    else becomes an atom "sum" whose leading coefficient is 1.
    """
    if exponent == 0:
        return constant(1.0)
    if exponent in (1.0, 2.0, 3.0, 4.0):
        result = p
        for _ in range(int(exponent) - 1):
            result = multiply(result, p)
        return result
    if not p:
        raise TooLarge  # 0 to a power: no idiom contains it
    if len(p) == 1:
        ((monomial, c),) = p.items()
        whole = float(exponent).is_integer()
        if whole or (c > 0 and (not monomial or (len(monomial) == 1 and abs(monomial[0][1]) <= 1))):
            raised: Poly = {(): c**exponent}
            for one, e in monomial:
                raised = multiply(raised, _single(one, e * exponent))
            return raised
    lead = next((c for m, c in sorted(p.items()) if m and c > 0), None)
    factor = 1.0 if lead is None else lead
    return {((("sum", key(scale(p, 1 / factor))), exponent),): factor**exponent}


def _single(one: PolynomialAtom, exponent: float) -> Poly:
    if one[0] == "sum" and exponent == 1.0:
        return unkey(one[1])
    return {((one, exponent),): 1.0}


def function(name: str, *arguments: Poly) -> Poly:
    """Return a named function; odd functions move a sign outside, and functions of numbers are computed."""
    if len(arguments) == 1:
        (p,) = arguments
        if name in _ODD and p and next(c for _, c in sorted(p.items())) < 0:
            return scale(function(name, scale(p, -1.0)), -1.0)
        if set(p) <= {()} and name in _COMPUTED:
            return constant(_COMPUTED[name](p.get((), 0.0)))
    return atom(("fn", name, *(key(p) for p in arguments)))


_ODD = frozenset({"tanh", "erf", "sin"})
_COMPUTED: Mapping[str, Callable[[float], float]] = {
    "tanh": math.tanh,
    "erf": math.erf,
    "exp": math.exp,
    "sin": math.sin,
    "cos": math.cos,
}


def mean(p: Poly, axes: tuple[int, ...], invariant: Callable[[PolynomialAtom], bool]) -> Poly:
    """Return the mean along axes, expanded: it is linear, and factors that are constant along the axes move outside."""
    parts: list[tuple[Monomial, float]] = []
    for monomial, c in p.items():
        outside = tuple(f for f in monomial if invariant(f[0]))
        inside = tuple(f for f in monomial if not invariant(f[0]))
        inner: Poly = atom(("mean", axes, ((inside, 1.0),))) if inside else constant(1.0)
        parts += [(m, c * k) for m, k in multiply({outside: 1.0}, inner).items()]
    return _collect(parts)


def atoms_of(p: Poly) -> set[PolynomialAtom]:
    """Return all atoms, including nested ones."""
    found: set[PolynomialAtom] = set()
    stack: list[Any] = [key(p)]
    while stack:
        for monomial, _ in stack.pop():
            for one, _ in monomial:
                if one not in found:
                    found.add(one)
                    stack += inside(one)
    return found


def nesting(p: Poly) -> int:
    """Return the nesting depth of functions."""
    return max((_nesting(one) for monomial in p for one, _ in monomial), default=0)


def _nesting(one: PolynomialAtom) -> int:
    inner = max((_nesting(a) for k in inside(one) for monomial, _ in k for a, _ in monomial), default=0)
    return inner + (one[0] == "fn")


def inside(one: PolynomialAtom) -> list[Key]:
    """Return the keys of the polynomials inside an atom."""
    if one[0] == "sum":
        return [one[1]]
    if one[0] in ("mean", "max"):
        return [one[2]]
    return list(one[2:]) if one[0] == "fn" else []


def numbers(p: Poly) -> Iterator[float]:
    """Yield all coefficients, including those inside atoms, in the order of the normal form."""
    stack: list[Key] = [key(p)]
    while stack:
        for monomial, c in stack.pop():
            yield c
            stack += [k for one, _ in monomial for k in inside(one)]


def close(p: Poly, q: Poly, tolerance: float) -> bool:
    """Return whether both are equal except for coefficients with a relative difference of at most `tolerance`."""
    return _close_keys(key(p), key(q), tolerance)


def _close_keys(p: Key, q: Key, tolerance: float) -> bool:
    if len(p) != len(q):
        return False
    return all(
        abs(a - b) <= tolerance * max(abs(a), abs(b)) and len(m) == len(n) and all(map(_close_factors(tolerance), m, n))
        for (m, a), (n, b) in zip(p, q, strict=True)
    )


def _close_factors(tolerance: float) -> Callable[[tuple[PolynomialAtom, float], tuple[PolynomialAtom, float]], bool]:
    def compare(a: tuple[PolynomialAtom, float], b: tuple[PolynomialAtom, float]) -> bool:
        (one, e), (two, f) = a, b
        if one == two and e == f:
            return True
        inner, other = inside(one), inside(two)
        plain_one, plain_two = _outline(one), _outline(two)
        same = e == f and plain_one == plain_two and len(inner) == len(other) > 0
        return same and all(_close_keys(k, m, tolerance) for k, m in zip(inner, other, strict=True))

    return compare


def _outline(one: PolynomialAtom) -> tuple[Any, ...]:
    return one[:2] if one[0] in ("fn", "mean", "max") else one[:1]
