"""LUT, FF, DSP, BRAM and slowest stage of a device's RTL, by unit: `python scripts/synthesis DEVICE... [--unit mvm] [--write]`.

1. The RTL is read once with Yosys (through slang), calls of the arithmetic operators as boxes (`operators`), the hierarchy kept.
2. Each operator, and each module that differs from the others, is mapped once (`synth_xilinx -family xcup`), what it
   instantiates as boxes.
3. Cells are multiplied by instances; paths are followed through the boxes with stated delays (`netlist`).

`--write` puts the slowest stage into `[clock_estimate]` of the device's file, and of those whose source is its table; without
it, a complete table that differs from them ends with status 1.

Everything is kept by content in the build cache. A module that takes longer than --timeout is named, and nothing of it but its
operators and parts is in the sums. pyosys (ISC) is put into a folder of its own, as scripts/yosys-check does.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from clock import estimate, mhz, table_of, with_estimate
from netlist import OperatorBox, Summary, cells_of, operator_box, slowest_paths, summary
from operators import OPERATORS, Operator, marked
from rtlil import AROUND, Module, keys, read_modules, together

from fleet.core.files import write_atomically
from fleet.engines.rtl_sim.cache import cache_folder
from fleet.engines.rtl_sim.top_parameters import top_parameters
from fleet.isa.hardware import hardware_of
from fleet.isa.registry import device_names, find_device

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGE = "pyosys==0.70"
_FAMILY = "synth_xilinx -family xcup -noiopad -noclkbuf"
MAP = (f"{_FAMILY} -run begin:coarse", f"techmap -map {HERE / 'adders.v'}", f"{_FAMILY} -run coarse:")
ALONE = tuple(command.replace(_FAMILY, f"{_FAMILY} -flatten") for command in MAP)
_SMALL = 300_000
"""Bytes of text of a module up to which it is mapped in one run with others: starting takes longer than it does."""
_PATHS = 6
VCU128 = {"LUT": 1_303_680, "FF": 2_607_360, "DSP": 9_024, "BRAM36": 2_016, "URAM": 960}
"""Of the XCVU37P."""
SHOWN = ("LUT", "FF", "DSP", "BRAM36", "URAM")
WHOLE = "the top itself"
"""Row of a table: what no unit has, and the paths from one unit to another."""


class Yosys:
    """Runs commands, and keeps netlists by what made them."""

    def __init__(self, timeout: float) -> None:
        self.site, self.timeout = cache_folder().parent / "yosys", timeout
        self.folder = cache_folder().parent / "synthesis"
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (self.site / "pyosys").is_dir():
            print(f"installing {PACKAGE} into {self.site}", file=sys.stderr)
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(self.site), PACKAGE]
            if subprocess.run(pip, check=False).returncode:
                sys.exit(f"synthesis: pip cannot install {PACKAGE}; put it into {self.site}")
        # Yosys 0.70 says 16 where a RAM512X1S has 9 address bits, and then has no cell for it.
        rams = self.site / "pyosys/share/xilinx/lutrams_xcu.txt"
        before = rams.read_text(encoding="utf-8")
        after = re.sub(r'"ABITS" 16 \{\s+abits 16;', '"ABITS" 9 {\n\t\tabits 9;', before)
        if after != before:
            write_atomically(rams, after.encode())

    def run(self, commands: Sequence[str], log: Path, folder: Path, timeout: float | None = None) -> str:
        """Run commands; return "" or why they failed."""
        with log.open("w", encoding="utf-8") as f:
            words = [sys.executable, str(HERE / "worker.py"), str(self.site), *commands]
            try:
                status = subprocess.run(
                    words, cwd=folder, stdout=f, stderr=subprocess.STDOUT, check=False, timeout=timeout
                ).returncode
            except subprocess.TimeoutExpired:
                return f"not in {timeout:.0f} s"
        if status:
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            return next((line for line in reversed(lines) if "ERROR" in line or "error:" in line), f"status {status}")[:200]
        return ""

    def mapped(self, key: str, source: str, suffix: str, commands: Sequence[str]) -> tuple[Path, str]:
        """Return the mapped netlist of a source, from the cache where it is, and why there is none."""
        path = self.folder / f"{key}.json.gz"
        if path.is_file():
            return path, ""
        if not self.timeout:
            return path, "not mapped yet"
        text = self.folder / f"{key}.{suffix}"
        text.write_text(source, encoding="utf-8")
        made = self.folder / f"{key}.json"
        why = self.run(
            [*(c.format(source=text) for c in commands), f"write_json {made}"], self.folder / f"{key}.log", ROOT / "rtl_models",
            self.timeout,
        )  # fmt: skip
        if not why:
            path.with_suffix(".part").write_bytes(gzip.compress(made.read_bytes(), 3))
            path.with_suffix(".part").rename(path)
        made.unlink(missing_ok=True)
        text.unlink(missing_ok=True)
        return path, why


def digest(*parts: str) -> str:
    """Return a hash of texts."""
    adders = (HERE / "adders.v").read_text(encoding="utf-8")
    return hashlib.sha256("\0".join((PACKAGE, _FAMILY, adders, *parts)).encode()).hexdigest()


def netlist(path: Path, name: str, boxes: Mapping[str, Summary], *, paths: bool = True) -> Summary:
    """Return the summary of a module in a stored netlist. paths: also of its paths."""
    modules = json.loads(gzip.decompress(path.read_bytes()))["modules"]
    found = modules[name.removeprefix("\\")]
    return summary(found, boxes) if paths else cells_of(found, boxes)


def mapped_operator(yosys: Yosys, o: Operator, *, staged: bool = False) -> tuple[Path, str]:
    """Return the path of an operator's mapped netlist (staged: of its pipeline) and, if mapping failed, the reason, else ""."""
    names = ["fp_pkg", "fp_fn_pkg", *(["fp_cut", o.pipe] if staged else [])]
    files = [ROOT / "rtl_models" / "arith" / f"{name}.sv" for name in names]
    texts = [p.read_text(encoding="utf-8") for p in files]
    source, top = (o.staged, f"{o.pipe}_alone") if staged else (o.alone, f"{o.name}_alone")
    read = f"read_slang -D SYNTHESIS --top {top} {' '.join(map(str, files))} {{source}}"
    return yosys.mapped(digest(read, source, *texts), source, "sv", [read, *ALONE])


def operators(yosys: Yosys, said: Sequence[str], jobs: int) -> tuple[dict[str, OperatorBox], dict[str, str]]:
    """Print the operators that are named, in one stage; return them as boxes, and why some have no figures."""
    named = [o for o in OPERATORS if o.name in said]
    with ThreadPoolExecutor(jobs) as pool:
        paths = dict(zip(named, pool.map(lambda o: mapped_operator(yosys, o), named), strict=True))
    found: dict[str, OperatorBox] = {}
    missing: dict[str, str] = {}
    print("| operator in one stage | LUT | DSP | CARRY4 | ns |\n|---|---|---|---|---|")
    for o, (path, why) in paths.items():
        found[o.name] = operator_box(Summary({}) if why else netlist(path, f"{o.name}_alone", {}))
        if why:
            missing[o.name] = why
            print(f"| {o.name} | {why} | | | |")
            continue
        cells = (f"{found[o.name].cells.get(kind, 0):,.0f}" for kind in ("LUT", "DSP", "CARRY4"))
        print(f"| {o.name} | {' | '.join(cells)} | {found[o.name].delay:.1f} |", flush=True)
    return found, missing


def pipes(yosys: Yosys, jobs: int) -> None:
    """Print the operators that have stages with a register behind each; those of the operands are not counted."""
    named = [o for o in OPERATORS if o.pipe]
    with ThreadPoolExecutor(jobs) as pool:
        paths = list(pool.map(lambda o: mapped_operator(yosys, o, staged=True), named))
    print("\n| operator in stages | stages | LUT | FF | DSP | slowest stage, ns | MHz | in |\n|---|---|---|---|---|---|---|---|")
    for o, (path, why) in zip(named, paths, strict=True):
        if why:
            print(f"| {o.pipe} {o.parameters}| {why} | | | | | | |")
            continue
        found = netlist(path, f"{o.pipe}_alone", {})
        text = (ROOT / "rtl_models" / "arith" / f"{o.pipe}.sv").read_text(encoding="utf-8")
        stages = re.search(r"Stages = (\d+);", text)
        operands = sum(width for _, width in o.arguments)
        cells = f"{shown(found.cells, 'LUT'):,.0f} | {found.cells.get('FF', 0) - operands:,.0f} | {found.cells.get('DSP', 0):,.0f}"
        path_words = ", ".join(f"{count} {kind}" for kind, count in Counter(found.path).items())
        number = stages[1] if stages else "?"
        name = f"{o.pipe} {o.parameters}"
        print(f"| {name}| {number} | {cells} | {found.inner:.2f} | {1000 / found.inner:.0f} | {path_words} |", flush=True)


def alone(yosys: Yosys, device: str, name: str, parameters: Sequence[str]) -> None:
    """Print a row of one module of a device's hardware, mapped flat with all of its logic."""
    rtl = hardware_of(find_device(device)[0])
    if rtl is None:
        sys.exit(f"synthesis: {device} has no hardware")
    sources = [p for p in rtl.files if p.suffix == ".sv"]
    values = " ".join(f"-G {value}" for value in parameters)
    read = f"read_slang -D SYNTHESIS --top {name} {values} {' '.join(map(str, sources))}"
    path, why = yosys.mapped(digest(name, values, *(p.read_text(encoding="utf-8") for p in sources)), "", "sv", [read, *ALONE])
    if why:
        sys.exit(f"synthesis: {name}: {why}")
    found = netlist(path, name, {})
    cells = " | ".join(f"{shown(found.cells, kind):,.0f}" for kind in SHOWN)
    path_words = ", ".join(f"{count} {kind}" for kind, count in Counter(found.path).items())
    print(f"| {name} {values}| {cells} | {found.inner:.2f} | {path_words} |", flush=True)


def elaborated(yosys: Yosys, device: str) -> tuple[str, dict[str, Module]]:
    """Return the top's name and all modules of a device's RTL, operators as boxes."""
    instruction_set, chip = find_device(device)
    rtl = hardware_of(instruction_set)
    if rtl is None:
        sys.exit(f"synthesis: {instruction_set.name} has no hardware")
    parameters = " ".join(f"-G {k}={v}" for k, v in top_parameters(rtl, chip).items())
    sources = [p for p in rtl.files if p.suffix == ".sv"]
    texts = {p: p.read_text(encoding="utf-8") for p in sources}
    key = digest(rtl.top, parameters, *(o.body for o in OPERATORS), *(t for _, t in sorted(texts.items())))
    path = yosys.folder / f"{key}.il.gz"
    if not path.is_file():
        folder = yosys.folder / key
        folder.mkdir(exist_ok=True)
        files: list[str] = []
        for p in sources:
            packaged = any(o.package == p.stem for o in OPERATORS)
            if packaged:
                (folder / p.name).write_text(marked(p.stem, texts[p]), encoding="utf-8")
            files.append(str(folder / p.name if packaged else p))
        read = f"read_slang --keep-hierarchy -D SYNTHESIS --top {rtl.top} {parameters} {' '.join(files)}"
        made = folder / "coarse.il"
        why = yosys.run(
            [read, "hierarchy -check", "proc -noopt", "opt_expr", "opt_clean", f"write_rtlil {made}"], folder / "read.log",
            ROOT / "rtl_models",
        )  # fmt: skip
        if why:
            sys.exit(f"synthesis: {device}: {why}")
        path.with_suffix(".part").write_bytes(gzip.compress(made.read_bytes(), 3))
        path.with_suffix(".part").rename(path)
        made.unlink()
    modules = read_modules(gzip.decompress(path.read_bytes()).decode())
    top = next(name for name in modules if name.lstrip("\\") == rtl.top)
    return top, modules


@dataclass
class Row:
    """A unit: cells with all that is in it, calls of operators, slowest stage and where it is, modules without figures."""

    cells: Counter[str]
    calls: Counter[str]
    slowest: float
    where: str
    path: Sequence[str]
    missing: dict[str, str]


class Device:
    """A device's modules and their figures."""

    def __init__(self, yosys: Yosys, device: str, unit: Sequence[str], *, paths: bool = True) -> None:
        self.yosys, self.paths = yosys, paths
        self.top, self.modules = elaborated(yosys, device)
        self.keys = keys(self.modules)
        self.units = {self.unit_name(part): part for part in self.modules[self.top].parts if part in self.modules}
        self.whole = not unit
        if unit:
            self.units = {name: part for name, part in self.units.items() if name in unit}
        named = {call for name in self.reachable() for call in self.modules[name].calls}
        self.operators = sorted(named)
        self.boxes: dict[str, Summary] = {}
        self.no_operator: dict[str, str] = {}
        self.why: dict[str, str] = {}
        self.by_key: dict[str, Summary | None] = {}
        self.netlists: dict[str, tuple[str, Path, str]] = {}

    def unit_name(self, part: str) -> str:
        """Return the instance's name."""
        return part.rpartition(".")[2].removeprefix("u_")

    def reachable(self) -> list[str]:
        """Return the modules in the units, parts before what they are in."""
        found: list[str] = []

        def visit(name: str) -> None:
            if name in self.modules and name not in found:
                for part in self.modules[name].parts:
                    visit(part)
                found.append(name)

        for part in self.units.values():
            visit(part)
        return [*found, self.top] if self.whole else found

    def measure(self, jobs: int) -> None:
        """Map every module that differs, the smaller ones first; then follow their paths, parts first."""
        differing = list({self.keys[name]: name for name in reversed(self.reachable())}.values())
        small = [name for name in differing if len(self.modules[name].text) <= _SMALL]
        batches = [*([name] for name in differing if name not in small), *(small[i::jobs] for i in range(jobs))]
        batches.sort(key=lambda names: sum(len(self.modules[name].text) for name in names))
        with ThreadPoolExecutor(jobs) as pool:
            made = [one for found in pool.map(self.mapped, batches) for one in found]
        made_operators, self.no_operator = operators(self.yosys, self.operators, jobs)
        self.boxes |= made_operators
        netlists = self.netlists = {self.keys[name]: (name, path, why) for name, path, why in made}
        for name in self.reachable():
            key = self.keys[name]
            first, path, why = netlists[key]
            if key not in self.by_key:
                self.by_key[key] = None
                if not why:
                    try:
                        self.by_key[key] = netlist(path, first, self.boxes, paths=self.paths)
                    except ValueError as error:
                        why = str(error)
                        netlists[key] = first, path, why
            if why:
                self.why[name] = why
            found = self.by_key[key]
            self.boxes[name.lstrip("\\")] = found if found is not None else Summary({})

    def mapped(self, names: Sequence[str]) -> list[tuple[str, Path, str]]:
        """Map modules in one run, all else as boxes; return names, netlists and why there is none."""
        paths = {name: self.yosys.folder / f"{digest(self.keys[name], name)}.json.gz" for name in names}
        missing = [name for name in names if not paths[name].is_file()]
        before, why = time.monotonic(), ""
        if missing:
            source = together([self.modules[name] for name in missing], self.modules)
            key = digest(source)
            commands = ["read_rtlil {source}", f"hierarchy -check -top {AROUND}", "flatten", "bwmuxmap", *MAP]
            whole, why = self.yosys.mapped(key, source, "il", commands)
            if not why:
                found = json.loads(gzip.decompress(whole.read_bytes()))["modules"]
                for name in missing:
                    one = {"modules": {short_name: found[short_name] for short_name in (name.lstrip("\\"),)}}
                    part = paths[name].with_suffix(".part")
                    part.write_bytes(gzip.compress(json.dumps(one).encode(), 3))
                    part.rename(paths[name])
                whole.unlink()
            words = ", ".join(dict.fromkeys(map(short, missing)))
            print(f"{words}: {why or f'{time.monotonic() - before:.0f} s'}", file=sys.stderr, flush=True)
        if why and len(missing) > 1:  # one of them: alone the others have figures
            return [one for name in names for one in self.mapped([name])]
        return [(name, paths[name], why if name in missing else "") for name in names]

    def row(self, name: str) -> Row:
        """Return the figures of a module with all that is in it."""
        module, own = self.modules[name], self.boxes[name.lstrip("\\")]
        # What the mapping found to be the same twice, or read by nothing, is no cell any more.
        calls = module.calls if name in self.why else {call: own.boxes.get(call, 0) for call in module.calls}
        row = Row(Counter(own.cells), Counter(calls), own.inner, name, own.path, {})
        if name in self.why:
            row.missing[name] = self.why[name]
        row.missing |= {call: why for call, why in self.no_operator.items() if calls.get(call)}
        for call, count in calls.items():
            for kind, number in self.boxes[call].cells.items():
                row.cells[kind] += count * number
        for part, count in module.parts.items() if name != self.top else ():
            inner = self.row(part)
            for _ in range(count):
                row.cells.update(inner.cells)
                row.calls.update(inner.calls)
            row.missing |= inner.missing
            if inner.slowest > row.slowest:
                row.slowest, row.where, row.path = inner.slowest, inner.where, inner.path
        return row


def short(name: str) -> str:
    """Return a module's name without its place."""
    return name.partition("$")[0].lstrip("\\")


def shown(cells: Mapping[str, float], kind: str) -> float:
    """Return a column: LUT with those of small memories, 36 Kbit blocks with halves."""
    if kind == "LUT":
        return cells.get("LUT", 0) + cells.get("LUTRAM", 0)
    if kind == "BRAM36":
        return cells.get("BRAM36", 0) + cells.get("BRAM18", 0) / 2
    return cells.get(kind, 0)


def table(device: Device, name: str) -> tuple[float, str] | None:
    """Print the units of a device. Return the slowest stage of all and its unit; None if modules are missing."""
    print(
        f"\n{name}\n\n| unit | {' | '.join(SHOWN)} | slowest stage, ns | MHz | in | operators |\n|---|" + "---|" * (len(SHOWN) + 4)
    )
    total, slowest, slowest_unit = Counter[str](), 0.0, ""
    missing: dict[str, str] = {}
    units = {**device.units, **({WHOLE: device.top} if device.whole else {})}
    for unit, part in sorted(units.items()):
        row = device.row(part)
        total.update(row.cells)
        if row.slowest > slowest:
            slowest, slowest_unit = row.slowest, unit
        missing |= row.missing
        calls = ", ".join(f"{count:,} {call}" for call, count in row.calls.most_common())
        cells = " | ".join(f"{shown(row.cells, kind):,.0f}" for kind in SHOWN)
        where = short(row.where)
        mark = "*" if row.missing else ""
        clock = mhz(row.slowest) if row.slowest else "-"
        print(f"| {unit}{mark} | {cells} | {f'{row.slowest:.1f}' if row.slowest else '-'} | {clock} | {where} | {calls or '-'} |")
        words = ", ".join(f"{n} {short(k)}" for k, n in Counter(row.path).items())
        print(f"{unit}: {row.slowest:.2f} ns in {where}: {words}", file=sys.stderr)
    cells = " | ".join(f"{shown(total, kind):,.0f}" for kind in SHOWN)
    print(f"| all{'*' if missing else ''} | {cells} | {f'{slowest:.1f} | {mhz(slowest)}' if slowest else '- | -'} | | |")
    shares = " | ".join(f"{100 * shown(total, kind) / VCU128[kind]:.1f} %" for kind in SHOWN)
    print(f"| of the VCU128 | {shares} | | | | |")
    by_reason: dict[str, list[str]] = {}
    for module, why in sorted({short(name): why for name, why in missing.items()}.items()):
        by_reason.setdefault(why, []).append(f"`{module}`")
    for why, modules in by_reason.items():
        print(f"\n\\* without the logic of {', '.join(modules)} itself ({why}); what a module calls and instantiates is counted.")
    return None if missing or not device.whole else (slowest, slowest_unit)


def show_paths(device: Device, name: str) -> None:
    """Print the slowest paths of a module, net by net."""
    part = next((p for p in device.reachable() if short(p) == name), None)
    if part is None:
        sys.exit(f"synthesis: no module {name}; there are {', '.join(sorted({short(p) for p in device.reachable()}))}")
    first, path, why = device.netlists[device.keys[part]]
    if why:
        sys.exit(f"synthesis: {name}: {why}")
    module = json.loads(gzip.decompress(path.read_bytes()))["modules"][first.removeprefix("\\")]
    for end, steps in slowest_paths(module, device.boxes, _PATHS):
        print(f"\n{steps[-1][0]:.2f} ns to {end}")
        for ns, net, cell in steps[:-1]:
            print(f"  {ns:6.2f}  {net}  {short(cell)}")


def hold_estimates(device: str, slowest: float, unit: str, *, write: bool) -> bool:
    """Hold the device's file, and those that name its table as their source, to its slowest stage, or write it there.

    Return whether they agree now.
    """
    lines, stale = estimate(slowest, "between units" if unit == WHOLE else f"unit {unit}", device), list[str]()
    for name in device_names():
        chip = find_device(name)[1]
        if name != device and (chip.clock_estimate is None or not chip.clock_estimate.source.endswith(table_of(device))):
            continue
        text = chip.path.read_text(encoding="utf-8")
        held = with_estimate(text, lines)
        if held != text and write:
            chip.path.write_text(held, encoding="utf-8")
        elif held != text:
            stale.append(chip.path.name)
    if stale:
        print(f"synthesis: [clock_estimate] of {', '.join(stale)} is not that of this table: --write", file=sys.stderr)
    return not stale


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(prog="synthesis", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("devices", nargs="*", default=["hbm_small"])
    parser.add_argument("--unit", action="append", default=[], help="only this unit of the top; several times for several")
    parser.add_argument("--module", action="append", default=[], help="only this module, alone; several times for several")
    parser.add_argument("--parameter", action="append", default=[], help="NAME=VALUE for --module")
    parser.add_argument("--paths", metavar="MODULE", help=f"the {_PATHS} slowest paths of a module of the device, net by net, too")
    parser.add_argument("--operators", action="store_true", help="only the operators, all of them, in one stage and in stages")
    parser.add_argument(
        "--timeout", type=float, default=600, help="seconds for a run; 0: nothing is mapped, only what is kept is shown"
    )
    parser.add_argument("--jobs", type=int, default=2, help="modules that are mapped at a time")
    parser.add_argument("--cells", action="store_true", help="no paths, which take tens of GB of a device with 32 ports")
    parser.add_argument("--write", action="store_true", help="put the slowest stage into the device files")
    parser.add_argument("--if-installed", action="store_true", help="without pyosys say so and end with status 0")
    given = parser.parse_args()
    if given.if_installed and not (cache_folder().parent / "yosys" / "pyosys").is_dir():
        print(f"synthesis: skipped, {PACKAGE} is not installed (make synth installs it)")
        return
    yosys = Yosys(given.timeout)
    if given.operators:
        operators(yosys, [o.name for o in OPERATORS], given.jobs)
        pipes(yosys, given.jobs)
        return
    if given.module:
        print(f"| module | {' | '.join(SHOWN)} | slowest stage, ns | in |\n|---|" + "---|" * (len(SHOWN) + 2))
        for name in given.module:
            alone(yosys, given.devices[0], name, given.parameter)
        return
    status = 0
    for name in given.devices:
        device = Device(yosys, name, given.unit, paths=not given.cells)
        device.measure(given.jobs)
        found = table(device, name)
        if given.cells:
            continue
        if given.paths:
            show_paths(device, given.paths)
        if found is not None and not hold_estimates(name, *found, write=given.write):
            status = 1
    sys.exit(status)


if __name__ == "__main__":
    main()
