"""The decoded VM against a plain stack machine, on random code; and code that is not well formed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.errors import ModelError
from fleet.ir.build import make
from fleet.ir.types import tensor_type
from fleet.targets.bytecode import VM, ByteCodeModule, DispatchHintParser, OpCode, TypeCode
from fleet.targets.bytecode.contents import ArgumentSlot, OutputSlot
from fleet.targets.bytecode.evaluate import apply
from fleet.targets.bytecode.opcodes import OpCode as Op
from fleet.targets.bytecode.operators import OPERATORS

ADD = "device_add_sig_ii_i_ins_i32_i32_outs_i32"
SUB = "device_sub_sig_ii_i_ins_i32_i32_outs_i32"
NEG = "device_neg_sig_i_i_ins_i32_outs_i32"
PRINT = "python_print_sig_i_ins_i32"
CONSTS = [40, -7, ADD, SUB, NEG, PRINT]


def plain(code: list[int], slots: int) -> tuple[list, list, list]:
    """The stack machine as seed 000 writes it, for integers; the reference."""
    variables, stack, printed, i = [None] * slots, [], [], 0
    while i < len(code):
        op = code[i]
        if 1 <= op <= 7:
            stack.append(op - 2)
            i += 1
        elif op == 11:
            stack.append(CONSTS[code[i + 2]])
            i += 3
        elif op == 12:
            hint = CONSTS[code[i + 1]]
            if hint == PRINT:
                printed.append(stack.pop())
            elif hint == NEG:
                stack.append(-stack.pop())
            else:
                b, a = stack.pop(), stack.pop()
                stack.append(a + b if hint == ADD else a - b)
            i += 2
        elif op in (13, 18):
            (stack.append(variables[code[i + 1]]) if op == 13 else variables.__setitem__(code[i + 1], stack.pop()))
            i += 2
        elif 14 <= op <= 17:
            stack.append(variables[op - 14])
            i += 1
        else:
            variables[op - 19] = stack.pop()
            i += 1
    return variables, stack, printed


@st.composite
def programs(draw) -> list[int]:
    code: list[int] = []
    depth, written = 0, set()
    for _ in range(draw(st.integers(1, 40))):
        choices = ["push", "ldc"] + (["load"] if written else []) + (["store", "neg", "print"] if depth else [])
        choices += ["add", "sub"] if depth > 1 else []
        match draw(st.sampled_from(choices)):
            case "push":
                code.append(Op.iconst_0 + draw(st.integers(-1, 5)))
                depth += 1
            case "ldc":
                code += [Op.ldc, TypeCode.scalar, draw(st.integers(0, 1))]
                depth += 1
            case "load":
                slot = draw(st.sampled_from(sorted(written)))
                code += [Op.iload + 1 + slot] if slot < 4 and draw(st.booleans()) else [Op.iload, slot]
                depth += 1
            case "store":
                slot = draw(st.integers(0, 5))
                code += [Op.istore + 1 + slot] if slot < 4 else [Op.istore, slot]
                written.add(slot)
                depth -= 1
            case name:
                code += [Op.invokestatic, {"add": 2, "sub": 3, "neg": 4, "print": 5}[name]]
                depth -= name != "neg"
    return code


@settings(deadline=None, max_examples=300)
@given(programs())
def test_decoding_keeps_the_stack_machines_meaning(code: list[int]) -> None:
    variables, _, printed = plain(code, 6)
    outputs = tuple(OutputSlot(f"s{i}", i, "i32", True) for i, v in enumerate(variables) if v is not None)
    echoed: list[int] = []
    found = VM(ByteCodeModule(CONSTS, code, "python", 6, outputs=outputs), echo=echoed.append).run()
    assert {n: int(v) for n, v in found.items()} == {f"s{i}": v for i, v in enumerate(variables) if v is not None}
    assert echoed == printed


def test_tensors_of_a_slot_that_is_written_twice_are_both_kept() -> None:
    code = [Op.iconst_1, Op.iconst_2, 12, 2, Op.istore_0, Op.iload_0, Op.iconst_5, 12, 2, Op.istore_0]
    module = ByteCodeModule(CONSTS, code, "python", 1, invokes=("first", "second"), outputs=(OutputSlot("o", 0, "i32", True),))
    tensors: dict[str, np.ndarray] = {}
    assert VM(module).run(tensors=tensors)["o"] == 8
    assert {k: int(v) for k, v in tensors.items()} == {"first": 3, "second": 8}
    assert tensors["first"].dtype == np.int32


def test_a_vm_runs_again_and_leaves_its_inputs_alone() -> None:
    hint = "device_add_sig_ri_r_ins_2xf32_i32_outs_2xf32"
    code = [Op.aload_0, Op.iconst_1, Op.invokestatic, 0, Op.astore_1]
    module = ByteCodeModule(
        [hint], code, "python", 2, ("a",), (ArgumentSlot("x", "input", (2,), "float32"),), (OutputSlot("y", 1, "2xf32"),)
    )
    vm = VM(module)
    for value in (1, 5):
        x = np.full(2, value, np.float32)
        assert vm.run({"x": x})["y"].tolist() == [value + 1] * 2
        assert x.tolist() == [value] * 2
    with pytest.raises(ModelError, match='no input "x"'):
        vm.run({"y": x})
    with pytest.raises(ModelError, match=r'input "x" must be float32\[2\], found float64\[2\]'):
        vm.run({"x": x.astype(float)})


@pytest.mark.parametrize(
    ("shape", "element", "constant", "expected"),
    [
        ((2, 2), TypeCode.float32, 1.5, np.full((2, 2), 1.5, np.float32)),
        ((), TypeCode.int64, 3, np.int64(3)),
        ((3,), TypeCode.float64, [1, 2, 3], np.array([1.0, 2.0, 3.0])),
        ((2, 1), TypeCode.bool, np.array([True, False]), np.array([[True], [False]])),
        ((2,), TypeCode.float16, 0.1, np.full(2, 0.1, np.float16)),
    ],
)
def test_ldc_of_tensors(shape, element, constant, expected) -> None:
    code = [Op.ldc, TypeCode.tensor, len(shape), *shape, element, 0, Op.astore_0]
    found = VM(ByteCodeModule([constant], code, "python", 1, outputs=(OutputSlot("t", 0, "f32"),))).run()["t"]
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ([99], "bytecode offset 0: unknown opcode 99"),
        ([Op.iconst_1, Op.ldc, 1], "bytecode offset 1: .*ends within an instruction"),
        ([Op.istore_0], "bytecode offset 0: the operand stack is empty"),
        ([Op.iload_0], "slot 0 is read before it is written"),
        ([Op.iconst_1, Op.istore, 9], "bytecode offset 1: slot 9 of 2"),
        ([Op.ldc, 1, 77], "constant 77 of 6"),
        ([Op.ldc, 3, 0], "ldc of type code 3"),
        ([Op.ldc, 2, 1, 2, 99, 0], "elements of type code 99"),
        ([Op.invokestatic, 0], "constant 40, which is not a dispatch hint"),
        ([Op.iconst_1, Op.invokestatic, 2], "bytecode offset 1: the operand stack is empty"),
    ],
)
def test_code_that_is_not_well_formed_is_refused_with_its_offset(code, says) -> None:
    with pytest.raises(ModelError, match=says):
        VM(ByteCodeModule(CONSTS, code, "python", 2))


def test_an_output_that_nothing_writes_is_refused() -> None:
    with pytest.raises(ModelError, match='output "o" is in slot 1, which nothing writes'):
        VM(ByteCodeModule(CONSTS, [Op.iconst_1, Op.istore_0], "python", 2, outputs=(OutputSlot("o", 1, "i32", True),)))


def test_an_operator_that_fails_names_the_operation() -> None:
    hint = "device_gather_sig_rr_r_ins_2xf32_1xi64_outs_1xf32"
    arguments = (ArgumentSlot("x", "input", (2,), "float32"), ArgumentSlot("i", "input", (1,), "int64"))
    module = ByteCodeModule([hint], [Op.aload_0, Op.aload_1, 12, 0, Op.astore_2], "python", 3, ("picked",), arguments)
    with pytest.raises(ModelError, match="picked: fails on these values: index 5 is out of bounds"):
        VM(module).run({"x": np.zeros(2, np.float32), "i": np.array([5])})


def test_operators_are_a_table_that_can_be_extended() -> None:
    code = [Op.iconst_2, Op.invokestatic, 0, Op.istore_0]
    module = ByteCodeModule(
        ["device_my_op_sig_i_i_ins_i32_outs_i32_by_3"], code, "python", 1, outputs=(OutputSlot("o", 0, "i32", True),)
    )
    with pytest.raises(ModelError, match="no operator my_op"):
        VM(module)
    assert VM(module, operators={"my_op": lambda info: lambda v: v * info.attrs["by"]}).run()["o"] == 6
    assert {"add", "sub", "mul", "div", "gather", "transpose", "matmul", "mean", "var", "sqrt", "pow", "tanh", "max", "exp",
            "slice", "concat", "reshape", "reduce_sum", "reduce_max", "cast", "splat", "print"} <= set(OPERATORS)  # fmt: skip


def test_apply_evaluates_one_operation() -> None:
    from xdsl.dialects.builtin import f32
    from xdsl.ir import Block

    x, c = Block(arg_types=[tensor_type((2, 3), np.float32), f32]).args
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    for op, operands, expected in (
        (make("maximum", [x, c]), [a, np.array(2.5)], np.maximum(a, 2.5)),
        (make("reduce_sum", [x], axes=[1], keepdims=True), [a], a.sum(axis=1, keepdims=True)),
        (make("argmax", [x], axis=0), [a], a.argmax(axis=0)),
        (make("transpose", [x], permutation=[1, 0]), [a], a.T),
        (make("cast", [x], dtype=np.float16), [a], a.astype(np.float16)),
        (make("slice", [x], start=[0, 1], size=[2, 2]), [a], a[:, 1:]),
        (make("concat", [x, x], axis=1), [a, a], np.concatenate([a, a], 1)),
        (make("reshape", [x], shape=[6]), [a], a.reshape(6)),
    ):
        op.describe(id="one")
        found = apply(op, operands)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    bad = make("matmul", [x, make("transpose", [x], permutation=[1, 0]).results[0]])
    bad.describe(id="culprit")
    with pytest.raises(ModelError, match="culprit: matmul"):
        apply(bad, [a, a])


def test_a_weight_that_cannot_be_made_is_named() -> None:
    class Lazy(dict):
        def __getitem__(self, name):
            raise ValueError("high - low < 0")

    arguments = (ArgumentSlot("w", "weight", (2,), "float32"),)
    vm = VM(ByteCodeModule([], [], "python", 1, (), arguments, (OutputSlot("w", 0, "2xf32"),), Lazy(w=None)))
    with pytest.raises(ModelError, match='weight "w": cannot be made: high - low < 0'):
        vm.run()


def test_the_parsers_answer_is_what_the_vm_uses() -> None:
    info = DispatchHintParser("device_slice_sig_r_r_ins_16x2304xf32_outs_16x768xf32_start_0_768_size_16_768").parse()
    x = np.arange(16 * 2304, dtype=np.float32).reshape(16, 2304)
    np.testing.assert_array_equal(OPERATORS["slice"](info)(x), x[0:16, 768:1536])


def test_every_opcode_has_its_code() -> None:
    table = {"iconst_m1": 1, "iconst_0": 2, "iconst_5": 7, "fconst_0": 8, "fconst_2": 10, "ldc": 11, "invokestatic": 12}
    table |= {"iload": 13, "iload_0": 14, "iload_3": 17, "istore": 18, "istore_0": 19, "istore_3": 22}
    table |= {"fload": 23, "fload_0": 24, "fload_3": 27, "fstore": 28, "fstore_0": 29, "fstore_3": 32}
    table |= {"aload": 33, "aload_0": 34, "aload_3": 37, "astore": 38, "astore_0": 39, "astore_3": 42}
    assert {n: int(OpCode[n]) for n in table} == table
    table |= {"goto": 43, "if_true": 44, "if_false": 45}
    assert {n: int(OpCode[n]) for n in table} == table
    assert sorted(OpCode) == list(range(1, 46))
    assert [TypeCode[n] for n in ("scalar", "tensor", "string", "int32", "float32", "int64", "float64")] == [1, 2, 3, 4, 5, 6, 7]
