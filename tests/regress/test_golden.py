from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ir_builder import Net, evaluate, shuffled_sum

from fleet.engines.trace import Commit, Trace
from fleet.errors import ComparisonFailure, FleetError
from fleet.ir import dialect as d
from fleet.regress.golden import GoldenProvenance, capture, changes, check, load_golden, store_golden

PROVENANCE = GoldenProvenance("digits", "first", "2025-01-01", "s" * 64, "w" * 64, "i" * 64, 0, {"numpy": "2"}, {"chip": "d" * 64})
HASHES = ("s" * 64, "w" * 64)


@pytest.fixture
def made(tmp_path: Path):
    rng = np.random.default_rng(1)
    net = Net({"x": ((30, 16), "input"), "w": ((16, 10), "weight")}, {"w": rng.normal(size=(16, 10)).astype(np.float32)})
    logits = net.call(d.MaximumOp, net.matmul(net["x"], net["w"], "product"), net.number(0), name="logits")
    program = net.program(logits=logits, digit=net.argmax(logits, 1, "digit"))
    inputs = {"x": rng.normal(size=(30, 16)).astype(np.float32)}
    vm = trace(program, evaluate(program, inputs))
    iss = replace(vm, engine="iss", commits=[Commit(i, "mvm", ("digit",), 77 + i, 64, 3) for i in range(4)])
    arrays = capture(program, 30, vm, {"chip": iss})
    store_golden(tmp_path / "digits", PROVENANCE, arrays)
    return program, inputs, vm, iss, tmp_path / "digits"


def trace(program, tensors) -> Trace:
    return Trace("vm", program.hash, {"logits": tensors["logits"], "digit": tensors["digit"]}, dict(tensors), complete=True)


def test_a_golden_is_small_and_agrees_with_what_made_it(made):
    program, inputs, vm, iss, folder = made
    golden = load_golden(folder)
    assert golden.provenance == PROVENANCE
    assert golden.arrays["30/op/product/value"].size == 64
    result = check(golden, program, inputs, 30, HASHES, vm, {"chip": iss})
    assert (result.verdict, result.name) == ("pass", "vm-vs-golden")
    assert result.elements == 64 + 64 + 30 + 4
    assert changes(golden, capture(program, 30, vm, {"chip": iss})) == ()


def test_another_order_of_sums_is_no_difference(made):
    program, inputs, _, iss, folder = made
    other = trace(program, evaluate(program, inputs, shuffled_sum(np.random.default_rng(0))))
    assert check(load_golden(folder), program, inputs, 30, HASHES, other, {"chip": iss}).verdict == "pass"


def test_a_run_that_kept_no_tensor_of_a_stored_operation_is_refused(made):
    program, inputs, vm, iss, folder = made
    kept = replace(vm, tensors={name: tensor for name, tensor in vm.tensors.items() if name != "product"})
    with pytest.raises(ComparisonFailure, match="product: the golden kept no tensor of it"):
        check(load_golden(folder), program, inputs, 30, HASHES, kept, {"chip": iss})


def test_values_classes_and_digests_beyond_are_failures_that_name_file_and_operation(made):
    program, inputs, vm, iss, folder = made
    golden = load_golden(folder)
    far = replace(vm, tensors=vm.tensors | {"product": vm.tensors["product"] * np.float32(1.001)})
    result = check(golden, program, inputs, 30, HASHES, far, {})
    assert f"{golden.path}: product: " in result.reasons[0]
    assert result.divergence.ops == ("product",)
    flipped = vm.outputs["digit"].copy()
    flipped[29] += 1
    flip = replace(vm, outputs=vm.outputs | {"digit": flipped})
    reason = check(golden, program, inputs, 30, HASHES, flip, {}).reasons[0]
    assert "digit: 1 of 30 classes differ; first: sample 29" in reason
    wrong = replace(iss, commits=[*iss.commits[:2], replace(iss.commits[2], digest=5), iss.commits[3]])
    reason = check(golden, program, inputs, 30, HASHES, vm, {"chip": wrong}).reasons[0]
    assert "chip: commit 2 (digit): stored mvm 000000000000004f 3, now mvm 0000000000000005 3" in reason
    assert "holds no digests of other" in check(golden, program, inputs, 30, HASHES, vm, {"other": iss}).reasons[0]
    assert "nothing of a batch of 31 rows" in check(golden, program, inputs, 31, HASHES, vm, {}).reasons[0]
    assert "another weights" in check(golden, program, inputs, 30, ("s" * 64, "x" * 64), vm, {}).reasons[0]


def test_a_missing_or_edited_golden_fails(made, tmp_path: Path):
    folder = made[-1]
    with pytest.raises(ComparisonFailure, match=r"nothing/provenance.toml: there is no golden"):
        load_golden(tmp_path / "nothing")
    data = bytearray((folder / "golden.npz").read_bytes())
    data[len(data) // 2] ^= 1
    (folder / "golden.npz").write_bytes(bytes(data))
    with pytest.raises(ComparisonFailure, match=r"golden.npz: checksum is not the one in provenance.toml"):
        load_golden(folder)
    text = (folder / "provenance.toml").read_text()
    (folder / "provenance.toml").write_text(text.replace("format = 1", "format = 2"))
    with pytest.raises(ComparisonFailure, match="format is 2, expected 1"):
        load_golden(folder)
    (folder / "provenance.toml").write_text(text.replace("seed = 0", ""))
    with pytest.raises(ComparisonFailure, match="provenance cannot be read"):
        load_golden(folder)
    (folder / "golden.npz").unlink()
    with pytest.raises(ComparisonFailure, match=r"golden.npz: there is no golden"):
        load_golden(folder)


def test_an_update_shows_what_changes(made):
    program, _, vm, iss, folder = made
    golden = load_golden(folder)
    moved = replace(vm, tensors=vm.tensors | {"product": vm.tensors["product"] + np.float32(1)})
    found = changes(golden, capture(program, 30, moved, {"chip": replace(iss, commits=iss.commits[:3])}))
    assert [(c.what, c.differing) for c in found] == [("digests/chip", 3), ("product", 64)]
    assert found[1].max_abs == pytest.approx(1, abs=1e-5)
    assert {c.note for c in changes(None, golden.arrays)} == {"new"}
    with pytest.raises(FleetError, match="needs a reason"):
        store_golden(folder, replace(PROVENANCE, reason=" "), golden.arrays)
    with pytest.raises(ComparisonFailure, match="no value to store"):
        store_golden(folder, PROVENANCE, {})
    assert load_golden(folder).provenance == PROVENANCE
