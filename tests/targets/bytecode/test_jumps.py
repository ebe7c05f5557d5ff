"""Jumps: random code against a plain stack machine, what joins must agree on, and runs without an end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.errors import ModelError
from fleet.targets.bytecode import VM, ByteCodeModule
from fleet.targets.bytecode.contents import ArgumentSlot, OutputSlot
from fleet.targets.bytecode.opcodes import OpCode as Op

ADD = "device_add_sig_ii_i_ins_i32_i32_outs_i32"
SUB = "device_sub_sig_ii_i_ins_i32_i32_outs_i32"
LESS = "device_less_sig_ii_b_ins_i32_i32_outs_i1"
PRINT = "python_print_sig_i_ins_i32"
CONSTS = [40, ADD, SUB, LESS, PRINT]
SLOTS = 3
LIMIT = 3000


def plain(code: list[int], count: int) -> tuple[list[int], list[int], list[int]] | None:
    """(slots, stack, printed) of the stack machine as one would write it down; None when it is still running at the limit."""
    slots, stack, printed, i = [0] * count, [], [], 0
    for _ in range(LIMIT):
        if i == len(code):
            return slots, stack, printed
        op = code[i]
        if op <= Op.iconst_5:
            stack.append(op - Op.iconst_0)
            i += 1
        elif op == Op.invokestatic:
            b = stack.pop()
            match code[i + 1]:
                case 1:
                    stack.append(stack.pop() + b)
                case 2:
                    stack.append(stack.pop() - b)
                case 3:
                    stack.append(stack.pop() < b)
                case _:
                    printed.append(int(b))
            i += 2
        elif op == Op.goto:
            i = code[i + 1]
        elif op in (Op.if_true, Op.if_false):
            i = code[i + 1] if bool(stack.pop()) == (op == Op.if_true) else i + 2
        elif op == Op.iload:
            stack.append(slots[code[i + 1]])
            i += 2
        else:
            slots[code[i + 1]] = stack.pop()
            i += 2
    return None


@st.composite
def programs(draw) -> tuple[list[int], int]:
    """Statements that leave the stack `base` deep, with jumps from statement to statement."""
    base = draw(st.integers(0, 2))
    code: list[int] = []
    for slot in range(SLOTS):
        code += [Op.iconst_0 + draw(st.integers(-1, 5)), Op.istore, slot]
    code += [Op.iconst_0 + draw(st.integers(-1, 5)) for _ in range(base)]
    starts, jumps = [], []
    count = draw(st.integers(1, 9))
    slot, value = st.integers(0, SLOTS - 1), st.integers(-1, 5)
    for _ in range(count):
        starts.append(len(code))
        kinds = ["store", "count", "print", "goto", "branch", "compare"] + (["swap", "under"] if base else [])
        match draw(st.sampled_from(kinds)):
            case "store":
                code += [Op.iconst_0 + draw(value), Op.istore, draw(slot)]
            case "count":
                s = draw(slot)
                code += [Op.iload, s, Op.iconst_1, Op.invokestatic, draw(st.sampled_from([1, 2])), Op.istore, s]
            case "print":
                code += [Op.iload, draw(slot), Op.invokestatic, 4]
            case "swap":  # the top of the stack, by way of a slot
                code += [Op.istore, draw(slot), Op.iload, draw(slot)]
            case "under":  # a load that stays on the stack while its slot changes
                code += [Op.iload, draw(slot), Op.invokestatic, draw(st.sampled_from([1, 2]))]
            case "goto":
                code += [Op.goto, 0]
                jumps.append(len(code) - 1)
            case "branch":
                code += [Op.iload, draw(slot), draw(st.sampled_from([Op.if_true, Op.if_false])), 0]
                jumps.append(len(code) - 1)
            case _:
                code += [Op.iload, draw(slot), Op.iconst_0 + draw(value), Op.invokestatic, 3]
                code += [draw(st.sampled_from([Op.if_true, Op.if_false])), 0]
                jumps.append(len(code) - 1)
    starts.append(len(code))
    for place in jumps:
        code[place] = starts[draw(st.integers(0, count))]
    for top in range(base):
        code += [Op.istore, SLOTS + top]
    return code, SLOTS + base


@settings(deadline=None, max_examples=600)
@given(programs())
def test_jumps_keep_the_stack_machines_meaning(program: tuple[list[int], int]) -> None:
    code, count = program
    printed: list[int] = []
    reference = plain(code, count)
    vm = VM(module(code, count), echo=lambda v: printed.append(int(v)))
    if reference is None:
        with pytest.raises(ModelError, match="steps without an end"):
            vm.run(max_steps=LIMIT // 10)
        return
    slots, _, echoed = reference
    for tensors in (None, None, {}):
        printed.clear()
        assert [int(v) for v in vm.run(tensors=tensors).values()] == slots
        assert printed == echoed


def module(code: list[int], slots: int = SLOTS, outputs: int | None = None) -> ByteCodeModule:
    count = slots if outputs is None else outputs
    return ByteCodeModule(CONSTS, code, "python", slots, outputs=tuple(OutputSlot(f"s{i}", i, "i32", True) for i in range(count)))


def test_a_loop_over_tensors() -> None:
    """y = x doubled until its sum passes a bound: a while loop that no unrolling could give."""
    double = "device_add_sig_rr_r_ins_?xf32_?xf32_outs_?xf32"
    total = "device_reduce_sum_sig_r_r_ins_?xf32_outs_f32_axes_0_keepdims_False"
    less = "device_less_sig_rf_r_ins_f32_f64_outs_i1"
    code = [Op.aload_0, Op.astore_1]
    code += [Op.aload_1, Op.invokestatic, 1, Op.ldc, 1, 3, Op.invokestatic, 2, Op.if_false, 19]
    code += [Op.aload_1, Op.aload_1, Op.invokestatic, 0, Op.astore_1, Op.goto, 2]
    assert len(code) == 19
    arguments = (ArgumentSlot("x", "input", (-1,), "float32"),)
    m = ByteCodeModule(
        [double, total, less, 100.0], code, "python", 2, ("sum", "less", "twice"), arguments, (OutputSlot("y", 1, "?xf32"),)
    )
    vm = VM(m)
    for n in (1, 3, 10):
        x = np.ones(n, np.float32)
        wanted = x
        while wanted.sum() < 100.0:
            wanted = wanted + wanted
        np.testing.assert_array_equal(vm.run({"x": x})["y"], wanted)
        tensors: dict[str, np.ndarray] = {}
        vm.run({"x": x}, tensors=tensors)
        np.testing.assert_array_equal(tensors["twice"], wanted)  # of what runs often, the last
    with pytest.raises(ModelError, match=r'input "x" must be float32\[\?\], found float32\[2, 2\]'):
        vm.run({"x": np.ones((2, 2), np.float32)})


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ([Op.goto, 1], "bytecode offset 0: a jump to 1, where no instruction begins"),
        ([Op.goto, -1], "a jump to -1"),
        ([Op.goto, 99], "a jump to 99"),
        ([Op.goto], "ends within an instruction"),
        ([Op.if_true, 2], "bytecode offset 0: the operand stack is empty"),
        ([Op.iconst_1, Op.iconst_1, Op.if_true, 4, Op.goto, 0], "2 values on the stack|1 values on the stack"),
        ([Op.iconst_1, Op.if_false, 5, Op.iconst_1, Op.istore_0, Op.iload_0, Op.istore_1], "slot 0 is read before it is written"),
    ],
)
def test_jumps_that_are_not_well_formed_are_refused(code, says) -> None:
    with pytest.raises(ModelError, match=says):
        VM(module(code, 2, 0))


def test_an_endless_loop_is_stopped() -> None:
    with pytest.raises(ModelError, match="it has run 1000 steps without an end; raise max_steps") as caught:
        VM(module([Op.goto, 0], 0)).run(max_steps=1000)
    assert "\n" not in str(caught.value)


def test_an_output_behind_an_endless_loop_needs_no_value() -> None:
    vm = VM(module([Op.goto, 0], 1))
    with pytest.raises(ModelError, match="without an end"):
        vm.run(max_steps=10)


def test_code_that_nothing_leads_to_is_not_looked_at() -> None:
    code = [Op.iconst_3, Op.istore_0, Op.goto, 6, Op.istore_1, Op.istore_1]
    assert VM(module(code, 2, 1)).run()["s0"] == 3


def test_a_branch_needs_a_truth_value() -> None:
    arguments = (ArgumentSlot("x", "input", (-1,), "bool"),)
    m = ByteCodeModule([], [Op.aload_0, Op.if_true, 3], "python", 1, (), arguments)
    assert VM(m).run({"x": np.array([True])}) == {}
    with pytest.raises(ModelError, match="neither true nor false"):
        VM(m).run({"x": np.array([True, False])})


def test_an_output_that_one_way_does_not_write_is_refused() -> None:
    code = [Op.iconst_1, Op.if_true, 5, Op.iconst_1, Op.istore_0]
    with pytest.raises(ModelError, match='output "s0" is in slot 0, which nothing writes'):
        VM(module(code, 1))
