"""Python statements around an array: containers, classes, names, imports, arrays that the source makes and reads."""

from __future__ import annotations

from fleet.verify.programs.parts.hand import Hand, KnownExpression, Redraw

_BOX = """class Box:
    scale = {k}

    def __init__(self, p, q={n}):
        self.p, self.q = p, [q]

    def twice(self, r=1):
        return self.p * self.scale + r

    def __call__(self, r):
        return self.p - r

    def __add__(self, other):
        return Box(self.p + (other.p if isinstance(other, Box) else other))

    def __neg__(self):
        return Box(-self.p if self.p.dtype.kind == 'f' else self.p * 2)

    def __len__(self):
        return len(self.q) {m} 1

    def __eq__(self, other):
        return self.q == other.q

    @property
    def first(self):
        return self.q[0]

    @staticmethod
    def plain(p):
        return p + {k}
"""
_BOXES = (
    "t = Box({v})\nt.p = t.p + {n}\n{v} = t.twice()",
    "t = Box({v})\nt.p += 1 if t else 2\n{v} = t({n})",
    "t = Box({v}) + Box({v}, {k})\nt.q[0] = {n}\n{v} = t.p + t.first",
    "t = -Box({v})\nt.q += [{n}, {k}]\n{v} = t.p * len(t.q)",
    "t = Box({v})\nt.scale = {n}\n{v} = t.twice(r={k}) + Box.scale",
    "t = [Box({v}), Box({v}, q={k})]\nt[0].p = t[1].plain({v})\n{v} = t[0].p if t[0] == t[1] else t[1].p * 2",
    "t = Box({v})\nt.p[...] = {n}\n{v} = t.p",
    "t = Box({v})\nt.o = t.p * {n}\ndel t.p\n{v} = t.o",
    "t = Box({v})\n{v} = {v} + (1 if not t else {k})",
)
_SYNTAX = (
    "import math\n{v} = {v} + math.floor({k}.5)",
    "from math import sqrt as root, pi\n{v} = {v} * root({k}) + pi",
    "import numpy as xp\n{v} = xp.abs({v}) if xp.float32 == np.float32 else {v}",
    "from numpy import maximum as larger\n{v} = larger({v}, {n})",
    "p: int = {k}\nq: int\n{v}: object = {v} + p",
    "p = {{}}\np['a']: int = {k}\np['b'] = {v}\n{v} = p['b'] * p['a']",
    "p = [1, {k}, 3]\np[1] = {v}\np[-1] += 2\n{v} = p[1] + p[2]",
    "p = {{'a': {k}, 'b': 1}}\np['a'] += 2\ndel p['b']\n{v} = {v} * p['a'] + len(p)",
    "p = [{v}]\np += [{n}, 3]\np.append(p.pop(0) * 2)\n{v} = p[-1] + p[0]",
    "p = [3, 1, {k}]\np.insert(1, 7)\np.extend((4, 5))\np.reverse()\n{v} = {v} + p[1] + p.index(7) + p.count(1)",
    "p = [3, 1, {k}]\np.sort()\ndel p[0]\n{v} = {v} * p[0] + sum(sorted(p, reverse=True)[:1])",
    "(p, q), r = ({v}, {n}), {k}\n{v} = p + q * r",
    "p, *q, r = [{v}, 1, 2, {k}]\n{v} = p * len(q) + r",
    "*p, q = ({n}, {v})\n{v} = q + p[0]",
    "for i, (p, q) in enumerate(((1, {n}), ({k}, 2))):\n    {v} = {v} * p + q - i",
    "if (p := {v}.ndim) > 1:\n    {v} = {v} * p\nelse:\n    {v} = {v} + {k}",
    "p = [y := i * 2 for i in range({k})]\n{v} = {v} + y + len(p)",
    "p = any((y := s) > {k} for s in {v}.shape + (9,))\n{v} = {v} * y + p",
    "p = {{f'a{{i}}': i + 1 for i in range(3) if i != {k}}}\n{v} = {v} * sum(p.values()) + len(p)",
    "p = [i * j for i in range(3) for j in range(i) if i > j]\n{v} = {v} + sum(p)",
    "p = {{i: j for i in range(2) for j in range({k})}}\nfor q, r in p.items():\n    {v} = {v} + q * r",
    "p = [*{v}.shape, *range({k})]\n{v} = {v} + len(p) + max(p)",
    "p = {{'a': 1, **{{'b': {n}}}}}\n{v} = {v} + p['b'] * p.get('a', 2) + p.get('c', {k})",
    "p = None\n{v} = {v} + (1 if p is None else 2) + ({v} is not None)",
    "p = True\n{v} = {v} + (p is True) + (p is not False) + ('a' == 'b') + (({k}, 1) == (1, 1))",
    "p = {v}\n{v} = {v} + 1 if p is {v} else {v} * 2",
    "{v} = {v} + ({v}.dtype.kind == 'f') + {v}.dtype.itemsize + {v}.itemsize",
    "{v} = {v} + {v}.nbytes + ({v}.dtype.name == 'float32')",
    "assert {v}.ndim >= 0\nassert {k} < 9, 'no'\n{v} = {v} + 1",
    "if {v}.ndim > 9:\n    raise ValueError('no')\n{v} = {v} - {k}",
    "def t(p):\n    def o():\n        nonlocal p\n        p += 1\n        return p\n    return o() + o()\n{v} = {v} * t({k})",
    "p = q = {k}\ndel q\n{v} = {v} + p",
    "{v} = {v} + np.ndim({v}) * np.size({v}) + len(np.shape({v}))",
    "p = {v}.ndim and {k}\nq = 0 or {v}\n{v} = q + p",
    "p = +True + -True + ~{k} + +{k}\n{v} = {v} + p",
    "p = {v} if {k} in (1, 2) and 3 not in [1, {k}] else {v} * 2\n{v} = p + ('a' in 'abc')",
    "p = 0\nwhile p < {k}:\n    p += 1\n    if p == 2:\n        continue\n    {v} = {v} + p\nelse:\n    {v} = {v} * 2",
    "for p in range(3):\n    for q in range(3):\n        if q == {k}:\n            break\n    else:\n        {v} = {v} + q",
    "t = lambda *p, q={k}, **r: p[0] * q + len(r)\n{v} = t({v}, 1, y=2)",
    "t = (lambda p, q={n}: p + q) if {v}.ndim else abs\n{v} = t({v})",
    "p = ({v},) * 2 + ({n},)\n{v} = p[1] + p[-1]",
    "p = [[1, 2], [3, {k}]]\np[1][0] = {v}\nq = [r[::-1] for r in p]\n{v} = q[1][1] * q[0][0]",
    "p = list(zip(range({k}), (1, 2, 3)))\nq = dict(p)\n{v} = {v} + len(q) + sum(q.keys())",
    "p = tuple(map(lambda r: r * 2, [1, {k}]))\n{v} = {v} * p[1] + min(p)",
    "p = slice({k}) if {v}.ndim else ...\n{v} = {v}[p] * 2",
    "p = ' '.join(['a', 'b']).split()\n{v} = {v} + len(p) + ('%d' % {k} == '1')",
    "{v} = {v} + (1 << {k}) + (1{k} >> 1) + ({k} & 6 | 1 ^ 2) + int('1{k}') + round({k}.5) + abs(-{k}) + divmod(17, {k} + 1)[1]",
    "p = {k} ** 2 ** 2 - 2 ** -1 + 7 // -{k} if {k} else 1\n{v} = {v} + p",
    "print({v})\n{v} = {v} + 1",
    "print({v}.shape, {k}, 'a', sep='-', end='!\\n')\n{v} = {v} + 1",
    "print('sum', {v}.ndim, [1, {k}], None, True)\nprint()\n{v} = {v} + 1",
    "print(f'{{{v}.ndim:3d}} {{{k}!r}} {{{v}}}')\n{v} = {v} * 2",
    "for p in range(2):\n    print(p, {v}, end=' ')\n{v} = {v} - 1",
    "print({v} > 0, {k})\nprint(*range({k}), sep=', ')\n{v} = {v} + 1",
    "p, q = {v}, 2\ndel p\np = q\ndel q\n{v} = {v} * p",
    "p = [{v}, 1, 2, {k}]\ndel p[1], p[-1]\n{v} = p[0] * len(p) + p[-1]",
    "p = [1, 2, 3, 4]\ndel p[1:3]\n{v} = {v} + p[1] + len(p)",
    "p = {{'a': [1, {k}], 'b': {{}}}}\ndel p['a'][0]\np['b']['c'] = {v}\n{v} = p['b']['c'] * p['a'][0]",
    "p = [*range({k}), *({v}.ndim, 2), *[]]\n{v} = {v} + sum(p)",
    "p = {{**{{'a': 1}}, 'b': 2, **dict(c={k})}}\n{v} = {v} + sum(p.values()) * len([*p])",
    "*p, q = [*{v}.shape, {k}]\n[r, *t] = (1, 2, 3)\n{v} = {v} * q + len(p) + r + t[-1]",
    "p = max(*[1, {k}], *(2, 3))\n{v} = {v} + p",
    "t = dict(q={n}, p={v})\nf = lambda p, q: p * q\n{v} = f(**t)",
    "p = [(i, j) for i in range(2) for j in 'ab' if (i, j) != (1, 'a')]\n{v} = {v} + len(p) * p[-1][0]",
    "p = {{i: [j for j in range(i)] for i in range(3)}}\n{v} = {v} + len(p[2]) + sum(p[2])",
    "p = {{i % 2: i for i in range({k} + 2)}}\n{v} = {v} + p[1] + p.get(0)",
    "p = {v} is {v} and {v}.T is not {v}\nq = [{v}] == [1] if False else None is None\n{v} = {v} + p + q",
    "p = (1, 2)\nq = p\n{v} = {v} + (p is q) + ('a' is not 'b') + (... is ...) + (True is True) + (np.float32 is np.float32)",
    "p = np.float32 == np.dtype('float32')\n{v} = {v} + p + ({v}.dtype != np.int8) + ({v}.dtype is None)",
    "p = 1 < {k} <= 3 != {k} > 0\nq = {k} in range(2) or {k} not in (1, 2)\n{v} = {v} + p + q",
    "global later_\nlater_ = {v}\n{v} = later_ * 2",
    "p: list[int] = [1, {k}]\np[0]: int\n(q): float = 2.5\n{v} = {v} + p[0] * q",
    "p = True if [] else False if () else {{}} or None or '' or 'b'\n{v} = {v} + len(p)",
    "p = range(1, 9, {k} + 1)\nq = range(0)\n{v} = {v} + len(p) + p[-1] + (1 if p else 2) + (3 if q else 4)",
    "p = (lambda *q, r=1, **t: len(q) + r + len(t))(1, 2, r=3, s={k})\n{v} = {v} + p",
    "t = zip([1, 2], (3, {k}))\np, q = next(t)\n{v} = {v} + p * q + len(list(t))",
    "t = (i * 2 for i in range(4) if i)\n{v} = {v} + next(t) + sum(t)",
    "with np.errstate(all='ignore', divide='warn'):\n    {v} = {v} + 1\nwith np.printoptions(precision=2):\n    {v} = {v} * 2",
    "try:\n    p = {v} * 2\nexcept ValueError:\n    p = 1\nelse:\n    p = p + 1\nfinally:\n    q = {k}\n{v} = p + q",
    "p = str({k}) + f'{{{k}:>3}}' + 'ab'.upper() + 'x'.join(['1', '2'])\n{v} = {v} + len(p)",
    "p = list('abc')[::-1] + sorted([3, 1, {k}])\n{v} = {v} + p[-1] + len(p[1:])",
    "p = isinstance({v}, np.ndarray) + isinstance({k}, int) + isinstance('a', (str, list)) + callable(len)\n{v} = {v} + p",
    "{v} = {v} + np.allclose({v}, {v} + 1e-9) + np.array_equal({v}, {v}) + np.array_equal({v}, {n})",
    "{v} = np.where(np.allclose({v}, {n}, rtol=0.5), {v}, {v} + 1)",
    "if np.float32 is not np.float64 and {v}.dtype in (np.int32, np.float32):\n    {v} = {v} * 2",
    "{v} = {v}.astype(np.float32 if {v}.dtype == np.float64 else {v}.dtype) + np.zeros(1, dtype={v}.dtype)",
)
_MADE = (
    "p = np.arange(5)\np[1] = {k}\np += 1\n{v} = {v} + p[1] + p[-1]",
    "p = np.array([[1, 2], [3, {k}]])\np[0] = p[1]\np[:, 1] *= 2\n{v} = {v} * p[0, 1] + p.sum()",
    "p = np.array([1, 2, {k}])\n{v} = {v} * int(p[2]) + float(p[0]) + p[::-1][0].item() + p.max()",
    "for p in np.arange({k}):\n    {v} = {v} + p",
    "for p, q in np.array([[1, 2], [3, {k}]]):\n    {v} = {v} * p - q",
    "p = int(np.prod({v}.shape)) + int(np.array({k}))\n{v} = {v} + p",
    "p = np.zeros((2, 3))\np[1, 1:] = {n}\np[..., 0] = {k}\n{v} = {v} + p[1].sum() * p.shape[1]",
    "p = np.full(3, {n})\np[np.array([0, 2])] = {k}\n{v} = {v} + p[1]",
    "p = np.full((2, 2), np.array([1, {k}]))\n{v} = {v} + p[1, 0] + p.T[1, 0]",
    "p = np.ones(3, bool)\np[{k} % 3] = False\n{v} = {v} + p.sum() + np.arange(3)[p][0]",
    "p = np.linspace(0, {k}, 3)\n{v} = {v} + p[1] + p[-1] + np.linspace(1, 2, 5, endpoint=False)[{k} % 5]",
    "p = np.arange(12).reshape(3, 4)\n{v} = {v} + p[{k} % 3, ::2].sum() + p[[0, 2], [1, {k} % 4]].sum() + p[p > {k}].sum()",
    "p = np.eye(3, k={k} % 2)\n{v} = {v} * p[0, 1] + p.trace() + np.tri(2)[0, 1] + np.identity(2)[1, 1]",
    "p = np.array([3, 1, 2])\nq = np.sort(p)[{k} % 3] + np.argsort(p)[0] + np.cumsum(p)[-1]\n{v} = {v} + q",
    "p = np.array([0, {k}, 2])\n{v} = {v} + np.nonzero(p)[0].size + len(np.flatnonzero(p > 1)) + np.count_nonzero(p)",
    "p = np.arange({k}, 9, 2)\nq = p[p.size // 2 :]\n{v} = {v} + len(q) + q[0] + p[-2]",
    "p = bool(np.array({k} > 1)) and not np.zeros(1)[0]\n{v} = {v} + p",
    "p = np.float32({k}) + np.int8(3) * np.float16(0.5)\n{v} = {v} * p + np.bool_(True)",
    "p = [np.ones(2) * i for i in range({k} + 1)]\n{v} = {v} + np.stack(p).sum() + np.concatenate(p).size",
    "p = np.array([]).size + np.zeros((0, 3)).sum() + len(np.empty((2, 0)))\n{v} = {v} + p",
    "if np.arange(3).sum() == 3 and np.array([1, {k}]).max() > 1:\n    {v} = {v} * 2",
    "p = np.array([1.5, {n}])\np[0] += {k}\np.sort()\n{v} = {v} + p[1]",
)  # fmt: skip


def _rows(h: Hand, v: str, part: KnownExpression, text: str) -> list[str]:
    return text.format(v=v, n=h.number(part), k=h.integer(0, 5), m=h.one("+-*")).rstrip("\n").split("\n")


def syntax(h: Hand, v: str, part: KnownExpression) -> list[str]:
    """Draw containers, classes and names."""
    if h.chance(0.2):
        return [*_rows(h, v, part, _BOX), *_rows(h, v, part, h.one(_BOXES))]
    return _rows(h, v, part, h.one(_SYNTAX))


def made(h: Hand, v: str, part: KnownExpression) -> list[str]:
    """Draw small arrays that the source makes, changes and reads, so that their elements are known at compile time."""
    if part.ndim == 0 and h.chance(0.5):
        raise Redraw
    text = h.one(_MADE) if h.chance(0.7) else h.one(_MADE) + "\n" + h.one(_MADE)
    return _rows(h, v, part, text)
