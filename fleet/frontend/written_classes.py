"""Classes of Python's library and of NumPy, written in what the front end reads: followed like classes of the user's file.

They do what the originals do, in the same order of operations; `tests/frontend/test_written_classes.py` compares them.
"""

# pyright: basic
# ruff: noqa: D102, PLW1641, SIM401 -- the originals' documentation says what the methods do

from __future__ import annotations

import numpy as np


def text_of(coef, domain, window, quoted):
    """What NumPy shows of a polynomial; the front end has its own for this name."""
    made = np.polynomial.Polynomial(coef, domain, window)
    return repr(made) if quoted else str(made)


class ChainMap:
    """`collections.ChainMap`."""

    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

    def __missing__(self, key):
        raise KeyError(key)

    def __getitem__(self, key):
        for m in self.maps:
            if key in m:
                return m[key]
        return self.__missing__(key)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def __contains__(self, key):
        return any(key in m for m in self.maps)

    def _merged(self):
        found = {}
        for m in reversed(self.maps):
            found.update(dict.fromkeys(m))
        return found

    def __len__(self):
        return len(self._merged())

    def __iter__(self):
        return iter(self._merged())

    def __bool__(self):
        return any(len(m) > 0 for m in self.maps)

    def __repr__(self):
        return f"ChainMap({', '.join(map(repr, self.maps))})"

    def __eq__(self, other):
        return dict(self.items()) == dict(other.items())

    def keys(self):
        return self._merged().keys()

    def values(self):
        return {k: self[k] for k in self._merged()}.values()

    def items(self):
        return {k: self[k] for k in self._merged()}.items()

    def new_child(self, m=None, **kwargs):
        first = {} if m is None else m
        first.update(kwargs)
        return ChainMap(first, *self.maps)

    @property
    def parents(self):
        return ChainMap(*self.maps[1:])

    def copy(self):
        return ChainMap(self.maps[0].copy(), *self.maps[1:])

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def __delitem__(self, key):
        if key not in self.maps[0]:
            raise KeyError(f"Key not found in the first mapping: {key!r}")
        del self.maps[0][key]

    def pop(self, key, *default):
        if key not in self.maps[0] and not default:
            raise KeyError(f"Key not found in the first mapping: {key!r}")
        return self.maps[0].pop(key, *default)

    def setdefault(self, key, default=None):
        if key in self:
            return self[key]
        self[key] = default
        return default

    def update(self, *others, **kwargs):
        for other in others:
            self.maps[0].update(other)
        self.maps[0].update(kwargs)

    def clear(self):
        self.maps[0].clear()


class Polynomial:
    """`numpy.polynomial.Polynomial`: coefficients [n], the lowest power first, float64; domain and window: two numbers each."""

    __array_ufunc__ = None

    def __init__(self, coef, domain=None, window=None, symbol="x"):
        self.coef = np.atleast_1d(np.array(coef, dtype=float))
        self.domain = np.array([-1.0, 1.0] if domain is None else domain, dtype=float)
        self.window = np.array([-1.0, 1.0] if window is None else window, dtype=float)
        self.symbol = symbol
        if len(self.domain) != 2:
            raise ValueError("Domain has wrong number of elements.")
        if len(self.window) != 2:
            raise ValueError("Window has wrong number of elements.")

    @staticmethod
    def _line(old, new):
        span, wanted = old[1] - old[0], new[1] - new[0]
        return (old[1] * new[0] - old[0] * new[1]) / span, wanted / span

    @staticmethod
    def _mapped(x, old, new):
        off, scale = Polynomial._line(old, new)
        return off + scale * (x if isinstance(x, Polynomial) else np.asarray(x))

    def mapparms(self):
        return Polynomial._line(self.domain, self.window)

    def __call__(self, arg):
        x = Polynomial._mapped(arg, self.domain, self.window)
        if not isinstance(x, Polynomial):
            return np.polynomial.polynomial.polyval(x, self.coef)
        found = self.coef[-1] + x * 0
        for i in range(2, len(self.coef) + 1):
            found = self.coef[-i] + found * x
        return found

    def _with(self, coef):
        return Polynomial(coef, self.domain, self.window, self.symbol)

    def _of(self, other):
        if not isinstance(other, Polynomial):
            return other
        if not np.all(self.domain == other.domain):
            raise TypeError("Domains differ")
        if not np.all(self.window == other.window):
            raise TypeError("Windows differ")
        return other.coef

    def __add__(self, other):
        return self._with(np.polynomial.polynomial.polyadd(self.coef, self._of(other)))

    def __radd__(self, other):
        return self._with(np.polynomial.polynomial.polyadd(other, self.coef))

    def __sub__(self, other):
        return self._with(np.polynomial.polynomial.polysub(self.coef, self._of(other)))

    def __rsub__(self, other):
        return self._with(np.polynomial.polynomial.polysub(other, self.coef))

    def __mul__(self, other):
        return self._with(np.polynomial.polynomial.polymul(self.coef, self._of(other)))

    def __rmul__(self, other):
        return self._with(np.polynomial.polynomial.polymul(other, self.coef))

    def __truediv__(self, other):
        return self._with(np.polynomial.polynomial.polydiv(self.coef, other)[0])

    def __floordiv__(self, other):
        return self._with(np.polynomial.polynomial.polydiv(self.coef, self._of(other))[0])

    def __mod__(self, other):
        return self._with(np.polynomial.polynomial.polydiv(self.coef, self._of(other))[1])

    def __pow__(self, power):
        return self._with(np.polynomial.polynomial.polypow(self.coef, power))

    def __neg__(self):
        return self._with(-self.coef)

    def __pos__(self):
        return self

    def __len__(self):
        return len(self.coef)

    def __iter__(self):
        return iter(self.coef)

    def __eq__(self, other):
        if not isinstance(other, Polynomial) or self.coef.shape != other.coef.shape:
            return False
        same = np.all(self.domain == other.domain) and np.all(self.window == other.window)
        return bool(same and np.all(self.coef == other.coef))

    def __str__(self):
        return text_of(self.coef, self.domain, self.window, False)

    def __repr__(self):
        return text_of(self.coef, self.domain, self.window, True)

    def copy(self):
        return self._with(self.coef)

    def degree(self):
        return len(self) - 1

    def cutdeg(self, deg):
        return self.truncate(deg + 1)

    def truncate(self, size):
        return self._with(self.coef[:size])

    def trim(self, tol=0):
        return self._with(np.polynomial.polynomial.polytrim(self.coef, tol))

    def roots(self):
        return Polynomial._mapped(np.polynomial.polynomial.polyroots(self.coef), self.window, self.domain)

    def deriv(self, m=1):
        _, scale = self.mapparms()
        return self._with(np.polynomial.polynomial.polyder(self.coef, m, scale))

    def integ(self, m=1, k=[], lbnd=None):  # noqa: B006 -- the original's
        off, scale = self.mapparms()
        start = 0 if lbnd is None else off + scale * lbnd
        return self._with(np.polynomial.polynomial.polyint(self.coef, m, k, start, 1.0 / scale))

    def convert(self, domain=None, kind=None, window=None):
        return self(Polynomial.identity(domain, window))

    def linspace(self, n=100, domain=None):
        first, last = self.domain if domain is None else domain
        x = np.linspace(first, last, n)
        return x, self(x)

    @staticmethod
    def fit(x, y, deg, domain=None, rcond=None, full=False, w=None, window=None):
        x = np.asarray(x)
        span = np.array([x.min(), x.max()] if domain is None else domain, dtype=float)
        if domain is None:
            span = span + np.where(span[0] == span[1], np.array([-1.0, 1.0]), 0.0)
        aim = [-1.0, 1.0] if window is None else window
        coef = np.polynomial.polynomial.polyfit(Polynomial._mapped(x, span, aim), y, deg, rcond, full, w)
        return Polynomial(coef, span, aim)

    @staticmethod
    def identity(domain=None, window=None):
        to = [-1.0, 1.0] if domain is None else domain
        of = [-1.0, 1.0] if window is None else window
        off, scale = Polynomial._line(of, to)
        return Polynomial([off, scale] if scale != 0 else [off], to, of)

    @staticmethod
    def basis(deg, domain=None, window=None):
        return Polynomial([0] * deg + [1], domain, window)

    @staticmethod
    def fromroots(roots, domain=[], window=None):  # noqa: B006 -- the original's
        to = np.array([np.min(roots), np.max(roots)]) if domain is None else [-1.0, 1.0] if len(domain) == 0 else domain
        aim = [-1.0, 1.0] if window is None else window
        off, scale = Polynomial._line(to, aim)
        coef = np.polynomial.polynomial.polyfromroots(off + scale * np.array(roots, dtype=float)) / scale ** len(roots)
        return Polynomial(coef, to, aim)
