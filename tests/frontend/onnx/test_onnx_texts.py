"""Inputs of text: numbers of the texts that a model names, moved and compared; beside onnxruntime, which gets the text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_models import model, node, program, run

from fleet.cosim.models.loaded import load_model
from fleet.engines.base import RunOptions
from fleet.engines.registry import find_engine
from fleet.errors import ModelError
from fleet.frontend.onnx.reader import read_model
from fleet.frontend.onnx.texts import decoded, encoded, recoded

RNG = np.random.default_rng(4)
LEARNING = "ai.onnx.ml"
WORDS = np.array([["red", "blue"], ["green", "red"], ["pink", "blue"], ["", "pink"]])


def made(nodes: list[onnx.NodeProto], outputs: list[str], weights: dict[str, np.ndarray] | None = None) -> onnx.ModelProto:
    found = model(nodes, {"n": (np.int64, 4, 2)}, outputs, weights, opset=17, domains=(LEARNING,))
    found.graph.input[0].CopyFrom(helper.make_tensor_value_info("words", onnx.TensorProto.STRING, [4, 2]))
    found.opset_import[1].version = 2
    return found


ENCODED = [
    node("Transpose", ["words"], ["turned"], perm=[1, 0]),
    node("Reshape", ["turned", "shape"], ["flat"]),
    node("OneHotEncoder", ["flat"], ["hot"], domain=LEARNING, cats_strings=["blue", "green", "red"], zeros=1),
    node(
        "LabelEncoder", ["words"], ["label"], domain=LEARNING, keys_strings=["red", "green"], values_int64s=[7, 9], default_int64=-3
    ),
]


def test_text_is_moved_and_compared(tmp_path: Path) -> None:
    onnx.save(made(ENCODED, ["hot", "label"], {"shape": np.array([8], np.int64)}), tmp_path / "m.onnx")
    np.savez(tmp_path / "x.npz", words=WORDS)
    loaded = load_model(str(tmp_path / "m.onnx"), None, tmp_path / "x.npz", 0, None)
    assert [(a.name, a.dtype, a.shape) for a in loaded.program.inputs] == [("words", np.dtype(np.int64), (4, 2))]
    for name in ("vm", "onnxruntime"):
        found = find_engine(name).engine.run(loaded.program, loaded.inputs, RunOptions()).outputs
        np.testing.assert_array_equal(found["label"], [[7, -3], [9, 7], [-3, -3], [-3, -3]])
        hot = WORDS.T.reshape(-1)[:, None] == np.array(["blue", "green", "red"])
        np.testing.assert_array_equal(found["hot"], hot.astype(np.float32))


def test_texts_that_the_model_does_not_name_are_told_apart() -> None:
    read = read_model(made(ENCODED, ["hot", "label"], {"shape": np.array([8], np.int64)}).SerializeToString(), "m.onnx")
    numbers = encoded(read, {"words": WORDS})["words"]
    assert numbers.tolist() == [[2, 0], [1, 2], [-1, 0], [-2, -1]]
    back = decoded(read.words, numbers)
    assert back[:2].tolist() == WORDS[:2].tolist()
    assert back[2, 0] == back[3, 1] != back[3, 0]
    assert not {back[2, 0], back[3, 0]} & read.words.keys()


def test_what_needs_letters_is_refused() -> None:
    cut = made([node("Cast", ["words"], ["y"], "cast", to=1)], ["y"])
    with pytest.raises(ModelError, match=r"\(Cast cast\): Cast of text is not supported"):
        program(cut, encoded(read_model(cut.SerializeToString(), "m.onnx"), {"words": WORDS}))


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize(("low", "high", "skips"), [(1, 1, 0), (1, 2, 0), (2, 2, 3), (1, 3, 2), (3, 3, 1)])
@pytest.mark.parametrize("rank", [1, 2])
def test_sequences_of_words_are_counted(mode: str, low: int, high: int, skips: int, rank: int) -> None:
    import onnxruntime

    how: dict[str, Any] = {
        "mode": mode, "min_gram_length": low, "max_gram_length": high, "max_skip_count": skips, "ngram_counts": [0, 3, 7],
        "pool_int64s": [2, 3, 5, 5, 4, 5, 6, 1, 2, 3], "ngram_indexes": [3, 1, 0, 5, 2, 4],
        "weights": RNG.uniform(0, 2, 6).tolist(),
    }  # fmt: skip
    shape = (3, 14)[-rank:]
    found = model([node("TfIdfVectorizer", ["x"], ["y"], "words", **how)], {"x": (np.int64, *shape)}, ["y"], opset=17)
    x = RNG.integers(1, 7, shape)
    session = onnxruntime.InferenceSession(found.SerializeToString(), providers=["CPUExecutionProvider"])
    (wanted,) = session.run(None, {"x": x})
    (got,) = run(found, {"x": x})
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(got, wanted, 1e-6)


def texts(name: str, *words: bytes) -> onnx.TensorProto:
    return onnx.TensorProto(name=name, data_type=onnx.TensorProto.STRING, dims=[len(words)], string_data=words)


def spelled(
    tmp_path: Path, nodes: list[onnx.NodeProto], given: dict[str, np.ndarray], outputs: Mapping[str, int]
) -> dict[str, Any]:
    """What onnxruntime makes of the texts, after the VM and the engine onnxruntime made the same numbers of them."""
    import onnxruntime

    names = {*given, *(name for n in nodes for name in n.input)} - {o for n in nodes for o in n.output} - {"mark", ""}
    inputs = [helper.make_tensor_value_info(n, onnx.TensorProto.STRING, list(given[n].shape)) for n in sorted(names)]
    results = [helper.make_tensor_value_info(n, code, None) for n, code in outputs.items()]
    mark = texts("mark", b"!")
    graph = helper.make_graph(nodes, "letters", inputs, results, [mark])
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid(LEARNING, 4)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), tmp_path / "m.onnx")
    np.savez(tmp_path / "x.npz", **{n: a.astype(np.str_) for n, a in given.items()})  # pyright: ignore[reportArgumentType]
    session = onnxruntime.InferenceSession(str(tmp_path / "m.onnx"), providers=["CPUExecutionProvider"])
    found = session.run(list(outputs), {n: a.astype(object) for n, a in given.items()})
    wanted = {n: np.asarray(a) for n, a in zip(outputs, found, strict=True)}
    loaded = load_model(str(tmp_path / "m.onnx"), None, tmp_path / "x.npz", 0, None)
    for engine in ("vm", "onnxruntime"):
        got = find_engine(engine).engine.run(loaded.program, loaded.inputs, RunOptions()).outputs
        for name, array in wanted.items():
            expected = recoded(loaded.program.words, array) if array.dtype.kind == "O" else array
            np.testing.assert_array_equal(got[name], expected)
            assert got[name].dtype == expected.dtype
            if array.dtype.kind == "O":
                assert decoded(loaded.program.words, got[name]).tolist() == array.tolist()
    return wanted


@pytest.mark.parametrize("change", ["NONE", "LOWER", "UPPER"])
@pytest.mark.parametrize("exact", [0, 1])
@pytest.mark.parametrize("stop", [["the", "a"], ["THE", "Cat"], ["the", "THE", "The", "cat", "Dog", "DOG", ""], []])
def test_texts_are_normalised_as_onnxruntime_does(tmp_path: Path, change: str, exact: int, stop: list[str]) -> None:
    how: dict[str, Any] = {"stopwords": stop} if stop else {}
    one = node("StringNormalizer", ["w"], ["y"], case_change_action=change, is_case_sensitive=exact, locale="C", **how)
    for words in (np.array(["The", "Cat", "THE", "dog", ""]), np.array([["the", "The", "Dog"]])):
        spelled(tmp_path, [one], {"w": words}, {"y": onnx.TensorProto.STRING})


@pytest.mark.parametrize("how", [{}, {"delimiter": ","}, {"maxsplit": 1}, {"delimiter": "--", "maxsplit": 2}])
def test_texts_are_split_and_joined_as_onnxruntime_does(tmp_path: Path, how: dict[str, Any]) -> None:
    words = np.array([["a b  c", "x,y", ""], ["one--two--three--four", " lead", "a,b c,,d"]])
    nodes = [
        node("StringConcat", ["w", "mark"], ["joined"]),
        node("StringSplit", ["joined"], ["parts", "count"], **how),
        node("Equal", ["joined", "v"], ["same"]),
        node("Cast", ["same"], ["y"], to=onnx.TensorProto.FLOAT),
    ]
    outputs = {"parts": onnx.TensorProto.STRING, "count": onnx.TensorProto.INT64, "y": onnx.TensorProto.FLOAT}
    found = spelled(tmp_path, nodes, {"w": words, "v": np.array(["a b  c!", " lead!", "!"])}, outputs)
    assert found["y"].tolist() == [[1, 0, 1], [0, 1, 0]]


def test_texts_that_stand_in_a_file_are_compared(tmp_path: Path) -> None:
    keys = texts("keys", b"red", b"blue!", b"pink")
    nodes = [
        node("StringConcat", ["w", "mark"], ["joined"]),
        node("LabelEncoder", ["joined"], ["y"], domain=LEARNING, keys_tensor=keys, values_int64s=[4, 5, 6], default_int64=-2),
    ]
    found = spelled(tmp_path, nodes, {"w": np.array(["red", "blue", "pink", "pink!"])}, {"y": onnx.TensorProto.INT64})
    assert found["y"].tolist() == [-2, 5, -2, -2]


def test_letters_are_bounded() -> None:
    nodes = [node("StringConcat", [f"t{i}", f"t{i}"], [f"t{i + 1}"]) for i in range(40)]
    found = made(nodes, ["t40"])
    found.graph.input[0].name = "t0"
    read = read_model(found.SerializeToString(), "m.onnx")
    with pytest.raises(ModelError, match=r"\(StringConcat t[0-9]+\): the texts that are made have more than [0-9]+ letters"):
        program(found, encoded(read, {"t0": WORDS}))


def test_a_body_may_not_take_letters_for_numbers() -> None:
    def body(kind: str) -> onnx.GraphProto:
        nodes = [node("Cast", ["words"], [f"{kind}_y"], f"{kind}_cast", to=1)]
        return helper.make_graph(nodes, kind, [], [helper.make_tensor_value_info(f"{kind}_y", 1, None)])

    found = made([node("If", ["c"], ["y"], then_branch=body("then"), else_branch=body("else"))], ["y"], {"c": np.array(True)})
    with pytest.raises(ModelError, match=r"\(Cast else_cast\): Cast of text is not supported"):
        program(found, encoded(read_model(found.SerializeToString(), "m.onnx"), {"words": WORDS}))


def test_an_optional_is_what_it_holds() -> None:
    nodes = [
        node("OptionalHasElement", ["x"], ["has"]),
        node("OptionalHasElement", [], ["none"]),
        node("OptionalGetElement", ["x"], ["y"]),
    ]
    found = model(nodes, {"x": (np.float32, 2)}, ["y", "has", "none"], opset=18)
    plain = found.graph.input[0].type.tensor_type
    optional = helper.make_optional_type_proto(helper.make_tensor_type_proto(plain.elem_type, [2]))
    found.graph.input[0].type.CopyFrom(optional)
    y, has, none = run(found, {"x": np.array([1, 2], np.float32)})
    assert (y.tolist(), bool(has), bool(none)) == ([1, 2], True, False)


def test_an_optional_without_a_value_has_no_element() -> None:
    nodes = [node("Optional", [], ["o"], type=helper.make_tensor_type_proto(1, [2])), node("OptionalGetElement", ["o"], ["y"])]
    with pytest.raises(ModelError, match="takes the element of an optional that has none"):
        program(model(nodes, {}, ["y"], opset=18), {})


SENTENCES = np.array(["Good film, bad", "a.b  c!", "", "\u00e9 w\u00f6rld_9", "b-d"])


def tokeniser(shape: tuple[int, ...], **attributes: Any) -> onnx.ModelProto:
    how = {"mark": 0, "pad_value": "#", "mincharnum": 1, **attributes}
    nodes = [
        node("Tokenizer", ["words"], ["parts"], domain="com.microsoft", **how),
        node("Equal", ["parts", "bad"], ["is_bad"]),
        node("Shape", ["parts"], ["shape"]),
    ]
    found = model(nodes, {"words": (np.int64, *shape)}, ["is_bad", "shape"], opset=19, domains=("com.microsoft",))
    found.graph.input[0].CopyFrom(helper.make_tensor_value_info("words", onnx.TensorProto.STRING, shape))
    found.graph.initializer.append(helper.make_tensor("bad", onnx.TensorProto.STRING, [1], [b"bad"]))
    return found


@pytest.mark.parametrize(
    "how",
    [
        {"tokenexp": "[a-zA-Z0-9_]+"}, {"tokenexp": "[a-z]+", "mincharnum": 3}, {"tokenexp": r"\w+", "mark": 1}, {"tokenexp": "z+"},
        {"separators": [" "]}, {"separators": [" ", r"\."]}, {"separators": ["[ ,.!]+"]}, {"separators": [""]},
        {"separators": [""], "mark": 1}, {"separators": [r"\s", "-"], "mincharnum": 2},
    ],
)  # fmt: skip
@pytest.mark.parametrize("rows", [False, True])
def test_tokens(how: dict[str, Any], rows: bool) -> None:
    import onnxruntime

    texts = SENTENCES.reshape(5, 1) if rows else SENTENCES
    made = tokeniser(texts.shape, **how)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    for got, want in zip(run(made, {"words": texts}), session.run(None, {"words": texts.astype(object)}), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("pattern", ["(a+)+", "a|b", "[a", "a{2", ".*.*.*.*.*", "(?<=a)b", "", "a" * 300])
def test_expressions_that_are_not_read(pattern: str) -> None:
    """Python's expressions are others than onnxruntime's, and may take exponential time."""
    with pytest.raises(ModelError, match="the expression"):
        program(tokeniser((5,), tokenexp=pattern), {"words": SENTENCES})
