"""The address map: read from the stored form, drawn a memory at a time; untrusted names and wrong files."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from fleet.core.records.address_map import AddressMap
from fleet.errors import ModelError
from fleet.report.pictures.address_map import draw
from fleet.sdk.tasks import Space
from fleet.targets.accel.memory.storage import Planner
from fleet.targets.accel.settings import DEFAULT_BLOCKS, BuildConfig
from fleet.targets.liveness import FOREVER


def stored() -> dict[str, Any]:
    p = Planner(DEFAULT_BLOCKS, BuildConfig(), {"ddr": Space(1 << 20, 64), "hbm": Space(1 << 20, 64)}, "a device")
    p.place("k", "hbm_cache", "hbm", 2048, 1, 1)
    p.place("a", "runtime", "ddr", 1024, 0, 1)
    p.place("b", "runtime", "ddr", 2048, 1, FOREVER)
    p.place("c <&>", "runtime", "ddr", 512, 2, FOREVER)
    p.settle()
    p.take("w", "weight", "ddr", 4096)
    return json.loads(json.dumps(p.finish(3).address_map().to_json()))


def test_stored_form_is_read() -> None:
    found = AddressMap.of(stored())
    assert found.steps == 3
    assert found.spaces == ("ddr", "hbm")
    by_key = {p.key: p for p in found.pieces}
    assert (by_key["a"].address, by_key["a"].size, by_key["a"].first, by_key["a"].last) == (6144, 1024, 0, 1)
    assert (by_key["c <&>"].address, by_key["c <&>"].first, by_key["c <&>"].last) == (6144, 2, 3)
    assert (by_key["k"].space, by_key["k"].first) == ("hbm", -1)


def test_every_piece_is_a_rectangle_of_its_block() -> None:
    found = AddressMap.of(stored())
    svg = draw(found, "ddr", "ddr-map")
    ET.fromstring(svg)
    text = re.sub(r"<[^>]*>", " ", svg)
    for word in ("weight", "runtime", "address in ddr", "step"):
        assert word in text
    assert "runtime: 3,072 bytes from 0x1000, at most 3,072 alive" in svg
    assert "hbm_cache" not in svg
    assert "<title>a: 1,024 bytes at 0x1800</title>" in svg
    assert "<title>c &lt;&amp;&gt;: 512 bytes at " in svg
    assert svg == draw(found, "ddr", "ddr-map")


def test_a_memory_that_holds_nothing() -> None:
    with pytest.raises(ModelError, match="nothing stands in 'onchip'; there are ddr, hbm"):
        draw(AddressMap.of(stored()), "onchip")


@pytest.mark.parametrize("wrong", [{}, {"steps": 1}, {"steps": "many", "tenants": []}, {"steps": 1, "tenants": [{"key": "a"}]}])
def test_what_is_no_stored_form(wrong: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match=r"^address map: stored form.*expected"):
        AddressMap.of(wrong)
