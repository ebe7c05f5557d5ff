"""What is refused, where exactly, and that nothing of a model's file is ever run."""

from __future__ import annotations

import numpy as np
import pytest
from helpers_source import program_of

from fleet.errors import ModelError, SourceError
from fleet.frontend.source import load, sample_inputs, signature

HEAD = 'import numpy as np\n\ndef forward(x: "float32[N, 4]", w: "float32[4, 3]"):\n'
X = np.zeros((2, 4), np.float32)
W = np.zeros((4, 3), np.float32)


def refused(folder, body: str) -> str:
    text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    with pytest.raises(SourceError) as caught:
        program_of(folder, text, weights={"w": W}, x=X)
    return str(caught.value).replace(str(folder / "model.py"), "model.py")


@pytest.mark.parametrize(
    ("body", "place", "says"),
    [
        ("return x @ x", "4:12", "F302 matmul of shapes (2, 4) and (2, 4): the inner dimensions 4 and 2 must be equal"),
        ("return np.matmul(-1, np.ones((2, 2), np.uint16))", "4:12", "F402 Python integer -1 out of bounds for uint16"),
        ("return 2 @ x", "4:12", "F302 matmul of the number 2 and"),
        ("return x + w", "4:12", "F301 add of shapes (2, 4) and (4, 3), which do not broadcast"),
        ("return x + hidden", "4:16", "F201 `hidden` is not defined"),
        ("return np.sqroot(x)", "4:12", "did you mean numpy.sqrt?"),
        ("from numpy import sqroot\nreturn x", "4:5", "did you mean numpy.sqrt?"),
        ("import numpy.foo\nreturn x", "4:5", "there is no module `numpy.foo`"),
        ("import math.sqrt as root\nreturn x", "4:5", "there is no module `math.sqrt`"),
        ("import numpy.abs\nreturn x", "4:5", "there is no module `numpy.abs`"),
        ("return x.reshape(8, True)", "4:12", "F404 shape must be an integer, found the number True"),
        ("return np.zeros((2, True))", "4:12", "F404 shape must be an integer"),
        ("return np.eye(2, True)", "4:12", "F404 M must be an integer"),
        ("return x.sum(axis=False)", "4:12", "F404 axis must be an integer"),
        ("return np.concatenate([x, x], False)", "4:12", "F404 axis must be an integer"),
        ("return x.transpose(True, False)", "4:12", "F404 axes must be an integer"),
        ("return np.linalg.norm(x, axis=(True, False))", "4:12", "F404 axis must be an integer"),
        ("return np.pad(x, (1, 1, 1))", "4:12", "F303 pad of an array float32[2, 4] by [1, 1, 1]"),
        ("return np.pad(x, ())", "4:12", "F408 pad by []: the width is not an integer"),
        ("return np.pad(x[0, 0], -1)", "4:12", "F303 pad of an array float32[] by -1"),
        ("return np.pad(x, True)", "4:12", "F408 pad by True: the width is not an integer"),
        ("return np.pad(x, ((1, 2), 3))", "4:12", "F303 pad of an array float32[2, 4] by [[1, 2], 3]"),
        ("return x.reshape()", "4:12", "F208 `.reshape()` is called without a shape"),
        ("return np.vsplit(x[0], 2)", "4:12", "F305 split along axis 0 of an array of rank 1"),
        ("from . import helper\nreturn x", "4:5", "no __init__.py lies beside the file"),
        ("from numpy.linalg import absent\nreturn x", "4:5", "F205 numpy.linalg.absent is not supported"),
        ("for row in x.sum():\n    y = row\nreturn y", "4:16", "F306 an array float32[] has no dimension to iterate over"),
        ("if x > 0:\n    return x\nreturn x", "4:8", "F703 the truth value of an array bool"),
        ("if x.sum() > 0:\n    return x\nreturn x[0]", "4:5", "F511 the value of return is an array"),
        ("while x.max() > 0:\n    x = x[:-1]\nreturn x", "4:5", "F511 `x` is an array"),
        ("return x if x.any() else x[0]", "4:12", "F511 what it gives is an array"),
        ("return {v for v in x}", "4:12", "F408 an array float32[4] cannot be a dict's key here"),
        ("for v in {'a', 'b'}:\n    pass\nreturn x", "4:14", "F507 the order of strings in a set is another one on every run"),
        ("y = x.ravel('K')\ny[0] = 1\nreturn x", "5:5", "F504 `x` may share the memory that changes here, and is used later"),
        ("return x.var(order=None)", "4:24", "F506 `.var` with `order=` is not supported"),
        ("return np.min(x.sum(), axis=0.0)", "4:12", "F404 axis must be an integer"),
        ("return np.clip(x, 0)", "4:12", "F208 np.clip needs a_max too"),
        ("return np.vectorize(lambda v: v + 1)(x[:0])", "4:12", "F301 vectorize of no elements"),
        ("return chr(-1)", "4:12", "F703 chr of -1"),
        ("return np.take_along_axis(1, np.argsort(x), 0)", "4:12", "F206 the number 1 has no ndim"),
        ("return np.take_along_axis(x, [[0]], 0)", "4:12", "F206 a list of 1 has no ndim"),
        ("y = x.diagonal()\ny += 1\nreturn y", "5:5", "F703 the array is a read-only view"),
        ("y = np.diag(x, 9)\nnp.abs(y, out=y)\nreturn y", "5:5", "F703 the array is a read-only view"),
        ("y = np.diag(x)\nnp.abs(y, out=y)\nreturn y", "5:5", "F703 the array is a read-only view"),
        ("y = np.ones(3)\nreturn np.add(x, 1, out=y)", "5:12", "F301 add: operands could not be broadcast together with shapes"),
        ("return x[::0]", "4:14", "F306 a slice's step cannot be zero"),
        ("return x[7]", "4:14", "index 7 is out of bounds for dimension 0 of size 2"),
        ("return np.sum(x, axis=5)", "4:12", "axis 5 is out of bounds"),
        ("return np.squeeze(x, [])", "4:12", "F404 the axes of squeeze must be a number or a tuple of them"),
        ("y = x * 2\ny[y > 0] = x[:1]\nreturn y", "5:5", "F301 an array of shape (1, 4) cannot be assigned by a mask"),
        ("y = np.ones(3)\ny[y > 0] = [[4]]\nreturn y", "5:5", "F301 an array of shape (1, 1) cannot be assigned by a mask"),
        ("return np.full(1, -9223372036854775809)", "4:12", "F605 the integer -9223372036854775809 needs more than 64 bits"),
        ("return np.maximum(2**64, 5)", "4:12", "F605 the integer 18446744073709551616 needs more than 64 bits"),
        ("return x.min(axis=[])", "4:12", "F404 the axes of a reduction must be a number or a tuple of them"),
        ("return np.sum(x, where=x)", "4:28", "with `where=` is not supported"),
        ("return np.random.randn(3)", "4:12", "F507 np.random.randn without a seed"),
        ("return input('name')", "4:12", "the builtin `input` is not supported"),
        ("return open('/etc/passwd')", "4:12", "/etc/passwd lies elsewhere"),
        ("return np.int8(3) + 300", "4:25", "Python integer 300 out of bounds for int8"),
        ("return 10 ** 10 ** 10", "4:12", "needs more than 64 bits"),
        ("return 1 / 0", "4:12", "division by zero"),
        ("return np.zeros((1000000, 1000000))", "4:12", "at most 2^30 bytes"),
        ("h = h + x\nreturn h", "4:9", "`h` is used before it is assigned"),
        ("a, b = 1, 2, 3\nreturn x", "4:5", "2 targets for 3 values"),
        ("y = x @ w", "3:1", "`forward` returns nothing"),
        ("return {1: x}", "4:5", "F509 a dict of 1 is returned"),
        ("return x.ctypes", "4:12", "no supported attribute `ctypes`"),
        ("é = x; return é + ö", "4:23", "`ö` is not defined"),
        ("return " + "-(" * 60 + "y" + ")" * 60, "4:132", "`y` is not defined"),
    ],
)
def test_a_refusal_names_place_and_reason(tmp_path, body: str, place: str, says: str) -> None:
    message = refused(tmp_path, body)
    assert message.startswith(f"model.py:{place}: ")
    assert says in message


def test_the_caret_stands_below_the_fault(tmp_path) -> None:
    lines = refused(tmp_path, "return x + hidden").splitlines()
    assert lines[1] == "        return x + hidden"
    assert lines[2].index("^") == lines[1].index("hidden")


def test_several_errors_are_collected_without_their_consequences(tmp_path) -> None:
    message = refused(tmp_path, "a = x + one\nb = a * 2\nc = np.exp(b)\nd = np.three(x)\nreturn c + d")
    assert [p in message for p in ("`one`", "numpy.three", "model.py:5", "model.py:6")] == [True, True, False, False]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('def forward(x: "f32[2, 4]":\n    return x\n', ":1:27"),
        ("x = (\n", ":1"),
        ("a\0b", ""),
        ("x = " + "(" * 5000 + ")" * 5000, ""),
        ("x = " + "-" * 20000 + "1", ""),
        ("x = 1" + " + 1" * 20000, ""),
    ],
)
def test_what_is_not_python_is_one_clear_line(tmp_path, text: str, place: str) -> None:
    with pytest.raises(SourceError) as caught:
        program_of(tmp_path, text, None)
    assert f"model.py{place}" in str(caught.value)


def test_deep_recursion_and_exponential_inlining_end(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("fleet.frontend.arrays.builder.MAX_OPERATIONS", 2000)
    loop = "def f(a):\n    return g(a)\ndef g(a):\n    return f(a)\ndef forward(x: 'f32[2, 4]'):\n    return f(x)\n"
    with pytest.raises(SourceError, match="calls itself more than 200 calls deep"):
        program_of(tmp_path, loop, x=X)
    doubling = "def f0(a):\n    return a + a\n" + "".join(f"def f{i}(a):\n    return f{i - 1}(f{i - 1}(a))\n" for i in range(1, 31))
    with pytest.raises(SourceError, match="more than 2000 operations"):
        program_of(tmp_path, doubling + "def forward(x: 'f32[2, 4]'):\n    return f30(x)\n", x=X)
    chain = "def f0(a):\n    return a\n" + "".join(f"def f{i}(a):\n    return f{i - 1}(a)\n" for i in range(1, 300))
    with pytest.raises(SourceError, match="is called more than 200 calls deep"):
        program_of(tmp_path, chain + "def forward(x: 'f32[2, 4]'):\n    return f299(x)\n", x=X)


def test_a_model_file_runs_no_code(tmp_path) -> None:
    witness = tmp_path / "written"
    write = f"__import__('os').system('touch {witness}')"
    text = (
        f"import os\n{write}\nG = {write}\nclass C:\n    {write}\ndef deco(f):\n    {write}\n    return f\n"
        f"def forward(x: 'f32[2, 4]', y={write}):\n    return x\n"
    )
    arrays = {"x": X, "y": X}
    assert [d.name for d in signature(_written(tmp_path, text))] == ["x", "y"]
    load(_written(tmp_path, text), {}, arrays)
    for call in (
        f"return {write}",
        "return G",
        "return os.system('true')",
        "return C()",
        "return __import__('os')",
        "return eval('x')",
    ):
        with pytest.raises(SourceError):
            load(_written(tmp_path, text.replace("return x\n", f"{call}\n")), {}, arrays)
    with pytest.raises(SourceError, match="`__import__` is not supported"):
        load(_written(tmp_path, text.replace("def forward", "@deco\ndef forward")), {}, arrays)
    with pytest.raises(SourceError):
        load(str(tmp_path / "model.py"), {}, {})  # as a script: its statements are refused, not run
    assert not witness.exists()


def _written(folder, text: str) -> str:
    (folder / "model.py").write_text(text)
    return f"{folder / 'model.py'}:forward"


@pytest.mark.parametrize(
    ("weights", "inputs", "says"),
    [
        ({}, {"x": X}, "no weight or input for w (float32[4, 3])"),
        ({}, {}, "no weight or input for x (float32[N, 4]), w (float32[4, 3])"),
        (
            {"w": W},
            {"x": X[:, :3]},
            'argument "x" is declared float32[N, 4], the given array has shape (2, 3): dimension 1 must be 4, found 3',
        ),
        ({"w": W}, {"x": X[0]}, "(rank 2), the given array has shape (4,) (rank 1)"),
        ({"w": W}, {"x": X.astype(float)}, 'argument "x" is declared float32[N, 4], the given array is float64'),
        ({"w": W.astype("c8")}, {"x": X}, 'argument "w" is declared float32[4, 3], the given array is complex64'),
        ({"w": W.astype("M8[s]")}, {"x": X}, 'argument "w" has dtype <M8[s]'),
        ({"w": W.astype(">f4")}, {"x": X}, 'argument "w" has dtype >f4'),
        ({"w": W + np.float32(np.inf)}, {"x": X}, 'weight "w" is NaN or infinite in 12 of 12 values, the first at (0, 0)'),
        ({"w": W, "x": X}, {"x": X}, '"x" is both a weight and an input'),
    ],
)
def test_arrays_that_do_not_fit(tmp_path, weights, inputs, says: str) -> None:
    with pytest.raises(ModelError) as caught:
        program_of(tmp_path, HEAD + "    return x @ w\n", weights=weights, **inputs)
    assert says in str(caught.value)


def test_named_dimensions_agree_over_arguments(tmp_path) -> None:
    text = 'def forward(x: "f32[N, M]", y: "f32[M, N]"):\n    return x @ y\n'
    assert program_of(tmp_path, text, x=X, y=X.T.copy()).symbols == {"N": 2, "M": 4}
    with pytest.raises(ModelError, match='M is 4 by dimension 1 of "x", but 2 by dimension 0 of "y"'):
        program_of(tmp_path, text, x=X, y=X)


def test_missing_files_and_functions(tmp_path) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        load(str(tmp_path / "absent.py:f"), {}, {})
    with pytest.raises(ModelError, match="is a folder, expected a Python source"):
        load(f"{tmp_path}:f", {}, {})
    with pytest.raises(SourceError, match="no function `other` at the top level; its functions: forward"):
        program_of(tmp_path, HEAD + "    return x\n", "other")


def test_signature_and_seeded_inputs(tmp_path) -> None:
    spec = _written(
        tmp_path,
        """import numpy as np
import numpy.typing as npt

def forward(x: "f32[N, 4]", w: "float32[4, M]", n: "int64[M]", a: npt.NDArray[np.float16], b: "f16", c: np.ndarray, e=1e-5):
    return x
""",
    )
    declared = signature(spec)
    assert [str(d) for d in declared] == ["float32[N, 4]", "float32[4, M]", "int64[M]", "float16", "float16", "any", "any"]
    assert [d.optional for d in declared] == [False] * 6 + [True]
    given = {"w": np.zeros((4, 7), np.float32), **dict.fromkeys("abc", X)}
    drawn = sample_inputs(spec, given, batch=5, seed=3)
    assert {n: (a.shape, a.dtype.name) for n, a in drawn.items()} == {"x": ((5, 4), "float32"), "n": ((7,), "int64")}
    assert all((a == b).all() for a, b in zip(drawn.values(), sample_inputs(spec, given, batch=5, seed=3).values(), strict=True))
    with pytest.raises(SourceError, match='no data for "c"'):
        sample_inputs(spec, {"w": given["w"], "a": X, "b": X})
