"""Steps: every one that is accepted has legal instructions, not only those that were looked at when compiling."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as s
from small import decoder, wide

from fleet.errors import ModelError
from fleet.isa.codec import words_of
from fleet.targets.accel.build import build
from fleet.targets.accel.legality import bindings
from fleet.targets.accel.module import Module


@cache
def module(name: str) -> Module:
    return build(decoder(data=False, onchip=name == "onchip") if name != "wide" else wide(100), aux=True)


@settings(max_examples=60, deadline=None)
@given(s.sampled_from(["ddr", "onchip", "wide"]), s.integers(0, 110), s.integers(0, 70))
def test_accepted_steps_are_legal(name: str, token: int, last: int) -> None:
    m = module(name)
    step = {"token": token, "last_token": last}
    # What a user is told to keep to, worked out by hand: bounds, and as many positions as the table has.
    wanted = 1 <= token <= 100 and last <= 8 if name == "wide" else 1 <= token <= 24 and last <= 64 and token + last <= 64
    try:
        calls = m.calls(**step)
    except ModelError:
        assert not wanted
        return
    assert wanted
    for call in calls:
        words_of(m.description, call)
        assert not m.instruction_set.instructions[call.instruction].legal(m.device, call.fields)
    assert sum(b.count for b in m.binaries(**step)) == len(calls)


def test_what_is_looked_at_has_the_corners() -> None:
    m = module("ddr")
    seen = [(b["token"], b["last_token"]) for b in bindings(m.steps, m.emission.dims)]
    assert seen[0] == (1, 0)
    assert {(24, 0), (1, 63), (24, 40)} <= set(seen)
    assert all(t + last <= 64 for t, last in seen)
    loops = [b["token"] for b in bindings(module("wide").steps, module("wide").emission.dims)]
    assert {1, 32, 33, 100} <= set(loops)


def test_a_step_without_numbers_is_one_token() -> None:
    m = module("ddr")
    assert m.calls() == m.calls(token=1, last_token=0)
    assert m.dims == {"token": 24, "last_token": 64}
    assert m.shape_of("x", token=7) == (1, 7, 128)
    assert m.bound_port("output", token=7).shape == (1, 1, 100)


def test_nodes_have_their_instructions_and_results() -> None:
    m = module("wide")
    nodes = m.nodes(token=70)
    assert [(n.name, n.first, n.count) for n in nodes] == [("mvm_0", 0, 1), ("mvm_bn_res_1", 1, 3), ("layer_norm_2", 4, 1)]
    calls = m.calls(token=70)
    for n in nodes:
        assert {c.ops for c in calls[n.first : n.first + n.count]} == {(n.name,)}
    assert nodes[1].results[0].address == calls[1].fields["mvm_out_addr"]


def test_a_tuple_shape_and_a_list_are_the_same() -> None:
    """The public compiler loses a dimension of a tuple."""
    from fleet.dlavm import adr, ne, transform

    token = ne.Var("token", 8)
    made = []
    for shape in ((1, token, 64), [1, token, 64]):
        x = adr.hbm.var_ddr("x", shape)
        graph = transform.infer_type(adr.hbm.mvm(x, adr.hbm.const_hbm("w", None, [64, 32])), "hbm_small")
        made.append(build(graph).get_source())
    assert made[0] == made[1]
    assert "void model(HANDLE& device, int token) {" in made[0]


@pytest.mark.parametrize("device", ["hbm0923", "hbm1128"])
def test_every_device_of_the_family(device: str) -> None:
    m = build(decoder(data=False, device=device, onchip=True), aux=True)
    scales = {c.fields["trp_mvm_scale"] for c in m.calls(token=2) if c.instruction == "trp_mvm"}
    # 1 / sqrt(64) is 2^-3: FP16 0x3000 below the bank step at bit 16, or FP20 with exponent 127 - 3 - 96 below it at bit 20.
    assert scales == ({0x3000 | 28 << 16} if device == "hbm0923" else {(127 - 3 - 96) << 13 | 28 << 20})


@pytest.mark.parametrize("aux", [False, True])
def test_a_second_build_is_the_same(aux: bool) -> None:
    a, b = (build(decoder(data=False, onchip=True), aux=aux) for _ in range(2))
    assert a.storage == b.storage
    assert a.calls(token=3) == b.calls(token=3)
