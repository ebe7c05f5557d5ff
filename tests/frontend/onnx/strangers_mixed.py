"""Files with what the other families leave out: lengths of sequences, functions of exporters, branches, old and new opsets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.external_data_helper import set_external_data
from strangers import FileOf, StrangerFile, at, scores_of, stranger

F, LONG = np.float32, np.int64


@stranger
def lstm_of_several_lengths(folder: Path) -> StrangerFile:
    """PyTorch's packed sequences: a bidirectional LSTM with lengths and initial states as inputs, peepholes, both last states."""
    f = FileOf(14, "pytorch")
    w, r, b = (f.weight(f.floats(2, *s, scale=0.4)) for s in ((32, 6), (32, 8), (64,)))
    p = f.weight(f.floats(2, 24, scale=0.3))
    lstm = ["x", w, r, b, "lengths", "h0", "c0", p]
    f.node("LSTM", lstm, out=["states", "h", "c"], hidden_size=8, direction="bidirectional")
    turned = f.node("Transpose", ["states"], perm=[0, 2, 1, 3])
    f.node("Reshape", [turned, f.integers(0, 0, -1)], out="y")
    inputs = {"x": (F, "T", "N", 6), "lengths": (np.int32, "N"), "h0": (F, 2, "N", 8), "c0": (F, 2, "N", 8)}
    made = f.model(inputs, {"y": (F, "T", "N", 16), "h": (F, 2, "N", 8), "c": (F, 2, "N", 8)})
    given = {"x": f.floats(5, 3, 6), "h0": f.floats(2, 3, 8), "c0": f.floats(2, 3, 8)}
    return at(folder, "packed", made, {**given, "lengths": np.array([5, 2, 4], np.int32)})


@stranger
def gru_backwards(folder: Path) -> StrangerFile:
    """A GRU in reverse with lengths and an initial state, one bias before the reset, as PyTorch has it; opset 7."""
    f = FileOf(7, "pytorch", ir=4)
    w, r, b = (f.weight(f.floats(1, *s, scale=0.4)) for s in ((15, 4), (15, 5), (30,)))
    f.node("GRU", ["x", w, r, b, "lengths", "h0"], out=["y", "h"], hidden_size=5, direction="reverse", linear_before_reset=1)
    inputs = {"x": (F, 6, 2, 4), "lengths": (np.int32, 2), "h0": (F, 1, 2, 5)}
    made = f.model(inputs, {"y": (F, 6, 1, 2, 5), "h": (F, 1, 2, 5)})
    given = {"x": f.floats(6, 2, 4), "lengths": np.array([6, 3], np.int32), "h0": f.floats(1, 2, 5)}
    return at(folder, "reverse", made, given)


@stranger
def functions_of_torchlib(folder: Path) -> StrangerFile:
    """torch.export's exporter before it inlined: operators as functions of a domain, which call one another and have attributes."""
    f = FileOf(18, "pytorch", style="{kind}_{n}")
    library = "pkg.onnxscript.torch_lib"

    def function(
        name: str, inputs: list[str], nodes: list[onnx.NodeProto], outputs: list[str], **more: list[str]
    ) -> onnx.FunctionProto:
        imports = [helper.make_opsetid("", 18), helper.make_opsetid(library, 1)]
        return helper.make_function(library, name, inputs, outputs, nodes, imports, **more)

    is_scalar = function(
        "Rank", ["tensor"], [helper.make_node("Shape", ["tensor"], ["s"]), helper.make_node("Size", ["s"], ["r"])], ["r"]
    )  # fmt: skip
    scaled = [helper.make_node("Constant", [], ["a"]), helper.make_node("CastLike", ["a", "other"], ["t"])]
    scaled[0].attribute.append(onnx.AttributeProto(name="value_float", ref_attr_name="alpha", type=onnx.AttributeProto.FLOAT))
    scaled += [helper.make_node("Mul", ["other", "t"], ["m"]), helper.make_node("Add", ["self", "m"], ["y"])]
    add = function("aten_add", ["self", "other"], scaled, ["y"], attributes=["alpha"])
    then, other = helper.make_node("Identity", ["x"], ["t"]), helper.make_node("Softmax", ["x"], ["e"], axis=-1)
    guarded = [
        helper.make_node("Rank", ["x"], ["rank"], domain=library),
        helper.make_node("Constant", [], ["zero"], value_int=0),
        helper.make_node("Equal", ["rank", "zero"], ["scalar"]),
        helper.make_node(
            "If", ["scalar"], ["y"],
            then_branch=helper.make_graph([then], "then", [], [onnx.ValueInfoProto(name="t")]),
            else_branch=helper.make_graph([other], "else", [], [onnx.ValueInfoProto(name="e")]),
        ),
    ]  # fmt: skip
    softmax = function("aten_softmax_no_dtype", ["x"], guarded, ["y"])
    h = f.node("MatMul", ["l_x_", f.weight(f.floats(6, 6), "fc.weight")])
    h = f.node("aten_add", [h, "l_x_"], domain=library, alpha=0.5)
    f.node("aten_softmax_no_dtype", [h], out="softmax", domain=library)
    made = f.model({"l_x_": (F, "s0", 6)}, {"softmax": (F, "s0", 6)})
    made.functions.extend([is_scalar, add, softmax])
    return at(folder, "torchlib", made, {"l_x_": f.floats(3, 6)})


@stranger
def weights_in_two_files(folder: Path) -> StrangerFile:
    """Data beside the model in two files, one of them below a folder, at offsets; the small ones inside."""
    f = FileOf(17, "pytorch")
    h = f.node("Gemm", ["x", f.weight(f.floats(7, 9), "a"), f.weight(f.floats(9), "bias")])
    f.node("Gemm", [f.node("Relu", [h]), f.weight(f.floats(9, 2), "b")], out="y")
    made = f.model({"x": (F, "N", 7)}, {"y": (F, "N", 2)})
    (folder / "data").mkdir(exist_ok=True)
    for name, file in (("a", "first.bin"), ("b", "data/second.bin")):
        (tensor,) = (t for t in made.graph.initializer if t.name == name)
        offset = 4096 if name == "a" else 0
        (folder / file).write_bytes(bytes(offset) + tensor.raw_data)
        set_external_data(tensor, file, offset=offset or None, length=len(tensor.raw_data))
        tensor.ClearField("raw_data")
    return at(folder, "large", made, {"x": f.floats(4, 7)})


@stranger
def codes_of_sixteen_bits(folder: Path) -> StrangerFile:
    """Opset 21's QDQ: activations of uint16, weights of int8 a channel, a bias of int32 with a scale a channel, blocks of int4."""
    f = FileOf(21, "onnx.quantize", ir=10)

    def through(value: str, scale: float, zero: int) -> str:
        ends = [f.weight(np.array(scale, F)), f.weight(np.array(zero, np.uint16))]
        return f.node("DequantizeLinear", [f.node("QuantizeLinear", [value, *ends]), *ends])

    codes = f.weight(f.rng.integers(-127, 128, (8, 3, 3, 3)).astype(np.int8))
    scales = f.rng.uniform(0.001, 0.01, 8).astype(F)
    kernel = f.node("DequantizeLinear", [codes, f.weight(scales), f.weight(np.zeros(8, np.int8))], axis=0)
    bias = f.node(
        "DequantizeLinear",
        [f.weight(f.rng.integers(-900, 900, 8).astype(np.int32)), f.weight(scales * F(0.0001)), f.weight(np.zeros(8, np.int32))],
        axis=0,
    )
    h = through(f.node("Conv", [through("x", 0.0001, 32768), kernel, bias], kernel_shape=[3, 3], strides=[2, 2]), 0.0005, 30000)
    h = f.node("Flatten", [h])
    packed = helper.make_tensor("blocks", TensorProto.INT4, [72, 4], f.rng.integers(-8, 8, 288).tolist())
    f.weights.append(packed)
    dense = f.node("DequantizeLinear", ["blocks", f.weight(f.rng.uniform(0.01, 0.1, (9, 4)).astype(F))], axis=0, block_size=8)
    f.node("MatMul", [h, dense], out="y")
    return at(folder, "qdq16", f.model({"x": (F, 1, 3, 7, 7)}, {"y": (F, 1, 4)}), {"x": f.floats(1, 3, 7, 7)})


@stranger
def one_decoder_for_both(folder: Path) -> StrangerFile:
    """Optimum's merged decoder: `use_cache_branch` decides between two graphs whose results have other sizes."""
    f = FileOf(13, "optimum")
    table, wk = f.weight(f.floats(20, 8), "embed"), f.weight(f.floats(8, 8), "k")

    def branch(name: str, nodes: list[onnx.NodeProto]) -> onnx.GraphProto:
        return helper.make_graph(nodes, name, [], [onnx.ValueInfoProto(name=n) for n in (f"{name}.out", f"{name}.keys")])

    n = helper.make_node
    new = [n("Gather", [table, "ids"], ["t.e"]), n("MatMul", ["t.e", wk], ["t.k"])]
    with_past = [*new, n("Concat", ["past", "t.k"], ["then.keys"], axis=1)]
    with_past += [n("Transpose", ["then.keys"], ["t.t"], perm=[0, 2, 1]), n("MatMul", ["t.e", "t.t"], ["then.out"])]
    first = [n("Gather", [table, "ids"], ["e.e"]), n("MatMul", ["e.e", wk], ["else.keys"])]
    first += [n("Transpose", ["else.keys"], ["e.t"], perm=[0, 2, 1]), n("MatMul", ["e.e", "e.t"], ["else.out"])]
    f.node("Squeeze", ["use_cache_branch", f.integers(0)], out="cached")
    f.node("If", ["cached"], out=["logits", "keys"], then_branch=branch("then", with_past), else_branch=branch("else", first))
    inputs = {"ids": (LONG, "N", "T"), "past": (F, "N", "P", 8), "use_cache_branch": (bool, 1)}
    made = f.model(inputs, {"logits": (F, "N", "T", "K"), "keys": (F, "N", "K", 8)})
    given = {"ids": np.array([[3, 7]]), "past": f.floats(1, 4, 8), "use_cache_branch": np.array([True])}
    return at(folder, "merged", made, given)


@stranger
def loops_of_an_input(folder: Path) -> StrangerFile:
    """A Loop whose count is an input, with a state, a condition and a scan output; a Scan with two states, backwards."""
    f = FileOf(16, "tf2onnx")
    n = helper.make_node
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [
            *(n("MatMul", ["s", "w"], ["m"]), n("Tanh", ["m"], ["s2"])),
            *(n("ReduceSum", ["s2"], ["total"], keepdims=0), n("Identity", ["c"], ["c2"])),
        ],
        "body", [info("i", TensorProto.INT64, []), info("c", TensorProto.BOOL, []), info("s", TensorProto.FLOAT, [2, 3])],
        [info("c2", TensorProto.BOOL, []), info("s2", TensorProto.FLOAT, [2, 3]), info("total", TensorProto.FLOAT, [])],
    )  # fmt: skip
    f.weight(f.floats(3, 3, scale=0.5), "w")
    f.node("Loop", ["steps", "", "x"], out=["last", "totals"], body=body)
    step = helper.make_graph(
        [n("Add", ["a", "v"], ["a2"]), n("Mul", ["b", "v"], ["b2"]), n("Sub", ["a2", "b2"], ["o"])],
        "step", [info(k, TensorProto.FLOAT, [3]) for k in ("a", "b", "v")],
        [info(k, TensorProto.FLOAT, [3]) for k in ("a2", "b2", "o")],
    )  # fmt: skip
    zeros, ones = f.weight(np.zeros(3, F)), f.weight(np.ones(3, F))
    scan = [zeros, ones, "last"]
    f.node(
        "Scan", scan, out=["a", "b", "outs"], body=step, num_scan_inputs=1, scan_input_directions=[1], scan_output_directions=[1]
    )
    made = f.model({"steps": (LONG,), "x": (F, 2, 3)}, {"totals": (F, "S"), "outs": (F, 2, 3), "b": (F, 3)})
    return at(folder, "loops", made, {"steps": np.array(4), "x": f.floats(2, 3)})


@stranger
def labels_of_text_both_ways(folder: Path) -> StrangerFile:
    """A column of text through LabelEncoder to numbers beside others, a gradient-boosted classifier with labels of text, ZipMap."""
    f = FileOf(15, "skl2onnx", style="{kind}_{n}")
    ml = "ai.onnx.ml"
    f.domains[ml] = 2
    coded = f.node(
        "LabelEncoder",
        ["colour"],
        domain=ml,
        keys_strings=["red", "green", "blue"],
        values_floats=[0.0, 1.0, 2.0],
        default_float=-1.0,
    )
    joined = f.node("Concat", [coded, "size"], axis=1)
    scaled = f.node("Scaler", [joined], domain=ml, offset=[1.0, 0.5], scale=[0.5, 2.0])
    f.node(
        "TreeEnsembleClassifier", [scaled], out=["label", "scores"], domain=ml, classlabels_strings=["no", "yes"],
        post_transform="LOGISTIC",
        nodes_treeids=[0, 0, 0, 1, 1, 1], nodes_nodeids=[0, 1, 2, 0, 1, 2], nodes_featureids=[0, 0, 0, 1, 0, 0],
        nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_LT", "LEAF", "LEAF"], nodes_values=[0.1, 0.0, 0.0, 0.4, 0.0, 0.0],
        nodes_truenodeids=[1, 0, 0, 1, 0, 0], nodes_falsenodeids=[2, 0, 0, 2, 0, 0],
        nodes_missing_value_tracks_true=[1, 0, 0, 0, 0, 0],
        class_treeids=[0, 0, 1, 1], class_nodeids=[1, 2, 1, 2], class_ids=[0, 0, 0, 0],
        class_weights=[-0.7, 0.4, 0.3, -0.2], base_values=[0.1],
    )  # fmt: skip
    f.node("ZipMap", ["scores"], out="probabilities", domain=ml, classlabels_strings=["no", "yes"])
    inputs = {"colour": ("string", "N", 1), "size": (F, "N", 1)}
    made = f.model(inputs, {"label": ("string", "N"), "probabilities": (scores_of(TensorProto.STRING),)})
    given = {"colour": np.array([["red"], ["blue"], ["pink"]]), "size": np.array([[0.1], [np.nan], [2.0]], F)}
    return at(folder, "boosted", made, given)


@stranger
def the_newest_opset(folder: Path) -> StrangerFile:
    """Opset 23: Attention with grouped heads and a causal mask, RotaryEmbedding, RMSNormalization, Swish-gated layers."""
    f = FileOf(23, "pytorch", style="{kind}_{n}", ir=11)
    x = f.node("RMSNormalization", ["x", f.weight(np.ones(16, F))], axis=-1, epsilon=1e-5)
    q, k, v = (f.node("MatMul", [x, f.weight(f.floats(16, n, scale=0.3))]) for n in (16, 8, 8))
    angles = np.outer(np.arange(8), 10000.0 ** -np.arange(0, 1, 0.5)).astype(F)
    tables = [f.weight(np.cos(angles)), f.weight(np.sin(angles)), "position_ids"]
    q, k = (f.node("RotaryEmbedding", [t, *tables], num_heads=h) for t, h in ((q, 4), (k, 2)))
    attended = f.node("Attention", [q, k, v], is_causal=1, q_num_heads=4, kv_num_heads=2)
    x = f.node("Add", ["x", f.node("MatMul", [attended, f.weight(f.floats(16, 16, scale=0.3))])])
    up, gate = (f.node("MatMul", [x, f.weight(f.floats(16, 24, scale=0.3))]) for _ in range(2))
    gate = f.node("Mul", [gate, f.node("Sigmoid", [gate])])
    f.node("MatMul", [f.node("Mul", [up, gate]), f.weight(f.floats(24, 5))], out="y")
    made = f.model({"x": (F, "N", "T", 16), "position_ids": (LONG, "N", "T")}, {"y": (F, "N", "T", 5)})
    return at(folder, "newest", made, {"x": f.floats(2, 6, 16), "position_ids": np.tile(np.arange(6), (2, 1))})


@stranger
def caffes_end(folder: Path) -> StrangerFile:
    """Caffe2's and MXNet's manner, opset 7: Softmax over all that follows axis 1, pads of AveragePool counted, Sum of three."""
    f = FileOf(7, "mxnet", ir=3, style="{kind}{n}")
    h = f.node("Conv", ["data", f.weight(f.floats(4, 3, 3, 3, scale=0.3))], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    parts = [f.weight(a) for a in (np.ones(4, F), f.floats(4), f.floats(4), f.rng.uniform(0.5, 2, 4).astype(F))]
    h = f.node("BatchNormalization", [h, *parts], epsilon=1e-3, momentum=0.9)
    h = f.node("PRelu", [h, f.weight(f.rng.uniform(0, 1, (4, 1, 1)).astype(F))])
    pooled = f.node("AveragePool", [h], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1)
    most = f.node("MaxPool", [h], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    h = f.node("Sum", [pooled, most, f.node("LpPool", [h], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], p=2)])
    h = f.node("Upsample", [h], scales=[1.0, 1.0, 2.0, 2.0], mode="nearest")
    f.node("Softmax", [h], out="all", axis=1)
    flat = f.node("Dropout", [f.node("Flatten", [h], axis=1)], ratio=0.3)
    h = f.node("Gemm", [flat, f.weight(f.floats(5, 256, scale=0.1)), f.weight(f.floats(5))], transB=1)
    f.node("LogSoftmax", [f.node("Clip", [h], min=-2.0, max=2.0)], out="scores", axis=1)
    made = f.model({"data": (F, 2, 3, 8, 8)}, {"all": (F, 2, 4, 8, 8), "scores": (F, 2, 5)}, weights_are_inputs=True)
    return at(folder, "caffe", made, {"data": f.floats(2, 3, 8, 8)})


@stranger
def sequences_inside(folder: Path) -> StrangerFile:
    """torch.chunk, torch.stack and lists: SplitToSequence, SequenceAt, SequenceInsert, ConcatFromSequence."""
    f = FileOf(13, "pytorch")
    parts = f.node("SplitToSequence", ["x", f.weight(np.array(2, LONG))], axis=1)
    first, last = (f.node("SequenceAt", [parts, f.weight(np.array(i, LONG))]) for i in (0, -1))
    listed = f.node("SequenceConstruct", [last, first])
    listed = f.node("SequenceInsert", [listed, f.node("Mul", [first, last]), f.weight(np.array(1, LONG))])
    f.node("ConcatFromSequence", [listed], out="stacked", axis=0, new_axis=1)
    f.node("SequenceLength", [listed], out="n")
    made = f.model({"x": (F, "N", 6)}, {"stacked": (F, 3, "N", 2), "n": (LONG,)})
    return at(folder, "lists", made, {"x": f.floats(4, 6)})
