"""The orchestration with engines made up for the test: no engine of the project takes part."""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from ir_builder import Net, evaluate, shuffled_sum

from fleet.cosim import campaign, comparisons
from fleet.cosim.campaign import cosim
from fleet.cosim.options import CosimOptions
from fleet.cosim.result import CosimResult
from fleet.cosim.run_request import RunRequest
from fleet.cosim.what_ran import DataProvenance
from fleet.engines.riscv_emulators.base import EmulationError
from fleet.engines.rtl_sim.process import SimulationError
from fleet.engines.trace import Trace
from fleet.errors import DeviceError, FleetError, ModelError
from fleet.ir import dialect as d


@dataclass
class Fake:
    """An engine that evaluates the program and then does what `spoil` says."""

    name: str
    target: str = "bytecode"
    add_up: object = None
    spoil: object = None
    missing: str | None = None
    ran: list = field(default_factory=list)

    def available(self):
        return self.missing

    def run(self, program, inputs, options):
        self.ran.append(options)
        tensors = evaluate(program, dict(inputs), *([self.add_up] if self.add_up else []))
        outputs = {"logits": tensors["logits"], "digit": tensors["digit"]}
        trace = Trace(self.name, program.hash, outputs=outputs, tensors=tensors, complete=True, counters={"instructions": 5.0})
        return self.spoil(trace) if self.spoil else trace


def model():
    rng = np.random.default_rng(1)
    weights = {"w": rng.normal(size=(16, 10)).astype(np.float32)}
    net = Net({"x": ((30, 16), "input"), "w": ((16, 10), "weight")}, weights)
    logits = net.call(d.MaximumOp, net.matmul(net["x"], net["w"], "product"), net.number(0), name="logits")
    program = net.program(logits=logits, digit=net.argmax(logits, 1, "digit"))
    inputs = {"x": rng.normal(size=(30, 16)).astype(np.float32)}
    return program, inputs, evaluate(program, inputs)["digit"]


def run(engines, asked=("vm", "riscv"), labels=True, **more) -> CosimResult:
    program, inputs, digits = model()
    options = CosimOptions(
        "m.py:f", DataProvenance("real", 30, "x.npz", "y.npz", None), engines={e.name: e for e in engines}, **more
    )
    return cosim(program, inputs, digits if labels else None, asked, options)


VM = Fake("vm")
RISCV = Fake("riscv", "riscv", shuffled_sum(np.random.default_rng(0)))


def test_two_engines_agree():
    seen = []
    result = run(
        [VM, RISCV],
        metric="accuracy",
        date="2025-01-01",
        request=RunRequest("fleet", ("cosim", "m.py")),
        on_engine=lambda r, t: seen.append((r.name, t.value)),
    )
    assert result.verdict == "pass"
    assert result.reasons == ()
    assert [c.name for c in result.comparisons] == ["riscv-vs-vm"]
    assert result.comparison("riscv-vs-vm").elements == 30 * 21
    assert seen == [("vm", 1.0), ("riscv", 1.0)]
    task = result.task("riscv")
    assert (task.correct, task.agreement, task.flips) == (30, 1.0, ())
    assert 0.85 < task.low < 1.0 == task.high
    assert result.identity.tools["numpy"] == np.__version__
    again = CosimResult.from_json(result.to_json())
    assert again.to_json() == result.to_json()


def test_the_golden_runs_whether_named_or_not():
    result = run([VM, RISCV], ("riscv",))
    assert result.verdict == "pass"
    assert result.engine("vm").required is False


def test_an_engine_that_fails_loses_nothing_of_the_others():
    def broken(_trace):
        raise DeviceError("too small", where="chip")

    result = run([VM, RISCV, Fake("other", "x", spoil=broken)], ("vm", "other", "riscv"))
    assert result.verdict == "fail"
    assert result.engine("other").status == "failed"
    assert result.reasons == ("other did not run: chip: too small",)
    assert result.comparison("riscv-vs-vm").verdict == "pass"
    bug = run([VM, Fake("riscv", "riscv", spoil=lambda _t: 1 / 0)])
    assert "internal error, a bug of fleet: ZeroDivisionError" in bug.reasons[0]
    absent = run([VM, Fake("riscv", "riscv", missing="no emulator; pip install fleet[riscv]")])
    assert absent.reasons == ("riscv did not run: no emulator; pip install fleet[riscv]; run `fleet doctor` for the whole picture",)
    assert absent.not_compared[0].what == "riscv"


def raising(error: BaseException) -> Callable[[Trace], Trace]:
    """An engine that fails."""

    def spoil(_trace: Trace) -> Trace:
        raise error

    return spoil


@pytest.mark.parametrize(
    ("failing", "code"),
    [
        ({"spoil": raising(DeviceError("does not fit the device's memory"))}, 2),
        ({"spoil": raising(MemoryError())}, 2),
        ({"spoil": raising(OSError(28, "No space left on device"))}, 2),
        ({"missing": "no emulator"}, 2),
        ({"spoil": raising(SimulationError("the simulation ended in hang"))}, 1),
        ({"spoil": raising(EmulationError("crashed on riscv"))}, 1),
        ({"spoil": lambda t: replace(t, complete=False)}, 1),
        ({"spoil": raising(ZeroDivisionError())}, 3),
    ],
)
def test_the_exit_code_of_an_engine_that_gives_nothing(failing: dict[str, Any], code: int) -> None:
    result = run([VM, RISCV, Fake("other", "x", **failing)], ("vm", "other", "riscv"))
    assert (result.verdict, result.exit_code) == ("fail", code)
    assert CosimResult.from_json(result.to_json()).exit_code == code


def test_the_exit_code_of_several_that_give_nothing() -> None:
    def code(*errors: BaseException, **vm: Any) -> int:
        others = [Fake(f"e{i}", "x", spoil=raising(error)) for i, error in enumerate(errors)]
        engines = [Fake("vm", "vm", **vm), *others]
        return run(engines, tuple(e.name for e in engines)).exit_code

    refused, hung, bug = DeviceError("no room"), SimulationError("hang"), ZeroDivisionError()
    assert code(refused, bug) == 3
    assert code(refused, bug, hung) == 1
    assert code(hung, spoil=raising(ModelError("index 5 is out of bounds"))) == 2, "the golden failed too"

    def wrong(trace: Trace) -> Trace:
        trace.tensors["product"] = trace.tensors["product"] + 1
        return trace

    different = run([VM, Fake("riscv", "riscv", spoil=wrong), Fake("other", "x", spoil=raising(refused))], ("vm", "riscv", "other"))
    assert different.exit_code == 1


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda t: replace(t, complete=False), "not complete"),
        (lambda t: replace(t, program_hash="0" * 64), "ran program 0000000000000000"),
        (lambda t: replace(t, engine="vm"), "a trace of engine 'vm'"),
        (lambda t: replace(t, outputs={}), "no output 'logits'"),
        (lambda t: replace(t, tensors={}), "kept no value"),
    ],
)
def test_an_engine_that_silently_does_not_run_is_found(spoil, says):
    result = run([VM, Fake("riscv", "riscv", spoil=spoil)])
    assert result.verdict == "fail"
    assert any(says in r for r in result.reasons), result.reasons


def test_a_wrong_value_is_named():
    def spoil(trace):
        trace.tensors["product"] = trace.tensors["product"].copy()
        trace.tensors["product"][7, 3] += np.float32(0.01)
        return trace

    result = run([VM, Fake("riscv", "riscv", spoil=spoil)])
    assert result.verdict == "fail"
    assert result.divergence.ops == ("product",)
    assert "element [7, 3]" in result.divergence.what


def test_a_flip_must_not_be():
    def spoil(trace):
        flipped = trace.outputs["digit"].copy()
        flipped[4] = (flipped[4] + 1) % 10
        trace.outputs["digit"] = trace.tensors["digit"] = flipped
        return trace

    result = run([VM, Fake("riscv", "riscv", spoil=spoil)])
    assert "riscv: 1 of 30 predicted classes are not the golden's" in result.reasons
    (flip,) = result.task("riscv").flips
    assert (flip.index, flip.golden, flip.label) == (4, flip.label, flip.golden)
    assert result.arrays["inputs/flipped/riscv"].shape == (1, 16)
    assert result.arrays["flipped/index"].tolist() == [4]
    for name in ("vm", "riscv"):
        (given,) = result.arrays[f"flipped/scores/{name}"]
        assert int(np.argmax(given)) == flip.golden
    assert result.task("riscv").lost == pytest.approx(1 / 30)


@pytest.mark.parametrize(
    ("name", "target", "comparison"), [("riscv", "riscv", "riscv-vs-vm"), ("cpython", "source", "vm-vs-cpython")]
)
def test_a_class_that_only_rounding_flips_must_not_flip_either(name: str, target: str, comparison: str):
    """Two classes tie, one is an ulp up on one side: every value is within its bound, and no metric looks at the class."""
    rng = np.random.default_rng(2)
    weight = rng.normal(size=(16, 10)).astype(np.float32)
    weight[:, 7] = weight[:, 2] = np.abs(weight).max(axis=1)
    net = Net({"x": ((6, 16), "input"), "w": ((16, 10), "weight")}, {"w": weight})
    product = net.matmul(net["x"], net["w"], "product")
    first = net.argmax(product, 1, "first")
    doubled = net.call(d.AddOp, product, product, name="logits")
    program = net.program(logits=doubled, first=first, digit=net.argmax(doubled, 0, "digit"))
    inputs = {"x": np.abs(rng.normal(size=(6, 16))).astype(np.float32)}

    @dataclass
    class Nudged(Fake):
        nudge: bool = False

        def run(self, program, inputs, options):
            x = inputs["x"] @ weight
            if self.nudge:
                x[4, 7] = np.nextafter(x[4, 7], np.float32(np.inf))
            tensors = {"product": x, "first": np.argmax(x, 1), "logits": x + x, "digit": np.argmax(x + x, 0)}
            outputs = {k: tensors[k] for k in ("logits", "first", "digit")}
            counters = {"instructions": 5.0}
            return Trace(self.name, program.hash, outputs=outputs, tensors=tensors, complete=True, counters=counters)

    def verdict(*, nudge: bool) -> CosimResult:
        engines = {"vm": Nudged("vm"), name: Nudged(name, target, nudge=nudge)}
        options = CosimOptions("m.py:f", DataProvenance("real", 6, "x.npz", None, None), engines=engines)
        return cosim(program, inputs, None, ("vm", name), options)

    assert verdict(nudge=False).verdict == "pass"
    result = verdict(nudge=True)
    assert result.verdict == "fail"
    failed = {row.op: row.reason for row in result.comparison(comparison).operations if row.verdict == "fail"}
    assert failed == {"first": "1 of 6 classes differ though the margin decides them"}


def test_the_source_oracle_is_compared_by_outputs_where_it_kept_nothing_else():
    def only_outputs(trace):
        trace.tensors.clear()
        return trace

    result = run([VM, Fake("cpython", "source", spoil=only_outputs)], ("vm", "cpython"))
    comparison = result.comparison("vm-vs-cpython")
    assert (comparison.verdict, comparison.reference, comparison.elements) == ("pass", "cpython", 30 * 11)
    assert comparison.not_compared[0].what == "product"

    def swapped(trace):
        trace.outputs["logits"] = -trace.outputs["logits"]
        return trace

    bad = run([VM, Fake("riscv", "riscv", spoil=swapped)])
    assert bad.reasons == ("riscv did not run: output 'logits' is not the value that its operation left",)

    def swapped_everywhere(trace):
        trace.outputs["logits"] = trace.tensors["logits"] = -trace.outputs["logits"]
        return trace

    bad = run([Fake("vm", spoil=swapped_everywhere), Fake("cpython", "source", spoil=only_outputs)], ("vm", "cpython"))
    assert bad.divergence.ops == ("logits",)


def test_one_engine_alone_compares_nothing():
    result = run([VM], ("vm",))
    assert result.verdict == "nothing compared"
    assert "name at least two engines" in result.reasons[0]


def test_what_makes_no_sense_is_refused():
    with pytest.raises(FleetError, match="no engine 'spike'"):
        run([VM], ("spike",))
    with pytest.raises(FleetError, match="needs a device"):
        run([VM, Fake("iss", "accel")], ("iss",))
    with pytest.raises(FleetError, match="no metric 'speed'"):
        run([VM], ("vm",), metric="speed")
    program, inputs, digits = model()
    options = CosimOptions("m", DataProvenance("real", 30, None, None, None), engines={"vm": VM})
    with pytest.raises(ModelError, match=r"labels are float64 \[30\], the model predicts \[30\] classes"):
        cosim(program, inputs, digits.astype(float), ["vm"], options)


def test_an_interruption_ends_the_run():
    def interrupted(_trace):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run([VM, Fake("riscv", "riscv", spoil=interrupted)])


def test_every_engine_gets_a_folder_of_its_own(tmp_path):
    vm, riscv = Fake("vm"), Fake("riscv", "riscv")
    run([vm, riscv], workdir=tmp_path, seed=5, memory="stall")
    assert riscv.ran[0].workdir == tmp_path / "riscv"
    assert (riscv.ran[0].seed, riscv.ran[0].memory, riscv.ran[0].device) == (5, "stall", None)


def test_results_alone_do_not_show_that_an_engine_ran():
    assert run([VM, Fake("riscv", "riscv")]).verdict == "pass"
    result = run([VM, Fake("riscv", "riscv", spoil=lambda t: replace(t, counters={}))])
    (reason,) = result.reasons
    assert reason == "riscv did not run: gave back a trace that counts no instructions: nothing shows that it ran"


def test_an_engine_that_was_passed_over_is_found(monkeypatch: pytest.MonkeyPatch):
    from fleet.cosim import campaign

    original = campaign._Run._engine
    monkeypatch.setattr(campaign._Run, "_engine", lambda s, name, required: name != "other" and original(s, name, required))
    result = run([VM, RISCV, Fake("other", "x")], ("vm", "riscv", "other"))
    assert (result.verdict, result.reasons) == ("fail", ("other was asked for and did not run",))


def test_a_comparisons_gaps_are_its_own_and_not_said_again_for_the_run():
    def less(trace):
        return replace(trace, tensors={k: v for k, v in trace.tensors.items() if k != "product"})

    result = run([VM, Fake("cpython", "source", spoil=less), RISCV], ("vm", "cpython"))
    comparison = result.comparison("vm-vs-cpython")
    assert [n.what for n in comparison.not_compared] == ["product"]
    assert [n.what for n in result.not_compared] == ["riscv"]


def test_comparisons_compute_in_one_thread(monkeypatch):
    """OpenBLAS's threads spin after every product; among small ones that takes more processor time than the comparison."""
    inside = []

    @contextmanager
    def noticed():
        inside.append(True)
        yield
        inside.pop()

    compare = comparisons.compare_values
    seen = []
    monkeypatch.setattr(campaign, "one_thread", noticed)
    monkeypatch.setattr(comparisons, "compare_values", lambda *a, **k: seen.append(bool(inside)) or compare(*a, **k))
    assert run([VM, RISCV]).verdict == "pass"
    assert seen == [True]
