"""The whole chain on a small device: functional model against hardware, the hardware played by a model with one planted fault."""

from dataclasses import replace

import numpy as np
import pytest
from ir_builder import Net

from fleet.cosim.campaign import cosim
from fleet.cosim.options import CosimOptions
from fleet.cosim.what_ran import DataProvenance
from fleet.engines.accel import run_accel
from fleet.engines.cpython import ENGINE as CPYTHON
from fleet.engines.iss import ENGINE as ISS
from fleet.engines.iss import IssBackend
from fleet.engines.vm import ENGINE as VM
from fleet.ir import dialect as d

DEVICE = "hbm_small"


def reread(snapshots, memory):
    """What a backend with other results in memory hands on."""
    for snapshot in snapshots:
        snapshot.take(memory)


class Faulty(IssBackend):
    """Executes like the functional model, then a bit of one destination is wrong."""

    name = "twin"

    def __init__(self, fault: int | None, digest: bool = True) -> None:
        super().__init__()
        self.fault, self.digest = fault, digest

    def execute(self, calls, first_seq, binaries=(), snapshots=()):
        from fleet.isa.digest import DDR, digest

        commits = list(super().execute(calls, first_seq, binaries, snapshots))
        for i, commit in enumerate(commits):
            if commit.seq == self.fault:
                s, device, memory, _ = self._opened
                place = s.instructions[calls[i].instruction].writes(device, calls[i].fields)[0]
                data = memory.view(place.space, place.offset, place.size, place.bank)
                before = data.copy()
                data[64 + 4] ^= 1  # token 1, channel 2, lowest bit
                reread(snapshots, memory)
                change = digest(DDR, place.offset, data) - digest(DDR, place.offset, before)
                if self.digest:
                    commits[i] = replace(commit, digest=(commit.digest + change) % (1 << 64))
        return commits


class Rtl:
    name, target = "twin", "accel"

    def __init__(self, fault: int | None = None, digest: bool = True) -> None:
        self.backend = Faulty(fault, digest)

    def available(self):
        return None

    def run(self, program, inputs, options):
        return run_accel(program, inputs, options, self.backend)


def model():
    rng = np.random.default_rng(2)
    w = {
        "w1": rng.normal(0, 1 / 8, (64, 32)).astype(np.float32),
        "b1": rng.normal(size=32).astype(np.float32),
        "w2": rng.normal(0, 1 / 6, (32, 10)).astype(np.float32),
    }
    net = Net({"x": ((6, 64), "input"), "w1": ((64, 32), "weight"), "b1": ((32,), "weight"), "w2": ((32, 10), "weight")}, w)
    h = net.call(
        d.MaximumOp, net.call(d.AddOp, net.matmul(net["x"], net["w1"], "p1"), net["b1"], name="a1"), net.number(0), name="h"
    )
    y = net.matmul(h, net["w2"], "y")
    return net.program(y=y, c=net.argmax(y, 1, "c")), {"x": rng.random((6, 64)).astype(np.float32)}


def run(rtl: Rtl, asked=("vm", "iss", "twin")):
    program, inputs = model()
    engines = {"vm": VM, "iss": ISS, "twin": rtl, "cpython": CPYTHON}
    return cosim(
        program, inputs, None, asked, CosimOptions("m.py:f", DataProvenance("real", 6, None, None, None), DEVICE, engines=engines)
    )


def test_everything_agrees():
    result = run(Rtl())
    assert result.verdict == "pass", result.reasons
    assert [(c.name, c.kind) for c in result.comparisons] == [
        ("vm-rounded-vs-vm", "info"), ("iss-vs-vm-rounded", "bound"), ("iss-vs-vm", "info"), ("twin-vs-iss", "bits"),
    ]  # fmt: skip
    bits = result.comparison("twin-vs-iss")
    assert bits.bytes > 0
    assert len(bits.commits) == 2
    assert all(row.macs and row.macs_issued >= row.macs and row.least_bytes["hbm_read"] for row in bits.commits)
    arithmetic = {row.op: row for row in result.comparison("iss-vs-vm-rounded").operations}
    assert arithmetic.keys() == {"h", "y", "c"}
    assert arithmetic["h"].place == "device"
    assert arithmetic["h"].cumulative.ulp_dtype == "float16"
    assert 0 < arithmetic["h"].bound.worst_ratio <= 1
    assert arithmetic["y"].local_bound.bound_max < arithmetic["y"].bound.bound_max
    assert {n.what for n in result.comparison("iss-vs-vm-rounded").not_compared} == {"p1", "a1"}
    assert len(result.identity.rtl_hash) == 64
    quantised = {row.op: row for row in result.comparison("vm-rounded-vs-vm").operations}
    assert 5 < quantised["p1"].local.sqnr_db < 60
    assert result.identity.device.name == DEVICE
    assert result.identity.rounded_program_hash != result.identity.program_hash


@pytest.mark.parametrize(("fault", "op"), [(0, "h"), (1, "y")])
def test_one_wrong_bit_is_traced_to_instruction_address_and_element(fault: int, op: str):
    result = run(Rtl(fault))
    assert result.verdict == "fail"
    divergence = result.divergence
    assert divergence.comparison == "twin-vs-iss"
    assert divergence.seq == fault
    assert op in divergence.ops
    (place,) = divergence.differences[:1]
    assert place.space == "ddr"
    assert place.address % 64 == 4
    assert place.element == (1, 2)
    assert place.expected != place.found
    assert divergence.registers
    assert len(divergence.registers) >= len(divergence.registers_named)
    assert any(line.startswith("read ") for line in divergence.inputs)


def test_a_wrong_bit_that_the_digest_hides_is_found_in_the_tensors():
    result = run(Rtl(1, digest=False))
    assert result.verdict == "fail"
    assert any("y: 1 of 60 elements differ in their bits" in r for r in result.reasons), result.reasons


def test_hardware_brings_its_reference_along():
    result = run(Rtl(), ("twin",))
    assert result.verdict == "pass"
    assert result.engine("iss").required is False
    assert result.comparison("twin-vs-iss").verdict == "pass"


def test_a_wrong_rounding_of_the_functional_model_exceeds_its_local_bound():
    class Sloppy(IssBackend):
        name = "iss"

        def execute(self, calls, first_seq, binaries=(), snapshots=()):
            commits = super().execute(calls, first_seq, binaries, snapshots)
            s, device, memory, _ = self._opened
            for call in calls:
                place = s.instructions[call.instruction].writes(device, call.fields)[0]
                words = memory.view(place.space, place.offset, place.size, place.bank).view(np.uint16)
                words &= 0xFF00  # two bits of fraction are left
            reread(snapshots, memory)
            return commits

    class Iss(Rtl):
        name = "iss"

    sloppy = Iss()
    sloppy.backend = Sloppy()
    program, inputs = model()
    engines = {"vm": VM, "iss": sloppy}
    result = cosim(
        program, inputs, None, ("iss",), CosimOptions("m", DataProvenance("real", 6, None, None, None), DEVICE, engines=engines)
    )
    assert result.verdict == "fail"
    assert result.divergence.ops == ("h",)
    assert "beyond the bound" in result.divergence.what


def test_a_measurement_alone_holds_nothing_against_an_engine(monkeypatch: pytest.MonkeyPatch):
    from fleet.cosim import campaign

    original = campaign._Run._compare
    skip = lambda s, other, reference, how: reference == "vm-rounded" or original(s, other, reference, how)  # noqa: E731
    monkeypatch.setattr(campaign._Run, "_compare", skip)
    result = run(Rtl(), ("vm", "iss"))
    assert {c.kind for c in result.comparisons} == {"info"}
    assert result.reasons == ("iss ran but was compared with nothing that could fail",)


def test_a_constant_that_changes_in_memory_is_found_though_no_result_shows_it():
    class Decayed(Faulty):
        def execute(self, calls, first_seq, binaries=(), snapshots=()):
            commits = super().execute(calls, first_seq, binaries, snapshots)
            self._opened[2].view("hbm", 0, 64, 3)[37] ^= 16
            return commits

    rtl = Rtl()
    rtl.backend = Decayed(None)
    result = run(rtl)
    assert result.verdict == "fail"
    (reason,) = result.reasons
    assert reason.startswith("twin-vs-iss: memory of twin does not hold what was loaded: w1.int4g128 at hbm port 3 0x25: packed 0x")


def test_the_evidence_of_a_divergence_names_a_constant_that_changed():
    class Decayed(Faulty):
        def execute(self, calls, first_seq, binaries=(), snapshots=()):
            self._opened[2].view("hbm", 0, 64, 2)[1] ^= 4
            return super().execute(calls, first_seq, binaries, snapshots)

    rtl = Rtl()
    rtl.backend = Decayed(None)
    found = run(rtl).divergence
    assert found is not None
    assert (found.seq, found.differences) == (0, ())
    assert "memory does not hold what was loaded: w1.int4g128 at hbm port 2 0x1" in found.what


def test_a_wrong_index_is_traced_to_its_element():
    class Shifted(Faulty):
        def execute(self, calls, first_seq, binaries=(), snapshots=()):
            from fleet.isa.digest import DDR, digest

            commits = list(super().execute(calls, first_seq, binaries, snapshots))
            s, device, memory, _ = self._opened
            place = s.instructions[calls[-1].instruction].writes(device, calls[-1].fields)[-1]
            data = memory.view(place.space, place.offset, place.size)
            before = digest(DDR, place.offset, data)
            data[4 * 5] ^= 3  # the class of token 5
            reread(snapshots, memory)
            change = digest(DDR, place.offset, data) - before
            commits[-1] = replace(commits[-1], digest=(commits[-1].digest + change) % (1 << 64))
            return commits

    rtl = Rtl()
    rtl.backend = Shifted(None)
    found = run(rtl).divergence
    assert found is not None
    assert found.ops == ("y", "c")
    assert [d.element for d in found.differences] == [(5,)]
