"""Coverage of a set that `fleet isa new` made: its hints hold, and some hundred steered streams meet nearly all bins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from workspaces import make_workspace

_MEASURE = """
import json, sys, tempfile
from pathlib import Path
from fleet.verify.coverage.bins import sample_calls, space_of
from fleet.verify.coverage.run import new_account
from fleet.verify.coverage.steer import Steering
from fleet.streams.case import StreamOutcome
from fleet.streams.images import Images
from fleet.streams.model_side import execute
from fleet.verify.conformance.suite import make_case
from fleet.verify.conformance.settings import settings
from fleet.isa.registry import find_device

instruction_set, device = find_device("mine_tiny")
space = space_of(instruction_set, device)
steering = Steering(space, new_account(space), 3, steer=True)
ways = settings("mine_tiny", 0, every=True)
with tempfile.TemporaryDirectory() as folder:
    images = Images(device, Path(folder) / "images")
    for number in range(int(sys.argv[1])):
        case = make_case(steering.choose(number))
        images.fill(case.blocks, case.parameters)
        commits = execute(instruction_set, device, images.memory, case.calls, steering.wrote)
        steering.met(case, [StreamOutcome(case, ways[number % len(ways)], commits, commits, True, ())])
    images.close()
outside = {}
for name, place in ((n, p) for n, places in space.places.items() for p in places if p.limit is not None):
    for call in sample_calls(space, name, 20):
        for value in {max(place.limit.low - 1, 0), place.limit.high + 1} - {place.limit.low}:
            now = call.fields[place.register.name] & ~place.field.mask
            fields = {**call.fields, place.register.name: now | value << place.field.low}
            legal = not instruction_set.instructions[name].legal(device, fields)
            outside.setdefault(f"{name}:{place.label}", []).append(legal)
met = steering.account.met
print(json.dumps({
    "open": len(space.open), "holes": [k for k in space.open if k not in met],
    "impossible": [k for k, why in space.bins.items() if why is not None and k in met],
    "unknown": sorted(steering.unknown), "outside": outside,
}))
"""


@pytest.mark.parametrize(
    ("kind", "streams", "bins", "limited"),
    [
        ("vector", 250, 60, {"vadd:vec_beats"}),
        (
            "systolic",
            150,
            300,
            {f"{n}_rows.row{s}" for n in ("mvin:mvin", "preload:preload", "compute:compute") for s in ("", "s")},
        ),
    ],
)
def test_a_new_set_says_what_cannot_be_met_and_meets_the_rest(
    kind: str, streams: int, bins: int, limited: set[str], tmp_path: Path
) -> None:
    made = make_workspace(tmp_path)
    made.new_set("mine", "--kind", kind)
    found = json.loads(made.python("-c", _MEASURE, str(streams)).splitlines()[-1])
    assert found["unknown"] == []
    assert found["impossible"] == []
    assert limited <= found["outside"].keys()
    assert not any(map(any, found["outside"].values()))  # what a limit calls impossible is refused
    assert found["open"] > bins
    assert len(found["holes"]) <= 0.05 * found["open"], found["holes"]
