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
    seeds = [0]
    samples = 32                                 # only the first rows of the batch
    tier = "quick"                               # quick or nightly

    [[runs]]                                     # each table: one matrix of the lists above; may override the defaults
    memories = ["fixed", "stall"]
    tier = "nightly"

A run's id is "<device>-<memory>-<seed>" ("host" for runs without an accelerator engine), with "-aux" for issue aux, "-device" for
load device, and "-<samples>" where runs of a case would otherwise share an id. Nothing in a case is executed: models are parsed,
arrays are read, `make` is only shown.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, cast

from fleet.cosim.files import write_atomically
from fleet.cosim.tasks import METRICS
from fleet.errors import ModelError

__all__ = ["MEMORIES", "TIERS", "Case", "CaseRun", "add_case", "find_cases", "load_case", "parse_case", "select"]

MEMORIES: tuple[str, ...] = ("ideal", "fixed", "stall", "timed")
TIERS: tuple[str, ...] = ("quick", "nightly")

_WAYS = {"issue": ("regs", "aux"), "load": ("host", "device")}
"""The compile's options that a case may choose, the default first (`fleet.targets.accel.compile`)."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_MATRIX = ("engines", "devices", "memories", "issues", "loads", "seeds", "samples", "tier")
_TOP = ("name", "model", "weights", "input", "labels", "metric", "image", "make", "golden", "runs", *_MATRIX)


@dataclass(frozen=True)
class CaseRun:
    """One co-simulation of a case. id: unique in the case; device: None where no engine needs one."""

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

    @property
    def lowering(self) -> dict[str, Any]:
        """Options of the accelerator's compile that are not their defaults."""
        chosen = {"issue": self.issue, "load": self.load}
        return {key: value for key, value in chosen.items() if value != _WAYS[key][0]}

    @property
    def name(self) -> str:
        """ "digits[hbm_small-ideal-0]"."""
        return f"{self.case.name}[{self.id}]"

    def replay(self, relative_to: Path | None = None) -> str:
        """The one command that runs exactly this again."""
        import shlex

        path = self.case.path
        if relative_to is not None and path.is_relative_to(relative_to):
            path = path.relative_to(relative_to)
        return f"fleet case run {shlex.quote(str(path))} --only {shlex.quote(self.id)}"


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
    matrices: tuple[Mapping[str, Any], ...]

    @property
    def runs(self) -> tuple[CaseRun, ...]:
        """All single runs, in the order of the file."""
        made: list[CaseRun] = []
        for m in self.matrices:
            devices: Sequence[str | None] = m["devices"] or (None,)
            memories, seeds = cast("Sequence[str]", m["memories"]), cast("Sequence[int]", m["seeds"])
            ways = product(cast("Sequence[str]", m["issues"]), cast("Sequence[str]", m["loads"]))
            for device, memory, (issue, load), seed in product(devices, memories, tuple(ways), seeds):
                run_id = f"{device}-{memory}-{seed}" if device else f"host-{seed}"
                run_id += "".join(f"-{way}" for way in (issue, load) if way not in ("regs", "host"))
                made.append(CaseRun(self, run_id, m["engines"], device, memory, seed, m["samples"], m["tier"], issue, load))
        ids = [run.id for run in made]
        return tuple(_with_id(run, f"{run.id}-{run.samples or 'all'}") if ids.count(run.id) > 1 else run for run in made)


def _with_id(run: CaseRun, run_id: str) -> CaseRun:
    from dataclasses import replace

    return replace(run, id=run_id)


def load_case(path: Path) -> Case:
    """Reads a case file. Raises ModelError naming file and key."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not UTF-8"
        raise ModelError(f"no case can be read ({reason})", where=str(path)) from error
    return parse_case(text, path)


def parse_case(text: str, path: Path) -> Case:
    """A case out of TOML text. Raises ModelError naming file and key."""
    where = str(path)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ModelError(f"not TOML: {error}", where=where) from error
    _known(table, _TOP, where, "")
    name = _string(table, "name", where)
    if name is None or not _NAME.fullmatch(name):
        raise ModelError("name: expected letters, digits, '_', '-' and '.'", where=where)
    model = _string(table, "model", where)
    if model is None:
        raise ModelError('model: expected "path.py:function" or "path.onnx"', where=where)
    metric = _string(table, "metric", where)
    if metric is not None and metric not in METRICS:
        raise ModelError(f"metric: expected one of {', '.join(METRICS)}, got {metric!r}", where=where)
    golden = table.get("golden", True)
    if not isinstance(golden, bool):
        raise ModelError(f"golden: expected true or false, got {golden!r}", where=where)
    files = {key: _path(table, key, path) for key in ("weights", "input", "labels")}
    if files["labels"] is not None and files["input"] is None:
        raise ModelError("labels: mean nothing without input", where=where)
    if metric is not None and files["labels"] is None:
        raise ModelError("metric: needs labels", where=where)
    defaults = {key: table[key] for key in _MATRIX if key in table}
    raw = table.get("runs", [{}])
    if not isinstance(raw, list) or not raw or not all(isinstance(r, dict) for r in cast("list[Any]", raw)):
        raise ModelError("runs: expected tables [[runs]]", where=where)
    matrices: list[Mapping[str, Any]] = []
    for i, run in enumerate(cast("list[dict[str, Any]]", raw)):
        label = f"runs[{i}]." if "runs" in table else ""
        _known(run, _MATRIX, where, label)
        matrices.append(_matrix({**defaults, **run}, where, label))
    made = Case(
        name=name,
        path=path,
        model=_model(model, path),
        weights=files["weights"],
        input=files["input"],
        labels=files["labels"],
        metric=metric,
        image=_image(table, where),
        make=_string(table, "make", where),
        golden=golden,
        matrices=tuple(matrices),
    )
    ids = [run.id for run in made.runs]
    if twice := next((i for i in ids if ids.count(i) > 1), None):
        raise ModelError(f"runs: '{twice}' stands twice", where=where)
    return made


def _known(table: Mapping[str, Any], keys: Sequence[str], where: str, label: str) -> None:
    if unknown := [k for k in table if k not in keys]:
        raise ModelError(f"{label}{unknown[0]}: no such key; expected {', '.join(keys)}", where=where)


def _string(table: Mapping[str, Any], key: str, where: str) -> str | None:
    value = table.get(key)
    if value is not None and (not isinstance(value, str) or not value.strip()):
        raise ModelError(f"{key}: expected a text, got {value!r}", where=where)
    return value


def _path(table: Mapping[str, Any], key: str, case: Path) -> Path | None:
    value = _string(table, key, str(case))
    return None if value is None else Path(_normal(case.parent / value))


def _image(table: Mapping[str, Any], where: str) -> tuple[int, ...] | None:
    value: Any = table.get("image")
    if value is None:
        return None
    if (
        not isinstance(value, list)
        or len(cast("list[Any]", value)) != 2
        or not all(type(n) is int and n > 0 for n in cast("list[Any]", value))
    ):
        raise ModelError(f"image: expected [height, width], got {value!r}", where=where)
    return tuple(int(n) for n in cast("list[Any]", value))


def _model(spec: str, case: Path) -> str:
    return _normal(case.parent / spec)


def _normal(path: Path) -> str:
    """Without "..", relative to the working directory where it lies below it: what messages and commands show."""
    import os

    absolute = Path(os.path.normpath(Path.cwd() / path))
    return str(absolute.relative_to(Path.cwd())) if absolute.is_relative_to(Path.cwd()) else str(absolute)


def _matrix(table: Mapping[str, Any], where: str, label: str) -> Mapping[str, Any]:
    engines = _strings(table, "engines", where, label, ())
    if not engines:
        raise ModelError(f"{label}engines: expected a list of engine names", where=where)
    memories = _strings(table, "memories", where, label, ("ideal",))
    if wrong := [m for m in memories if m not in MEMORIES]:
        raise ModelError(f"{label}memories: expected {', '.join(MEMORIES)}, got {wrong[0]!r}", where=where)
    ways: dict[str, tuple[str, ...]] = {}
    for key, known in _WAYS.items():
        ways[f"{key}s"] = _strings(table, f"{key}s", where, label, known[:1])
        if wrong := [w for w in ways[f"{key}s"] if w not in known]:
            raise ModelError(f"{label}{key}s: expected {', '.join(known)}, got {wrong[0]!r}", where=where)
    seeds: Any = table.get("seeds", [0])
    if not isinstance(seeds, list) or not seeds or not all(type(s) is int and s >= 0 for s in cast("list[Any]", seeds)):
        raise ModelError(f"{label}seeds: expected a list of integers from 0 up, got {seeds!r}", where=where)
    samples: Any = table.get("samples")
    if samples is not None and (type(samples) is not int or samples < 1):
        raise ModelError(f"{label}samples: expected an integer from 1 up, got {samples!r}", where=where)
    tier: Any = table.get("tier", "quick")
    if tier not in TIERS:
        raise ModelError(f"{label}tier: expected {' or '.join(TIERS)}, got {tier!r}", where=where)
    devices = _strings(table, "devices", where, label, ())
    return {
        "engines": engines, "devices": devices, "memories": memories if devices else memories[:1],
        "seeds": tuple(cast("list[int]", seeds)), "samples": samples, "tier": tier,
        **{key: values if devices else values[:1] for key, values in ways.items()},
    }  # fmt: skip


def _strings(table: Mapping[str, Any], key: str, where: str, label: str, default: tuple[str, ...]) -> tuple[str, ...]:
    value: Any = table.get(key)
    if value is None:
        return default
    items = cast("list[Any]", value) if isinstance(value, list) else [None]
    if not items or not all(isinstance(v, str) and v for v in items) or len(set(items)) != len(items):
        raise ModelError(f"{label}{key}: expected a list of different names, got {value!r}", where=where)
    return tuple(str(v) for v in items)


def find_cases(folder: Path) -> tuple[Case, ...]:
    """All cases of a folder, by file name. Raises ModelError for a bad one, or for two of one name."""
    cases = tuple(load_case(p) for p in sorted(folder.glob("*.toml")))
    names = [c.name for c in cases]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise ModelError(f"name: '{name}' is taken by {cases[names.index(name)].path}", where=str(cases[i].path))
    return cases


def select(case: Case, only: str | None) -> tuple[CaseRun, ...]:
    """The runs of a case, or the one with the id `only`. Raises ModelError naming the ids that there are."""
    if only is None:
        return case.runs
    chosen = tuple(run for run in case.runs if run.id == only)
    if not chosen:
        raise ModelError(f"no run '{only}'", where=str(case.path), hint=f"choose among {', '.join(r.id for r in case.runs)}")
    return chosen


def add_case(path: Path, keys: Mapping[str, Any]) -> Case:
    """Writes a new case file. keys: as in the file, paths relative to the working directory. Returns the case.

    Raises ModelError for keys that do not fit, and when the file is already there.
    """
    import os

    if path.exists():
        raise ModelError("is already there", where=str(path), hint="edit it, or choose another name")
    if path.parent.is_dir() and any(c.name == keys.get("name") for c in find_cases(path.parent)):
        raise ModelError(f"name: a case '{keys['name']}' is already in this folder", where=str(path))
    lines: list[str] = []
    for key in [k for k in _TOP if k != "runs"]:
        value = keys.get(key)
        if value is None:
            continue
        if key in {"model", "weights", "input", "labels"}:
            value = os.path.relpath(Path(str(value)).absolute(), path.parent.absolute())
        lines.append(f"{key} = {_toml(value)}")
    _known(keys, _TOP, str(path), "")
    text = "\n".join(lines) + "\n"
    case = parse_case(text, path)
    write_atomically(path, text.encode())
    return case


def _toml(value: Any) -> str:
    """A TOML value; JSON's strings are TOML's basic strings."""
    import json

    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(v) for v in cast("list[Any]", value)) + "]"
    return json.dumps(value, ensure_ascii=False)
