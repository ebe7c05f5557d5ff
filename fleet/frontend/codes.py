"""The front end's errors: a stable code, what it says, a source that triggers it, and what to write instead.

A test runs every example and finds its code; docs/numpy.md shows the table (`python -m fleet.frontend.codes` prints it).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class ErrorCode(NamedTuple):
    """title: what is wrong; example: a script that has it; instead: what to do."""

    title: str
    example: str
    instead: str


_NP = "import numpy as np\n"
_X = _NP + "np.random.seed(0)\nx = np.random.randn(300, 300)\n"

CODES: Mapping[str, ErrorCode] = {
    # F1: syntax
    "F101": ErrorCode("the text is not Python", "x = (1,\n", "correct the text; the place is where Python stopped"),
    # F2: names and calls
    "F201": ErrorCode("a name is not defined", "print(undefined)", "define it, or correct its spelling"),
    "F202": ErrorCode(
        "a name is used before it is assigned", "def f():\n    print(a)\n    a = 1\nf()", "assign it first, or `global`"
    ),
    "F203": ErrorCode("a builtin that is not supported", "input('name')", "give data as weights or inputs"),
    "F204": ErrorCode(
        "a library that is not supported", "import os\nprint(os.getpid())", "a model uses numpy, math and its own functions"
    ),
    "F205": ErrorCode("a function of NumPy or math that is not supported", _NP + "np.bmat('1 2')", "see the tables of functions"),
    "F206": ErrorCode("an attribute that is not supported", _X + "print(x.ctypes)", "see the tables of methods"),
    "F207": ErrorCode("a model's function that the file does not have", "path.py:absent", "name one of the file's functions"),
    "F208": ErrorCode("a call's arguments do not fit", "def f(a):\n    return a\nf(1, 2)", "give what the function takes"),
    # F3: shapes
    "F301": ErrorCode(
        "shapes do not broadcast", _NP + "print(np.ones((2, 3)) + np.ones((3, 2)))", "reshape or transpose one of them"
    ),
    "F302": ErrorCode(
        "shapes do not multiply", _NP + "print(np.ones((2, 3)) @ np.ones((2, 3)))", "the inner dimensions must be equal"
    ),
    "F303": ErrorCode("a shape that is not possible", _NP + "print(np.ones(6).reshape(4, 2))", "keep the number of elements"),
    "F304": ErrorCode(
        "arrays that do not join", _NP + "print(np.stack([np.ones(2), np.ones(3)]))", "the other dimensions must be equal"
    ),
    "F305": ErrorCode(
        "an axis that the array does not have", _NP + "print(np.sum(np.ones(2), axis=1))", "axes count from 0, or -1 from the end"
    ),
    "F306": ErrorCode("an index out of range", _NP + "print(np.ones((2, 3))[2])", "indices end before the dimension's size"),
    "F307": ErrorCode(
        "axes that are no permutation", _NP + "print(np.transpose(np.ones((2, 3)), (0, 0)))", "name every dimension once"
    ),
    "F308": ErrorCode(
        "a dimension that does not split", _NP + "print(np.split(np.ones(5), 2))", "np.array_split takes unequal parts"
    ),
    "F309": ErrorCode("a maximum or minimum of nothing", _NP + "print(np.max(np.ones((0, 2))))", "leave out empty arrays"),
    "F310": ErrorCode("the wrong number of values to unpack", "a, b = 1, 2, 3", "give a target for every value, or a starred one"),
    "F311": ErrorCode(
        "einsum subscripts that do not fit", _NP + "print(np.einsum('ij->k', np.ones((2, 2))))", "one letter a dimension"
    ),
    "F312": ErrorCode("more indices than dimensions", _NP + "print(np.ones(3)[0, 0])", "index every dimension once"),
    # F4: dtypes and types
    "F401": ErrorCode("an operation that NumPy lacks for the dtype", _NP + "print(-np.array([True]))", "convert with .astype(...)"),
    "F402": ErrorCode("a number that the dtype cannot hold", _NP + "print(np.ones(2, np.int8) + 300)", "use a wider dtype"),
    "F403": ErrorCode("a dtype that is not supported", _NP + "print(np.ones(2, dtype='longdouble'))", "use a dtype of the table"),
    "F404": ErrorCode("a number that must be known from the source", _X + "print(np.ones(x.sum()))", "use a number, or a shape"),
    "F405": ErrorCode(
        "an index of the wrong kind", _X + "print(x[0.5])", "index with integers, slices, None, ... or an array of integers"
    ),
    "F406": ErrorCode(
        "a change in place that loses the dtype", _NP + "a = np.ones(2, int)\na += 0.5", "make a new array: a = a + 0.5"
    ),
    "F407": ErrorCode(
        "a Python number out of an array",
        _X + "print(float(x))",
        "take one element, or keep the array",
    ),
    "F408": ErrorCode("a value of the wrong type", "print([1] + 2)", "see what was expected"),
    # F5: outside the subset
    "F501": ErrorCode(
        "values decide what is computed",
        _X + "match x.sum():\n    case 1.0:\n        print(x)",
        "compute with all of it, choose with np.where",
    ),
    "F502": ErrorCode("a statement that is not supported", "async def f():\n    pass", "use the statements of the table"),
    "F503": ErrorCode("an expression that is not supported", "print(f'{1!a}')", "use the expressions of the table"),
    "F504": ErrorCode(
        "a change in place that another array may see", _X + "y = x.ravel('K')\ny[0] = 5\nprint(x)", "change a copy: y = y.copy()"
    ),
    "F506": ErrorCode("an argument that is not supported", _X + "print(np.eye(3, like=x))", "use the arguments of the table"),
    "F507": ErrorCode(
        "random numbers without a seed", _NP + "print(np.random.randn(2))", "np.random.seed(0), or np.random.default_rng(0)"
    ),
    "F508": ErrorCode("a function that cannot be followed", "@print\ndef g():\n    return 1\ng()", "remove the decorator"),
    "F509": ErrorCode("a model that returns no arrays", "path.py:function", "return an array or a tuple of arrays"),
    "F510": ErrorCode(
        "a size that only the run knows decides what is computed",
        _NP + "def forward(x: 'float64[N]'):\n    return x * 2 if x.shape[0] > 3 else x",
        "compute with the whole array (`np.where` instead of `x[mask]`), or leave the dimension out of `--dynamic`",
    ),
    "F511": ErrorCode(
        "what the run decides leaves values that do not fit together",
        _X + "y = x if x.sum() > 0 else x[0]\nprint(y)",
        "let a value have one type and shape on every way",
    ),
    # F6: limits
    "F601": ErrorCode("too many steps to follow", "while True:\n    pass", "end the loop; compute with arrays instead of elements"),
    "F602": ErrorCode("nested too deeply", "x = " + "-" * 5000 + "1", "split it over several assignments"),
    "F603": ErrorCode("an array that is too large", _NP + "print(np.zeros((1 << 28,)))", "give large arrays as weights or inputs"),
    "F604": ErrorCode(
        "a program of too many operations",
        _X + "y = []\nfor i in range(110000):\n    y.append(x + i)\nprint(sum(y))",
        "compute with larger arrays",
    ),
    "F605": ErrorCode("a number of more than 64 bits", "print(7 ** 1000)", "use floats"),
    "F606": ErrorCode("calls nested too deeply", "def f(n):\n    return f(n - 1)\nf(3)", "use a loop"),
    "F607": ErrorCode("a container or text that is too large", "x = [0] * 10**9", "use an array"),
    # F7: what Python itself would raise
    "F701": ErrorCode("the source raises", "raise ValueError('no')", "the condition that leads there is true"),
    "F702": ErrorCode("an assertion is false", "assert 1 > 2", "the assertion shows what is wrong"),
    "F703": ErrorCode("arithmetic that Python refuses", "print(1 / 0)", "see the message"),
    "F704": ErrorCode("a key or element that is not there", "print({'a': 1}['b'])", "use .get, or test with `in`"),
}


def table() -> str:
    """The codes as a table of Markdown."""
    rows = ["| code | what is wrong | what to do |", "|---|---|---|"]
    rows += [f"| {code} | {c.title} | {c.instead} |".replace("`|`", "") for code, c in CODES.items()]
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
