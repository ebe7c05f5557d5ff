"""The VM dialect's text: printed, read and printed again it is the same; damage is found with its line."""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_loader_fuzz import MODULE

from fleet.errors import ModelError
from fleet.frontend.source import load
from fleet.targets.bytecode import VM, ByteCodeConverter, ByteCodeModule
from fleet.targets.bytecode.opcodes import OpCode as Op
from fleet.targets.bytecode.text import parse_vm, print_vm


def same(a: ByteCodeModule, b: ByteCodeModule) -> None:
    assert [repr(c) for c in a.consts] == [repr(c) for c in b.consts]
    assert replace(a, consts=[]) == replace(b, consts=[])
    assert [type(c) for c in a.code] == [type(c) for c in b.code]


def test_the_sample() -> None:
    text = """vm.module "python" slots 3 program ""
vm.const 0 = 40
vm.const 1 = "device_add_sig_ii_i_ins_i32_i32_outs_i32"
vm.const 2 = "python_print_sig_i_ins_i32"
     0: vm.iconst_3 : i32
     1: vm.ldc 0 : i32
     4: vm.invokestatic 1 add : (i32, i32) -> i32
     6: vm.istore_2 : i32
     7: vm.iload_2 : i32
     8: vm.invokestatic 2 print : (i32) -> ()
"""
    module = parse_vm(text)
    assert print_vm(module) == text
    assert module.code == [5, 11, 1, 0, 12, 1, 21, 16, 12, 2]
    echoed: list[int] = []
    VM(module, echo=echoed.append).run()
    assert echoed == [43]


def test_everything_comes_back() -> None:
    text = print_vm(MODULE)
    again = parse_vm(text)
    same(again, MODULE)
    assert print_vm(again) == text
    assert '     2: vm.invokestatic 2 add "sum" : (?x2xf32, 2xf32) -> ?x2xf32' in text
    assert "    11: vm.if_false 13" in text
    found = VM(again, echo=lambda *_: None).run({"x": np.ones((3, 2), np.float32), "w": MODULE.weights["w"]})
    assert found["y"].tolist() == [6.0, 9.0]


def test_a_model_comes_back(tmp_path) -> None:
    (tmp_path / "m.py").write_text(
        'import numpy as np\ndef forward(x: "f32[4, 6]"):\n'
        "    h = np.maximum(x @ np.ones((6, 2)), -0.0) * 0.1\n    print(h.sum())\n    return h[:, 1:], h.mean(axis=0), 7\n"
    )
    module = ByteCodeConverter(load(f"{tmp_path / 'm.py'}:forward", {}, {"x": np.zeros((4, 6), np.float32)})).convert()
    text = print_vm(module)
    again = parse_vm(text)
    assert print_vm(again) == text
    weights = {n: np.asarray(module.weights[n]) for n in module.weights}
    same(replace(again, weights={}), replace(module, weights={}))
    x = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)
    wanted = VM(module, echo=lambda *_: None).run({"x": x})
    for name, value in VM(again, echo=lambda *_: None).run({"x": x, **weights}).items():
        np.testing.assert_array_equal(value, wanted[name])


CONSTANTS = st.one_of(
    st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=True), st.booleans(), st.text(max_size=20),
    st.sampled_from([math.inf, -math.inf, -0.0, np.array([[1.5, -np.inf]], np.float32), np.zeros((0, 2), bool), np.int64([1])]),
    st.just(np.array(0.1, np.float16)),
)  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(st.lists(CONSTANTS, max_size=4), st.text(max_size=9))
def test_constants_and_names_come_back(consts, name) -> None:
    code = [word for i in range(len(consts)) for word in (Op.ldc, 1, i, Op.astore_0)]
    module = ByteCodeModule(consts, code, name, 1, program_hash=name)
    text = print_vm(module)
    again = parse_vm(text)
    assert print_vm(again) == text
    assert [repr(c) for c in again.consts] == [repr(c) for c in consts]
    assert (again.target, again.program_hash) == (name, name)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("vm.aload_0 : ?x2xf32", "vm.aload_0 : 3x2xf32", r'm\.vm:12: .*expected "0: vm.aload_0 : \?x2xf32"'),
        ("     4: vm.astore_2", "     5: vm.astore_2", r'm\.vm:15: .*expected "4: vm.astore_2'),
        ("vm.if_false 13", "vm.if_false 12", "a jump to 12, where no instruction begins"),
        ("vm.if_false 13", "vm.if_often 13", r"m\.vm:\d+: not VM text: 'if_often'"),
        ("vm.module", "vm.modul", r"m\.vm:1: not VM text"),
        ("vm.const 1 = -0.5", "vm.const 1 = half", r"m\.vm:7: not VM text: could not convert"),
        ("vm.const 1 = -0.5", "vm.const 3 = -0.5", 'expected "vm.const 1 = -0.5"'),
        ("2 add", "2 mul", 'expected "2: vm.invokestatic 2 add'),
        ("vm.astore_2 : ?x2xf32", "vm.astore_2 7 : ?x2xf32", 'the operands "7"'),
        ('input "x" : ?x2xf32', 'input "x" : ?x2xq32', "is not a type"),
        ("tensor [4] int64", "tensor [4] int65", "not VM text: 'int65'"),
        ("tensor [4] int64", "tensor [5] int64", r'expected "17: vm.ldc 5 tensor \[5\] int64 : 5xi64"'),
    ],
)
def test_damage_is_found(old, new, says) -> None:
    text = print_vm(MODULE)
    changed = text.replace(old, new, 1)
    assert changed != text
    with pytest.raises(ModelError, match=says) as caught:
        parse_vm(changed, "m.vm")
    assert "\n" not in str(caught.value)


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_damaged_text_gives_one_clear_error_or_a_module(data) -> None:
    text = print_vm(MODULE)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text)))
        text = text[:place] + data.draw(st.text(max_size=4)) + text[place + data.draw(st.integers(0, 5)) :]
    with contextlib.suppress(ModelError):
        module = parse_vm(text)
        assert parse_vm(print_vm(module)).code == module.code


def test_a_huge_array_has_no_text() -> None:
    module = ByteCodeModule([np.zeros(1 << 17)], [Op.ldc, 1, 0, Op.astore_0], "python", 1)
    with pytest.raises(ModelError, match="a constant array of 131072 elements has no text form"):
        print_vm(module)
