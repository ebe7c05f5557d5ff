"""Headers in styles that the classifier was not made for, annotated before it had seen them (`annotated`)."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyslang")

from annotated import judged
from test_classify import UNSEEN

from fleet.adopt.classify import classify
from fleet.adopt.filelist import read_sources
from fleet.adopt.protocols import PROTOCOLS
from fleet.adopt.top import read_top

HEADERS = sorted(
    p for folder in ("unseen", "later", "blind", "public", "accelerators") for p in Path(__file__).with_name(folder).glob("*.*v")
)


def test_95_per_cent_of_the_ports_are_mapped_as_a_person_maps_them_and_none_wrongly_in_silence() -> None:
    found = {path.stem: list(judged(path)) for path in HEADERS}
    ports = [j for leaves in found.values() for j in leaves if j.counts]
    assert len(ports) > 800
    assert sum(j.right for j in ports) >= 0.95 * len(ports), [(j.path, j.expected, j.found) for j in ports if not j.right]
    assert not [(name, j) for name, leaves in found.items() for j in leaves if j.wrong_in_silence]


def test_protocols_that_only_these_headers_have_are_known() -> None:
    assert set(PROTOCOLS) >= UNSEEN
    met = {j.found.partition(" ")[0] for path in HEADERS for j in judged(path)}
    assert met >= UNSEEN


def test_a_prefix_that_says_who_drives_is_one_port_whichever_way_it_goes() -> None:
    top = read_top(read_sources([Path(__file__).with_name("blind") / "shell_cl.sv"]), "shell_cl")
    groups = {g.name: (g.protocol, g.role, len(list(g.paths()))) for g in classify(top).groups}
    assert groups["ocl_sh"] == ("axi4_lite", "subordinate", 17)
    assert groups["cl_sh_ddr"] == ("axi4", "manager", 30)


def test_a_read_that_is_no_write_is_one_upside_down() -> None:
    top = read_top(read_sources([Path(__file__).with_name("blind") / "nice_unit.v"]), "nice_unit")
    group = next(g for g in classify(top).groups if g.protocol == "split_memory")
    assert group.low == ("req_write",)
