"""Statements that fleet refuses by design, whether CPython runs them or not: a program that ends with one is refused, there."""

from __future__ import annotations

from fleet.cosim.programs.hand import Hand, Known

__all__ = ["refused"]

_BLOCKS = (
    *("v = {x} + undefined", "v = nump.abs({x})", "v = {x} + Box()", "v = {x} + later\nlater = 1"),
    *("v = {x} + later\nfor later in range(2):\n    pass", "v = {x} + id({x})", "v = open('/nowhere')"),
    *(
        "v = {x} + len(globals())",
        "v = {x} + ord('a')",
        "import os\nv = {x} + os.getpid()",
        "from collections import deque\nv = {x} + len(deque())",
    ),
    *("import scipy.linalg\nv = scipy.linalg.norm({x})", "v = np.fft.fft({x})", "v = np.unique({x})", "v = np.cov({x})"),
    *(
        "from numpy import foo\nv = {x}",
        "v = {x}.strides[0] + {x}",
        "v = {x} + {x}.flags.writeable",
        "v = ({x}.shape).foo",
        "v = (1).foo",
    ),
    *("v = np.float32.foo", "v = helper({x}, 1, 2, 3)", "v = helper()", "v = (lambda p: p)({x}, q=1)"),
    *("v = helper({x}, v={x})", "v = {x}.reshape(7, 97)", "v = np.tile({x}, -1)", "v = np.repeat({x}, -2)"),
    *("v = {x}.reshape(-1, -1)", "v = np.sum({x}, axis=7)", "v = np.moveaxis({x}, [0], [0, 0])"),
    *("v = np.nonzero({x}.sum())[0]", "v = np.sort({x}.sum())", "v = np.tril({x}.sum())", "v = np.split({x}, 2, axis=8)"),
    *("v = np.diff({x}.sum())", "v = np.arange(3)[5]", "v = np.ones((2, 3))[-3]", "v = np.ones(3)[[0, 7]]"),
    *("v = np.arange(4)[::0]", "v = np.ones(3)\nv[5] = 1", "v = np.ones(3)\nv[[1, 9]] = 2"),
    *("v = np.ones(3)\nv[np.ones(2) > 0] = 1", "v = np.ones((2, 3))\nv[0] = np.ones(2)"),
    *("v = np.ones((2, 3))\nv += np.ones((4, 2, 3))", "v = np.ones(4)\nv[[0, 1]] = np.ones(3)"),
    *("v = np.ones((3, 3))[[0, 1], [0, 1, 2]]", "p, q = ({x}, 1, 2)\nv = p", "p, *q, r = [{x}]\nv = p"),
    *("(p, q), r = ((1, 2, 3), {x})\nv = r", "v = np.ones(3)[0, 0]", "v = np.ones((2, 3))[..., ..., 0]"),
    *("v = np.arange(3)[0, [1]]", "v = ~({x} / 2)", "v = -({x} > 0)", "v = +({x} > 0)", "v = ({x} / 2) << 1"),
    *("v = np.bitwise_and({x} / 2, 1)", "v = np.clip({x} > 0, False, True) - ({x} > 1)", "v = np.reciprocal({x} > 0)"),
    *("v = ({x} / 2) & 1", "v = np.zeros(2, np.int8) + 300", "v = np.arange(3, dtype=np.uint8) - 256"),
    *("v = np.array([np.nan]).astype(int)[:0] + np.full(2, np.nan, int)", "v = np.full(3, 300, np.int8)"),
    *("v = np.arange(3) << -1", "v = np.arange(3, dtype=np.int8) << 300", "v = {x}.astype('complex128')"),
    *("v = np.ones(2, dtype='S3')", "v = np.array([1, 2], dtype='foo')", "v = np.zeros(2, dtype=object)"),
    *("v = (-8) ** 0.5 + {x}", "v = np.arange(3, dtype=complex)", "v = np.ones(int({x}.size) + {x}.sum())"),
    *("v = {x}.reshape({x}.sum(), -1)", "v = np.arange({x}.max())", "v = np.ones(2.5)", "v = np.sum({x}, keepdims={x})"),
    *("v = np.isclose({x}, 1, rtol={x})", "v = np.var({x}, ddof={x}.sum())", "v = np.eye({x}.sum())"),
    *("v = np.pad({x}, 1, constant_values={x}.sum())", "v = np.linspace(0, {x}.sum(), 3)", "v = np.roll({x}, {x}.sum())"),
    *("v = np.ones(3)[1.5]", "v = np.ones(3)['a']", "v = {x}[{x} / 2]", "v = np.ones(3)\nv['a'] = 1"),
    *("v = np.ones(3)\nv[0.5] = 1", "v = np.ones(2, int)\nv += 0.5", "v = np.arange(3)\nv /= 2"),
    *("v = np.ones(2, bool)\nv += 1", "v = float({x}.sum()) + {x}", "v = {x}.sum().item() + {x}", "v = int({x}.max()) * {x}"),
    *("v = np.array({x}.tolist())", "v = [1] + 2", "v = np.abs(None)", "v = np.full(3, None)", "v = np.array([1, None])"),
    *("v = {x} + 'a'", "v = ~1.5 + {x}", "v = {{**[1]}}", "v = np.array(len)", "v = np.sqrt([1, None])", "v = np.stack(1)"),
    *("v = -'a'", "v = len(3)", "v = {x} @ [None]", "v = {x} if {x}.sum() > 0 else {x} * 2", "v = {x}[{x} > 0]"),
    *("if {x}.max() > 1:\n    v = {x}\nelse:\n    v = {x} * 2", "v = {x}\nwhile v.sum() > 0:\n    v = v - 1\n    break"),
    *(
        "v = {x} + (not {x}.sum())",
        "v = {x} and {x}.sum()",
        "v = np.nonzero({x})[0]",
        "try:\n    v = {x} + 1 // 0\nexcept ZeroDivisionError:\n    v = {x}",
    ),
    *(
        "with open('/nowhere') as p:\n    v = {x}",
        "match 1:\n    case _:\n        v = {x}",
        "v = {x} + len({{1, 2}})",
        "v = {x} + len(b'a')",
    ),
    *("v = {x} + 1j", "v = [{x} async for p in {x}]", "v = *{x}", "v = {x}[True]", "v = np.ones((2, 3))[True, 0]"),
    *("v = np.arange(3) << np.arange(3)", "v = np.ones((2, 3, 4))[[0], :, [1]]"),
    *("v = np.ones((2, 3))[np.array([0]), None, np.array([1])]", "{a} += 1\nv = {a}", "{a}[...] = 1\nv = {a}"),
    *("v = {x}.copy()\np = v[...]\nv += 1", "v = {x}.sum()\nv[...] = 1", "{a}.sort()\nv = {a}"),
    *("v = np.ones((2, 3))\nv.T[0] = 1\np = v.T\np[0] = 1", "v = np.ones(4)\np = v[::2]\nv[0] = 2"),
    *("v = np.ones(4)\np = v.reshape(2, 2)\np *= 2", "v = {x} + 1\nv[v > 0] = np.ones((9, 9))"),
    *("v = {x} + 1\n(v)[v > 0, 0] = 1", "v = {x} + 1\nv.T[v.T > 0] = {x}", "v = np.sum({x}, where={x} > 0)"),
    *("v = np.sort({x}, kind='foo')", "v = np.pad({x}, 1, mode='edge')", "v = np.linalg.norm({x}, ord=1)"),
    *("v = np.meshgrid([1], [2], indexing='ab')", "v = np.linalg.norm(np.ones((2, 2)), ord=2)", "v = np.einsum({x}, [0])"),
    *("v = np.array({x}, order='F')", "v = np.add({x}, 1, out={x})", "v = np.round(np.arange(3), -1)"),
    *("v = {x}.reshape(-1, order='F')", "v = {x}.copy()\nnp.put_along_axis(v, {x}, 1, None)"),
    *("def p(q):\n    return q\n@p\ndef r():\n    return {x}\nv = r()", "v = {x} + 7 ** 1000", "v = {x} * (1 << 70)"),
    *("v = {x} + 2 ** 64", "p = 3 ** 50 * 3\nv = {x} + p", "v = np.arange(2 ** 63, 2 ** 63 + 2)"),
    *("def p(q):\n    return p(q - 1)\nv = p({x})", "raise ValueError('no')\nv = {x}", "raise TypeError\nv = {x}"),
    *("if {x}.ndim >= 0:\n    raise ValueError(f'of {{1}}', 2)\nv = {x}", "assert 1 > 2\nv = {x}"),
    *("assert {x}.ndim < 0, 'no'\nv = {x}", "assert not {x}.shape == {x}.shape, f'{{1}}'\nv = {x}", "v = {x} + 1 // 0"),
    *("v = {x} + 1 % 0", "v = {x} + 1 / 0", "v = 0 ** -1 + {x}", "v = np.arange(3) ** -1", "v = np.arange(1, 5, 0)"),
    *("v = 1 << -1", "p = {{'a': 1}}\nv = {x} + p['b']", "v = {x} + [1, 2].index(3)", "p = {{'a': 1}}\ndel p['b']\nv = {x}"),
    *("v = (1, 2)[3] + {x}", "p = [1]\np[4] = 2\nv = {x}"),
)


def refused(h: Hand, x: Known, inputs: tuple[str, ...]) -> str:
    """Lines of which the last ones, mostly, give `v` a value."""
    return h.one(_BLOCKS).format(x=x.text, a=h.one(inputs))
