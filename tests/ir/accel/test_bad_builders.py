"""What no graph can be made of: one line that names the argument, never an error of Python's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fleet.dlavm import adr, device, ne, transform
from fleet.errors import FleetError
from fleet.ir.accel.dialect import operators
from fleet.ir.accel.nodes import OperatorCall

hbm = adr.hbm


def given(name: str = "x", heads: int = 1, channels: Any = 64) -> Any:
    return hbm.var_ddr(name, (heads, ne.Var("token", max_data=8), channels))


def typed(node: Any, attrs: Any = None, on: Any = "hbm_small") -> Any:
    return transform.infer_type(node, on, attrs=attrs)


def registered(name: str, found: Callable[..., Any]) -> Any:
    adr.Op.Register(name, found)
    return adr.Call(name, [given()])


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Operators that a test registers are gone behind it."""
    monkeypatch.setattr(OperatorCall, "OPERATORS", operators())


@pytest.mark.parametrize(
    ("made", "error"),
    [
        (lambda: typed(None), "graph: None, expected a node of a graph"),
        (lambda: typed("x"), "graph: 'x', expected a node of a graph"),
        (lambda: typed([given()]), r"graph: \[.*\], expected a node of a graph"),
        (lambda: typed(given(), on=None), "no device 'None'; known devices: "),
        (lambda: typed(given(), on=3), "no device '3'; known devices: "),
        (lambda: typed(given(), attrs=[1]), r"attrs is \[1\], expected a dict"),
        (lambda: hbm.var_ddr("a", 64), "a: shape 64, expected a tuple or a list of sizes"),
        (lambda: hbm.var_ddr("a", None), "a: shape None, expected a tuple or a list of sizes"),
        (lambda: hbm.var_ddr("a", "123"), "a: shape '123', expected a tuple or a list of sizes"),
        (lambda: hbm.const_hbm("a", None, 5), "a: shape 5, expected a tuple or a list of sizes"),
        (lambda: hbm.var_ddr(7, (1, 2, 64)), "7 is not a name of an input or a constant"),
        (lambda: hbm.var_ddr("x", (1, 2, 64), device="hbm"), "device is 'hbm', expected an accelerator"),
        (lambda: adr.split(given(), 2, None), "new_chs None, expected a tuple or a list of sizes"),
        (lambda: adr.reshape(given(), None), "new_shape None, expected a tuple or a list of sizes"),
        (lambda: adr.realloc(given(), 5), "new_shape 5, expected a tuple or a list of sizes"),
        (lambda: typed(adr.realloc(given(), (1, -8, 64))), "new shape .1, -8, 64.: a size is -8"),
        (lambda: typed(adr.realloc(given(), (8, 64))), "new shape .8, 64., expected .heads, tokens, channels."),
        (lambda: typed(adr.realloc(given(), (1, "a", 64))), "'a' is neither an integer nor an expression"),
        (lambda: typed(adr.split(given(), [2], (32, 32))), r"axis is \(2,\), expected 0"),
        (lambda: adr.split(given(), 2, (32, 32))["a"], "result 'a' of a node, expected a number"),
        (lambda: adr.concat(given()), "arguments of accel.concat are .*, expected a list of nodes"),
        (lambda: adr.tuple([None]), "field 0 of a tuple is None, expected a node of a graph"),
        (lambda: adr.tuple(given()), "fields of a tuple are .*, expected a list of nodes"),
        (lambda: adr.Call("accel.hbm.mvm", [given(), None]), "argument 1 of accel.hbm.mvm is None, expected a node of a graph"),
        (lambda: adr.Call(5, [given()]), "operator 5"),
        (lambda: adr.Call("accel.hbm.mvn", [given()]), "no operator accel.hbm.mvn; did you mean accel.hbm.mvm"),
        (lambda: adr.Call("accel.hbm.mvm", [given()]), r"accel.hbm.mvm takes 2 \(data, weight\), 1 given"),
        (lambda: hbm.add(given(), given(), scale=object()), "attribute scale is <object .*>, expected a number"),
        (lambda: typed(adr.Call("accel.reshape", [given()])), "%0 = accel.reshape.x.: attribute new_shape is missing"),
        (lambda: typed(adr.Call("accel.split", [given()], {"axis": 2})), "%0 = accel.split.x.: attribute new_chs is missing"),
        (lambda: typed(hbm.dat_hbm(given(), "x", 0)), "trp is 'x', expected 1 .keys. or 0 .values."),
        (lambda: typed(hbm.trp_mvm(given("q"), hbm.dat_hbm(given(), 1, 0), scale="x")), "attribute scale is 'x', expected"),
        (lambda: typed(hbm.trp_mvm(given("q"), hbm.dat_hbm(given(), 1, 0), scale=float("nan"))), "attribute scale is nan"),
        (lambda: typed(hbm.rms_norm(given(), hbm.const_ddr("n", None, (64,)), eps="x")), "attribute eps is 'x', expected a number"),
        (lambda: typed(hbm.rms_norm(given(), hbm.const_ddr("n", None, (64,)), eps=-1)), "attribute eps is -1, expected .* 0"),
        (lambda: typed(hbm.rms_norm(given(), hbm.const_ddr("n", None, (64,)), eps=float("nan"))), "attribute eps is nan"),
        (lambda: typed(registered("my.none", lambda types, attrs: (True, None))), "%0 = my.none.x.: its relation gives None"),
        (lambda: typed(registered("my.raises", lambda types, attrs: 1 // 0)), "%0 = my.raises.x.: its relation fails .*ZeroDiv"),
        (lambda: device.hbm_accel.HBM092, "no device 'hbm092'; known devices: "),
        (lambda: ne.Var(5), "5 is not the name of a variable"),
        (lambda: ne.Var("lambda", 4), "'lambda' is not the name of a variable"),
        (lambda: ne.Var("None", 4), "'None' is not the name of a variable"),
        (lambda: ne.Var("x", max_data="5"), "variable x: max_data '5' and min_data 0, expected integers"),
        (lambda: ne.Var("x", max_data=2.5), "variable x: max_data 2.5 and min_data 0, expected integers"),
    ],
)  # fmt: skip
def test_bad_builders(made: Callable[[], Any], error: str) -> None:
    with pytest.raises(FleetError, match=error) as found:
        made()
    assert "\n" not in str(found.value)


def test_a_missing_device_is_a_missing_attribute_too() -> None:
    assert not hasattr(device.hbm_accel, "HBM092")
