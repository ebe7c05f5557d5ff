"""The pictures: drawn from plain numbers, named safely, with what they must show in them."""

from __future__ import annotations

import math
import re
import struct
import zlib

import numpy as np
import pytest
from html_check import Page

from fleet.report.frame.text import percent
from fleet.report.pictures import images
from fleet.report.pictures.accuracy_pictures import sqnr_by_depth, ulp_distribution
from fleet.report.pictures.performance_pictures import RooflinePoint, bars, port_balance, roofline, stacked_bars
from fleet.report.pictures.style import label, thousands
from fleet.report.run.accuracy import histogram, selected, sqnr, thinned

BAD = '<script>alert(1)</script>"&$x^{$ url(#a)'


def pictures() -> dict[str, str]:
    return {
        "sqnr": sqnr_by_depth([BAD, "b", "c"], {BAD: [10.0, math.inf, None], "b": [math.nan, -math.inf, 3.0]}),
        "exact": sqnr_by_depth(["a"], {"x": [math.inf]}),
        "nothing": sqnr_by_depth([], {}),
        "ulp": ulp_distribution([0, 1, 2, math.inf], {BAD: [5, 0, 100000, 1]}, 1.5),
        "ulp-no-bound": ulp_distribution([0, 1], {"x": [0, 0]}, None),
        "stack": stacked_bars([BAD, "b"], {BAD: [1.0, 0.0], "y": [0.0, 0.0]}, "cycles", "stack", BAD),
        "bars": bars([BAD], [0.0], "n", "bars", BAD),
        "ports": port_balance([0.0, 0.0]),
        "roofline": roofline([RooflinePoint(1, 10, 5, {"HBM": 3}), RooflinePoint(2, 0, 0, {})], 512, {"HBM": 256, "DDR": 64}),
        "no-points": roofline([], 512, {"HBM": 256}),
    }


def test_pictures_are_well_formed_and_carry_nothing_foreign() -> None:
    for name, svg in pictures().items():
        parsed = Page(svg)
        assert parsed.problems == [], name
        assert [tag for tag, _ in parsed.tags].count("svg") == 1
        assert not {tag for tag, _ in parsed.tags} & {"script", "style", "metadata", "image"}, name
        assert "http" not in svg, name
        ids = set(parsed.ids())
        assert set(re.findall(r'href="#([^"]*)"', svg)) <= ids, name


def test_the_bound_stands_in_its_bucket() -> None:
    def position(bound: float) -> float:
        svg = ulp_distribution([0, 1, 2, 4, 8], {"x": [1, 1, 1, 1, 1]}, bound)
        dashed = list(re.finditer(r'd="M([\d.]+) ([\d.]+)L\1 [\d.]+"[^>]*stroke-dasharray[^>]*#d55e00', svg))
        assert dashed, svg
        return float(dashed[0].group(1))

    places = [position(b) for b in (1.5, 2.0, 3.0, 4.0, 8.0)]
    assert places == sorted(places)
    assert len(set(places)) == len(places)


def test_roofline_points_stand_with_the_memory_that_limits_them() -> None:
    point = RooflinePoint(7, 1000, 100, {"HBM": 2560, "DDR": 64})  # 10 cycles of HBM, 1 of DDR
    svg = roofline([point], 512, {"HBM": 256, "DDR": 64})
    assert ">7</text>" in svg
    assert "1 operations" in svg


def test_many_operations_keep_their_names_apart() -> None:
    names = [f"operation.{i}" for i in range(500)]
    svg = sqnr_by_depth(names, {"x": [float(i % 50) for i in range(500)]})
    assert svg.count("operation.") <= 32
    assert len(label("x" * 100)) == 26
    assert "\n" not in label("a\nb")


def test_axis_numbers() -> None:
    assert [thousands(v) for v in (0, 7, 1234, 4589.7, 12_500, 999_999, 1.5e6, 2e9)] == [
        "0", "7", "1,234", "4,590", "12.5 k", "1 M", "1.5 M", "2 G",
    ]  # fmt: skip


def test_all_means_all() -> None:
    assert percent(1.0) == "100.00 %"
    assert percent(0.99999) == "> 99.99 %"
    assert percent(None) == "–"


def test_png_is_readable_and_dark_ink_on_white() -> None:
    row = np.arange(16, dtype=np.float32)
    uri = images.row_image(row, (4, 4))
    import base64

    png = base64.b64decode(uri.split(",", 1)[1])
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    assert (width, height) == (4, 4)
    at = png.index(b"IDAT")
    (size,) = struct.unpack(">I", png[at - 4 : at])
    lines = zlib.decompress(png[at + 4 : at + 4 + size])
    pixels = np.frombuffer(lines, np.uint8).reshape(4, 5)[:, 1:]
    assert pixels[0, 0] == 255
    assert pixels[3, 3] == 0
    assert np.all(np.diff(pixels.ravel().astype(int)) < 0)


def test_png_of_nothing_but_nan() -> None:
    assert images.row_image(np.full(16, np.nan), (4, 4)).startswith("data:image/png")


@pytest.mark.parametrize(
    ("row", "stated", "expected"),
    [
        ((64,), None, (8, 8)),
        ((64,), (4, 16), (4, 16)),
        ((28, 28), None, (28, 28)),
        ((1, 28, 20), None, (28, 20)),
        ((50,), None, None),
        ((64,), (3, 3), (8, 8)),
        ((4,), None, None),
        ((512 * 512,), None, None),
    ],
)
def test_what_counts_as_a_picture(row: tuple[int, ...], stated: tuple[int, ...] | None, expected: tuple[int, int] | None) -> None:
    assert images.image_shape(row, stated) == expected


def test_failing_operations_survive_the_cut() -> None:
    from dataclasses import replace

    import synthetic_results as synthetic

    comparison = synthetic.large(300).comparison("iss-vs-vm-rounded")
    assert comparison is not None
    rows = list(comparison.operations)
    rows[5] = replace(rows[5], verdict="fail")
    kept = selected(rows, 10)
    assert len(kept) == 10
    assert rows[5] in kept
    assert [r.index for r in kept] == sorted(r.index for r in kept)


def test_indices_have_no_noise_ratio() -> None:
    import synthetic_results as synthetic

    comparison = synthetic.passing().comparison("iss-vs-vm-rounded")
    assert comparison is not None
    by_op = {row.op: row for row in comparison.operations}
    assert sqnr(by_op["argmax.9"]) is None
    assert sqnr(by_op["h1"]) == by_op["h1"].cumulative.sqnr_db
    assert sqnr(by_op["h1"], "local") == math.inf
    assert sqnr(None) is None


def test_thinned_keeps_both_ends() -> None:
    assert thinned(range(1000), 7)[0] == 0
    assert thinned(range(1000), 7)[-1] == 999
    assert len(thinned(range(1000), 7)) == 7
    assert thinned(range(3), 7) == (0, 1, 2)


def test_histogram_reaches_to_the_bound_and_loses_no_count() -> None:
    import synthetic_results as synthetic

    stats = synthetic.errors(np.random.default_rng(0), 500, 1e-3, 50.0)
    edges, counts = histogram(stats, reach=3000.0)
    assert sum(counts) == sum(stats.ulp_counts)
    assert edges[-1] >= 3000
    assert len(edges) == len(counts)
