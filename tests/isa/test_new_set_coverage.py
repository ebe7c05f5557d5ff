"""Coverage of a set that `fleet isa new` made: its hints hold, and some hundred steered streams meet nearly all bins."""

from __future__ import annotations

import json
from pathlib import Path

from workspaces import make_workspace

_MEASURE = """
import json, tempfile
from pathlib import Path
from fleet.cosim.coverage.bins import sample_calls, space_of
from fleet.cosim.coverage.run import new_account
from fleet.cosim.coverage.steer import Steering
from fleet.cosim.streams.case import StreamOutcome
from fleet.cosim.streams.images import Images
from fleet.cosim.streams.model_side import execute
from fleet.cosim.streams.suite import make_case, settings
from fleet.isa.registry import find_device

instruction_set, device = find_device("mine_tiny")
space = space_of(instruction_set, device)
steering = Steering(space, new_account(space), 3, steer=True)
ways = settings("mine_tiny", 0, every=True)
with tempfile.TemporaryDirectory() as folder:
    images = Images(device, Path(folder) / "images")
    for number in range(250):
        case = make_case(steering.choose(number))
        images.fill(case.blocks, case.parameters)
        commits = execute(instruction_set, device, images.memory, case.calls, steering.wrote)
        steering.met(case, [StreamOutcome(case, ways[number % len(ways)], commits, commits, True, ())])
    images.close()
outside = []
for place in space.places["vadd"]:
    for call in sample_calls(space, "vadd", 20) if place.limit is not None else ():
        for value in (place.limit.low - 1, place.limit.high + 1):
            fields = {**call.fields, place.register.name: value}
            outside.append(bool(instruction_set.instructions["vadd"].legal(device, fields)))
holes = [k for k in space.open if k not in steering.account.met]
print(json.dumps({"open": len(space.open), "holes": holes, "unknown": sorted(steering.unknown), "outside": outside}))
"""


def test_a_new_set_says_what_cannot_be_met_and_meets_the_rest(tmp_path: Path) -> None:
    made = make_workspace(tmp_path)
    made.fleet("isa", "new", "mine")
    made.install(made.folder / "sets" / "mine")
    found = json.loads(made.python("-c", _MEASURE).splitlines()[-1])
    assert found["unknown"] == []
    assert len(found["outside"]) == 40
    assert all(found["outside"])  # what a limit calls impossible is refused
    assert found["open"] > 60
    assert len(found["holes"]) <= 0.05 * found["open"], found["holes"]
