"""Dimensions that stay unknown until the run: one program, one bytecode file, any size, every bit CPython's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from helpers_source import run_python
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.engines.interp import interpret
from fleet.errors import DeviceError, ModelError, SourceError
from fleet.frontend.source import load
from fleet.ir.program import Program
from fleet.ir.weights import Weights
from fleet.targets.bytecode import VM, ByteCodeConverter, ByteCodeModule
from fleet.targets.riscv.compile import compile_riscv
from fleet.transforms.pipeline import PIPELINES, run_pipeline
from fleet.transforms.simplify.infer_shapes import bound, infer_shapes

ROOT = Path(__file__).parents[2]
SIZES = (1, 2, 7, 64)
SETTINGS = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

PROGRAMS = {
    "mean and variance over rows": "return (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 1e-5), x.sum(), x.max(axis=0)",
    "softmax": "e = np.exp(x - np.max(x, axis=-1, keepdims=True))\n    return e / np.sum(e, axis=-1, keepdims=True)",
    "attention": (
        "n = x.shape[0]\n    s = x @ x.T / 2.0 + (1 - np.tri(n)) * -1e10\n    e = np.exp(s - s.max(axis=-1, keepdims=True))\n"
        "    return (e / e.sum(axis=-1, keepdims=True)) @ x"
    ),
    "heads": "h = (x * 2).reshape(x.shape[0], 2, 2)\n    return h.transpose(1, 0, 2), h.swapaxes(0, 1).reshape(2, -1)",
    "reshape by sizes": (
        "n, c = x.shape\n    return x.reshape(n * c), x.reshape(2 * n, c // 2), x.T.reshape(-1, n), x.reshape(c, -1)"
    ),
    "slices": "return x[1:], x[:3], x[-3:], x[:-1], x[::-1], x[::2], x[-1], x[0], x[2:5, 1:3], x[:, 1], x[::-1, ::2]",
    "slices by sizes": "n = x.shape[0]\n    return x[: n // 2], x[n // 2 :], x[n - 1], x[n - 1, 2], x[None, : n - 1, 1], x[-n]",
    "arange": (
        "n = len(x)\n    a = np.arange(n, -1, -1)\n"
        "    return a, np.arange(n), np.arange(1, n + 1, 2), np.arange(n, dtype=float)[:, None] * x"
    ),
    "filled": (
        "n = x.shape[0]\n    z = np.zeros((n, 4))\n    z += x\n"
        "    return z, np.ones(n), np.full((2, n), 1.5), np.zeros_like(x) + x,"
        " np.full((n, 4), x[0]), np.ones((n, n), dtype=int), np.eye(n), np.eye(n, n + 1, 1, dtype=bool)"
    ),
    "triangles": "s = x @ x.T\n    return np.tril(s), np.triu(s, 1), np.tri(len(x), 3, -1)",
    "joining": (
        "return np.concatenate([x, x[:1], x]), np.vstack([x, np.ones(4)]), np.hstack([x, x]), np.stack([x, x], axis=1),"
        " np.concatenate([x, x], axis=None)"
    ),
    "split": "a, b = np.split(x, 2, axis=1)\n    return a * b, np.tile(x, (2, 1)), np.repeat(x, 2, axis=0), np.flip(x)",
    "numbers": "n = x.shape[0]\n    return x / n, x * (1.0 / n), x + n % 3, x - -n, x.sum() / x.size, x * n**0.5, np.sqrt(n) + x",
    "counts": "return x.argmax(axis=0), x.argmax(axis=1, keepdims=True), np.cumsum(x), np.cumsum(x, axis=0), np.pad(x, 1)",
    "shapes": "return np.expand_dims(x, 0), np.squeeze(x[None], axis=0), np.broadcast_to(x, (2, len(x), 4)), np.outer(x[:, 0], x)",
    "norms": "return np.linalg.norm(x), np.linalg.norm(x, axis=1), np.einsum('ij,kj->ik', x, x), x @ x[0], x[0] @ x.T",
    "in place": "y = x.copy()\n    y += x[0]\n    y *= x\n    return y",
    "a loop over columns": "t = x[:, 0]\n    for i in range(1, x.shape[1]):\n        t = t + x[:, i] * i\n    return t",
}


def text_of(body: str) -> str:
    return f'import numpy as np\n\n\ndef forward(x: "float64[N, 4]"):\n    {body}\n'


def dynamic(folder: Path, text: str, names=("N",), weights=None) -> Program:
    path = folder / "model.py"
    path.write_text(text)
    program = load(f"{path}:forward", weights or {}, {}, dynamic=names)
    program.module.verify()
    return program


def draw(n: int, *rest: int) -> np.ndarray:
    return np.random.default_rng(n).standard_normal((n, *rest))


def same(found: dict[str, np.ndarray], wanted: list[np.ndarray]) -> None:
    assert len(found) == len(wanted)
    for a, b in zip(found.values(), wanted, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_size_gives_cpythons_bits(tmp_path, name: str) -> None:
    text = text_of(PROGRAMS[name])
    program = dynamic(tmp_path, text)
    ByteCodeConverter(program).convert().save(tmp_path / "m.fbc")
    vm = VM(ByteCodeModule.load(tmp_path / "m.fbc"))
    optimised = run_pipeline(program, "vm")
    for n in (*SIZES, 3):
        x = draw(n, 4)
        wanted = run_python(text, x=x)
        same(vm.run({"x": x}), wanted)
        same(interpret(optimised, {"x": x})[0], wanted)


@pytest.mark.parametrize("name", PROGRAMS)
def test_bound_sizes_give_the_program_that_is_loaded_with_them(tmp_path, name: str) -> None:
    program = dynamic(tmp_path, text_of(PROGRAMS[name]))
    x = draw(6, 4)
    static = run_pipeline(load(f"{tmp_path}/model.py:forward", {}, {"x": x}), "vm")
    late = run_pipeline(infer_shapes(program, {"N": (6,)}), "vm")
    assert late.unknown == ()
    assert late.symbols == static.symbols == {"N": 6}
    assert "?" not in str(late.module)
    late.module.verify()
    same(VM(ByteCodeConverter(late).convert()).run({"x": x}), list(VM(ByteCodeConverter(static).convert()).run({"x": x}).values()))
    assert (structure(late) == structure(static)) is (name not in DIFFERENT)


DIFFERENT = {"slices by sizes", "filled", "arange"}
"""A gather for `x[n - 1]`, two operations for np.eye, and another spelling of np.arange's bounds: other programs, the same bits."""


def structure(program: Program) -> list[object]:
    """Operations, operands, attributes and types; not names, nor the order of weights."""
    entries = program.weights.entries if isinstance(program.weights, Weights) else program.weights
    values = zip(program.arguments, program.function.body.block.args, strict=True)
    numbers: dict[object, object] = {v: getattr(entries.get(a.name), "digest", a.name) for a, v in values}
    found: list[object] = [{(numbers[v], str(v.type)) for v in program.function.body.block.args}]
    for op in program.operations():
        numbers |= {r: len(numbers) for r in op.results}
        properties = {k: str(v) for k, v in op.properties.items() if k not in ("id", "var", "at")}
        found.append((op.name, [numbers[v] for v in op.operands], properties, [str(r.type) for r in op.results]))
    return [*found, [numbers[v] for v in program.returned()]]


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("pipeline", sorted(PIPELINES))
def test_no_pipeline_breaks(tmp_path, name: str, pipeline: str) -> None:
    text = text_of(PROGRAMS[name])
    changed = run_pipeline(dynamic(tmp_path, text), pipeline)
    changed.module.verify()
    for n in (1, 5):
        x = draw(n, 4)
        for a, b in zip(interpret(changed, {"x": x})[0].values(), run_python(text, x=x), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@SETTINGS
@given(n=st.integers(0, 40), start=st.integers(-45, 45), stop=st.integers(-45, 45), step=st.sampled_from([-3, -1, 1, 2]))
def test_slices_of_any_bounds(tmp_path, n: int, start: int, stop: int, step: int) -> None:
    text = text_of(f"return x[{start}:{stop}:{step}], x[{start}::{step}], x[:{stop}:{step}], x[x.shape[0] + {start} : {stop}]")
    x = np.arange(n * 4.0).reshape(n, 4)
    same(VM(ByteCodeConverter(dynamic(tmp_path, text)).convert()).run({"x": x}), run_python(text, x=x))


@SETTINGS
@given(n=st.integers(0, 12), m=st.integers(0, 12), k=st.integers(-4, 4))
def test_two_unknown_dimensions(tmp_path, n: int, m: int, k: int) -> None:
    text = (
        'import numpy as np\n\n\ndef forward(x: "float64[N, M]", y: "float64[M]"):\n    n, m = x.shape\n'
        f"    return x + y, x.T.reshape(n * m), np.tri(n, m, {k}), x[None].reshape(1, m, n), x.sum(axis=1), x[:, None] * y\n"
    )
    given = {"x": np.arange(n * m * 1.0).reshape(n, m), "y": np.ones(m)}
    program = dynamic(tmp_path, text, names=True)
    assert program.unknown == ("N", "M")
    same(VM(ByteCodeConverter(program).convert()).run(given), run_python(text, **given))


def test_digits(tmp_path) -> None:
    weights = dict(np.load(ROOT / "examples/digits/weights.npz"))
    test = np.load(ROOT / "examples/digits/test.npz")["x"]
    spec = f"{ROOT}/examples/digits/model.py:forward"
    program = load(spec, weights, {}, dynamic={"N"})
    ByteCodeConverter(program).convert().save(tmp_path / "digits.fbc")
    vm = VM(ByteCodeModule.load(tmp_path / "digits.fbc"))
    text = (ROOT / "examples/digits/model.py").read_text()
    for n in SIZES:
        same(vm.run({"x": test[:n]}), run_python(text, x=test[:n], **weights))
    static = run_pipeline(load(spec, weights, {"x": test[:7]}), "vm")
    late = run_pipeline(bound(program, {"x": test[:7]}), "vm")
    assert str(late.module) == str(static.module)
    assert late.hash == static.hash


def test_attention_of_gpt2(tmp_path) -> None:
    spec = f"{ROOT}/examples/gpt2_attention.py:forward"
    program = load(spec, {}, {}, dynamic=True)
    vm = VM(ByteCodeConverter(program).convert())
    text = (ROOT / "examples/gpt2_attention.py").read_text()
    for n in SIZES:
        x = draw(n, 768)
        same(vm.run({"x": x}), run_python(text, x=x))
    static = run_pipeline(load(spec, {}, {"x": draw(7, 768)}), "vm")
    late = run_pipeline(bound(program, {"x": draw(7, 768)}), "vm")
    assert structure(late) == structure(static)


# ---- what is refused


def test_equal_names_have_equal_sizes(tmp_path) -> None:
    text = 'def forward(x: "float64[N, 64]", y: "float64[N, 4]"):\n    return x.sum() + y.sum()\n'
    program = dynamic(tmp_path, text)
    given = {"x": np.ones((3, 64)), "y": np.ones((5, 4))}
    for run in (VM(ByteCodeConverter(program).convert()).run, lambda g: interpret(program, g)):
        with pytest.raises(ModelError, match='N is 3 by dimension 0 of "x", but 5 by dimension 0 of "y"'):
            run(given)
    with pytest.raises(ModelError, match="N is 3 by"):
        bound(program, given)


@pytest.mark.parametrize(
    ("names", "says"),
    [
        ({"K"}, "no dimension K is declared; declared are N, M"),
        ({"N"}, 'no data says what M of "x" is'),
        ({"M"}, "no data says what N"),
    ],
)
def test_names_are_checked(tmp_path, names, says: str) -> None:
    with pytest.raises(ModelError) as caught:
        dynamic(tmp_path, 'def forward(x: "float64[N, M]"):\n    return x\n', names)
    assert says in str(caught.value)


def test_a_dimension_of_a_weight_cannot_be_unknown(tmp_path) -> None:
    text = 'def forward(x: "float64[N, M]", w: "float64[M]"):\n    return x * w\n'
    with pytest.raises(ModelError, match='M cannot be unknown: the weight "w" has it'):
        dynamic(tmp_path, text, {"M"}, {"w": np.ones(3)})
    program = dynamic(tmp_path, text, True, {"w": np.ones(3)})
    assert program.arguments[0].shape == (-1, 3)
    assert program.arguments[0].dims == ("N", "")


@pytest.mark.parametrize(
    "body",
    [
        "return x if x.shape[0] > 3 else x * 2", "for row in x:\n        pass\n    return x", "return x[range(len(x))[0]]",
        "return np.split(x, 2)", "return np.roll(x, 1, axis=0)", "return x.squeeze()", "y = x.copy()\n    y[0] = 1\n    return y",
        "assert x.shape[0] == 4\n    return x", "return np.var(x, axis=0, ddof=1)", "return np.diagonal(x)",
        "return x[: min(len(x), 3)]", "return x ** 2 if len(x) else x", "a = [1, 2, 3][: len(x)]\n    return x * len(a)",
        "return [x] * len(x)", "return np.linspace(0, 1, len(x))", "return x[:: len(x)]",
    ],
)  # fmt: skip
def test_what_cannot_be_followed_has_a_code(tmp_path, body: str) -> None:
    with pytest.raises(SourceError) as caught:
        dynamic(tmp_path, text_of(body))
    assert caught.value.code == "F510", str(caught.value)


@pytest.mark.parametrize(
    ("body", "n"),
    [("return np.argmax(x[3:])", 3), ("return x.reshape(x.shape[0], 2, 3)", 3),
     ("return x + np.ones(x.shape[0])", 3), ("return x[5]", 3), ("return x.reshape(8)", 3),
     ("y = x[:1] * 1\n    y += x\n    return y", 3), ("return x[x.shape[0]]", 2), ("return np.ones(x.shape[0] - 5)", 3)],
)  # fmt: skip
def test_what_numpy_refuses_the_run_refuses(tmp_path, body: str, n: int) -> None:
    text = text_of(body)
    with pytest.raises((ValueError, IndexError)):
        run_python(text, x=draw(n, 4))
    with pytest.raises(ModelError, match="fails on these values"):
        VM(ByteCodeConverter(dynamic(tmp_path, text)).convert()).run({"x": draw(n, 4)})


def test_what_needs_sizes_says_so(tmp_path) -> None:
    program = dynamic(tmp_path, text_of("return x * 2"))
    with pytest.raises(DeviceError, match=r"the size N is unknown, and code on riscv needs all sizes.*infer-shapes\{N=8\}"):
        compile_riscv(program)


def test_names_count_in_the_hash_and_static_programs_have_none(tmp_path) -> None:
    text = 'def forward(x: "float64[N]", y: "float64[{}]"):\n    return x + y\n'
    first, other = (dynamic(tmp_path, text.format(name), True).hash for name in ("N", "M"))
    assert first != other
    assert first == dynamic(tmp_path, text.format("N"), True).hash
