"""Statements that fleet refuses by design, whether CPython runs them or not. A program that ends with one must be refused there."""

from __future__ import annotations

from fleet.verify.programs.parts.hand import Hand, KnownExpression

_BLOCKS = r"""
v = {x} + undefined
v = nump.abs({x})
v = {x} + Box()
v = {x} + later\nlater = 1
v = {x} + later\nfor later in range(2):\n    pass
v = {x} + id({x})
v = open('/nowhere')
v = {x} + len(globals())
v = {x} + ord('a')
import os\nv = {x} + os.getpid()
from collections import deque\nv = {x} + len(deque())
import scipy.linalg\nv = scipy.linalg.norm({x})
v = np.fft.fft({x})
from numpy import foo\nv = {x}
v = {x}.strides[0] + {x}
v = {x} + {x}.flags.writeable
v = ({x}.shape).foo
v = (1).foo
v = np.float32.foo
v = helper({x}, 1, 2, 3)
v = helper()
v = (lambda p: p)({x}, q=1)
v = helper({x}, v={x})
v = {x}.reshape(7, 97)
v = np.tile({x}, -1)
v = np.repeat({x}, -2)
v = {x}.reshape(-1, -1)
v = np.sum({x}, axis=7)
v = np.moveaxis({x}, [0], [0, 0])
v = np.nonzero({x}.sum())[0]
v = np.sort({x}.sum())
v = np.tril({x}.sum())
v = np.split({x}, 2, axis=8)
v = np.diff({x}.sum())
v = np.arange(3)[5]
v = np.ones((2, 3))[-3]
v = np.ones(3)[[0, 7]]
v = np.arange(4)[::0]
v = np.ones(3)\nv[5] = 1
v = np.ones(3)\nv[[1, 9]] = 2
v = np.ones(3)\nv[np.ones(2) > 0] = 1
v = np.ones((2, 3))\nv[0] = np.ones(2)
v = np.ones((2, 3))\nv += np.ones((4, 2, 3))
v = np.ones(4)\nv[[0, 1]] = np.ones(3)
v = np.ones((3, 3))[[0, 1], [0, 1, 2]]
p, q = ({x}, 1, 2)\nv = p
p, *q, r = [{x}]\nv = p
(p, q), r = ((1, 2, 3), {x})\nv = r
v = np.ones(3)[0, 0]
v = np.ones((2, 3))[..., ..., 0]
v = np.arange(3)[0, [1]]
v = ~({x} / 2)
v = -({x} > 0)
v = +({x} > 0)
v = ({x} / 2) << 1
v = np.bitwise_and({x} / 2, 1)
v = np.clip({x} > 0, False, True) - ({x} > 1)
v = ({x} / 2) & 1
v = np.zeros(2, np.int8) + 300
v = np.arange(3, dtype=np.uint8) - 256
v = np.array([np.nan]).astype(int)[:0] + np.full(2, np.nan, int)
v = np.full(3, 300, np.int8)
v = np.arange(3) << -1
v = np.arange(3, dtype=np.int8) << 300
v = {x}.astype('complex128')
v = np.ones(2, dtype='S3')
v = np.array([1, 2], dtype='foo')
v = np.zeros(2, dtype=object)
v = (-8) ** 0.5 + {x}
v = np.arange(3, dtype=complex)
v = np.ones(int({x}.size) + {x}.sum())
v = {x}.reshape({x}.sum(), -1)
v = np.arange({x}.max())
v = np.ones(2.5)
v = np.sum({x}, keepdims={x})
v = np.eye({x}.sum())
v = np.linspace(0, {x}.sum(), 3)
v = np.ones(3)[1.5]
v = np.ones(3)['a']
v = {x}[{x} / 2]
v = np.ones(3)\nv['a'] = 1
v = np.ones(3)\nv[0.5] = 1
v = np.ones(2, int)\nv += 0.5
v = np.arange(3)\nv /= 2
v = np.ones(2, bool)\nv += 1
v = float({x}.sum()) + {x}
v = {x}.sum().item() + {x}
v = int({x}.max()) * {x}
v = [1] + 2
v = np.abs(None)
v = np.full(3, None)
v = np.array([1, None])
v = {x} + 'a'
v = ~1.5 + {x}
v = {{**[1]}}
v = np.array(len)
v = np.sqrt([1, None])
v = np.stack(1)
v = -'a'
v = len(3)
v = {x} @ [None]
v = {x} if {x}.sum() > 0 else {x} * 2
if {x}.max() > 1:\n    v = {x}\nelse:\n    v = {x} * 2
v = {x}\nwhile v.sum() > 0:\n    v = v - 1\n    break
v = {x} + (not {x}.sum())
v = {x} and {x}.sum()
try:\n    v = {x} + 1 // 0\nexcept ZeroDivisionError:\n    v = {x}
with open('/nowhere') as p:\n    v = {x}
match 1:\n    case _:\n        v = {x}
v = {x} + len({{1, 2}})
v = {x} + len(b'a')
v = {x} + 1j
v = [{x} async for p in {x}]
v = *{x}
v = {x}[True]
v = np.ones((2, 3))[True, 0]
v = np.ones((2, 3, 4))[[0], :, [1]]
v = np.ones((2, 3))[np.array([0]), None, np.array([1])]
{a} += 1\nv = {a}
{a}[...] = 1\nv = {a}
v = {x}.copy()\np = v[...]\nv += 1
v = {x}.sum()\nv[...] = 1
{a}.sort()\nv = {a}
v = np.ones((2, 3))\nv.T[0] = 1\np = v.T\np[0] = 1
v = np.ones(4)\np = v[::2]\nv[0] = 2
v = np.ones(4)\np = v.reshape(2, 2)\np *= 2
v = {x} + 1\nv[v > 0] = np.ones((9, 9))
v = {x} + 1\n(v)[v > 0, 0] = 1
v = {x} + 1\nv.T[v.T > 0] = {x}
v = np.sort({x}, kind='foo')
v = np.meshgrid([1], [2], indexing='ab')
v = np.einsum({x}, [0])
v = np.add({x}, 1, out={x})
v = {x}.copy()\nnp.put_along_axis(v, {x}, 1, None)
def p(q):\n    return q\n@p\ndef r():\n    return {x}\nv = r()
v = {x} + 7 ** 1000
v = {x} * (1 << 70)
v = {x} + 2 ** 64
p = 3 ** 50 * 3\nv = {x} + p
v = np.arange(2 ** 63, 2 ** 63 + 2)
def p(q):\n    return p(q - 1)\nv = p({x})
raise ValueError('no')\nv = {x}
raise TypeError\nv = {x}
if {x}.ndim >= 0:\n    raise ValueError(f'of {{1}}', 2)\nv = {x}
assert 1 > 2\nv = {x}
assert {x}.ndim < 0, 'no'\nv = {x}
assert not {x}.shape == {x}.shape, f'{{1}}'\nv = {x}
v = {x} + 1 // 0
v = {x} + 1 % 0
v = {x} + 1 / 0
v = 0 ** -1 + {x}
v = np.arange(3) ** -1
v = np.arange(1, 5, 0)
v = 1 << -1
p = {{'a': 1}}\nv = {x} + p['b']
v = {x} + [1, 2].index(3)
p = {{'a': 1}}\ndel p['b']\nv = {x}
v = (1, 2)[3] + {x}
p = [1]\np[4] = 2\nv = {x}
v = {x}[*(0,)]
del {x}.T\nv = {x}
p = q = 1\ndel (p, q)\nv = {x}
del {x}[0]\nv = {x}
for *p in [1]:\n    pass\nv = {x}
v = [1].foo
v = 'a'.foo + {x}
v = (1, 2).foo()
v = range(3).foo
v = None.foo
v = len.foo
v = {x}.dtype.foo
v = np.take({x} + 0, 99)
v = np.take(np.ones(3), -9)
v = 2 @ 3 + {x}
v = np.sum({x}, axis=[0])
v = np.einsum({x})
v = np.einsum('ij')
v = np.einsum(3, {x})
v = {x} + ~'a'
v = np.full(2, np.inf, np.int8)
v = np.full(2, np.nan).astype(int)[:0] + np.array(np.nan, dtype=int)
v = {x} + (lambda: undefined)()
v = {x}\nv += 'a'
v = {x}\nv.foo = 1
v = {x}\nv.foo += 1
v = 3\nv[0] = 1
v = 'abc'\nv[0] = 'd'
v = (1, 2)\nv[0] = {x}
v = {x} if undefined else 1
v = {x} + (p := undefined)
v = [p for p in undefined]
v = {{undefined: 1}}
v = {{[1]: 1}}
v = {x}.reshape((2, None))
v = {x}.reshape('a')
v = np.zeros('a')
v = np.zeros((1, 'a'))
v = np.zeros(None)
v = np.zeros([2, 1.5])
v = np.sum({x}, axis='a')
v = np.sum({x}, axis=1.5)
v = np.sum({x}, keepdims='a')
v = np.sum({x}, keepdims=1.5)
v = np.linspace('a', 1)
v = np.arange('a')
v = np.arange(1, 2, 3, 4, 5)
v = np.eye('a')
v = np.full(2, 'a')
v = np.full(2, [1, 2, 3])
v = np.concatenate(3)
v = np.concatenate([1, 2])
v = np.concatenate({x}.sum())
v = np.stack([np.ones(2), np.ones(3)])
v = np.vstack(3)
v = np.stack([np.ones(2)], axis=3)
v = np.concatenate([np.ones((2, 2)), np.ones((2, 3))])
v = np.hstack([np.ones((2, 2)), np.ones(3)])
v = np.meshgrid([1], indexing='ji')
v = np.pad({x}, ((1, 2, 3),))
v = np.pad({x}, 'a')
v = np.tile({x}, 'a')
v = {x}.astype()
v = {x}.astype(3)
v = {x}.astype('foo')
v = np.array({x}, dtype=3)
v = np.array(np)
v = np.array(range)
v = np.abs(np)
v = {x} + np
v = {x} + len
v = {x} + {{}}
v = {x} + (lambda: 1)
v = {x} < None
v = {x} @ 'a'
v = not np\nv = {x} + v
v = -len
v = {x}[{{}}]
v = {x}[np]
v = {x}['a', 0]
v = {x}[None, 'a']
v = {x}[0.5:]
v = {x}[:'a']
v = {x}[::1.5]
v = {x}[[0.5]]
v = {x}[[[0], [0, 1]]]
v = np.ones((2, 3))\nv[5] = 1
v = np.ones((2, 3))\nv[:, 7] = 1
v = np.ones((2, 3))\nv[0, 0, 0] = 1
v = np.ones((2, 3))\nv[[0, 1], [0, 1, 2]] = 1
v = np.ones((2, 3))\nv[:2, 'a'] = 1
v = np.ones((2, 3))\nv[...] = np.ones((3, 2))
v = np.ones((2, 3))\nv[0] = 'a'
v = np.ones((2, 3))\nv[0] = [1, 2]
v = np.ones((2, 3))\nv[{x}.sum() > 0] = 1
v = np.ones((2, 3)) + {x}.sum()\nv[v > 0] = np.arange(3)
v = np.ones((2, 3)) + {x}.sum()\nv[v[:, :1] > 0] = 1
v = np.ones((2, 3)) + {x}.sum()\nv[np.argsort({x}.reshape(-1)[:1]), 1:] = 1
v = np.ones((2, 3))\nv[{x}.sum() / 2] = 1
v = np.ones((2, 3))\nv[{x} * 0.5] = 1
v = np.take_along_axis(np.ones((2, 3)), np.ones((2, 3)), axis=0)
v = np.take_along_axis(np.ones((2, 3)), np.zeros((3, 3), int), axis=1)
v = np.take_along_axis(np.ones((2, 3)), np.zeros(2, int), axis=1)
v = np.take_along_axis(np.ones((2, 3)), np.full((1, 3), 7), axis=0)
v = [1]\nnp.put_along_axis(v, np.zeros(1, int), 1, axis=0)\nv = {x}
v = np.ones(3)\nnp.put_along_axis(v, np.array([7]), 1, axis=0)
v = np.ones(3)\nv.sort(axis=2)
v = np.ones((2, 3)) + {x}.sum()\nv = v[[0, 1], [0, 1, 2]]
v = np.ones((2, 3)) + {x}.sum()\nv = v[[0, 5], [0, 1]]
v = np.ones((2, 3)) + {x}.sum()\nv = v[[0, 1], [0, -9]]
v = np.ones((2, 3)) + {x}.sum()\nv = v[[0, 7]]
v = np.ones((2, 3)) + {x}.sum()\nv = v[:, [-4]]
v = np.ones((2, 3))[np.array([], int)]
v = np.ones((2, 3))[[]]
v = np.ones(3)[np.array(1.5)]
v = np.ones((2, 3))[np.ones((3, 2)) > 0]
v = np.ones((2, 3))[True]
v = np.ones(3)[np.True_]
v = {x}[{x} != {x}]
def p(q, q2=undefined):\n    return q\nv = p({x})
def p(q):\n    return q + undefined\nv = p({x})
def p(*, q):\n    return q\nv = p({x})
v = helper(**{{'w': 1}})
def p(q):\n    pass\nv = p({x}) + 1
def p(q):\n    yield q\nv = p({x})
p = 1\nv = p({x})
v = {x}({x})
v = 'a'()
v = np.pi()
v = np({x})
v = helper.foo
class P:\n    pass\nv = P().foo
class P:\n    def q(self):\n        return 1\nv = P().q(2)
class P:\n    pass\nv = P(1)
class P:\n    pass\nv = P() + {x}
class P:\n    pass\nv = -P()
class P:\n    pass\nv = P() < P()
class P(undefined):\n    pass\nv = {x}
class P:\n    p = undefined\nv = P.p
v = super().p
while undefined:\n    pass\nv = {x}
for p in 3:\n    pass\nv = {x}
for p in None:\n    pass\nv = {x}
if undefined:\n    v = 1\nelse:\n    v = {x}
with undefined:\n    v = {x}
p, q = 1\nv = {x}
p, q = {x}, 1, 2\nv = p
(p, q), r = [1, 2], 3, 4\nv = {x}
*p, q, r = [1]\nv = {x}
p, = []\nv = {x}
p, q = range(3)\nv = {x}
p, q = (i for i in range(9))\nv = {x}
p, q = zip([1], [2])\nv = {x}
print(undefined)\nv = {x}
print({x}, foo=1)\nv = {x}
print({x}, sep=1)\nv = {x}
import numpy.foo\nv = {x}
from numpy.linalg import foo\nv = {x}
from math import foo\nv = {x}
import math\nv = math.foo + {x}
from . import p\nv = {x}
import math\nv = math.sqrt(-1) + {x}
import math\nv = math.sqrt({x})
import math\nv = math.floor('a')
v = int('a') + {x}
v = float('a') + {x}
v = int(None)
return {x}\nv = 1
v = {x}; return
return undefined
raise undefined\nv = 1
raise ValueError(undefined)\nv = 1
assert undefined\nv = {x}
assert 0, undefined\nv = {x}
global v\nv = {x}
nonlocal p\nv = {x}
v = later_\nlater_ = 1
del later_\nv = {x}
later_ += 1\nv = {x}
v = {x}\ndel v
try:\n    v = undefined\nexcept NameError:\n    v = {x}
v = f'{{undefined}}'
v = f'{{{x}:3d}}'
v = f'{{1:foo}}'
v = '%d' % 'a'
v = 'a'.join([1])
v = 'a' + 1
v = [1] * 1.5
v = [1] + (2,)
v = [1][{x}]
v = [1]['a']
v = {{'a': 1}}[{x}]
v = {{'a': 1}}[['b']]
v = {{{x}: 1}}
v = 1 in 3
v = {x} in [1]
v = 'a' in {x}
v = 3 < 'a'
v = [1] < [2.5]\nv = {x} + v
v = {x} is 3
np.random.seed()\nv = {x}
np.random.seed(-1)\nv = {x}
v = np.random.rand(2)
np.random.seed(1)\nv = np.random.foo(2)
np.random.seed(1)\nv = np.random.rand(2, foo=1)
np.random.seed(1)\nv = np.random.normal(size=(2, -1))
np.random.seed(1)\nv = np.random.randint(5, 2, size=3)
v = np.random.default_rng().random(2)
np.random.seed(1)\nv = np.random.rand()
""".strip().split("\n")
"""One entry per row, with `\n` for a new line. The last lines mostly assign `v`."""
_LIMITS = r"""
v = np.zeros((1 << 20) + 1)\nv[3] = 1\nv = v[:3].copy()
v = {x} + np.zeros((1 << 15, 1 << 16)).size
v = {x} + np.zeros(1 << 28).size
v = np.arange(65537)\nv = v[v > 65530]
v = np.arange(65536)\nv = v[v > 65530]
v = np.zeros((2049, 2049))[np.arange(2049)[:, None], np.arange(2049)]
v = len([0] * 1000001) + {x}
v = sum(range(1000001)) + {x}
v = np.array([[0] * 1100] * 1000)
v = 'a' * 1000001\nv = {x}
v = 1 << 1023\nv = v * 2 + {x}
v = 2 ** 1030 + {x}
v = np.arange(9223372036854775807, 9223372036854775809)
v = np.full(2, 1 << 62) * 4 + np.int8(3)
p = [{x}]\nwhile len(p) < 1000001:\n    p += p\nv = p[0]
v = np.arange(0, 3, 1 << 64)
v = {x} + (1 << 63)
""".strip().split("\n")
"""Programs beyond what fleet follows, or what its dtypes hold."""
_LONG = (
    "v = {x}" + " + 1" * 250,
    "v = {x} + " + " + ".join(f"undefined{n}" for n in range(25)),
    "".join(f"e{n} = undefined{n}\\n" for n in range(25)) + "v = {x}",
)
"""Expressions that are too deep, and more errors than fleet reports."""


def refused(h: Hand, x: KnownExpression, inputs: tuple[str, ...]) -> str:
    """Draw one of these statements."""
    kind = h.rng.random()
    text = h.one(_LIMITS if kind < 0.05 else _LONG if kind < 0.06 else _BLOCKS)
    return text.replace("\\n", "\n").format(x=x.text, a=h.one(inputs))
