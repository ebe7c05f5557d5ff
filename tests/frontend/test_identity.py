"""Identity of operations (id, var, at), the sample of seed 001, and that a program does not depend on the folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from helpers_source import program_of

from fleet.frontend.source import load
from fleet.ir.dialect import op_id
from fleet.targets.bytecode import VM, ByteCodeConverter

SAMPLE = Path(__file__).parents[2] / "examples" / "add_sample.py"
X = np.ones((2, 4), np.float32)


def identities(program) -> list[tuple[str, str | None]]:
    return [(op_id(o), getattr(o.properties.get("var"), "data", None)) for o in program.operations()]


def test_ids_are_variables_or_numbered_operations(tmp_path) -> None:
    text = """import numpy as np

def act(v):
    h = v * 2
    return np.tanh(h) + 1

def forward(x: np.ndarray):
    h = act(x) + x
    h = act(h)
    k = h
    a, b = h + 1, 0.5
    return a * b + k, np.exp(a)
"""
    program = program_of(tmp_path, text, x=X)
    assert identities(program) == [
        *(("constant.0", None), ("act.h", None), ("tanh.0", None), ("constant.1", None), ("add.0", None), ("h", None)),
        *(
            ("act.h.1", None),
            ("tanh.1", None),
            ("h.1", "h"),
            ("a", "a"),
            ("b", "b"),
            ("mul.0", None),
            ("add.1", None),
            ("exp.0", None),
        ),
    ]
    assert program.outputs == ("out0", "out1")
    assert {str(o.properties["at"].data) for o in program.operations() if op_id(o) == "h.1"} == {"model.py:5:12"}


def test_a_variable_that_holds_another_operations_value_at_the_end_is_no_var(tmp_path) -> None:
    program = program_of(tmp_path, "def forward(x):\n    a = x + 1\n    h = a * 2\n    h = a\n    return h * a * (x * 3)\n", x=X)
    assert dict(identities(program)).get("a") == "a"
    assert "h" not in {v for _, v in identities(program)}


def test_the_same_source_is_the_same_program_anywhere(tmp_path) -> None:
    text = "def forward(x: 'f32[N, 4]'):\n    return x * 2\n"
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = (program_of(tmp_path / d, text, x=X) for d in "ab")
    assert first.hash == second.hash
    assert first.hash != program_of(tmp_path, text.replace("2\n", "2.5\n"), x=X).hash


def test_outputs_are_named_by_their_variables(tmp_path) -> None:
    program = program_of(tmp_path, "def forward(x):\n    y = x + 1\n    return y, x, y, 3, y * 2\n", x=X)
    assert program.outputs == ("y", "x", "out2", "out3", "out4")
    found = VM(ByteCodeConverter(program).convert()).run({"x": X})
    assert found["out3"] == 3
    assert found["out3"].dtype == np.int32
    assert (found["x"] == X).all()


def test_the_sample_of_seed_001_comes_out_exactly() -> None:
    module = ByteCodeConverter(load(str(SAMPLE), {}, {})).convert()
    assert repr(module) == (
        "ByteCodeModule(consts=[40, 'device_add_sig_ii_i_ins_i32_i32_outs_i32', 'python_print_sig_i_ins_i32'], "
        "code=[<OpCode.iconst_3: 5>, <OpCode.ldc: 11>, <TypeCode.scalar: 1>, 0, <OpCode.invokestatic: 12>, 1, "
        "<OpCode.istore_2: 21>, <OpCode.iload_2: 16>, <OpCode.invokestatic: 12>, 2], target='python', variable_size=3)"
    )
    assert [int(c) for c in module.code] == [5, 11, 1, 0, 12, 1, 21, 16, 12, 2]
    assert str(module).replace("\n", "") == repr(module).replace(", code", ",code").replace(", target", ",target").replace(
        ", variable_size", ",variable_size"
    )


def test_the_sample_prints_43(capsys) -> None:
    VM(ByteCodeConverter(load(str(SAMPLE), {}, {})).convert()).run()
    assert capsys.readouterr().out == "43\n"


def test_scripts_keep_python_numbers_apart_from_numpy_scalars(tmp_path) -> None:
    text = """import numpy as np
a = 2
b = a * 0.5
c = np.float32(3) * b
d = -a ** 2 - 2147483647

def f(v):
    return v + a

e = f(c)
print(e, d)
"""
    printed: list[tuple] = []
    program = program_of(tmp_path, text, None)
    VM(ByteCodeConverter(program).convert(), echo=lambda *v: printed.append(v)).run()
    assert [(float(v[0]), int(v[1])) for v in printed] == [(5.0, -2147483651)]
    assert isinstance(printed[0][0], np.float32)
    assert isinstance(printed[0][1], int)
