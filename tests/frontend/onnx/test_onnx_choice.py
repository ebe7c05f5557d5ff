"""Parts of ONNX models, sizes of named dimensions, and inputs whose values are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper, numpy_helper
from onnx_models import model, node, program

from fleet.cli.main import main
from fleet.cosim.models.loaded import load_model
from fleet.errors import ModelError
from fleet.frontend.onnx.choice import ModelChoice, is_onnx, with_choice
from fleet.ir.dialect import kind_of, op_id
from fleet.targets.bytecode import VM, ByteCodeConverter

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)


@given(st.lists(NAMES, max_size=3), st.lists(NAMES, max_size=3), st.lists(NAMES, max_size=2), st.lists(NAMES, max_size=2))
def test_what_is_said_of_a_model_stands_in_its_name(first: list[str], last: list[str], known: list[str], dims: list[str]) -> None:
    choice = ModelChoice("a/m.onnx", tuple(first), tuple(last), tuple(known), tuple((d, 7) for d in dims if "=" not in d))
    assert ModelChoice.of(choice.spec) == choice
    assert is_onnx(choice.spec)


def test_options_join_what_the_name_says() -> None:
    spec = with_choice("m.onnx?to=b", ["a"], [], ["mask"], ["batch=4"])
    assert spec == "m.onnx?from=a&to=b&known=mask&dim=batch:4"
    assert with_choice("m.py:f", [], [], [], []) == "m.py:f"
    with pytest.raises(ModelError, match="no ONNX model"):
        with_choice("m.py:f", ["a"], [], [], [])


@pytest.mark.parametrize("query", ["spam=1", "from=", "from", "dim=batch", "dim=batch:-1", "dim=:3", "dim=b:99999999999"])
def test_what_says_nothing_is_refused(query: str) -> None:
    with pytest.raises(ModelError, match=r"says nothing|no size"):
        ModelChoice.of(f"m.onnx?{query}")


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """x -> Relu h1 -> MatMul m -> Add(mask) h2 -> Sigmoid y; and a branch that nothing of h2 needs."""
    nodes = [
        node("Relu", ["x"], ["h1"], "relu"),
        node("MatMul", ["h1", "w"], ["m"], "matmul"),
        node("Add", ["m", "mask"], ["h2"], "add"),
        node("Sigmoid", ["h2"], ["y"], "sigmoid"),
        node("Neg", ["x"], ["other"], "neg"),
    ]
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((6, 4)).astype(np.float32)}
    made = model(nodes, {"x": (np.float32, "batch", 6), "mask": (np.float32, "batch", 4)}, ["y", "other"], weights)
    path = tmp_path / "chain.onnx"
    path.write_bytes(made.SerializeToString())
    x = rng.standard_normal((3, 6)).astype(np.float32)
    np.savez(tmp_path / "in.npz", x=x, mask=np.zeros((3, 4), np.float32))
    return path


def kinds(spec: str, inputs: Path | None, batch: int | None = None) -> list[str]:
    return [kind_of(op) for op in load_model(spec, None, inputs, 0, batch).program.operations()]


def test_a_part_has_its_own_inputs_and_outputs(chain: Path) -> None:
    inputs = chain.parent / "in.npz"
    loaded = load_model(f"{chain}?from=m&to=h2", None, inputs, 0, None)
    assert [a.name for a in loaded.program.inputs] == ["m", "mask"]
    assert loaded.program.outputs == ("h2",)
    with np.load(inputs) as given_, np.errstate(all="ignore"):
        whole = load_model(str(chain), None, inputs, 0, None).program
        expected = np.maximum(given_["x"], 0) @ np.asarray(whole.weights["w"])
    np.testing.assert_allclose(loaded.inputs["m"], expected, rtol=1e-6)
    assert not loaded.random


def test_where_it_begins_may_be_given(chain: Path) -> None:
    m = np.full((3, 4), 2.0, np.float32)
    np.savez(chain.parent / "m.npz", m=m, mask=np.ones_like(m))
    loaded = load_model(f"{chain}?from=m&to=y", None, chain.parent / "m.npz", 0, None)
    np.testing.assert_array_equal(loaded.inputs["m"], m)
    assert [op_id(op) for op in loaded.program.operations()] == ["add", "sigmoid"]


def test_known_inputs_are_none_of_the_program(chain: Path) -> None:
    inputs = chain.parent / "in.npz"
    loaded = load_model(f"{chain}?known=mask&to=y", None, inputs, 0, None)
    assert [a.name for a in loaded.program.inputs] == ["x"]
    assert loaded.bound == ("mask",)
    assert "mask" in str(loaded.banner)


def test_sizes_of_dimensions(chain: Path) -> None:
    loaded = load_model(f"{chain}?dim=batch:5", None, None, 0, None)
    assert loaded.program.inputs[0].shape == (5, 6)
    with pytest.raises(ModelError, match="must be 5, found 3"):
        load_model(f"{chain}?dim=batch:5", None, chain.parent / "in.npz", 0, None)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("from=m1", "perhaps m"),
        ("to=w", "is a weight"),
        ("from=other&to=y", "needed for none"),
        ("known=spam", "has no input 'spam'"),
        ("dim=spam:3", "there are batch"),
    ],
)
def test_wrong_names_are_told(chain: Path, query: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", f"{chain}?{query}", "--input", str(chain.parent / "in.npz")]) == 2
    assert says in capsys.readouterr().err


def test_a_part_by_options(chain: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["cosim", str(chain), "--input", str(chain.parent / "in.npz"), "--from", "m", "--to", "h2", "--engines", "vm,riscv"]
    assert main(command) == 0
    assert "PASS" in capsys.readouterr().out


def test_without_inputs_they_are_drawn_and_it_is_said(chain: Path) -> None:
    loaded = load_model(f"{chain}?from=m&to=y&dim=batch:2", None, None, 0, None)
    assert loaded.inputs["m"].shape == (2, 4)
    assert loaded.random


def test_what_to_do_about_an_operator_that_is_not_supported() -> None:
    """The part before the node, the part behind it, or the file as it was before an optimiser."""
    boxes = {"s": np.zeros((1, 2, 6), np.float32), "b": np.zeros((1, 6, 4), np.float32)}
    scored = [node("Sigmoid", ["s"], ["score"]), node("DeformConv", ["b", "score", "b"], ["chosen"], "bent")]
    declared = {"s": (np.float32, 1, 2, 6), "b": (np.float32, 1, 6, 4)}
    with pytest.raises(ModelError, match=r"(?m)end before it with --to score$"):
        program(model(scored, declared, ["chosen"]), boxes)
    used = [*scored, node("Identity", ["chosen"], ["y"])]
    with pytest.raises(ModelError, match=r"(?m)end before it with --to score, or begin behind it with --from chosen$"):
        program(model(used, declared, ["y"]), boxes)
    noise = [node("RandomNormalLike", ["s"], ["noise"]), node("Add", ["s", "noise"], ["y"])]
    with pytest.raises(ModelError, match="give them with --from noise"):
        program(model(noise, {"s": declared["s"]}, ["y"]), {"s": boxes["s"]})
    blocked = [node("Conv", ["s", "s"], ["y"], domain="com.microsoft.nchwc")]
    with pytest.raises(ModelError, match="up to ORT_ENABLE_EXTENDED"):
        program(model(blocked, {"s": declared["s"]}, ["y"], domains=("com.microsoft.nchwc",)), {"s": boxes["s"]})


def test_a_loop_that_data_end_has_the_rounds_of_the_given_inputs(tmp_path: Path) -> None:
    """Also with a condition that says at first whether there are rounds; the last round that the limit allows asks nothing."""
    value = helper.make_tensor_value_info
    steps = [node("Mul", ["s", "half"], ["n"], "halve"), node("ReduceMax", ["n"], ["m"], "most", keepdims=0)]
    steps.append(node("Greater", ["m", "half"], ["go"], "goes"))
    body = helper.make_graph(
        steps,
        "body",
        [value("i", 7, []), value("c", 9, []), value("s", 1, [9, 9])],
        [value("go", 9, []), value("n", 1, [9, 9]), value("m", 1, [])],
        [numpy_helper.from_array(np.float32(0.5), "half")],
    )
    nodes = [node("ReduceMax", ["x"], ["big"], "big", keepdims=0), node("Greater", ["big", "two"], ["first"], "first")]
    nodes.append(node("Loop", ["limit", "first", "x"], ["y", "all"], "loop", body=body))
    weights = {"two": np.float32(2), "limit": np.int64(4)}
    made = model(nodes, {"x": (np.float32, 9, 9)}, ["y", "all"], weights)
    path = tmp_path / "loop.onnx"
    path.write_bytes(made.SerializeToString())
    for most, rounds in ((1, 0), (3, 3), (100, 4)):
        x = np.linspace(0, most, 81, dtype=np.float32).reshape(9, 9)
        np.savez(tmp_path / "in.npz", x=x)
        loaded = load_model(str(path), None, tmp_path / "in.npz", 0, None)
        found = VM(ByteCodeConverter(loaded.program).convert()).run(loaded.inputs)
        np.testing.assert_array_equal(found["y"], x / 2**rounds)
        assert found["all"].shape == (rounds,)
        if most == 3:
            with pytest.raises(ModelError, match=r"\(Loop loop\): not 3 rounds, for which the program was compiled"):
                VM(ByteCodeConverter(loaded.program).convert()).run({"x": x * 1000})
    named = model(nodes, {"x": (np.float32, "n", 9)}, ["y", "all"], weights)
    path.write_bytes(named.SerializeToString())
    with pytest.raises(ModelError, match="not known; leave out --dynamic"):
        load_model(str(path), None, None, 0, None, dynamic=("n",))
