"""The picture of a graph: what is drawn once, where boxes stand, what stands in them."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from graph_models import block, block_weights
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.core.records.graph_row import GraphRow
from fleet.dlavm import adr, ne, transform
from fleet.ir.accel.rows import graph_rows
from fleet.report.pictures.graph_layout import lay_out
from fleet.report.pictures.graph_picture import MOST_BOXES, Repeat, graph_picture, repeats

T = ne.Var("token", max_data=64)


def rows_of(kinds: str) -> list[GraphRow]:
    """A chain of calls, one a letter."""
    args = [(), *((f"%{i}",) for i in range(len(kinds)))]
    return [GraphRow(f"%{i}", "call", letter, "", "", "runtime", args=args[i]) for i, letter in enumerate(kinds)]


def words(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return [e.text or "" for e in root.iter("{http://www.w3.org/2000/svg}text")]


def test_rows_are_plain_data_with_all_that_a_box_shows() -> None:
    w = block_weights(np.random.default_rng(0))
    rows = graph_rows(transform.infer_type(block(w), "hbm_small", {"last_token": ne.Var("last_token", max_data=64)}))
    assert rows[0] == GraphRow("x", "input", "input", "x", "(1, token, 128)", "runtime")
    cache = next(r for r in rows if r.op == "dat_hbm")
    assert (cache.block, cache.shape, cache.args) == ("hbm_cache", "(2, token + last_token, 32)", ("%6",))
    assert next(r for r in rows if r.id == "%4").weights == ("wk (128, 64) int4",)
    assert [r.args for r in rows if r.kind == "result"] == [("%25",), ("%26",)]
    assert graph_rows(block(w))[1].shape == ""


def test_every_call_is_in_the_picture() -> None:
    w = block_weights(np.random.default_rng(0))
    rows = graph_rows(transform.infer_type(block(w), "hbm_small", {"last_token": ne.Var("last_token", max_data=64)}))
    text = words(graph_picture(rows))
    for row in rows:
        assert row.shape in text
        assert any(t.startswith(row.id if row.kind != "result" else "result") for t in text)
    assert "wk (128, 64) int4" in text


@pytest.mark.parametrize(
    ("kinds", "found"),
    [
        ("abcabcabcd", [Repeat(0, 3, 3)]),
        ("xabababy", [Repeat(1, 2, 3)]),
        ("abcd", []),
        ("aaaa", [Repeat(0, 1, 4)]),
        ("xyxyxyxyzababab", [Repeat(0, 2, 4), Repeat(9, 2, 3)]),
        ("", []),
    ],
)
def test_blocks_that_repeat(kinds: str, found: list[Repeat]) -> None:
    assert repeats(rows_of(kinds)) == found


def test_a_repeated_block_is_drawn_once_and_what_follows_hangs_on_it() -> None:
    svg = graph_picture(rows_of("abcabcabcd"))
    text = words(svg)
    assert [t for t in text if t.startswith("%")] == ["%0 a", "%1 b", "%2 c", "%9 d"]
    assert "3 times" in text
    assert svg.count("marker-end") == 3


def test_ten_thousand_calls() -> None:
    x = adr.hbm.var_ddr("x", (1, T, 32))
    y = x
    for _ in range(10_000):
        y = adr.hbm.add(y, x)
    text = words(graph_picture(graph_rows(y)))
    assert "10000 times" in text
    assert len(text) < 20
    different = words(graph_picture([replace(r, op=str(i)) for i, r in enumerate(rows_of("a" * (MOST_BOXES + 7)))]))
    assert "7 further calls are left out" in different


def test_names_are_text() -> None:
    svg = graph_picture([replace(rows_of("a")[0], name="<script>&", weights=('"w"',))])
    assert "<script>" not in svg
    assert "“<script>&”" in words(svg)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 30))
def test_boxes_do_not_meet_and_edges_go_down(seed: int) -> None:
    rng = np.random.default_rng(seed)
    names = [str(i) for i in range(int(rng.integers(1, 30)))]
    args = {n: [str(a) for a in set(rng.integers(0, i, rng.integers(0, 4)).tolist())] if i else [] for i, n in enumerate(names)}
    sizes = {n: (float(rng.integers(20, 200)), float(rng.integers(10, 60))) for n in names}
    layout = lay_out(sizes, args)
    boxes = [(x - w / 2, y, x + w / 2, y + h) for n in names for (x, y), (w, h) in [(layout.boxes[n], sizes[n])]]
    for i, a in enumerate(boxes):
        assert a[0] >= -1e-6
        assert a[2] <= layout.width + 1e-6
        assert a[3] <= layout.height + 1e-6
        for b in boxes[:i]:
            assert a[2] <= b[0] + 1e-6 or b[2] <= a[0] + 1e-6 or a[3] <= b[1] + 1e-6 or b[3] <= a[1] + 1e-6
    for n in names:
        for a in args[n]:
            heights = [
                layout.boxes[a][1] + sizes[a][1],
                *(y for _, top, bottom in layout.paths[a, n] for y in (top, bottom)),
                layout.boxes[n][1],
            ]
            assert heights == sorted(heights)


def test_no_request_leaves_the_picture() -> None:
    svg = graph_picture(rows_of("ab"))
    assert re.findall(r"https?://[^\"]*", svg) == ["http://www.w3.org/2000/svg"]
