"""Units of a set's hardware beside each other: the same inputs in Verilator, in Icarus Verilog and in CXXRTL.

Verilator has the source, the other two what yosys makes of it. All three are the host of a linked design
(`fleet.engines.linked.link`), which reads lines of inputs and writes lines of outputs.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from pathlib import Path

from pyslang import ast
from pyslang.driver import Driver

from fleet.engines.linked.link import CXXRTL_HOST, HOST, SHELL, BenchLink
from fleet.engines.linked.lowered import link_to
from fleet.engines.rtl_sim.build import Design
from fleet.engines.rtl_sim.dut import generate
from fleet.engines.rtl_sim.tools import find_icarus, find_toolchain
from fleet.sdk import rtl_models

_TOP = "fleet_units"
_LOWER = "import sys; from pyosys import libyosys as y; d = y.Design(); [y.run_pass(c, d) for c in sys.argv[1:]]"
_RESET = 4
_IN, _OUT = 110, 111  # files of a host
_KEPT = 0.3  # of the inputs in a cycle


@dataclass(frozen=True)
class UnitPort:
    """A port. bits: of all of it; element, counts: of an unpacked array the type of its elements and how many, else "" and ()."""

    direction: str
    bits: int
    element: str = ""
    counts: tuple[int, ...] = ()


@dataclass(frozen=True)
class SetUnit:
    """A module of a design with the parameters of its first instance.

    signals, memory: bits inside, and of arrays; enums: whether inputs are enumerations, which no vector drives without a cast.
    """

    name: str
    parameters: Mapping[str, str]
    ports: Mapping[str, UnitPort]
    signals: int
    memory: int
    enums: bool

    def net(self, port: str) -> str:
        """Name of a port beside those of other units."""
        return f"{self.name}__{port}"


def link_of(units: Sequence[SetUnit]) -> BenchLink:
    """The vectors of all their ports."""
    return link_to({u.net(name): (p.direction, p.bits) for u in units for name, p in u.ports.items()}, ())


def _sources(design: Design, folder: Path) -> list[Path]:
    for name, text in generate(design.dut).items():
        (folder / name).write_text(text)
    axi = rtl_models() / "axi" / "fleet_axi_pkg.sv"
    own = [p for p in design.sources if p.suffix != ".vlt" and p.name != axi.name]
    return [folder / "fleet_dut_pkg.sv", axi, *own]


def units_of(design: Design, folder: Path) -> Sequence[SetUnit]:
    """All modules below the top that have outputs, the smallest first. folder: for generated files."""
    words = ["--single-unit", "--top", "fleet_dut", "-DSYNTHESIS", "-Wnone", *(f"-I{p}" for p in design.include_dirs)]
    words += map(str, [*_sources(design, folder), folder / "fleet_dut.sv"])
    driver = Driver()
    driver.addStandardArgs()
    assert driver.parseCommandLine(" ".join(f'"{w}"' for w in words))
    assert driver.processOptions()
    assert driver.parseAllSources()
    found: dict[str, SetUnit] = {}

    def visit(node: object) -> None:
        if isinstance(node, ast.InstanceSymbol) and node.name != "fleet_dut":
            found.setdefault(node.definition.name, _unit(node))

    compilation = driver.createCompilation()
    next(i for i in compilation.getRoot().topInstances if i.name == "fleet_dut").visit(visit)
    with_outputs = (u for u in found.values() if any(p.direction == "output" for p in u.ports.values()))
    return sorted(with_outputs, key=lambda u: u.signals)


def _unit(instance: ast.InstanceSymbol) -> SetUnit:
    bits = {True: 0, False: 0}

    def visit(node: object) -> None:
        if isinstance(node, ast.VariableSymbol | ast.NetSymbol):
            bits[node.type.isUnpackedArray] += node.type.bitstreamWidth

    instance.visit(visit)
    parameters = {p.name: str(p.value) for p in instance.body.parameters if not p.isLocalParam and hasattr(p, "value")}
    listed = [p for p in instance.body.portList if isinstance(p, ast.PortSymbol)]
    enums = any(p.direction.name == "In" and p.type.isEnum for p in listed)
    ports = {p.name: _port(p) for p in listed}
    return SetUnit(instance.definition.name, parameters, ports, bits[False], bits[True], enums)


def _port(port: ast.PortSymbol) -> UnitPort:
    direction, bits = "input" if port.direction.name == "In" else "output", int(port.type.bitstreamWidth)
    kind, counts = port.type, list[int]()
    while isinstance(array := kind.canonicalType, ast.FixedSizeUnpackedArrayType):
        assert min(array.range.left, array.range.right) == 0
        counts.append(array.range.width)
        kind = array.elementType
    element = f"logic{' signed' if kind.isSigned else ''} [{kind.bitWidth - 1}:0]" if counts else ""
    return UnitPort(direction, bits, element, tuple(counts))


def _shell(units: Sequence[SetUnit]) -> str:
    """All units, their ports as plain vectors."""
    ports = [f"  {p.direction} logic [{p.bits - 1}:0] {u.net(name)}" for u in units for name, p in u.ports.items()]
    lines = [f"module {_TOP} (", ",\n".join(ports), ");"]
    for u in units:
        for name, p in u.ports.items():
            places = list(product(*map(range, p.counts))) if p.counts else []
            bits = p.bits // max(1, len(places))
            lines += [f"  {p.element} a_{u.net(name)}{''.join(f' [{n}]' for n in p.counts)};"] if p.counts else []
            for n, place in enumerate(places):
                one, part = f"a_{u.net(name)}" + "".join(f"[{i}]" for i in place), f"{u.net(name)}[{n * bits} +: {bits}]"
                lines.append(f"  assign {one} = {part};" if p.direction == "input" else f"  assign {part} = {one};")
        values = ", ".join(f".{name}({value})" for name, value in u.parameters.items())
        wires = ", ".join(f".{name}({'a_' if p.counts else ''}{u.net(name)})" for name, p in u.ports.items())
        lines.append(f"  {u.name} #({values}) u_{u.name} ({wires});")
    return "\n".join([*lines, "endmodule", ""])


def _around(link: BenchLink) -> Iterator[str]:
    nets = {**link.inputs, **link.outputs}
    for name, (_, bits) in nets.items():
        yield f"  wire [{bits - 1}:0] l_{name};"
    yield f"  {_TOP} dut ({', '.join(f'.{name}(l_{name})' for name in nets)});"


def stimulus(link: BenchLink, cycles: int, seed: int) -> str:
    """Lines for a host: an edge of the clock, other inputs behind it, the clock down again. Some inputs keep their values."""
    rng = random.Random(seed)
    clocks = [name for name in link.inputs if "clk" in name.rpartition("__")[2].split("_")]
    resets = [name for name in link.inputs if "rst" in name.rpartition("__")[2].split("_")]
    values = dict.fromkeys(link.inputs, 0)
    lines: list[str] = []

    def line(at: int) -> None:
        whole = sum(values[name] << low for name, (low, _) in link.inputs.items())
        lines.append(f"0 {at} {whole:x}")

    for n in range(cycles):
        values |= dict.fromkeys(clocks, 1)
        line(2 * n + 1)
        for name, (_, bits) in link.inputs.items():
            if name in resets:
                values[name] = int(n >= _RESET)
            elif name not in clocks and rng.random() >= _KEPT:
                values[name] = rng.getrandbits(bits)
        line(2 * n + 1)
        values |= dict.fromkeys(clocks, 0)
        line(2 * n + 2)
    return "\n".join(lines) + "\n"


def build(units: Sequence[SetUnit], design: Design, simulator: str, folder: Path) -> Sequence[str]:
    """Build the host of the units in a folder; returns its command."""
    folder.mkdir()
    tools, link = find_toolchain(), link_of(units)
    files = [*map(str, _sources(design, folder)), "units.sv"]
    (folder / "units.sv").write_text(_shell(units))
    nets = {name: f"l_{name}" for name in (*link.inputs, *link.outputs)}
    (folder / "host.v").write_text("\n".join(link.host_lines(_around(link), nets)) + "\n")
    includes = [f"-I{p}" for p in design.include_dirs]
    if simulator == "verilator":
        words = ["--binary", "--timing", "-O3", "--no-assert", "--x-assign", "0", "--x-initial", "0", "-DSYNTHESIS", "-Wno-fatal"]
        words += ["-Wno-lint", "-Wno-style", "--top-module", HOST, "--prefix", "Vhost", "-CFLAGS", "-O1", *includes]
        _run([str(tools.verilator), *words, *files, "host.v"], folder)
        return [str(folder / "obj_dir" / "Vhost")]
    read = f"read_slang --top {_TOP} --keep-hierarchy --ignore-assertions {' '.join(includes)} {' '.join(files)}"
    # Registers begin with 0 as in Verilator here: what no reset sets would be x in Icarus, and a netlist takes a branch by x.
    passes = [read, "proc -noopt", "setundef -zero -init", "bwmuxmap", "opt_expr", "opt_reduce", "opt_merge", "opt_clean"]
    if simulator == "icarus":
        icarus = find_icarus()
        _run([sys.executable, "-c", _LOWER, *passes, "write_verilog -noattr lowered.v"], folder)
        _run([str(icarus.compiler), "-g2012", "-s", HOST, "-o", "host.vvp", "host.v", "lowered.v"], folder)
        return [str(icarus.runtime), str(folder / "host.vvp")]
    (folder / "shell.v").write_text("\n".join(link.shell_lines(_around(link), nets)) + "\n")
    (folder / "names.h").write_text("\n".join(link.tables(nets)) + "\n")
    (folder / "host.cpp").write_bytes(CXXRTL_HOST.read_bytes())
    around = ("read_verilog -sv shell.v", f"hierarchy -top {SHELL}", "write_cxxrtl -noflatten design.cpp")
    _run([sys.executable, "-c", _LOWER, *passes, *around], folder)
    spec = find_spec("pyosys")
    assert spec is not None
    assert spec.origin is not None
    include = Path(spec.origin).parent / "share" / "include"
    options = ["-std=c++17", "-O0", "-w", f"-I{include}", f"-I{include / 'backends' / 'cxxrtl' / 'runtime'}"]
    _run([str(tools.compiler), *options, "host.cpp", "-o", "host"], folder)
    return [str(folder / "host")]


def _run(words: Sequence[str], folder: Path) -> None:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]


def outputs(command: Sequence[str], lines: str, folder: Path) -> tuple[Sequence[str], float]:
    """(outputs after each line, seconds) of a host."""
    (folder / "in.txt").write_text(lines)
    begun = time.monotonic()
    _run(["bash", "-c", f'exec {_IN}<in.txt {_OUT}>out.txt && exec "$@"', "host", *command], folder)
    return (folder / "out.txt").read_text().splitlines(), time.monotonic() - begun
