"""rtl against iss on instruction streams: all directed cases, random and illegal ones, programs, on all memories and ways of issue.

The quick part runs every directed case on ideal memory and on one other model in turn, `--nightly` everything on everything. A
failing stream is stored (reports/conformance/streams) with the two commands that explain it and play it again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

import fleet.sets
from fleet.report.run.why import find_failure, page
from fleet.streams.bundle import save_bundle
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.coverage import ConformanceCoverage
from fleet.verify.conformance.drawn import run_drawn
from fleet.verify.conformance.settings import settings
from fleet.verify.conformance.suite import names, suite_devices

CHUNK = 20
SHIPPED = Path(fleet.sets.__file__).parent


def _chunks(device: str, nightly: bool) -> list[list[str]]:
    scale = 2 if nightly else 1
    found = names(device, random=range(15 * scale), illegal=range(12 * scale), programs=range(40 * scale))
    by_kind: dict[str, list[str]] = {}
    for name in found:
        by_kind.setdefault(name.rpartition("/")[0], []).append(name)
    chunks: list[list[str]] = []
    for group in by_kind.values():
        rest = iter(group)
        while chunk := list(islice(rest, CHUNK)):
            chunks.append(chunk)
    return chunks


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "chunk" in metafunc.fixturenames:
        nightly = bool(metafunc.config.getoption("--nightly"))
        chunks = [c for device in suite_devices(all_devices=nightly) for c in _chunks(device, nightly)]
        metafunc.parametrize("chunk", chunks, ids=[f"{c[0]}+{len(c) - 1}" for c in chunks])


def test_every_commit_and_every_byte(
    chunk: list[str],
    runners: Callable[[str], StreamRunner],
    account: ConformanceCoverage,
    report_folder: Path,
    request: pytest.FixtureRequest,
) -> None:
    nightly = bool(request.config.getoption("--nightly"))
    failures: list[str] = []
    left_out: list[str] = []
    device = chunk[0].split("/")[0]
    runner = runners(device)
    for name in chunk:
        before = time.monotonic()
        number = int(name.rpartition("/")[2])
        drawn = run_drawn(runner, name, settings(device, number, every=nightly))
        left_out += [drawn.left_out] if drawn.left_out else []
        failures += [drawn.failure] if drawn.failure else []
        if drawn.case is not None:
            account.add(drawn.case, drawn.outcomes, time.monotonic() - before)
        failures += [
            _explained(save_bundle(o, report_folder / "streams", power_on=runner.power_on)) for o in drawn.outcomes if not o.passed
        ]
    # Every case fits into the devices that fleet ships; those of other sets may be too small for some.
    assert not (left_out and runner.set.description.is_relative_to(SHIPPED)), "\n".join(left_out[:5])
    if left_out and len(left_out) == len(chunk):
        pytest.skip(left_out[0])
    assert not failures, f"{len(failures)} runs differ\n\n" + "\n\n".join(failures[:5])


def _explained(path: Path) -> str:
    return page(find_failure(str(path), path.parent))
