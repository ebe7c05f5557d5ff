"""A set's own design in another simulator: yosys reads it with slang and writes plain Verilog (Icarus) or C++ (CXXRTL).

The bench stays the burst bench of Verilator with its memories, host, checkers and recorder; its `fleet_dut` asks a process that
has the design. Modules that tell the bench of writes inside (`fleet_observe_write`) are no hardware and stay in the bench: each
gets what goes into its place in the design. A netlist has no `if (x)`, so nothing here says anything of x.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from fleet.core.scratch import Scratch
from fleet.engines.linked.link import CXXRTL_HOST, HOST, LINK, SHELL, BenchLink
from fleet.engines.rtl_sim.build import Design, DesignHost, copy_name
from fleet.engines.rtl_sim.dut import generate
from fleet.engines.rtl_sim.tools import find_icarus, find_toolchain
from fleet.errors import DeviceError, SetupError
from fleet.sdk import rtl_models

if TYPE_CHECKING:
    from pyslang import ast

_OBSERVES = "fleet_observe_write"
_CLOCKS = ("clk_i", "rst_ni")
"""Ports of an observer that the bench drives itself: what comes over the link comes after the clock's edge."""
_LOWER = "import sys; from pyosys import libyosys as y; d = y.Design(); [y.run_pass(c, d) for c in sys.argv[1:]]"
_HINT = "pip install 'fleet-cosim[adopt,simulators]'"
_PLAIN_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_PORTS: tuple[str, ...] = ("input", "output")


@dataclass(frozen=True)
class ObserverPort:
    """A port of an observer. bits: its width; path: what it is in the design; "" for an output, which nothing reads."""

    name: str
    bits: int
    path: str


@dataclass(frozen=True)
class DesignObserver:
    """A module inside that tells the bench what it writes. parameters: of this instance, as text."""

    module: str
    parameters: Mapping[str, str]
    ports: Sequence[ObserverPort]


@dataclass(frozen=True)
class DesignInside:
    """A design as slang elaborates it.

    ports: of `fleet_dut`, name -> (direction, bits); observers: inside; bits: of all nets and variables, memories left out.
    """

    ports: Mapping[str, tuple[str, int]]
    observers: Sequence[DesignObserver]
    bits: int


MOST_BITS = 100_000
"""Bits of signals from which on a netlist is not made: with 47,764 it runs 12 to 33 cycles a second, with 365,989 yosys makes
242 MB of text before it begins to simplify.
"""


def find_simulator(simulator: str) -> str:
    """Version of the yosys that lowers for it. Raises SetupError for an unknown name, and for what is not installed."""
    if simulator not in _MAKERS:
        raise SetupError(f"there is no simulator {simulator}", hint=f"choose among verilator, {', '.join(_MAKERS)}")
    if simulator == "icarus":
        find_icarus()
    try:
        found = version("pyosys")
    except PackageNotFoundError:
        raise SetupError("a set's own design in another simulator needs pyosys", hint=_HINT) from None
    if find_spec("pyslang") is None:
        raise SetupError("a set's own design in another simulator needs pyslang", hint=_HINT)
    return f"pyosys {found}"


def in_simulator(design: Design, simulator: str) -> Design:
    """The design with another simulator in its place in the bench: "icarus" or "cxxrtl".

    Raises SetupError for an unknown name and what is not installed, DeviceError for a design that is too large or cannot be carried
    over a link.
    """
    lowers = find_simulator(simulator)
    if design.cpp:
        raise DeviceError(f"{design.cpp[0].name}: C++ of a design does not go with it to {simulator}", where=design.dut.top)
    inside = looked_into(design)
    if inside.bits > MOST_BITS:
        raise DeviceError(
            f"{design.dut.top} has {inside.bits:,} bits of signals; a netlist for {simulator} may have {MOST_BITS:,}",
            hint="run it under Verilator, or a smaller device of the set here",
        )
    return replace(design, keepers=(), host=_MAKERS[simulator](design, inside.ports, inside.observers, lowers))


# What travels.


def looked_into(design: Design) -> DesignInside:
    """Elaborate a design. Raises DeviceError for what slang cannot read and what does not go over a link."""
    from pyslang import ast
    from pyslang.driver import Driver

    observing = {p for p in design.sources if _OBSERVES in p.read_text(encoding="utf-8", errors="replace")}
    with Scratch("lowered") as folder:
        for name, text in generate(design.dut).items():
            (folder / name).write_text(text, encoding="utf-8")
        axi = rtl_models() / "axi" / "fleet_axi_pkg.sv"
        sources = [folder / "fleet_dut_pkg.sv", axi, *_hardware(design), folder / "fleet_dut.sv"]
        words = ["--single-unit", "--top", "fleet_dut", "-Wnone", *(f"-I{p}" for p in design.include_dirs), *map(str, sources)]
        driver = Driver()
        driver.addStandardArgs()
        line = " ".join('"' + w.replace("\\", "\\\\").replace('"', '\\"') + '"' for w in words)
        if not (driver.parseCommandLine(line) and driver.processOptions() and driver.parseAllSources()):
            raise DeviceError("slang cannot read the design", where=design.dut.top)
        compilation = driver.createCompilation()
        top = next(i for i in compilation.getRoot().topInstances if i.name == "fleet_dut")
        ports = {p.name: (_direction(p), int(p.type.bitWidth)) for p in _ports(top)}
        found: list[DesignObserver] = []
        widths: list[int] = []

        def visit(node: object) -> None:
            if isinstance(node, ast.VariableSymbol | ast.NetSymbol) and not node.type.isUnpackedArray:
                widths.append(node.type.bitstreamWidth)
            if isinstance(node, ast.InstanceSymbol):
                path = Path(driver.sourceManager.getFullPath(node.definition.location.buffer))
                if path in observing:
                    found.append(_observer(node))

        top.visit(visit)
    return DesignInside(ports, found, sum(widths))


def _ports(instance: ast.InstanceSymbol) -> Iterator[ast.PortSymbol]:
    from pyslang import ast

    for port in instance.body.portList:
        if not isinstance(port, ast.PortSymbol):
            raise DeviceError(f"port {port.name} of {instance.name} is not a plain one, which does not go over a link")
        yield port


def _direction(port: ast.PortSymbol) -> str:
    return "input" if port.direction.name == "In" else "output"


def _observer(instance: ast.InstanceSymbol) -> DesignObserver:
    inside = instance.hierarchicalPath.removeprefix("fleet_dut.")
    ports: list[ObserverPort] = []
    for port in _ports(instance):
        taken = _direction(port) == "input" and port.name not in _CLOCKS
        ports.append(ObserverPort(port.name, int(port.type.bitWidth), f"{inside}.{port.name}" if taken else ""))
    values = {p.name: str(p.value) for p in instance.body.parameters if not p.isLocalParam and hasattr(p, "value")}
    if "[" in inside:  # of a generate block: yosys makes one name of it and what is inside
        raise DeviceError(f"{inside} observes writes inside of a generate block, which does not go over a link")
    return DesignObserver(instance.definition.name, values, ports)


def link_to(ports: Mapping[str, tuple[str, int]], observers: Sequence[DesignObserver]) -> BenchLink:
    """Return the vectors that travel: ports, and behind the outputs what goes into observers."""
    vectors: dict[str, dict[str, tuple[int, int]]] = {kind: {} for kind in _PORTS}
    at = dict.fromkeys(_PORTS, 0)
    for name, (kind, bits) in ports.items():
        vectors[kind][name] = at[kind], bits
        at[kind] += bits
    probes: dict[str, tuple[int, int]] = {}
    low = at["output"]
    for port in (p for o in observers for p in o.ports if p.path):
        probes[port.path] = low, port.bits
        low += port.bits
    return BenchLink(vectors["input"], vectors["output"], probes, {})


# Texts.


def _hardware(design: Design) -> list[Path]:
    """Return the design's SystemVerilog, without what is Verilator's own."""
    return [p for p in design.sources if p.suffix != ".vlt" and p.name != "fleet_axi_pkg.sv"]


def bench_module(design: Design, link: BenchLink, observers: Sequence[DesignObserver]) -> str:
    """`fleet_dut` of the bench: the link, and the observers that are no hardware."""
    text = generate(design.dut)["fleet_dut.sv"]
    head, _, _ = text.partition("\n);\n")
    nets = {name: f"l_{name}" for name in (*link.inputs, *link.outputs)}
    lines = [f"{head}\n);", "  wire rst = !rst_ni;", "  longint cycle = 0;", "  always @(posedge clk_i) cycle <= cycle + 1;"]
    lines += link.bench_lines(nets)
    lines += [f"  assign {nets[name]} = {name};" for name in link.inputs]
    lines += [f"  assign {name} = {nets[name]};" for name in link.outputs]
    for n, o in enumerate(observers):
        values = ", ".join(f".{name}({value})" for name, value in o.parameters.items())
        probes = {p.name: link.probe(p.path) if p.path else "" for p in o.ports}
        wires = [f".{name}({name if name in _CLOCKS else wire})" for name, wire in probes.items()]
        lines.append(f"  {o.module} #({values}) u_observer{n} ({', '.join(wires)});")
    return "\n".join([*lines, "endmodule", ""])


def _around(link: BenchLink) -> Iterator[str]:
    """The lines of the design's instance in a module around it."""
    for name, (_, width) in {**link.inputs, **link.outputs}.items():
        yield f"  wire [{width - 1}:0] l_{name};"
    wires = ", ".join(f".{name}(l_{name})" for name in (*link.inputs, *link.outputs))
    yield f"  fleet_dut dut ({wires});"


Run = Callable[[Sequence[str]], None]


def _read(design: Design) -> str:
    includes = " ".join(f"-I inc{i}" for i in range(len(design.include_dirs)))
    names = ["src/fleet_dut_pkg.sv", "src/fleet_axi_pkg.sv", *(copy_name(p) for p in _hardware(design)), "lowered_dut.sv"]
    return f"read_slang --top fleet_dut --keep-hierarchy --ignore-assertions {includes} {' '.join(names)}"


def _lower(observers: Sequence[DesignObserver]) -> Iterator[str]:
    """Passes that make it a netlist in which what goes into observers stays, though nothing there reads it."""
    for place in dict.fromkeys(p.path.rpartition(".")[0] for o in observers for p in o.ports if p.path):
        yield f"setattr -set keep 1 */c:{place.rpartition('.')[2]}"
        yield f"setattr -set keep 1 *fleet_dut.{place}/w:*"
    yield from ("proc -noopt", "bwmuxmap", "opt_expr", "opt_reduce", "opt_merge", "opt_clean")


def _host(
    name: str, version: str, design: Design, ports: Mapping[str, tuple[str, int]], observers: Sequence[DesignObserver],
    files: Callable[[BenchLink, Mapping[str, str]], Mapping[str, str]], prepare: Callable[[Run], None], arguments: Sequence[str],
) -> DesignHost:  # fmt: skip
    link = link_to(ports, observers)
    nets = {p: f"l_{p}" for p in (*link.inputs, *link.outputs)}
    given = {"lowered_dut.sv": generate(design.dut)["fleet_dut.sv"], **files(link, nets)}
    return DesignHost(name, version, bench_module(design, link, observers), LINK, tuple(given.items()), prepare, tuple(arguments))


def _icarus(design: Design, ports: Mapping[str, tuple[str, int]], observers: Sequence[DesignObserver], lowers: str) -> DesignHost:
    tools = find_icarus()
    passes = [_read(design), *_lower(observers), "write_verilog -noattr lowered.v"]

    def prepare(run: Run) -> None:
        run([sys.executable, "-c", _LOWER, *passes])
        run([str(tools.compiler), "-g2012", "-s", HOST, "-o", "host.vvp", "host.v", "lowered.v"])

    def files(link: BenchLink, nets: Mapping[str, str]) -> Mapping[str, str]:
        return {"host.v": "\n".join(link.host_lines(_around(link), nets)) + "\n"}

    arguments = (f"+link_program={tools.runtime}", "+link_image=@/host.vvp")
    said = f"{tools.version}; {lowers}; {'; '.join(passes)}"
    return _host("icarus", said, design, ports, observers, files, prepare, arguments)


def _cxxrtl(design: Design, ports: Mapping[str, tuple[str, int]], observers: Sequence[DesignObserver], lowers: str) -> DesignHost:
    tools = find_toolchain()
    spec = find_spec("pyosys")
    assert spec is not None
    assert spec.origin is not None
    include = Path(spec.origin).parent / "share" / "include"
    around = ("read_verilog -sv shell.v", f"hierarchy -top {SHELL}", "write_cxxrtl -noflatten design.cpp")
    passes = [_read(design), *_lower(observers), *around]
    # Small cases: the compiler is what takes time, and with one function for the whole design or at -O1 it takes many minutes.
    compiler = [str(tools.compiler), "-std=c++17", "-O0", "-w", f"-I{include / 'backends' / 'cxxrtl' / 'runtime'}"]

    def prepare(run: Run) -> None:
        run([sys.executable, "-c", _LOWER, *passes])
        run([*compiler, "host.cpp", "-o", "host"])

    def files(link: BenchLink, nets: Mapping[str, str]) -> Mapping[str, str]:
        return {
            "shell.v": "\n".join(link.shell_lines(_around(link), nets)) + "\n",
            "names.h": "\n".join(link.tables(nets)) + "\n",
            "host.cpp": CXXRTL_HOST.read_text(encoding="utf-8"),
        }

    said = f"{lowers}; {tools.compiler_version}; {compiler[1:4]}; {'; '.join(passes)}"
    return _host("cxxrtl", said, design, ports, observers, files, prepare, ("+link_program=@/host", "+link_image=@/host"))


_MAKERS = {"icarus": _icarus, "cxxrtl": _cxxrtl}
