from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.errors import ModelError
from fleet.targets.bytecode import DispatchHintParser, DispatchInfo
from fleet.targets.bytecode.hints import parse_type, print_hint

SEEDS = {
    "device_add_sig_ii_i_ins_i32_i32_outs_i32": DispatchInfo("device", "add", ["ii", "i"], ["i32", "i32"], ["i32"]),
    "python_print_sig_i_ins_i32": DispatchInfo("python", "print", ["i"], ["i32"]),
    "device_slice_sig_r_r_ins_16x2304xf32_outs_16x768xf32_start_0_768_size_16_768": DispatchInfo(
        "device", "slice", ["r", "r"], ["16x2304xf32"], ["16x768xf32"], {"start": [0, 768], "size": [16, 768]}
    ),
    "device_reduce_sum_sig_r_r_ins_16x768xf64_outs_16x1xf64_axis_-1_keep_dims_True": DispatchInfo(
        "device", "reduce_sum", ["r", "r"], ["16x768xf64"], ["16x1xf64"], {"axis": -1, "keep_dims": True}
    ),
}


@pytest.mark.parametrize("hint", SEEDS)
def test_hints_of_the_seeds(hint: str) -> None:
    assert DispatchHintParser(hint).parse() == SEEDS[hint]
    assert print_hint(SEEDS[hint]) == hint


types = st.builds(lambda dims, e: "x".join([*map(str, dims), e]), st.lists(st.integers(0, 50257), max_size=4),
                  st.sampled_from(["f64", "f32", "f16", "i64", "i32", "i1", "i8"]))  # fmt: skip
words = st.from_regex(r"[a-z]{1,6}(_[a-z]{1,6}){0,2}", fullmatch=True).filter(
    lambda w: not set(w.split("_")) & {"sig", "ins", "outs", "inf", "nan"}
)
values = st.one_of(st.integers(-(2**40), 2**40), st.floats(allow_nan=False), st.booleans())


@given(st.sampled_from(["device", "python"]), words, st.lists(types, min_size=1, max_size=3), st.lists(types, max_size=2),
       st.dictionaries(words, st.one_of(values, st.lists(values, min_size=2, max_size=4)), max_size=3))  # fmt: skip
def test_hints_come_back_equal(kind, name, ins, outs, attrs) -> None:
    sig = ["r" * len(ins)] + (["r" * len(outs)] if outs else [])
    info = DispatchInfo(kind, name, sig, ins, outs, attrs)
    assert DispatchHintParser(print_hint(info)).parse() == info


@pytest.mark.parametrize(
    "hint",
    [
        "", "add", "device_add", "device_sig_ii_ins_i32", "gpu_add_sig_i_ins_i32", "device_add_sig_ii_i_ins_i32_outs_i32",
        "device_add_sig_ii_i_ins_i32_i32", "device_add_sig_zz_ins_i32_i32", "device_add_sig_ii_i_ins_i32_q32_outs_i32",
        "device_add_sig_i_i_ins_i32_outs_i32_key", "device_add_sig_i_i_ins_i32_outs_i32_3", "device_add_sig_i_i_i_ins_i32_outs_i32",
    ],
)  # fmt: skip
def test_what_the_grammar_does_not_have_is_refused(hint: str) -> None:
    with pytest.raises(ModelError, match="is not a dispatch hint"):
        DispatchHintParser(hint).parse()


def test_types() -> None:
    assert parse_type("16x768xf32")[0] == (16, 768)
    assert parse_type("i1")[1].name == "bool"
    with pytest.raises(ModelError, match="is not a type"):
        parse_type("16xq8")
