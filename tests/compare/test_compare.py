from dataclasses import replace

import numpy as np
import pytest
from ir_builder import Net, evaluate
from no_layout import NoLayout

from fleet.compare.bounds.golden_values import Values
from fleet.compare.bounds.sides import FloatArithmetic
from fleet.compare.bounds.tolerance import cumulative_bounds
from fleet.compare.divergence import StreamEvidence, explain
from fleet.compare.traces import CallFigures, ValueComparison, _same_bits, _samples, compare_bits, compare_values, refusals
from fleet.engines.trace import Commit, Trace
from fleet.errors import DeviceError
from fleet.isa.digest import digest_writes
from fleet.sdk import Call, Device, Instruction, InstructionSet, Memory, Range, Write


@pytest.fixture
def net():
    rng = np.random.default_rng(0)
    net = Net({"x": ((4, 8), "input"), "w": ((8, 3), "weight")}, {"w": rng.normal(size=(8, 3)).astype(np.float32)})
    y = net.matmul(net["x"], net["w"], "y")
    program = net.program(y=y, c=net.argmax(y, 1, "c"))
    return program, {"x": rng.normal(size=(4, 8)).astype(np.float32)}


def trace(program, tensors, engine="vm", **more) -> Trace:
    outputs = {"y": tensors["y"], "c": tensors["c"]}
    return Trace(engine, program.hash, outputs=outputs, tensors=dict(tensors), complete=True, **more)


def commits(n=3, **change) -> list[Commit]:
    made = [Commit(i, "mvm", ("y",), 1000 + i, 64, None, token_range=(i, i + 1)) for i in range(n)]
    if change:
        made[1] = replace(made[1], **change)
    return made


def bits(program, values, left, right, **more):
    a = trace(program, values, "iss", commits=left, description_hash="d1", device="chip")
    b = trace(program, values, "rtl", commits=right, description_hash="d1", device="chip")
    return compare_bits("rtl-vs-iss", a, replace(b, **more), program, [CallFigures(10, 16, 5, {"hbm_read": 32})] * len(left))


def test_equal_commits_pass_and_count_bytes(net):
    program, inputs = net
    timed = [replace(c, start=9 * c.seq, end=9 * c.seq + 9, cycles={"compute": 9}) for c in commits()]
    result = bits(program, evaluate(program, inputs), commits(), timed)
    assert (result.verdict, result.bytes, result.elements) == ("pass", 192, 16)
    assert result.commits[1].cycles == {"compute": 9}
    assert (result.commits[1].macs, result.commits[1].macs_issued, result.commits[1].least_bytes) == (10, 16, {"hbm_read": 32})
    assert result.divergence is None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"digest": 7}, "digest expected 00000000000003e9, found 0000000000000007"),
        ({"instruction": "mvm_bn"}, "instruction expected mvm, found mvm_bn"),
        ({"bytes_written": 128}, "bytes written expected 64, found 128"),
        ({"result": 3}, "result register expected None, found 3"),
        ({"ops": ("z",)}, "operations expected y, found z"),
    ],
)
def test_any_difference_is_the_first_divergence(net, change, says):
    program, inputs = net
    result = bits(program, evaluate(program, inputs), commits(), commits(**change))
    assert result.verdict == "fail"
    assert says in result.reasons[0]
    assert result.divergence is not None
    assert result.divergence.seq == 1
    assert says in result.divergence.what
    assert [r.equal for r in result.commits] == [True, False, True]


def test_missing_commits_fail(net):
    program, inputs = net
    result = bits(program, evaluate(program, inputs), commits(), commits()[:2])
    assert result.verdict == "fail"
    assert "iss committed 3 instructions, rtl 2" in result.reasons
    assert result.divergence.what == "commit 2 is missing from rtl"
    empty = bits(program, evaluate(program, inputs), [], [])
    assert (empty.verdict, empty.bytes) == ("nothing compared", 0)


def test_tensors_are_compared_as_bits(net):
    program, inputs = net
    tensors = evaluate(program, inputs)
    changed = tensors | {"y": tensors["y"].copy()}
    changed["y"][0, 0] = np.nextafter(changed["y"][0, 0], np.float32(9))
    result = bits(program, tensors, commits(), commits(), tensors=changed)
    assert result.verdict == "fail"
    assert any("y: 1 of 12 elements differ in their bits" in r for r in result.reasons)
    zero = tensors | {"y": np.zeros_like(tensors["y"])}
    result = bits(program, zero, commits(), commits(), tensors=zero | {"y": -zero["y"]})
    assert result.verdict == "fail", "the sign of zero is a bit"
    result = bits(program, tensors, commits(), commits(), outputs={"y": tensors["y"]})
    assert "outputs ['c', 'y'] against ['y']" in result.reasons


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"complete": False}, "the trace of rtl is not complete"),
        ({"program_hash": "f" * 64}, "different programs: iss ran"),
        ({"description_hash": "d2"}, "different descriptions: iss has d1, rtl has d2"),
        ({"device": "other"}, "different devices: iss ran chip, rtl ran other"),
    ],
)
def test_traces_that_do_not_belong_together_are_refused(net, change, says):
    program, inputs = net
    result = bits(program, evaluate(program, inputs), commits(), commits(), **change)
    assert result.verdict == "fail"
    assert says in result.reasons[0]
    assert result.elements == result.bytes == 0


def spec(program, inputs, tensors, **more) -> ValueComparison:
    bounds = cumulative_bounds(Values(program, inputs, tensors), FloatArithmetic())
    return ValueComparison("riscv-vs-vm", "bound", "?", bounds=bounds, **more)


@pytest.mark.parametrize("most", [256, 2008, 2833, 4096])
def test_the_first_values_are_those_of_any_comparison(most):
    """A comparison of many operations stores fewer values of each; what is printed side by side are the same elements."""
    y = np.random.default_rng(1).normal(size=(16, 384)).astype(np.float32)
    traces = [Trace(engine, "", outputs={}, tensors={"y": y}, complete=True) for engine in ("vm", "riscv")]
    found = _samples(ValueComparison("riscv-vs-vm", "bound", "?"), *traces, "y", most)["riscv-vs-vm/y/reference"]
    assert found.size == most
    np.testing.assert_array_equal(found[:8], y.reshape(-1)[:8])
    assert found[-1] == y[-1, -1]


def test_values_within_the_bound_pass_and_beyond_fail(net):
    program, inputs = net
    golden = evaluate(program, inputs)
    near = golden | {"y": np.nextafter(golden["y"], np.float32(9))}
    result, arrays = compare_values(
        spec(program, inputs, golden), trace(program, golden), trace(program, near, "riscv"), program, same_program=True
    )
    assert (result.verdict, result.elements) == ("pass", 16)
    row = result.operations[0]
    assert (row.cumulative.ulp_max, row.name, row.at) == (1.0, "matmul", "net.py:1:1")
    assert 0 < row.bound.worst_ratio < 1
    assert arrays["riscv-vs-vm/y/bound"].shape == (12,)
    far = golden | {"y": golden["y"].copy()}
    far["y"][2, 1] += np.float32(1e-3)
    result, _ = compare_values(
        spec(program, inputs, golden), trace(program, golden), trace(program, far, "riscv"), program, same_program=True
    )
    assert result.verdict == "fail"
    assert result.operations[0].worst.index == (2, 1)
    assert "y (net.py:1:1): 1 of 12 elements beyond the bound" in result.divergence.what
    assert f"expected {float(golden['y'][2, 1])!r}" in result.divergence.what
    waived, _ = compare_values(
        spec(program, inputs, golden, waivers={"y": "me: known (until 2099-01-01)"}),
        trace(program, golden),
        trace(program, far, "riscv"),
        program,
        same_program=True,
    )
    assert waived.verdict == "pass"
    assert waived.operations[0].waiver == "me: known (until 2099-01-01)"


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_special_values_on_one_side_fail(net, value):
    program, inputs = net
    golden = evaluate(program, inputs)
    broken = golden | {"y": golden["y"].copy()}
    broken["y"][0, 0] = value
    for a, b in ((golden, broken), (broken, golden)):
        result, _ = compare_values(
            spec(program, inputs, golden), trace(program, a), trace(program, b, "riscv"), program, same_program=True
        )
        assert result.verdict == "fail"
        assert result.operations[0].bound.violations == 1
    result, _ = compare_values(
        spec(program, inputs, golden), trace(program, broken), trace(program, broken, "riscv"), program, same_program=True
    )
    assert result.verdict == "pass"


def test_classes(net):
    program, inputs = net
    golden = evaluate(program, inputs)
    other = golden | {"c": (golden["c"] + 1) % 3}
    strict = spec(program, inputs, golden, classes_must_agree=True)
    result, _ = compare_values(strict, trace(program, golden), trace(program, other, "riscv"), program, same_program=True)
    assert "c: 4 of 4 classes differ" in result.reasons[0]
    tie = {"x": np.zeros((4, 8), np.float32)}
    golden = evaluate(program, tie)
    loose = spec(program, tie, golden)
    doubt = {k: replace(b, candidates=np.ones((4, 3), bool)) if b.candidates is not None else b for k, b in loose.bounds.items()}
    other = golden | {"c": golden["c"] + 1}
    result, _ = compare_values(
        replace(loose, bounds=doubt), trace(program, golden), trace(program, other, "x"), program, same_program=True
    )
    assert result.verdict == "pass"
    assert result.operations[1].bound.undecided == 4
    other = golden | {"c": golden["c"] + 3}
    result, _ = compare_values(
        replace(loose, bounds=doubt), trace(program, golden), trace(program, other, "x"), program, same_program=True
    )
    assert result.verdict == "fail", "a class that does not exist is never undecided"


def test_what_was_not_compared_is_said_or_fails(net):
    program, inputs = net
    golden = evaluate(program, inputs)
    less = trace(program, golden, "riscv")
    del less.tensors["y"]
    result, _ = compare_values(spec(program, inputs, golden), trace(program, golden), less, program, same_program=True)
    assert "y: riscv kept no value of it" in result.reasons
    inner = spec(program, inputs, golden, inner={"y": "inside a group"})
    result, _ = compare_values(inner, trace(program, golden), less, program, same_program=True)
    assert (result.verdict, result.not_compared[0].what) == ("pass", "y")
    none = trace(program, golden, "riscv")
    none.tensors.clear()
    result, _ = compare_values(replace(inner, missing_is_failure=False), trace(program, golden), none, program, same_program=True)
    assert result.verdict == "nothing compared"
    wrong = golden | {"y": golden["y"].T.copy()}
    result, _ = compare_values(
        spec(program, inputs, golden), trace(program, golden), trace(program, wrong, "riscv"), program, same_program=True
    )
    assert "y: shape [3, 4] instead of [4, 3]" in result.reasons
    assert refusals(trace(program, golden), less, same_program=True) == []


class Add(Instruction):
    """out[i] = in[i] + 1 over 16-bit words."""

    name = "add"

    @classmethod
    def execute(cls, device, fields, memory):
        return [Write("ddr", fields["out"], memory.view("ddr", fields["in"], fields["size"]).copy() + 1)]

    @classmethod
    def legal(cls, device, fields):
        return []

    @classmethod
    def reads(cls, device, fields):
        return [Range("ddr", fields["in"], fields["size"])]

    @classmethod
    def writes(cls, device, fields):
        return [Range("ddr", fields["out"], fields["size"])]

    @classmethod
    def cost(cls, device, fields):
        return 1


class Bytes(Memory):
    def __init__(self):
        self.data = np.arange(256, dtype=np.uint8)

    def view(self, space, offset, size, bank=0):
        if offset + size > 256:
            raise DeviceError("outside")
        return self.data[offset : offset + size]


@pytest.fixture
def evidence(monkeypatch):
    from pathlib import Path

    from fleet.isa import codec

    chip = Device("chip", "toy", {}, {"ddr": 256}, 1.0, {}, Path("chip.toml"))
    toy = InstructionSet("toy", "2.0", Path("toy.rdl"), {"add": Add}, {"chip": chip}, NoLayout())
    monkeypatch.setattr(codec, "register_writes", lambda _s, call: [(4 * i, v) for i, v in enumerate(call.fields.values())])
    return StreamEvidence(
        toy, chip, [Call("add", {"in": 0, "out": 64, "size": 8}, ("y",))], Bytes(), lambda _ops, _space, _bank, at: (at - 64,)
    )


def test_a_divergence_is_traced_to_the_word(net, evidence):
    program, inputs = net
    tensors = evaluate(program, inputs)
    memory = evidence.memory
    expected = Add.execute(evidence.device, evidence.calls[0].fields, memory)
    memory.data[64:72] = expected[0].data
    memory.data[66] ^= 1
    found = [Write("ddr", 64, memory.data[64:72].copy())]
    iss = trace(program, tensors, "iss", commits=[Commit(0, "add", ("y",), digest_writes(evidence.device, expected), 8)])
    rtl = trace(program, tensors, "rtl", commits=[Commit(0, "add", ("y",), digest_writes(evidence.device, found), 8)])
    divergence = compare_bits("rtl-vs-iss", iss, rtl, program).divergence
    told = explain(divergence, iss, rtl, evidence)
    (place,) = told.differences
    assert (place.space, place.address, place.element, told.total_differences) == ("ddr", 66, (2,), 1)
    assert place.expected.startswith("0x0403 = ")
    assert place.found.startswith("0x0402 = ")
    assert told.registers == ((0, 0), (4, 64), (8, 8))
    assert told.registers_named == {"in": 0, "out": 64, "size": 8}
    assert "read 8 bytes at ddr 0x0" in told.inputs
    memory.data[0] = 77
    late = explain(divergence, iss, rtl, evidence)
    assert late.differences == ()
    assert "overwritten later" in late.what


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(1,), (3,), (2, 17), (5, 7, 11), (1031,)])
def test_any_bit_of_any_byte_is_compared(dtype, shape):
    """One bit, anywhere, the last byte too: whatever the size, the layout in memory and the value (NaN's payload, 0's sign)."""
    rng = np.random.default_rng(7)
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    a = (rng.integers(0, 2, shape).astype(bool) if dtype == "bool" else np.frombuffer(rng.bytes(size), dtype).reshape(shape)).copy()
    assert _same_bits(a, a.copy())
    assert _same_bits(a, np.asfortranarray(a))
    for byte in {0, size // 2, 15 % size, 16 % size, size - 1, *rng.integers(0, size, 20).tolist()}:
        b = a.copy()
        b.reshape(-1).view(np.uint8)[byte] ^= 1 if dtype == "bool" else 1 << int(rng.integers(0, 8))
        assert not _same_bits(a, b), byte
        assert not _same_bits(a, np.asfortranarray(b)), byte
    assert not _same_bits(a, a.reshape(1, *shape))
    other = "int8" if dtype in ("bool", "uint8") else f"V{np.dtype(dtype).itemsize}"
    assert not _same_bits(a, a.view(other))


def test_a_difference_in_the_last_element_of_a_large_output_is_found(net):
    program, inputs = net
    values = evaluate(program, inputs)
    name = "y"
    right = trace(program, values, "iss", commits=commits(), description_hash="d1", device="chip")
    large = np.zeros(100_000, np.float32)
    wrong = large.copy()
    wrong[-1] = -0.0
    a, b = (replace(right, engine=e, outputs={**right.outputs, name: v}) for e, v in (("iss", large), ("rtl", wrong)))
    result = compare_bits("rtl-vs-iss", a, b, program)
    assert result.verdict == "fail"
    assert f"output '{name}' differs in its bits" in result.reasons


@pytest.mark.parametrize("wrong", [("y",), ("c",), ("y", "c")])
def test_each_output_is_compared(net, wrong):
    """Also where no tensor was kept and every commit is equal: the first output, the last, and both."""
    program, inputs = net
    values = evaluate(program, inputs)
    a, b = (replace(trace(program, values, e, commits=commits()), tensors={}) for e in ("iss", "rtl"))
    assert compare_bits("rtl-vs-iss", a, b, program).verdict == "pass"
    changed = {n: v.copy() for n, v in b.outputs.items()}
    for n in wrong:
        changed[n].flat[-1] += 1
    result = compare_bits("rtl-vs-iss", a, replace(b, outputs=changed), program)
    assert result.verdict == "fail"
    assert result.reasons == tuple(f"output '{n}' differs in its bits" for n in wrong)


def printing(program, text: str | None, engine: str) -> Trace:
    return Trace(engine, program.hash, complete=True, meta={} if text is None else {"stdout": text})


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict", "says"),
    [
        ("a 1\nb\n", "a 1\nb\n", "pass", ""),
        ("a 1\nb\n", "a 2\nb\n", "fail", "line 1 of what is printed differs: cpython 'a 1', vm 'a 2'"),
        ("a 1\nb\n", "a 1\nb", "fail", r"line 2 of what is printed differs: cpython 'b\n', vm 'b'"),
        ("a 1\nb\n", "a 1\n", "fail", "line 2 of what is printed differs: cpython 'b', vm no line"),
        ("", "", "nothing compared", "no element was compared"),
        ("a\n", None, "nothing compared", "no element was compared"),
    ],
)
def test_printed_text_of_the_source_must_be_the_same(net, ours: str, theirs: str | None, verdict: str, says: str) -> None:
    program, inputs = net
    exact = spec(program, inputs, evaluate(program, inputs), missing_is_failure=False, same_text=True)
    pair = printing(program, ours, "cpython"), printing(program, theirs, "vm")
    result, _ = compare_values(exact, *pair, program, same_program=True)
    assert result.verdict == verdict
    assert says in " ".join(result.reasons)
    assert result.printed == (2 if verdict == "pass" else 0)
    loose, _ = compare_values(replace(exact, same_text=False), *pair, program, same_program=True)
    assert loose.verdict == ("pass" if verdict == "pass" else "nothing compared")


@pytest.mark.parametrize(("theirs", "verdict"), [("a 1\nb\nc\n", "pass"), ("a 1\nB\nc\n", "fail"), ("a 1\n", "fail")])
def test_of_a_text_that_was_cut_whole_lines_are_compared(net, theirs: str, verdict: str) -> None:
    program, inputs = net
    exact = spec(program, inputs, evaluate(program, inputs), missing_is_failure=False, same_text=True)
    ours = printing(program, "a 1\nb\nc", "cpython")
    ours.meta["stdout_cut"] = True
    result, _ = compare_values(exact, ours, printing(program, theirs, "vm"), program, same_program=True)
    assert (result.verdict, result.printed) == (verdict, 2 if verdict == "pass" else 0)
