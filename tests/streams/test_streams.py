"""Streams without a model: what differs is found to the element, stored, explained and played again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from fleet.cli.looking.why import command as why_command
from fleet.cli.running.stream import command as stream_command
from fleet.errors import DeviceError, ModelError
from fleet.isa.conformance import mutations
from fleet.isa.reading.cache import load
from fleet.isa.registry import find_device
from fleet.report.run.why import find_failure, page
from fleet.sdk import Device, Memory, Write
from fleet.streams import images
from fleet.streams.binaries import BinaryPlan
from fleet.streams.bundle import load_bundle, save_bundle
from fleet.streams.case import Setting, StreamCase, StreamCommit
from fleet.streams.images import Images, differences
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case, names

DEVICE = "hbm_small"
NAME = f"{DEVICE}/mvm_bn/directed/4"


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StreamRunner]:
    with StreamRunner(DEVICE, tmp_path_factory.mktemp("streams of hbm small")) as found:
        yield found


def wrong(monkeypatch: pytest.MonkeyPatch, name: str, place: int, bits: int) -> None:
    """The functional model of an instruction flips bits of one byte of its first write."""
    cls = find_device(DEVICE)[0].instructions[name]
    right = cls.execute

    def execute(_: type, device: Device, fields: Mapping[str, int], memory: Memory) -> Sequence[Write]:
        first, *others = right(device, fields, memory)
        data = first.data.copy()
        data[place] ^= bits
        return [replace(first, data=data), *others]

    monkeypatch.setattr(cls, "execute", classmethod(execute))


def test_a_program_agrees_under_every_memory(runner: StreamRunner) -> None:
    case = make_case(f"{DEVICE}/program/1")
    outcomes = runner.run(case, [Setting("ideal"), Setting("fixed:20"), Setting("stall:3"), Setting("timed:4")])
    assert [o.reasons for o in outcomes] == [()] * 4
    assert len({o.cycles for o in outcomes}) == 4, "the settings do differ in when"
    assert all(o.bytes_compared > 0 and o.image_bytes >= o.bytes_compared for o in outcomes)


def test_one_wrong_bit_is_found_at_its_element_and_the_operands_are_named(
    runner: StreamRunner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    case = make_case(NAME)
    right = runner.model(case)[0]
    wrong(monkeypatch, "mvm_bn", 6, 0x40)
    (outcome,) = runner.run(case)
    d = outcome.divergence
    assert not outcome.passed
    assert d is not None
    assert (d.seq, d.instruction) == (0, "mvm_bn")
    assert d.total_differences == 1
    (e,) = d.differences
    fields = case.calls[0].fields
    assert (e.space, e.address) == ("ddr", fields["mvm_out_addr"] + 6)
    bits = int(e.expected.split()[0], 16) ^ int(e.found.split()[0], 16)
    assert bits == 0x40, (e.expected, e.found)
    assert right.digest == outcome.found[0].digest
    assert dict(d.registers)[4 * 13] == fields["mvm_out_addr"]
    bn = f"depends on ddr {fields['mvm_bn_addr']:#x}"
    assert any(line.startswith(bn) for line in d.inputs), d.inputs

    path = save_bundle(outcome, tmp_path)
    text = page(find_failure(None, tmp_path))
    for words in ("mvm_bn chin=", f"ddr {e.address:#x}", "mvm_out_addr", e.expected, e.found, bn, f"fleet stream run {path}"):
        assert words in text, (words, text)
    assert len(text.splitlines()) < 75, "one page"


def test_a_relative_folder_is_the_callers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulation runs in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    with StreamRunner(DEVICE, Path("work")) as found:
        [outcome] = found.run(make_case(f"{DEVICE}/elementwise/directed/0"), [Setting()])
    assert outcome.passed, outcome.reasons
    assert (tmp_path / "work" / "job.status").exists()


def test_a_byte_outside_the_destination_is_found(runner: StreamRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(f"{DEVICE}/program/2")
    hardware = StreamRunner.hardware
    place = 0x123456

    def stray(
        self: StreamRunner, case: StreamCase, setting: Setting, count: int | None = None, plan: BinaryPlan | None = None,
        expected: Sequence[StreamCommit] = (),
    ):  # fmt: skip
        found = hardware(self, case, setting, count, plan, expected)
        if count is None or count >= 2:  # as if the second instruction wrote it
            self.found.memory.view("ddr", place, 1)[:] = 9
        return found

    monkeypatch.setattr(StreamRunner, "hardware", stray)
    (outcome,) = runner.run(case)
    assert not outcome.passed
    d = outcome.divergence
    assert d is not None
    assert (d.seq, [(e.address, e.found) for e in d.differences]) == (1, [(place, "0x09 (outside its destination)")])


def test_a_stream_with_another_cause_than_stated_fails(runner: StreamRunner) -> None:
    case = replace(make_case(NAME), causes=(3,))
    (outcome,) = runner.run(case)
    assert not outcome.passed
    assert "the functional model gives cause 0, the case states 3" in outcome.reasons[0]


def test_an_empty_stream_and_one_of_another_device_are_refused(runner: StreamRunner) -> None:
    case = make_case(NAME)
    with pytest.raises(DeviceError, match="nothing would be compared"):
        runner.run(replace(case, calls=()))
    with pytest.raises(DeviceError, match="made for hbm0923"):
        runner.run(replace(case, device="hbm0923"))


def test_images_are_empty_for_the_next_stream_and_differences_count_what_was_touched(tmp_path: Path) -> None:
    device = find_device(DEVICE)[1]
    a, b = Images(device, tmp_path / "a"), Images(device, tmp_path / "b")
    a.fill([Write("ddr", 1 << 20, np.arange(100, dtype=np.uint8)), Write("hbm", 64, np.ones(32, np.uint8), 3)])
    b.fill([Write("ddr", 1 << 20, np.arange(100, dtype=np.uint8))])
    b.memory.view("ddr", device.memory["ddr"] - 1, 1)[:] = 7
    found, compared = differences(a, b)
    assert [(d.space, d.bank, d.address) for d in found][:2] == [("ddr", 0, device.memory["ddr"] - 1), ("hbm", 3, 64)]
    assert len(found) == 33
    assert 133 <= compared < 1 << 20, "holes are not read"
    a.clear()
    b.clear()
    assert differences(a, b)[0] == []
    assert not a.memory.view("ddr", 1 << 20, 100).any()


def test_a_bundle_comes_back_and_a_foreign_description_is_refused(runner: StreamRunner, tmp_path: Path) -> None:
    case = make_case(NAME)
    (outcome,) = runner.run(case, [Setting("stall:2")])
    path = save_bundle(outcome, tmp_path, power_on=4)
    bundle, arrays = load_bundle(path)
    again = bundle.case(arrays, str(path))
    assert (again.calls, again.causes, again.seed, bundle.setting.memory) == (case.calls, case.causes, case.seed, "stall:2")
    assert all((x.data.view("u1") == y.data.reshape(-1).view("u1")).all() for x, y in zip(again.blocks, case.blocks, strict=True))
    with pytest.raises(DeviceError, match="made for description 00000000"):
        replace(bundle, description_hash="0" * 64).case(arrays, "x")
    for damage in ("{}", "[]", "{", path.read_text().replace('"offset"', '"of"')):
        path.write_text(damage)
        with pytest.raises(ModelError):
            load_bundle(path)


def test_the_command_fails_stores_explains_and_plays_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    cli = CliRunner()
    with monkeypatch.context() as patch:
        wrong(patch, "mvm_bn", 0, 1)
        ran = cli.invoke(stream_command, ["run", NAME, "--memory", "stall:5"], standalone_mode=False)
    assert ran.return_value == 1, ran.output
    (path,) = Path("reports/streams").glob("*/stream.json")
    assert json.loads(path.read_text())["verdict"] == "fail"
    assert f"fleet stream run {path}" in ran.output
    ran = cli.invoke(why_command, [], standalone_mode=False)
    assert ran.return_value == 1
    assert "memory stall:5" in ran.output
    again = cli.invoke(stream_command, ["run", str(path)], standalone_mode=False)  # the fault is mended
    assert again.return_value == 0, again.output
    assert "PASS" in again.output
    assert "stall:5" in again.output


def test_names_make_the_same_case_again_and_only_names_do() -> None:
    found = names(DEVICE, random=range(2), illegal=range(2), programs=range(2))
    assert len(found) == len(set(found)) > 100
    for name in found[::37]:
        a, b = make_case(name), make_case(name)
        assert a.calls == b.calls
        assert all((x.data == y.data).all() for x, y in zip(a.blocks, b.blocks, strict=True))
    for name in ("hbm_small/mvm/random/x", "hbm_small/none/random/1", "none/mvm/random/1", "hbm_small/mvm/directed/99999"):
        with pytest.raises(DeviceError):
            make_case(name)


def test_illegal_variants_go_through_every_register_and_every_one_is_refused_or_legal() -> None:
    instruction_set, device = find_device(DEVICE)
    call = make_case(NAME).calls[0]
    changed: set[str] = set()
    refused = 0
    for text, variant in mutations(instruction_set, device, call, np.random.default_rng(1)):
        changed.add(text.split(" = ")[0])
        refused += bool(instruction_set.instructions[variant.instruction].legal(device, variant.fields))
    assert changed == {r.name for r in load(instruction_set.description).words("mvm_bn")}
    assert refused > 200


def test_images_stand_in_memory_only_where_they_fit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _, small = find_device(DEVICE)
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr(images, "_IN_MEMORY", tmp_path)
    whole = 2 * (small.memory["ddr"] + 8 * small.memory["hbm"])
    for free, home in ((2 * whole, tmp_path), (2 * whole - 1, None)):
        monkeypatch.setattr(images.shutil, "disk_usage", lambda _, free=free: SimpleNamespace(free=free))
        assert images.images_home(small) == home
    monkeypatch.setattr(images.shutil, "disk_usage", lambda _: SimpleNamespace(free=1 << 60))
    monkeypatch.setattr(images, "_IN_MEMORY", tmp_path / "none")
    assert images.images_home(small) is None
    monkeypatch.setattr(images, "_IN_MEMORY", tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert images.images_home(small) is None


def test_a_stream_that_was_written_ahead_is_played_again_that_way(runner: StreamRunner, tmp_path: Path) -> None:
    (outcome,) = runner.run(make_case(f"{DEVICE}/program/4"), [Setting("stall:4", "ahead")])
    assert outcome.passed, outcome.reasons
    assert any(c.cause for c in outcome.found)
    path = save_bundle(outcome, tmp_path)
    bundle, _ = load_bundle(path)
    assert bundle.setting == Setting("stall:4", "ahead")
    told = CliRunner().invoke(stream_command, ["run", str(path), "--report", str(tmp_path / "again")])
    assert told.exit_code == 0, told.output
    assert "PASS hbm_small/program/4 stall:4/ahead" in told.output
