"""Whole blocks and single composites: which instructions they become, what stays on the host and why."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from blocks import SMALL, Builder, Size, gpt2_block, inputs

from fleet.engines.base import RunOptions
from fleet.engines.iss import IssEngine
from fleet.ir.program import Program
from fleet.isa.registry import find_device
from fleet.sets.hbm0923.units.attention import AttentionOperands
from fleet.targets.accel.compile import compile_accel
from fleet.targets.accel.listing import regs_listing
from fleet.targets.accel.program import AccelProgram

SET, DEVICE = find_device("hbm_small")
ATTENTION = ["dat2hbm", "dat2hbm", "trp_mvm", "softmax", "f2w_mvm"]


def compiled(program: Program) -> AccelProgram:
    return compile_accel(program, SET, DEVICE)


def instructions(program: Program) -> list[tuple[str, list[str]]]:
    return [(g.ops[-1], [c.instruction for c in g.calls]) for g in compiled(program).groups]


def missed(program: Program) -> dict[str, str]:
    return dict(compiled(program).missed)


def rand(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def reference(p: dict[str, np.ndarray], x: np.ndarray, size: Size) -> np.ndarray:
    """The block in float64, written apart from the operators."""

    def norm(x: np.ndarray, g: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * g + b

    p = {name: v.astype(np.float64) for name, v in p.items()}
    n, d = size.tokens, size.width // size.heads
    q, k, v = np.split(norm(x, p["g1"], p["b1"]) @ p["c_attn"] + p["c_attn_b"], 3, axis=-1)
    heads: list[np.ndarray] = []
    for h in range(size.heads):
        at = slice(h * d, (h + 1) * d)
        s = np.where(np.tri(n, dtype=bool), q[:, at] @ k[:, at].T / np.sqrt(d), -np.inf)
        e = np.exp(s - s.max(-1, keepdims=True))
        heads.append(e / e.sum(-1, keepdims=True) @ v[:, at])
    x = x + np.hstack(heads) @ p["c_proj"] + p["c_proj_b"]
    f = norm(x, p["g2"], p["b2"]) @ p["c_fc"] + p["c_fc_b"]
    f = 0.5 * f * (1 + np.tanh(np.sqrt(2 / np.pi) * (f + 0.044715 * f**3)))
    return x + f @ p["m_proj"] + p["m_proj_b"]


@pytest.mark.parametrize("linear", [False, True])
def test_a_block_has_no_operation_on_the_host(linear: bool) -> None:
    program = gpt2_block(linear=linear)
    assert missed(program) == {}
    views = [(name, []) for name in "qkv"]
    middle = [("act", ["mvm_bn", "act"])] if linear else [("fc", ["mvm_bn"]), ("act", ["act"])]
    assert instructions(program) == [
        ("ln1", ["norm"]), ("qkv", ["mvm_bn"]), *views, ("mix", ATTENTION), ("attn", ["mvm_bn_res"]), ("ln2", ["norm"]),
        *middle, ("out", ["mvm_bn_res"]),
    ]  # fmt: skip


@pytest.mark.parametrize("size", [SMALL, Size(1, 64, 1, 96), Size(37, 128, 1, 160)])
@pytest.mark.parametrize("linear", [False, True])
def test_a_block_computes_what_numpy_does_with_the_stored_weights(size: Size, linear: bool) -> None:
    program = gpt2_block(size, linear=linear)
    x = inputs(size)
    (y,) = IssEngine().run(program, x, RunOptions(device="hbm_small")).outputs.values()
    want = reference(dict(compiled(program).rounded.weights), x["x"].astype(np.float64), size)
    error = np.sqrt(np.mean((y - want) ** 2)) / np.sqrt(np.mean(want**2))
    assert error < 4e-3
    faulty = reference(dict(program.weights), x["x"].astype(np.float64), size)  # not the stored weights
    assert np.sqrt(np.mean((y - faulty) ** 2)) / np.sqrt(np.mean(want**2)) > 10 * error


def test_query_key_and_value_are_views_of_one_tensor() -> None:
    buffers = compiled(gpt2_block()).plan.buffers
    row = SMALL.tokens * 64
    assert [buffers[name].offset - buffers["qkv"].offset for name in "qkv"] == [0, 4 * row, 8 * row]
    assert sum(buffers[name].size for name in "qkv") == buffers["qkv"].size


def test_keys_and_values_stand_beside_the_weights() -> None:
    plan = compiled(gpt2_block()).plan
    areas = [a for a in plan.areas.values() if a.space == "hbm"]
    assert [a.key for a in areas] == ["mix.keys", "mix.values"]
    spans = sorted([(a.offset, a.size) for a in areas] + [(c.offset, c.size) for c in plan.constants.values() if c.space == "hbm"])
    assert all(a + n <= b for (a, n), (b, _) in pairwise(spans))
    assert plan.used["hbm"] == sum(spans[-1])
    # 8 positions on 8 ports: one line of 64 channels a head; 64 channels on 8 ports: 8 lines of 8 positions in a beat.
    assert [a.size for a in areas] == [2 * 128, 2 * 8 * 32]


def attention(**changes: object) -> Program:
    n, w, given = 8, 128, {"heads": 2, "kv_heads": 2, "scale": 0.125, "causal": True, "mask": None, **changes}
    mask = given.pop("mask")
    kv = w // 2 * int(str(given["kv_heads"]))
    b = Builder({"q": (n, w), "k": (n, kv), "v": (n, kv)}, {} if mask is None else {"mask": np.asarray(mask, np.float32)})
    b("y", "attention", *("q", "k", "v", "mask")[: 3 if mask is None else 4], **given)
    return b.done("y")


def hidden(n: int = 8, value: float = -1e10, shift: int = 0) -> np.ndarray:
    return np.where(np.tri(n, k=shift, dtype=bool), 0.0, value)


@pytest.mark.parametrize(
    ("changes", "causal"),
    [({}, 1), ({"causal": False}, 0), ({"causal": False, "mask": hidden()}, 1), ({"causal": False, "mask": np.zeros((8, 8))}, 0),
     ({"kv_heads": 1}, 1), ({"mask": hidden(value=-np.inf)}, 1)],
)  # fmt: skip
def test_attention(changes: dict[str, object], causal: int) -> None:
    program = attention(**changes)
    calls = list(compiled(program).calls)
    assert [c.instruction for c in calls] == ATTENTION
    assert calls[3].fields["softmax_mask"] == causal
    scores = SET.instructions["trp_mvm"].decode(calls[2].fields)  # pyright: ignore[reportAttributeAccessIssue]
    assert isinstance(scores, AttentionOperands)
    assert float(scores.scale_value(DEVICE)) == 0.125
    assert scores.kv_heads == changes.get("kv_heads", 2)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"causal": False, "mask": hidden(shift=1)}, "its mask 'mask' is not causal"),
        ({"causal": False, "mask": hidden(value=-10)}, "its mask 'mask' is not causal"),
        ({"heads": 4, "kv_heads": 4}, "a head has 32 channels, the device takes 64 or 128"),
        ({"scale": 1e-6}, "a scale of 1e-06"),
    ],
)
def test_an_attention_that_the_device_has_not(changes: dict[str, object], reason: str) -> None:
    given = {"heads": 2, **changes}
    program = attention(**changes) if given["heads"] == 2 else narrow_heads()
    assert missed(program)["y"].startswith(reason)
    assert f"host y  # fleet.attention: {reason}" in regs_listing(compiled(program).stream)


def narrow_heads() -> Program:
    b = Builder({"q": (8, 128), "k": (8, 128), "v": (8, 128)}, {})
    b("y", "attention", "q", "k", "v", heads=4, kv_heads=4, scale=0.125, causal=True)
    return b.done("y")


def test_a_mask_that_is_given_at_run_time() -> None:
    b = Builder({"q": (8, 128), "m": (8, 8)}, {})
    b("y", "attention", "q", "q", "q", "m", heads=2, kv_heads=2, scale=0.125, causal=False)
    assert missed(b.done("y"))["y"].startswith("its mask is computed at run time")


def single(build: Callable[[Builder], str], shape: tuple[int, ...] = (8, 96), dtype: str = "float32") -> Program:
    coefficients = {"g": 1 + rand(1, shape[-1]) / 4, "b": rand(2, shape[-1]), "full": rand(3, *shape)}
    b = Builder({"x": shape, "z": shape}, coefficients, dtype)
    return b.done(build(b))


@pytest.mark.parametrize(
    ("build", "names"),
    [
        (lambda b: b("y", "layer_norm", "x", "g", "b", eps=1e-5), ["norm"]),
        (lambda b: b("y", "rms_norm", "x", "g", eps=1e-6), ["norm"]),
        (lambda b: b("y", "softmax", "x", axis=-1), ["softmax"]),
        (lambda b: b("y", "gelu", "x", approximate="tanh"), ["act"]),
        (lambda b: b("y", "gelu", "x", approximate="erf"), ["act"]),
        (lambda b: b("y", "silu", "x"), ["act"]),
        (lambda b: b("y", "sigmoid", "x"), ["act"]),
        (lambda b: b("y", "tanh", "x"), ["act"]),
        (lambda b: b("y", "add", "x", "z"), ["elementwise"]),
        (lambda b: b("y", "sub", "x", "full"), ["elementwise"]),
        (lambda b: b("y", "mul", "x", "x"), ["elementwise"]),
    ],
)
@pytest.mark.parametrize("shape", [(8, 96), (1100, 96), (96,), (8, 45)])
def test_single_operations(build: Callable[[Builder], str], names: list[str], shape: tuple[int, ...]) -> None:
    """More tokens than MaxToken are tiled; a vector is one token."""
    program = single(build, shape)
    assert missed(program) == {}
    calls = [c.instruction for c in compiled(program).calls]
    tiles = 3 if shape[0] == 1100 else 1
    assert set(calls) == set(names)
    assert len(calls) == (12 if names == ["softmax"] and tiles == 3 else tiles)  # a softmax has no more tokens than channels
    arrays = {"x": 3 * rand(7, *shape), "z": rand(8, *shape)}
    (y,) = IssEngine().run(program, arrays, RunOptions(device="hbm_small")).outputs.values()
    from fleet.targets.bytecode.evaluate import apply

    values = {**arrays, **compiled(program).rounded.weights}
    values |= {"x": arrays["x"].astype(np.float16), "z": arrays["z"].astype(np.float16)}
    (op,) = program.operations()
    names_of = {v: n for n, v in zip((a.name for a in program.arguments), program.function.body.block.args, strict=True)}
    want = apply(op, [values[names_of[v]].astype(np.float64) for v in op.operands])
    table = 0.006 if names == ["act"] else 0.0
    assert np.abs(y - want).max() <= table + 2**-10 * np.abs(want).max()


@pytest.mark.parametrize(
    ("build", "shape", "reason"),
    [
        (lambda b: b("y", "layer_norm", "x", "g", "b", eps=70000.0), (4, 40), "eps 70000, the device takes 0 up to 65536"),
        (lambda b: b("y", "softmax", "x", axis=0), (4, 32), "it is not over the last axis"),
        (lambda b: b("y", "softmax", "x", axis=1), (4, 640), "640 channels, the device takes 512"),
        (lambda b: b("y", "add", "x", "b"), (4, 32), "one side is broadcast"),
        (lambda b: b("y", "exp", "x"), (4, 32), "hbm_small has no instruction for exp"),
        (lambda b: b("y", "rope", "x", "cos", "sin", interleaved=False), (4, 64), "it pairs channels half a head apart"),
    ],
)
def test_single_operations_that_stay(build: Callable[[Builder], str], shape: tuple[int, ...], reason: str) -> None:
    b = Builder({"x": shape}, {"g": rand(1, shape[-1]), "b": rand(2, shape[-1]), "cos": rand(3, 4, 32), "sin": rand(4, 4, 32)})
    assert missed(b.done(build(b)))["y"].startswith(reason)


def test_one_eps_for_the_run() -> None:
    b = Builder({"x": (4, 32)}, {"g": rand(1, 32)})
    b("a", "rms_norm", "x", "g", eps=1e-5)
    b("y", "rms_norm", "a", "g", eps=1e-6)
    program = b.done("y")
    assert missed(program) == {"y": "eps 1e-06: the device has one register for the whole run, 1e-05 for the first norm"}
    assert compiled(program).parameters == {"eps": int(np.float32(1e-5).view(np.uint32))}


def test_rotary_embedding_of_a_head() -> None:
    cos, sin = np.cos(rand(3, 8, 32)), np.sin(rand(3, 8, 32))
    b = Builder({"x": (8, 64)}, {"cos": cos, "sin": sin})
    b("y", "rope", "x", "cos", "sin", interleaved=True)
    program = b.done("y")
    x = rand(5, 8, 64)
    (y,) = IssEngine().run(program, {"x": x}, RunOptions(device="hbm_small")).outputs.values()
    a = x[:, 0::2] * cos - x[:, 1::2] * sin
    z = x[:, 0::2] * sin + x[:, 1::2] * cos
    assert np.abs(np.stack([a, z], -1).reshape(8, 64) - y).max() < 4e-3


def test_a_part_that_does_not_begin_at_a_group_of_channels_is_made_by_the_host() -> None:
    b = Builder({"x": (4, 128), "z": (4, 64)}, {"w": rand(1, 128, 128)})
    b("h", "matmul", "x", "w")
    b("part", "slice", "h", start=[0, 16], size=[4, 64])
    b("y", "add", "part", "z")
    program = b.done("y")
    assert missed(program) == {"part": "channels 16 to 80, views begin and end at multiples of 32"}
    arrays = {"x": rand(2, 4, 128), "z": rand(3, 4, 64)}
    (y,) = IssEngine().run(program, arrays, RunOptions(device="hbm_small")).outputs.values()
    w = compiled(program).rounded.weights["w"]
    assert np.abs(y - (arrays["x"] @ w)[:, 16:80] - arrays["z"]).max() < 0.1


def test_a_part_of_what_the_host_has_is_made_by_the_host() -> None:
    b = Builder({"x": (4, 128), "z": (4, 64)}, {})
    b("part", "slice", "x", start=[0, 64], size=[4, 64])
    b("y", "add", "part", "z")
    assert missed(b.done("y")) == {"part": "what it is a part of stands with the host"}


def test_products_of_composites_on_the_host_are_counted() -> None:
    """4 heads of 32 channels: the device has no such attention."""
    x = {name: rand(i, 8, 128) for i, name in enumerate("qkv")}
    b = Builder(dict.fromkeys("qkv", (8, 128)), {"w": rand(3, 128, 128)})
    b("p", "matmul", "q", "w")
    b("y", "attention", "p", "k", "v", heads=4, kv_heads=4, scale=0.125, causal=True)
    trace = IssEngine().run(b.done("y"), x, RunOptions(device="hbm_small"))
    assert trace.counters["host_macs"] == 2 * 4 * 8 * 8 * 32
    assert trace.meta["host_reasons"] == {"y": "a head has 32 channels, the device takes 64 or 128"}
