"""Bad input: one line that names the node, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small import CHANNELS, Weights, decoder, dims

from fleet.dlavm import adr, ne, transform
from fleet.errors import DeviceError, FleetError, ModelError
from fleet.ir.accel.nodes import Node
from fleet.isa.registry import find_device
from fleet.sdk import Device
from fleet.sdk.hardware.state import StateRegister
from fleet.sdk.tasks import TaskCall, TaskContext
from fleet.targets.accel.build import build
from fleet.targets.accel.legality import check
from fleet.targets.accel.settings import DEFAULT_BLOCKS

hbm = adr.hbm


def given(channels: int = 64, heads: int = 1, tokens: int = 8, name: str = "x") -> Node:
    return hbm.var_ddr(name, (heads, ne.Var("token", tokens), channels))


def typed(node: Node, device: str = "hbm_small", **attrs: Any) -> Node:
    return transform.infer_type(node, device, attrs=attrs)


def weights(chin: int = 64, chout: int = 32, data: Any = None) -> Node:
    return hbm.const_hbm("w", data, (chin, chout))


def test_a_graph_without_types() -> None:
    with pytest.raises(ModelError, match="run infer_type first"):
        build(hbm.mvm(given(), weights()))


@pytest.mark.parametrize(
    ("node", "error"),
    [
        (lambda: hbm.argmax(given()), r"argmax_0 \(accel.hbm.argmax\): the device has no instruction for it; it has mvm, "),
        (lambda: hbm.rope_qwen(given(64, 2), hbm.const_ddr("t", None, (1, 20, 32))), "pairs channels half a head apart"),
        (lambda: hbm.trp_mvm(given(96, 2, name="q"), hbm.dat_hbm(given(96, 2), 1)),
         r"dat_hbm_0 .*expected a cache \(heads, positions, 64 or 128\)"),
        (lambda: hbm.rms_norm(given(8192), hbm.const_ddr("n", None, (16384,))),
         "8192 channels, the device's row buffer holds 4096"),
        (lambda: hbm.mvm(given(64 * 257), weights(64 * 257)), "mvm_chin: 16448 channels take 257 words, expected at most 256"),
        (lambda: hbm.add(hbm.rms_norm(given(), hbm.const_ddr("n", None, (128,)), eps=1e-5),
                         hbm.rms_norm(given(name="y"), hbm.const_ddr("m", None, (128,)), eps=1e-6)),
         "register 'eps' is needed with"),
        (lambda: hbm.mvm(given(64, 2), weights()), "its input has 2 heads, expected .1, tokens, 64.; reshape it first"),
    ],
)  # fmt: skip
def test_what_the_device_cannot_do(node: Callable[[], Node], error: str) -> None:
    made = typed(node(), last_token=0)
    with pytest.raises(DeviceError, match=error):
        build(made)


@pytest.mark.parametrize("name", ["runtime1", "hbm0"])
def test_a_dimension_with_the_name_of_a_storage(name: str) -> None:
    x = hbm.var_ddr("x", (1, ne.Var(name, 8), 64))
    with pytest.raises(ModelError, match=f"a dimension is called '{name}'"):
        build(typed(hbm.mvm(x, weights())))


def test_a_set_without_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    without = replace(find_device("hbm_small")[0], tasks=None)
    monkeypatch.setattr("fleet.targets.accel.build.find_device", lambda name: (without, find_device(name)[1]))
    with pytest.raises(DeviceError, match="it has no tasks for graphs"):
        build(typed(hbm.mvm(given(), weights())))


def test_memory_that_does_not_fit_names_the_block() -> None:
    graph = typed(hbm.mvm(given(4096, tokens=512), weights(4096, 32)))
    with pytest.raises(DeviceError, match=r"memory plan, block 'hbm': storage 'hbm0' .* hbm_small has 0x800 of hbm a bank"):
        build(graph, device=replace(find_device("hbm_small")[1], memory={"ddr": 1 << 26, "hbm": 2048}))
    with pytest.raises(
        DeviceError, match=r"memory plan, block 'runtime': storage 'runtime0' .*; give the dimensions smaller bounds"
    ):
        build(graph, device=replace(find_device("hbm_small")[1], memory={"ddr": 1 << 20, "hbm": 1 << 22}))


def test_too_much_on_chip_is_refused_or_spilled(tmp_path: Path) -> None:
    big = hbm.rms_norm(given(4096, tokens=64), hbm.const_ddr("n", None, (8192,)))
    big.prefix = "onchip"
    graph = typed(hbm.mvm(big, weights(4096, 32)))
    with pytest.raises(DeviceError, match=r"block 'onchip', 'layer_norm_0': 524,288 bytes of onchip do not fit: a part has 65,536"):
        build(graph)
    module = build(graph, build_config={"spill": True})
    assert {o.space for node in module.nodes(token=3) for o in node.results} == {"ddr"}


@pytest.mark.parametrize(("field", "error"), [("input", "no host can write it"), ("output", "no host can read it")])
def test_inputs_and_outputs_do_not_stand_on_chip(field: str, error: str) -> None:
    x = given()
    y = hbm.add(x, x)
    (x if field == "input" else y).prefix = "onchip"
    with pytest.raises(FleetError, match=error):
        build(typed(y))


def test_the_cache_is_written_from_ddr() -> None:
    x = given(64, 2)
    k = hbm.add(x, x)
    k.prefix = "onchip"
    q = hbm.trp_mvm(x, hbm.dat_hbm(k, 1))
    with pytest.raises(DeviceError, match="its input is on chip, the device writes the cache from DDR"):
        build(typed(q, last_token=0))


def test_a_parameter_that_its_register_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    instruction_set, device = find_device("hbm_small")
    assert instruction_set.tasks is not None

    def too_large(context: TaskContext, _call: TaskCall) -> None:
        context.parameter("eps", 1 << 32)

    wrong = replace(instruction_set.tasks, tasks=dict.fromkeys(instruction_set.tasks.tasks, too_large))
    monkeypatch.setattr("fleet.targets.accel.build.find_device", lambda _name: (replace(instruction_set, tasks=wrong), device))
    with pytest.raises(FleetError, match="0x100000000 does not fit in parameter register 'eps'"):
        build(typed(hbm.mvm(given(), weights())))


def test_what_is_legal_may_depend_on_what_earlier_instructions_configured() -> None:
    """Instructions are held to their rules with the state registers that they find, as those of a program are."""
    instruction_set, device = find_device("hbm_small")
    mvm = instruction_set.instructions["mvm"]

    class Moded(mvm):
        uses = ("mode",)

        @classmethod
        def legal(cls, device: Device, fields: Mapping[str, int]) -> Sequence[str]:
            own = {name: value for name, value in fields.items() if name != "mode"}
            return [*super().legal(device, own), *([] if fields["mode"] == 1 else ["mode: expected 1"])]

    moded = replace(instruction_set, instructions={**instruction_set.instructions, "mvm": Moded})
    module = build(typed(hbm.mvm(given(), weights())))
    described = replace(module.description, state_registers=(replace(module.description.registers[0], name="mode"),))

    def held(reset: int) -> None:
        state = replace(device.state, registers=(StateRegister("mode", reset),))
        check(module.steps, module.emission.dims, moded, replace(device, state=state), described)

    held(1)
    with pytest.raises(DeviceError, match=r"mvm_0 .*with token=1: the compiler made an illegal instruction: mode: expected 1"):
        held(0)


@pytest.mark.parametrize("part", ["tasks", "room"])
def test_a_set_whose_code_fails_is_told_its_line(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    instruction_set, device = find_device("hbm_small")
    assert instruction_set.tasks is not None

    def wrong(*_given: Any) -> Any:
        return 1 // 0

    given_tasks = dict.fromkeys(instruction_set.tasks.tasks, wrong)
    tasks = replace(instruction_set.tasks, tasks=given_tasks, **({"room": lambda *_given: wrong()} if part == "room" else {}))
    monkeypatch.setattr("fleet.targets.accel.build.find_device", lambda _name: (replace(instruction_set, tasks=tasks), device))
    with pytest.raises(DeviceError, match=r"test_bad_input.py:\d+: .*fails: ZeroDivisionError"):
        build(typed(hbm.mvm(given(), weights())))


def test_a_prompt_longer_than_the_plan() -> None:
    module = build(decoder(1, data=False))
    module.bind({"token": 24, "last_token": 40})
    with pytest.raises(ModelError, match="token is 25, the plan has 0 to 24; build with a larger max_data of token"):
        module.bind({"token": 25})
    with pytest.raises(
        ModelError, match=r"step token=24, last_token=41: 65 positions of the table 'table', at most 64 are possible"
    ):
        module.bind({"token": 24, "last_token": 41})
    with pytest.raises(ModelError, match=r"input 'x' \(1, token, 128\) would be empty"):
        module.bind({"token": 0})
    with pytest.raises(ModelError, match="no dimension 'tokens'; dimensions are token, last_token"):
        module.calls(tokens=1)


def test_a_cache_filled_to_its_last_slot() -> None:
    module = build(decoder(1, data=False, positions=64))
    assert module.calls(token=1, last_token=63)
    with pytest.raises(ModelError, match="65 positions of the table 'table', at most 64 are possible"):
        module.calls(token=1, last_token=64)


def test_inputs_of_another_shape(tmp_path: Path) -> None:
    from small import Machine

    module = build(decoder(1, data=False))
    machine = Machine(module, tmp_path)
    with pytest.raises(DeviceError, match=r"an array of shape \[1, 2, 128\], expected \[1, 3, 128\]"):
        module.write_input(machine.memory, "x", np.zeros((1, 2, CHANNELS), np.float16), token=3)
    with pytest.raises(ModelError, match="no input or output 'y'; there are x, output, output_argmax"):
        module.write_input(machine.memory, "y", np.zeros((1, 3, CHANNELS), np.float16), token=3)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        ("nowhere.bin", r"constant 'w', nowhere.*: cannot be read"),
        (np.zeros((64, 31), np.float32), r"constant 'w': shape \[64, 31\], expected \[64, 32\]"),
        (np.full((64, 32), np.nan, np.float32), "weight 'w': nan at"),
        (None, "constant 'w': no data, only a shape"),
    ],
)
def test_data_of_constants(data: Any, error: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    token, _ = dims()
    w = hbm.const_hbm("w", data, (64, 32))
    node = transform.infer_type(hbm.mvm(hbm.var_ddr("x", (1, token, 64)), hbm.const_hbm("w", None, (64, 32))), "hbm_small")
    node.args[1].data = w.data  # type: ignore[attr-defined]
    module = build(node)
    if data is None:
        assert list(module.images()) == []
    with pytest.raises(FleetError, match=error):
        module.constants.load(module.constants.places[0])


def test_packed_files_are_taken_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    array = np.random.default_rng(0).normal(size=(64, 32)).astype(np.float32)
    made = build(typed(hbm.mvm(given(), weights(data=array))))
    written = made.write_params(tmp_path / "params")
    assert [p.name for p in written] == [f"w_{port:02d}.bin" for port in range(8)]
    again = build(typed(hbm.mvm(given(), weights(data="params/w.bin"))))
    single = tmp_path / "all.bin"
    single.write_bytes(b"".join(p.read_bytes() for p in written))
    third = build(typed(hbm.mvm(given(), weights(data="all.bin"))))
    for other in (again, third):
        for a, b in zip(made.images(), other.images(), strict=True):
            assert a[:3] == b[:3]
            np.testing.assert_array_equal(a[3], b[3])
    (tmp_path / "params" / "w_03.bin").write_bytes(b"short")
    with pytest.raises(ModelError, match=r"w_03\.bin: 5 bytes, expected"):
        list(again.images())


def test_weights_are_quantised_by_the_options(tmp_path: Path) -> None:
    graph = typed(hbm.mvm(given(256), Weights().matrix("w", 256, 32)))
    images = {group: next(iter(build(graph, options={"group": group}).images()))[3].size for group in (32, 128)}
    assert images[32] >= images[128]
    with pytest.raises(ModelError, match="group is 48, expected 32, 64 or 128"):
        build(graph, options={"group": 48})
    with pytest.raises(ModelError, match="clip is 'none'"):
        build(graph, options={"clip": "none"})


@pytest.mark.parametrize("value", [3.5, "x", None])
def test_a_step_that_is_no_number(value: Any) -> None:
    module = build(decoder(1, data=False))
    with pytest.raises(ModelError, match=r"step: token is .*, expected an integer"):
        module.calls(token=value)
    assert module.calls(token=np.int64(3))


@pytest.mark.parametrize(("chin", "tokens"), [(1 << 40, 4), (1 << 70, 4), (64, 1 << 40), (64, 1 << 70)])
def test_absurd_sizes_are_refused_at_once(chin: int, tokens: int) -> None:
    x = hbm.var_ddr("x", (1, tokens, chin))
    with pytest.raises(FleetError):
        build(typed(hbm.mvm(x, weights(chin))), aux=True)


@pytest.mark.parametrize(
    ("given_blocks", "error"),
    [
        ({"weight": None}, "base of block 'weight' is None, expected an address or the name of a block"),
        ({"weight": 1.5}, "base of block 'weight' is 1.5"),
        ({"weight": [1]}, r"base of block 'weight' is \[1\]"),
        ({3: 0}, "block 3: expected a name"),
    ],
)
def test_bases_that_are_none(given_blocks: Any, error: str) -> None:
    with pytest.raises(ModelError, match=f"memory plan: .*{error}"):
        build(typed(hbm.mvm(given(), weights())), {**DEFAULT_BLOCKS, **given_blocks})


@pytest.mark.parametrize(
    ("argument", "value", "error"),
    [
        ("init_addr", "runtime", "init_addr is 'runtime', expected a dict"),
        ("init_addr", ["runtime"], "init_addr is .*, expected a dict"),
        ("build_config", "lite", "build_config is 'lite', expected a dict"),
        ("build_config", {"pingpong": "scratch"}, "setting 'pingpong' is 'scratch', expected names of blocks"),
        ("build_config", {"pingpong": 5}, "setting 'pingpong' is 5, expected names of blocks"),
        ("build_config", {"pingpong": [3]}, r"setting 'pingpong' is \[3\], expected names of blocks"),
        ("build_config", {"pingpong": ["skratch"]}, "setting 'pingpong' names 'skratch', which is no block"),
        ("options", [3], r"options is \[3\], expected a dict"),
        ("name", 5, "name is 5, expected a text"),
        ("name", None, "name is None, expected a text"),
        ("name", "", "name is '', expected a text"),
        ("target", "hpp", "target is 'hpp', expected a target"),
        ("target", None, "target is None, expected a target"),
        ("device", "hbm_small", "device is 'hbm_small', expected a device"),
    ],
)
def test_arguments_of_build_of_another_kind(argument: str, value: Any, error: str) -> None:
    with pytest.raises(ModelError, match=error):
        build(typed(hbm.mvm(given(), weights())), **{argument: value})


@pytest.mark.parametrize("graph", [None, 5, "x", []])
def test_a_graph_that_is_none(graph: Any) -> None:
    with pytest.raises(FleetError, match="expected a node of a graph"):
        build(graph)


def test_parameters_into_what_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    module = build(typed(hbm.mvm(given(), weights(data=np.zeros((64, 32))))))
    with pytest.raises(ModelError, match=r"file/params: cannot be written .Not a directory"):
        module.write_params(tmp_path / "file" / "params")


def test_a_path_with_a_zero_byte() -> None:
    module = build(typed(hbm.mvm(given(), weights(data="a\0b.bin"))))
    with pytest.raises(ModelError, match=r"constant 'w', .*: cannot be read .embedded null byte"):
        list(module.images())
