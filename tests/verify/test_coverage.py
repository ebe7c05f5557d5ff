"""Bins, what a stream meets of them, accounts, aimed draws and steering; on the functional model alone."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fleet.errors import DeviceError, ModelError
from fleet.isa.conformance import sources
from fleet.isa.registry import find_device, instruction_sets
from fleet.sdk import Call, CoverageHints
from fleet.streams.case import Setting, StreamCase, StreamCommit, StreamOutcome
from fleet.streams.images import Images
from fleet.streams.model_side import execute
from fleet.verify.conformance.hazards import hazards
from fleet.verify.conformance.settings import settings
from fleet.verify.conformance.suite import is_case_name, make_case
from fleet.verify.coverage.account import CoverageAccount, Tried, load_account
from fleet.verify.coverage.aimed import aimer
from fleet.verify.coverage.aims import aims_of, keys_of, text_of
from fleet.verify.coverage.bins import FAMILIES, BinSpace, distance_class, family, sample_calls, space_of
from fleet.verify.coverage.observe import Observer
from fleet.verify.coverage.run import new_account
from fleet.verify.coverage.steer import Steering
from fleet.verify.coverage.touched import nearest, touched_by

DEVICES = ("vgemm_small", "hbm_small")


@pytest.fixture(scope="module")
def spaces() -> dict[str, BinSpace]:
    return {d: space_of(*find_device(d)) for d in DEVICES}


@pytest.fixture(scope="module")
def images() -> Iterator[dict[str, Images]]:
    with tempfile.TemporaryDirectory() as folder:
        made = {d: Images(find_device(d)[1], Path(folder) / d) for d in DEVICES}
        yield made
        for i in made.values():
            i.close()


def run(case: StreamCase, steering: Steering, images: Images, setting: Setting = Setting()) -> StreamOutcome:  # noqa: B008
    """The functional model in place of both sides."""
    instruction_set, device = find_device(case.device)
    images.fill(case.blocks, case.parameters)
    commits = execute(instruction_set, device, images.memory, case.calls, steering.wrote)
    outcome = StreamOutcome(case, setting, commits, commits, True, ())
    steering.met(case, [outcome])
    return outcome


def transfer(y: int, x: int, stride: int, memory: int, sram: int, address: int) -> dict[str, int]:
    """Registers of a store, written out from docs/vgemm.md."""
    return {
        "store_w0": 2 | memory << 7 | sram << 16,
        "store_w1": address,
        "store_w2": y | x << 16,
        "store_w3": stride,
        "cmd_start": 2,
    }


def test_bins_of_a_call_written_by_hand(spaces: dict[str, BinSpace]) -> None:
    space = spaces["vgemm_small"]
    call = Call("store", transfer(y=5, x=3, stride=4, memory=3, sram=33, address=64))
    bins = set(Observer(space).call_bins(call))
    assert {
        "store:start:0x2",
        "store:field:store_w0.memory_type:acc",
        "store:field:store_w0.sram_base:32n+1",
        "store:field:store_w1:below_1_MiB",
        "store:field:store_w2.y_size:other",
        "store:field:store_w0.pop_prev:0x0",
        "store:remainder:store_w2.y_size/4:over",
        "store:remainder:store_w2.x_size/4:short",
        "store:remainder:store_w3/4:whole",
    } <= bins
    assert bins <= set(space.open)
    c = Observer(space).coordinates(call)  # rows of 3 of 16 bytes, 4 apart: a gap of one
    assert (c.shape, c.reads, c.writes) == ("short", None, "padded")
    assert Observer(space).coordinates(Call("store", transfer(5, 3, 6, 3, 33, 64))).writes == "wider"
    assert Observer(space).coordinates(Call("store", transfer(4, 4, 4, 3, 32, 64))).stride == "dense"


def test_a_stream_meets_settings_refusals_and_hazards(spaces: dict[str, BinSpace]) -> None:
    space = spaces["vgemm_small"]
    one, two = (Call("store", transfer(1, 4, 4, 3, 0, a)) for a in (0, 32))
    wrong = Call("store", transfer(0, 4, 4, 3, 0, 0))
    commits = [StreamCommit("store", cause, 0, 0, None) for cause in (0, 2, 0)]
    found = Observer(space).stream([one, wrong, two], commits, "stall", "aux", {"store"})
    assert {
        "store:executed:yes", "store:refused:bad_size", "store:memory:stall", "store:issue:aux", "hazard:waw:2-3",
        "hazard:waw:store:store", "store:cross:store_w0.memory_type=acc:whole:dense:ordinary:none",
        "store:cross:store_w0.memory_type=acc:whole:dense:ordinary:2-3",
    } <= found  # fmt: skip
    assert "store:field:store_w2.y_size:0" not in found  # a refused call meets its cause alone
    assert "store:issue:regs" in Observer(space).stream([one], commits[:1], "ideal", "aux", set())


@pytest.mark.parametrize(("distance", "name"), [(None, "none"), (1, "1"), (2, "2-3"), (3, "2-3"), (4, "4+"), (60, "4+")])
def test_distances(distance: int | None, name: str) -> None:
    assert distance_class(distance) == name


@pytest.mark.parametrize("device", DEVICES)
def test_every_bin_has_a_family_and_the_numbers_are_some_thousands(device: str, spaces: dict[str, BinSpace]) -> None:
    space = spaces[device]
    assert {family(k) for k in space.bins} == set(FAMILIES)
    assert 1000 < len(space.open) < 12000
    assert all(why for why in space.bins.values() if why is not None)


def directed(space: BinSpace, name: str) -> list[Call]:
    """Directed draws of an instruction: sizes of 1, where strides may not matter, among them."""
    source = sources(space.instruction_set)[name]
    return [source.draw_directed(space.device, i, np.random.default_rng(i)).call for i in range(source.directed(space.device))]


@pytest.mark.parametrize("device", DEVICES)
def test_no_legal_call_has_a_value_outside_the_limits_that_the_set_states(device: str, spaces: dict[str, BinSpace]) -> None:
    """By substitution into drawn calls: what a limit calls impossible is refused every time, and the draws are inside."""
    space, checked = spaces[device], 0
    classes = space.instruction_set.instructions
    for name, found in space.places.items():
        for call in [*sample_calls(space, name, 12), *directed(space, name)]:
            for p in (p for p in found if p.limit is not None):
                now = call.fields[p.register.name]
                limit = p.limit
                assert limit is not None
                assert limit.low <= p.field.get(now) <= limit.high, f"{name}:{p.label}"
                for v in (limit.low - 1, limit.high + 1, (1 << p.field.width) - 1):
                    if 0 <= v < 1 << p.field.width and not limit.low <= v <= limit.high:
                        fields = {**call.fields, p.register.name: now & ~p.field.mask | v << p.field.low}
                        assert classes[name].legal(space.device, fields), f"{name}:{p.label} = {v} is legal"
                        checked += 1
    assert checked > 100


def test_what_reads_on_chip_waits_for_an_instruction(spaces: dict[str, BinSpace]) -> None:
    """The reason for which crosses without a hazard are impossible there, held against draws of every kind."""
    space, seen = spaces["hbm_small"], 0
    impossible = {k.split(":")[2] for k, why in space.bins.items() if why is not None and k.endswith(":none") and "onchip" in k}
    assert impossible == {f"{n}_onchip.in=0x1" for n in ("mvm", "norm", "pos_emb", "softmax", "act", "trp_mvm", "f2w_mvm",
                          "elementwise")} | {"mvm_onchip.res=0x1", "elementwise_onchip.b=0x1"}  # fmt: skip
    observer = Observer(space)
    for name in space.places:
        for call in [*sample_calls(space, name, 40), *directed(space, name)]:
            if impossible & set(observer.modes(call)):
                reads = space.instruction_set.instructions[name].reads(space.device, call.fields)
                assert any(r.space not in space.device.memory for r in reads), call
                seen += 1
    assert seen > 60


@pytest.mark.parametrize("device", DEVICES)
def test_draws_of_the_suite_meet_nothing_impossible_or_unknown(
    device: str, spaces: dict[str, BinSpace], images: dict[str, Images]
) -> None:
    space = spaces[device]
    account = new_account(space)
    steering = Steering(space, account, 3, steer=False)
    for number in range(30):
        run(make_case(steering.choose(number)), steering, images[device], settings(device, 0, every=True)[number % 3])
    assert steering.unknown == set()
    assert len(account.met) > 300
    assert steering.holes == len(space.open) - sum(k in account.met for k in space.open)
    assert account.programs == 30


def test_what_is_met_though_it_is_called_impossible_is_told(images: dict[str, Images]) -> None:
    instruction_set, device = find_device("vgemm_small")
    wrong = CoverageHints(impossible=(("load:executed:*", "it is never executed"),))
    space = space_of(replace(instruction_set, coverage=wrong), device)
    steering = Steering(space, new_account(space), 0, steer=False)
    run(make_case("vgemm_small/load/random/0"), steering, images["vgemm_small"])
    assert "load:executed:yes" in steering.unknown


@pytest.mark.parametrize("device", DEVICES)
def test_an_aimed_case_is_made_again_from_its_name_and_reaches_its_bin(
    device: str, spaces: dict[str, BinSpace], images: dict[str, Images]
) -> None:
    space = spaces[device]
    rng = np.random.default_rng(5)
    kinds = {f: [k for k in space.open if family(k) == f] for f in ("field", "remainder", "stride", "hazard", "cross")}
    reached = 0
    for keys in kinds.values():
        for key in rng.choice(keys, 4):
            aim = aimer(space.instruction_set, space.device)
            aimed = aim.draw(str(key), 7)
            name = f"{device}/{aimed.draws[-1].call.instruction}/aimed/{key}/7"
            assert is_case_name(name)
            case = make_case(name)
            aim.draw(str(key), 8)  # another one in between
            again = make_case(name)
            assert case.calls == again.calls == aimed.calls
            assert all(np.array_equal(a.data, b.data) for a, b in zip(case.blocks, again.blocks, strict=True))
            for call in case.calls:
                assert not space.instruction_set.instructions[call.instruction].legal(space.device, call.fields)
            steering = Steering(space, new_account(space), 0, steer=True)
            run(case, steering, images[device])
            assert steering.unknown == set()
            if aimed.reached and family(str(key)) != "cross":  # what a cross's result is shows only when it has run
                assert key in steering.account.met, key
                reached += 1
    assert reached >= 8


@pytest.mark.parametrize("device", DEVICES)
def test_a_program_has_an_aim_in_each_of_its_calls(device: str, spaces: dict[str, BinSpace], images: dict[str, Images]) -> None:
    space = spaces[device]
    crosses = [k for k in space.open if family(k) == "cross" and k.split(":")[5] == "ordinary"]
    rng = np.random.default_rng(2)
    aim, steering = aimer(space.instruction_set, space.device), Steering(space, new_account(space), 0, steer=True)
    said: set[str] = set()
    for number in range(6):
        text = text_of([str(k) for k in rng.choice(crosses, 6, replace=False)])
        aimed = aim.draw(text, number)
        case = make_case(f"{device}/{aimed.draws[-1].call.instruction}/aimed/{text}/{number}")
        assert case.calls == aimed.calls
        assert aimed.reached <= set(keys_of(text))
        run(case, steering, images[device])
        said |= {cell(k) for k in aimed.reached}
    assert steering.unknown == set()
    assert len(said) >= 12
    # All but what the result decides is told before the program runs.
    assert said <= {cell(k) for k in steering.account.met if family(k) == "cross"}


def cell(key: str) -> tuple[str, ...]:
    """A cross without its saturation."""
    parts = key.split(":")
    return (*parts[:5], parts[6])


def test_crosses_that_differ_in_the_mode_field_alone_are_one_call(spaces: dict[str, BinSpace]) -> None:
    space, rest = spaces["hbm_small"], "whole:dense:ordinary:1"
    keys = [f"mvm:cross:{m}:{r}" for m, r in (
        ("mvm_res_mode.relu=0x1", rest), ("mvm_onchip.out=0x0", rest),  # one call
        ("mvm_onchip.out=0x1", rest),  # the field has another value
        ("mvm_res_mode.relu=0x1", "over:dense:ordinary:1"),  # another shape
    )]  # fmt: skip
    text = text_of([*keys, "mvm:executed:yes"])
    assert text.startswith(f"mvm:cross:mvm_res_mode.relu=0x1+mvm_onchip.out=0x0+mvm_onchip.out=0x1:{rest},mvm:cross:")
    assert keys_of(text) == [*keys, "mvm:executed:yes"]
    aims = aims_of(space, text)
    assert [a.keys for a in aims] == [tuple(keys[:2]), (keys[2],), (keys[3],), ("mvm:executed:yes",)]
    assert aims[0].modes == ("mvm_res_mode.relu=0x1", "mvm_onchip.out=0x0")


@pytest.mark.parametrize("device", DEVICES)
def test_the_nearest_call_is_that_of_the_nearest_hazard(device: str, spaces: dict[str, BinSpace]) -> None:
    """Against the list of all hazards, which works byte by byte."""
    space = spaces[device]
    for number in range(40, 60):
        calls = make_case(f"{device}/program/{4 * number + 1}").calls  # none of them refused
        expected = dict.fromkeys(range(len(calls)))
        for h in hazards(space.instruction_set, space.device, calls):
            expected[h.later] = min(h.distance, expected[h.later] or h.distance)
        touched = [touched_by(space.instruction_set, space.device, c) for c in calls]
        assert {i: nearest(touched[:i], t) for i, t in enumerate(touched)} == expected


def test_a_bin_that_does_not_exist_is_one_line() -> None:
    with pytest.raises(DeviceError, match="no such bin"):
        make_case("vgemm_small/load/aimed/load:field:nothing:1/0")


def test_steering_is_a_function_of_the_seed_and_meets_more_in_as_many_instructions(
    spaces: dict[str, BinSpace], images: dict[str, Images]
) -> None:
    space, met, chosen = spaces["vgemm_small"], {}, {}
    for way, budget in (("steered", 1500), ("again", 300), ("plain", 1500)):
        steering = Steering(space, new_account(space), 1, steer=way != "plain")
        names: list[str] = []
        while steering.account.instructions < budget:
            names.append(steering.choose(len(names)))
            run(make_case(names[-1]), steering, images["vgemm_small"])
        met[way], chosen[way] = sum(k in steering.account.met for k in space.open), names
    assert chosen["steered"][: len(chosen["again"])] == chosen["again"]
    assert met["steered"] > met["plain"]


def test_results_count_where_another_process_ran_the_case(spaces: dict[str, BinSpace]) -> None:
    """Nobody tells what was written: the functional model says it again."""
    space = spaces["vgemm_small"]
    steering = Steering(space, new_account(space), 0, steer=False)
    case = make_case("vgemm_small/alu/directed/0")
    commits = [StreamCommit(c.instruction, 0, 0, 0, None) for c in case.calls]
    steering.met(case, [StreamOutcome(case, Setting(), commits, commits, True, ())])
    assert any(k.startswith("alu:result:") for k in steering.account.met)


def account(**met: int) -> CoverageAccount:
    made = CoverageAccount("d", "s", "h" * 64, seeds=[1], steered=True)
    for key, count in met.items():
        for i in range(count):
            made.add([key], f"{key}/{i}", "ideal/regs")
    return made


def test_accounts_merge_and_come_back_from_their_file(tmp_path: Path) -> None:
    a, b = account(x=2, y=1), account(y=3, z=1)
    a.tried["t"], b.tried["t"] = Tried(2, "once"), Tried(3)
    b.seeds, b.programs, b.cpu, a.programs = [2], 5, 1.5, 1
    a.merge(b)
    assert {k: (m.count, m.first) for k, m in a.met.items()} == {"x": (2, "x/0"), "y": (4, "y/0"), "z": (1, "z/0")}
    assert (a.tried["t"].draws, a.tried["t"].why, a.seeds, a.programs, a.cpu, a.steered) == (5, "once", [1, 2], 6, 1.5, True)
    a.save(tmp_path / "a.json")
    assert load_account(tmp_path / "a.json") == a


def test_accounts_of_another_description_or_damaged_ones_are_refused(tmp_path: Path) -> None:
    other = replace(account(), description_hash="i" * 64)
    with pytest.raises(ModelError, match=r"made for d with description i+, expected d with h+"):
        account().merge(other)
    path = tmp_path / "a.json"
    account(x=1).save(path)
    table = json.loads(path.read_text())
    for text in (
        "",
        "[]",
        "{}",
        json.dumps({**table, "form": 99}),
        json.dumps({**table, "met": {"x": [1]}}),
        path.read_text()[:-9],
    ):
        path.write_text(text)
        with pytest.raises(ModelError, match=r"not an account of coverage|account\.(met|names|curve|tried)"):
            load_account(path)
    for key in table:
        path.write_text(json.dumps({**table, key: {"a": "b"}}))
        with pytest.raises(ModelError, match=r"a\.json"):
            load_account(path)
    with pytest.raises(ModelError):
        load_account(tmp_path / "none.json")


def test_every_installed_set_that_draws_has_a_space() -> None:
    """Sets that say nothing of coverage have defaults."""
    for s in instruction_sets().values():
        if s.conformance:
            bare = replace(s, coverage=CoverageHints())
            device = next(iter(s.devices.values()))
            assert len(space_of(bare, device).open) > 10
