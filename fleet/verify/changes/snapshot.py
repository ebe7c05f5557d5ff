"""Behaviour of an instruction set on programs, as JSON: one side of `fleet isa diff`.

Runs in its own process, with the import path of that side: `python -P snapshot.py < request.json > snapshot.json`. The side may be
an older version of fleet. So this file uses only interfaces that have existed for long, and imports nothing from its own folder.

The request and the answer are JSON of `SnapshotRequest` and `SideSnapshot` (`fleet.verify.changes.revisions`), or {"error": text}.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fleet.sdk import Device, InstructionSet

Table = dict[str, Any]


def _snapshot(request: Table) -> Table:
    from fleet.isa.reading.cache import load
    from fleet.isa.registry import description_hash, find_instruction_set, interface_hash

    found = find_instruction_set(request["set"])
    devices = found.devices
    chosen = request["device"] or min(
        devices, key=lambda n: (devices[n].parameters.get("HbmPorts", 1), sum(devices[n].memory.values()), n)
    )
    if chosen not in devices:
        return {"error": f"has no device '{chosen}'; it has {', '.join(devices)}"}
    device = devices[chosen]
    calls, undrawn = _drawn(chosen, request["cases"])
    return {
        "description": str(found.description),
        "rtl": found.rtl is not None,
        "device": chosen,
        "description_hash": description_hash(found, device),
        "device_hashes": {name: description_hash(found, d) for name, d in devices.items()},
        "interface_hashes": {name: interface_hash(found, d) for name, d in devices.items()},
        "hash": load(found.description).hash,
        "calls": calls,
        "undrawn": undrawn,
        "bins": sorted(_bins(found, calls)),
        "judged": [_judged(found, device, call) for call in request["judge"]],
        "models": {m["model"]: _model(found, device, m) for m in request["models"]},
    }


def _drawn(device: str, count: int) -> tuple[list[Table], list[str]]:
    """Draw calls of the conformance suite's legal cases, each with its case's name; also return why cases cannot be drawn.

    Both are empty if none were requested or the set cannot draw any.
    """
    if not count:
        return [], []
    from fleet.errors import FleetError
    from fleet.verify.conformance.suite import make_case, names

    try:
        directed = names(device)
        step = max(1, len(directed) // (8 * count))
        chosen = [*directed[::step], *names(device, random=range(count), programs=range(count), directed=False)]
    except FleetError:
        return [], []
    found: list[Table] = []
    undrawn: list[str] = []
    for name in chosen:
        try:
            case = make_case(name)
        except FleetError as error:
            undrawn.append(str(error))
            continue
        for call, cause in zip(case.calls, case.causes or (0,) * len(case.calls), strict=True):
            if cause:
                continue  # refused on purpose: not reported
            fields = {k: int(v) for k, v in call.fields.items()}
            found.append({"name": name, "instruction": call.instruction, "fields": fields})
    return found, undrawn


def _judged(found: InstructionSet, device: Device, call: Table) -> Table:
    """Return "writes" and "binary", both forms of a call of the other side, and "problem", why it is illegal here."""
    from fleet.errors import FleetError
    from fleet.isa.codec import register_writes
    from fleet.isa.codec_binary import encode_binary
    from fleet.isa.reading.cache import load
    from fleet.sdk import Call

    made = Call(call["instruction"], call["fields"])
    try:
        writes = register_writes(found, made, strict=False)
        has_form = load(found.description).instructions[made.instruction].beats
        binary = encode_binary(found, [made]).hex() if has_form else ""
        wrong = list(found.instructions[made.instruction].legal(device, made.fields))
    except FleetError as error:
        return {"writes": None, "binary": "", "problem": str(error)}
    except KeyError:
        return {"writes": None, "binary": "", "problem": f"no instruction '{made.instruction}'"}
    return {"writes": [list(w) for w in writes], "binary": binary, "problem": wrong[0] if wrong else ""}


def _bins(found: InstructionSet, calls: list[Table]) -> set[str]:
    """Return the coverage bins that the calls fall into, as "instruction field class"."""
    from fleet.isa.conformance import value_class
    from fleet.isa.reading.cache import load

    d = load(found.description)
    bins: set[str] = set()
    for call in calls:
        for r in d.words(call["instruction"]):
            for f in r.fields:
                name = r.name if len(r.fields) == 1 else f"{r.name}.{f.name}"
                bins.add(f"{call['instruction']} {name} {value_class(f, f.get(call['fields'][r.name]))}")
    return bins


def _model(found: InstructionSet, device: Device, m: Table) -> Table:
    """Compile a model. Return the figures of `StreamFigures`, or why the side cannot compile it."""
    import hashlib

    from fleet.cosim.models.loaded import load_model
    from fleet.errors import FleetError
    from fleet.isa.codec import register_writes
    from fleet.targets.accel.compile import compile_accel

    try:
        paths = [Path(m[k]) if m[k] else None for k in ("weights", "input")]
        program = load_model(m["model"], paths[0], paths[1], m["seed"], m["samples"]).program
        steps = compile_accel(program, found, device).steps
    except FleetError as error:
        return {"figures": None, "error": str(error)}
    calls = [c for s in steps for g in getattr(s, "groups", ()) for c in g.calls]
    writes = [register_writes(found, c) for c in calls]
    cycles = moved = 0
    for c in calls:
        cls = found.instructions[c.instruction]
        cycles += int(cls.cost(device, c.fields))
        moved += sum(int(r.size) for r in (*cls.reads(device, c.fields), *cls.writes(device, c.fields)))
    host = sum(not hasattr(s, "groups") for s in steps)
    digest = hashlib.sha256(json.dumps(writes).encode()).hexdigest()
    figures = {
        "instructions": len(calls), "host": host, "cycles": cycles, "bytes": moved, "stream": 8 * sum(map(len, writes)),
        "digest": digest,
    }  # fmt: skip
    return {"figures": figures, "error": ""}


def _main() -> None:
    request: Table = json.load(sys.stdin)
    out, sys.stdout = sys.stdout, sys.stderr  # what a plug-in prints is not part of the answer
    try:
        answer = _snapshot(request)
    except Exception as error:  # an older version may raise anything; the caller reports it
        kind = "" if type(error).__module__.startswith("fleet.") else f"{type(error).__name__}: "
        answer = {"error": kind + " ".join(f"{error}".split())}
    json.dump(answer, out)


if __name__ == "__main__":
    _main()
