"""Cases: a TOML file that says what to run, expanded into single runs. Paths are relative to the case's own file.

    name = "digits"                              # unique among the cases
    model = "../../examples/digits/model.py:forward"
    weights = "../../examples/digits/weights.npz"
    input = "../../examples/digits/test.npz"     # without it: seeded random data, and labels are refused
    labels = "../../examples/digits/labels.npz"
    metric = "accuracy"
    image = [8, 8]                               # height and width, where an input row is a picture (reports show it)
    make = "python examples/digits/train.py"     # how to make files that are not in the repository (shown, never run)
    golden = true                                # whether a stored golden is demanded (default true)
    engines = ["vm", "iss", "rtl"]               # the keys from here on are defaults for all runs
    devices = ["hbm_small"]
    memories = ["ideal"]                         # ideal, fixed, stall, timed
    issues = ["regs"]                            # regs: register writes; aux: a binary that the hardware fetches
    loads = ["host"]                             # who fills the HBM: host, or device (the stream's own instructions)
    builds = ["checked"]                         # of the simulation: checked, fast; by default what FLEET_RTL_BUILD says
    seeds = [0]
    samples = 32                                 # only the first rows of the batch
    tier = "quick"                               # quick or nightly
    owner = "ada"                                # who is named beside a failure
    tags = ["gemm"]                              # select runs by them (`fleet case list --tag`)
    timeout = 600                                # seconds; a run that takes longer is stopped and fails
    known_failure = { owner = "ada", reason = "the divider is not built yet", expires = 2026-12-31 }

    [[runs]]                                     # each table: one matrix of the lists above; may override the defaults
    memories = ["fixed", "stall"]
    tier = "nightly"

A run's id is `<device>-<memory>-<seed>` (`host` for runs without an accelerator engine), with `-aux` for issue aux, `-device` for
load device, `-<samples>` where runs of a case would otherwise share an id, and `-fast` for that build, which is held to the norms
of the same run without it. Nothing in a case is executed: models are parsed, arrays are read, `make` is only shown.

A known failure does not fail the session until the day after it expires, at most a year ahead. If it passes, the session fails, so
that the entry is removed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TypeGuard

from fleet.compare.tasks import METRICS
from fleet.core.exemption import Exemption, read_exemption
from fleet.core.files import write_atomically
from fleet.core.toml_file import TomlTable, TomlValue, is_list, parse_toml, toml_value
from fleet.core.toml_places import place
from fleet.cosim.run_request import RunRequest
from fleet.errors import ModelError
from fleet.ir.lowering_options import LoweringOptions

MEMORIES: tuple[str, ...] = ("ideal", "fixed", "stall", "timed")
TIERS: tuple[str, ...] = ("quick", "nightly")

_WAYS = {"issue": ("regs", "aux"), "load": ("host", "device")}
"""The compile's options that a case may choose, the default first (`fleet.targets.accel.compile`)."""

_BUILDS = ("checked", "fast")
_UNSAID = ("regs", "host", "checked", "")
"""Ways that an id does not state."""
_ONE = {"memories": "memory", "issues": "issue", "loads": "load", "builds": "build"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_MATRIX = (
    "engines", "devices", "memories", "issues", "loads", "builds", "seeds", "samples", "tier", "owner", "tags", "timeout",
    "known_failure",
)  # fmt: skip
_TOP = ("name", "model", "weights", "input", "labels", "metric", "image", "make", "golden", "runs", *_MATRIX)


@dataclass(frozen=True)
class Custody:
    """Owner, tags, time limit (seconds) and known failure of runs. No figure depends on them."""

    owner: str = ""
    tags: tuple[str, ...] = ()
    timeout: float | None = None
    known_failure: Exemption | None = None


@dataclass(frozen=True)
class CaseRun:
    """One co-simulation of a case. id: unique in the case. device: None if no engine needs one.

    build: as `RunOptions.rtl_build`.
    """

    case: Case
    id: str
    engines: tuple[str, ...]
    device: str | None
    memory: str
    seed: int
    samples: int | None
    tier: str
    issue: str = "regs"
    load: str = "host"
    build: str = ""
    places: Mapping[str, str] = field(default_factory=dict[str, str], compare=False, repr=False)
    """Name in the file (engine, device) -> file:line."""
    custody: Custody = Custody()

    def at(self, option: str, name: str) -> str:
        """Return the file:line of a request of the run.

        option: the command-line option that requests the same. name: an engine or a device.
        """
        return self.places.get(name) or self.case.places.get(option.removeprefix("--")) or f"{self.case.path}:1"

    @property
    def lowering(self) -> LoweringOptions:
        """The options of the accelerator's compile."""
        return LoweringOptions.of({"issue": self.issue, "load": self.load}, self.name)

    @property
    def name(self) -> str:
        """The run's name, for example "digits[hbm_small-ideal-0]"."""
        return f"{self.case.name}[{self.id}]"

    @property
    def norms_id(self) -> str:
        """Return the id that its norms have: no bit and no cycle depends on the build."""
        return self.id.removesuffix(f"-{self.build}")

    @property
    def group(self) -> str:
        """The name without the seed, which runs share that differ in nothing else."""
        ways = "".join(f"-{way}" for way in (self.issue, self.load, self.build) if way not in _UNSAID)
        rows = f"-{self.samples}" if self.samples else ""
        return f"{self.case.name}[{f'{self.device}-{self.memory}' if self.device else 'host'}{ways}{rows}]"

    def request(self, relative_to: Path | None = None) -> RunRequest:
        """Return the command that repeats this run. relative_to: paths below this folder are shown from there."""
        path = self.case.path
        if relative_to is not None and path.is_relative_to(relative_to):
            path = path.relative_to(relative_to)
        return RunRequest("fleet", ("case", "run", str(path), "--only", self.id))

    def replay(self, relative_to: Path | None = None) -> str:
        """Return the command that repeats this run, as one line."""
        return str(self.request(relative_to))


@dataclass(frozen=True)
class RunMatrix:
    """One table of runs: each device with each memory, in each way, with each seed. places: see `CaseRun`."""

    engines: tuple[str, ...]
    devices: tuple[str, ...]
    memories: tuple[str, ...]
    issues: tuple[str, ...]
    loads: tuple[str, ...]
    builds: tuple[str, ...]
    seeds: tuple[int, ...]
    samples: int | None
    tier: str
    places: Mapping[str, str] = field(compare=False, repr=False)
    custody: Custody


@dataclass(frozen=True)
class Case:
    """A case file. Paths are absolute or relative to the working directory, ready to open."""

    name: str
    path: Path
    model: str
    weights: Path | None
    input: Path | None
    labels: Path | None
    metric: str | None
    image: tuple[int, ...] | None
    make: str | None
    golden: bool
    matrices: tuple[RunMatrix, ...]
    places: Mapping[str, str] = field(default_factory=dict[str, str], compare=False, repr=False)
    """Key of the file -> file:line."""

    @property
    def runs(self) -> tuple[CaseRun, ...]:
        """All single runs, in the order of the file."""
        made: list[CaseRun] = []
        for m in self.matrices:
            devices: Sequence[str | None] = m.devices or (None,)
            for device, memory, issue, load, build, seed in product(devices, m.memories, m.issues, m.loads, m.builds, m.seeds):
                run_id = f"{device}-{memory}-{seed}" if device else f"host-{seed}"
                run_id += "".join(f"-{way}" for way in (issue, load) if way not in _UNSAID)
                made.append(
                    CaseRun(
                        self, run_id, m.engines, device, memory, seed, m.samples, m.tier, issue, load, build, m.places, m.custody
                    )
                )  # fmt: skip
        samples = {r.id: {s.samples for s in made if s.id == r.id} for r in made}
        named = [replace(r, id=f"{r.id}-{r.samples or 'all'}") if len(samples[r.id]) > 1 else r for r in made]
        return tuple(r if r.build in _UNSAID else replace(r, id=f"{r.id}-{r.build}") for r in named)


def load_case(path: Path) -> Case:
    """Read a case file. Raises ModelError with file, line and key."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not UTF-8"
        raise ModelError(f"no case can be read ({reason})", where=str(path)) from error
    return parse_case(text, path)


def parse_case(text: str, path: Path) -> Case:
    """Parse a case from TOML text. Raises ModelError with file, line and key."""
    file = parse_toml(text, path)
    file.only(*_TOP)
    name = str(file.get("name", "letters, digits, '_', '-' and '.'", lambda v: isinstance(v, str) and bool(_NAME.fullmatch(v))))
    if "model" not in file:
        raise file.wrong("model", 'model is missing: "path.py:function" or "path.onnx"')
    metric = file.chosen("metric", METRICS, "") or None
    files = {key: _path(file, key) for key in ("weights", "input", "labels")}
    if files["labels"] is not None and files["input"] is None:
        raise file.wrong("labels", "labels mean nothing without input")
    if metric is not None and files["labels"] is None:
        raise file.wrong("metric", "metric needs labels")
    image = file.get("image", "[height, width]", _is_size) if "image" in file else None
    matrices = tuple(map(_matrix, _runs(file)))
    made = Case(
        name=name,
        path=path,
        model=_normal(path.parent / file.text("model")),
        weights=files["weights"],
        input=files["input"],
        labels=files["labels"],
        metric=metric,
        image=None if image is None else tuple(image),
        make=file.optional_text("make"),
        golden=file.boolean("golden", True),
        matrices=matrices,
        places={key: file.at(key) for key in file.values},
    )
    ids = [run.id for run in made.runs]
    if twice := next((i for i in ids if ids.count(i) > 1), None):
        raise file.wrong("runs", f"run '{twice}' stands twice")
    return made


def _runs(file: TomlTable) -> tuple[TomlTable, ...]:
    """Return the tables of runs, with the file's own keys as defaults; without tables, the file itself."""
    if "runs" not in file:
        return (file,)
    tables = file.tables("runs")
    if not tables:
        raise file.wrong("runs", "runs is [], expected tables [[runs]]")
    for table in tables:
        table.only(*_MATRIX)
    return tuple(replace(table, defaults=file) for table in tables)


def _path(file: TomlTable, key: str) -> Path | None:
    value = file.optional_text(key)
    return None if value is None else Path(_normal(file.path.parent / value))


def _is_size(value: TomlValue) -> TypeGuard[list[int]]:
    return is_list(value) and len(value) == 2 and all(type(n) is int and n > 0 for n in value)


def _normal(path: Path) -> str:
    """Return the path without "..", relative to the working directory if below it, as messages and commands show it."""
    absolute = Path(os.path.normpath(Path.cwd() / path))
    return str(absolute.relative_to(Path.cwd())) if absolute.is_relative_to(Path.cwd()) else str(absolute)


def _matrix(table: TomlTable) -> RunMatrix:
    engines, devices = table.texts("engines"), table.texts("devices")
    if not engines:
        raise table.wrong("engines", "no engines are named", hint='for example engines = ["vm", "cpython"]')
    memories = _known(table, "memories", MEMORIES)
    ways = [_known(table, f"{key}s", known) for key, known in _WAYS.items()]
    issues, loads = ways if devices else [way[:1] for way in ways]
    return RunMatrix(
        engines=engines,
        devices=devices,
        memories=memories if devices else memories[:1],
        issues=issues,
        loads=loads,
        builds=_known(table, "builds", _BUILDS) if devices and "builds" in table else ("",),
        seeds=table.integers("seeds", 0, (0,)),
        samples=table.integer("samples", 1) if "samples" in table else None,
        tier=table.chosen("tier", TIERS, TIERS[0]),
        places={name: table.at(key, name) for key, names in (("engines", engines), ("devices", devices)) for name in names},
        custody=_custody(table),
    )


def _custody(table: TomlTable) -> Custody:
    known = None
    if "known_failure" in table:
        below = table.table("known_failure")
        below.need("owner", "reason", "expires")
        below.only("owner", "reason", "expires")
        known = read_exemption(below)
    timeout = table.number("timeout") if "timeout" in table else None
    return Custody(table.optional_text("owner") or "", table.texts("tags"), timeout, known)


def _known(table: TomlTable, key: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a list, all of them `known`; the first known one if the key is missing."""
    found = table.texts(key, known[:1])
    if wrong := [word for word in found if word not in known]:
        raise table.wrong(key, f"{_ONE[key]} '{wrong[0]}' is unknown", hint=f"known are {', '.join(known)}", value=wrong[0])
    return found


def good_cases(folder: Path) -> tuple[Case, ...]:
    """Return the cases of a folder that can be read, by file name."""
    found: list[Case] = []
    for path in sorted(folder.glob("*.toml")):
        with suppress(ModelError):
            found.append(load_case(path))
    return tuple(found)


def names_of(folder: Path) -> Mapping[Path, str]:
    """Return file -> name, for the cases of a folder that can be read."""
    return {case.path: case.name for case in good_cases(folder)}


def find_cases(folder: Path) -> tuple[Case, ...]:
    """Return all cases of a folder, by file name. Raises ModelError if one is bad, or if two have the same name."""
    cases = tuple(load_case(p) for p in sorted(folder.glob("*.toml")))
    names = [c.name for c in cases]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ModelError(f"name '{name}' is taken by {cases[names.index(name)].path}", where=place(cases[i].path, "name"))
    return cases


def select(case: Case, only: str | None) -> tuple[CaseRun, ...]:
    """Return the runs of a case, or the one with the id `only`. Raises ModelError that lists the ids if there is none."""
    if only is None:
        return case.runs
    chosen = tuple(run for run in case.runs if run.id == only)
    if not chosen:
        raise ModelError(f"no run '{only}'", where=str(case.path), hint=f"choose among {', '.join(r.id for r in case.runs)}")
    return chosen


def add_case(path: Path, keys: Mapping[str, object]) -> Case:
    """Write a new case file and return the case. keys: as in the file, paths relative to the working directory.

    Raises ModelError if a key does not fit, or if the file exists.
    """
    if path.exists():
        raise ModelError("is already there", where=str(path), hint="edit it, or choose another name")
    if path.parent.is_dir() and keys.get("name") in names_of(path.parent).values():
        raise ModelError(f"name: a case '{keys['name']}' is already in this folder", where=str(path))
    lines: list[str] = []
    for key in [k for k in _TOP if k != "runs"]:
        value = keys.get(key)
        if value is None:
            continue
        if key in {"model", "weights", "input", "labels"}:
            value = os.path.relpath(Path(str(value)).absolute(), path.parent.absolute())
        lines.append(f"{key} = {toml_value(value)}")
    if unknown := [key for key in keys if key not in _TOP]:
        raise ModelError(f"unknown key {unknown[0]}", where=str(path), hint=f"known are {', '.join(_TOP)}")
    text = "\n".join(lines) + "\n"
    case = parse_case(text, path)
    write_atomically(path, text.encode())
    return case
