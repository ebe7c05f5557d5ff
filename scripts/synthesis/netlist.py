"""A mapped netlist: its cells by kind, and its slowest path, by stated delays.

A path begins at a flip-flop or a memory and ends at one, or at an input and an output of the module. Delays are those of a
stage with its wiring, of our choosing, not of a vendor: a LUT 0.35 ns, a MUXF 0.10, a CARRY4 0.05 from carry to carry and 0.15
from or to elsewhere, a DSP block whose registers are not used 2.40, one that uses them cuts; a register adds 0.10 from its
clock and 0.05 before it. A box (an operator or a module that was synthesised alone) has the delays that its own netlist gave:
of an operator from all inputs to its result, of a module bit by bit where a path begins or ends in it. Of a path that goes
through a module both the slowest from this input bit to any bit of that output and the slowest from any bit of that input to this
output bit are known; it is at most the smaller one, and taken to be that.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

LUT_NS, MUXF_NS, CARRY_NS, INTO_CARRY_NS, DSP_NS, CLOCK_NS, SETUP_NS = 0.35, 0.10, 0.05, 0.15, 2.40, 0.10, 0.05
KINDS = {
    "LUT": r"LUT[1-6]", "FF": r"FD[RSCP]E", "LATCH": r"LD[CP]E", "DSP": r"DSP48E2", "CARRY4": r"CARRY4", "MUXF": r"MUXF[789]",
    "BRAM18": r"RAMB18E2", "BRAM36": r"RAMB36E2", "URAM": r"URAM288(_BASE)?",
}  # fmt: skip
_LUT_RAM = {
    r"RAM32M16": 16,
    r"RAM64M8": 8,
    r"RAM32M": 4,
    r"RAM64M": 4,
    r"RAM64X1[SD]": 2,
    r"RAM128X1[SD]": 4,
    r"RAM256X1[SD]": 8,
    r"RAM512X1S": 8,
}
_NOTHING = r"INV|BUF|VCC|GND|\$scopeinfo|\$print|\$check"  # an inverter is absorbed by what reads it

Bit = tuple[str, int]
"""A port and the place of one of its bits."""


@dataclass(frozen=True)
class Summary:
    """What a netlist takes, and how slow it is.

    Attributes:
        cells: kind -> number, of itself alone. boxes: box -> number.
        inner: ns of the slowest path between its own registers. path: kinds of cells on it, and the module in which it ends.
        into: bit of an input -> ns to a register. out: bit of an output -> ns from a register.
        from_input: bit of an input -> output -> ns. to_output: bit of an output -> input -> ns.
        loops: number of edges that were removed because they close a combinational loop.
    """

    cells: Mapping[str, float]
    boxes: Mapping[str, int] = field(default_factory=dict)
    inner: float = 0.0
    path: Sequence[str] = ()
    into: Mapping[Bit, float] = field(default_factory=dict)
    out: Mapping[Bit, float] = field(default_factory=dict)
    from_input: Mapping[Bit, Mapping[str, float]] = field(default_factory=dict)
    to_output: Mapping[Bit, Mapping[str, float]] = field(default_factory=dict)
    loops: int = 0

    def through(self, source: Bit, end: Bit) -> float | None:
        """Return ns from a bit of an input to one of an output, at most; None if there is no path."""
        there = self.from_input.get(source, {}).get(end[0])
        back = self.to_output.get(end, {}).get(source[0])
        return None if there is None or back is None else min(there, back)


@dataclass(frozen=True)
class OperatorBox(Summary):
    """An operator as a box: from all inputs to its result; no register. delay: ns."""

    delay: float = 0.0

    def through(self, source: Bit, end: Bit) -> float | None:
        """Return the delay; see Summary."""
        return self.delay


def kind_of(cell: str) -> tuple[str, float]:
    """Return the kind of a cell and how many of it one is. Raises ValueError for an unknown one, which would be left out."""
    for kind, pattern in KINDS.items():
        if re.fullmatch(pattern, cell):
            return kind, 1
    for pattern, luts in _LUT_RAM.items():
        if re.fullmatch(pattern, cell):
            return "LUTRAM", luts
    if cell in {"SRL16E", "SRLC16E", "SRLC32E"}:
        return "LUTRAM", 1
    if re.fullmatch(_NOTHING, cell):
        return "", 0
    raise ValueError(f"a cell of kind {cell}, expected {', '.join(KINDS)}")


class _Timing:
    """Arrival times of the bits of one module."""

    def __init__(self, module: Mapping[str, Any], boxes: Mapping[str, Summary]) -> None:
        self.boxes, self.loops = boxes, 0
        self.driver: dict[int, tuple[Mapping[str, Any], Bit]] = {}
        self.source: dict[int, Bit] = {}
        self.ends: list[tuple[int, float, str]] = []  # bit, ns, the module that it ends in
        self.ports: Mapping[str, Any] = module["ports"]
        for name, port in self.ports.items():
            if port["direction"] == "input":
                self.source |= {bit: (name, i) for i, bit in enumerate(port["bits"]) if isinstance(bit, int)}
        for cell in module["cells"].values():
            cut = self._cuts(cell)
            for port, bits in cell["connections"].items():
                output = cell["port_directions"][port] == "output"
                for i, bit in enumerate(bits):
                    if not isinstance(bit, int):
                        continue
                    if output:
                        self.driver[bit] = cell, (port, i)
                    elif cut and port not in {"C", "CLK", "WCLK"}:
                        self.ends.append((bit, SETUP_NS, ""))
                    elif (box := boxes.get(cell["type"])) is not None and (port, i) in box.into:
                        self.ends.append((bit, box.into[port, i], cell["type"]))

    def _cuts(self, cell: Mapping[str, Any]) -> bool:
        kind = cell["type"]
        if kind in self.boxes:
            return False
        if kind == "DSP48E2":
            used = cell.get("parameters", {})
            return any(int(str(used.get(r, "0")), 2) for r in ("AREG", "BREG", "MREG", "PREG"))
        name, _ = kind_of(kind)
        return name in {"FF", "LATCH", "BRAM18", "BRAM36", "URAM", "LUTRAM"}

    def _inputs(self, bit: int) -> list[tuple[int, float]]:
        """Return the bits that a bit follows from in its cell, with the delay from each."""
        cell, out = self.driver[bit]
        box = self.boxes.get(cell["type"])
        kind = cell["type"]
        found: list[tuple[int, float]] = []
        for port, bits in cell["connections"].items():
            if cell["port_directions"][port] == "output":
                continue
            if box is not None:
                reached = ((b, box.through((port, i), out)) for i, b in enumerate(bits) if isinstance(b, int))
                found += ((b, delay) for b, delay in reached if delay is not None)
                continue
            if kind == "CARRY4":
                delay = CARRY_NS if port == "CI" and out[0] == "CO" else INTO_CARRY_NS
            elif kind == "DSP48E2":
                delay = DSP_NS
            else:
                delay = MUXF_NS if kind.startswith("MUXF") else 0.0 if kind in {"INV", "BUF"} else LUT_NS
            found += ((b, delay) for b in bits if isinstance(b, int))
        return found

    def order(self) -> list[int]:
        """Return all bits that something drives, each behind those that it follows from."""
        state: dict[int, int] = {}
        found: list[int] = []
        self.edges: dict[int, list[tuple[int, float]]] = {}
        for start in self.driver:
            stack = [(start, False)]
            while stack:
                bit, done = stack.pop()
                if done:
                    state[bit] = 2
                    found.append(bit)
                    continue
                if state.get(bit):
                    continue
                state[bit] = 1
                stack.append((bit, True))
                if bit in self.driver and not self._cuts(self.driver[bit][0]):
                    edges = self._inputs(bit)
                    kept = [e for e in edges if state.get(e[0]) != 1]
                    self.loops += len(edges) - len(kept)
                    self.edges[bit] = kept
                    stack += ((b, False) for b, _ in kept if not state.get(b))
        return found

    def launched(self, bit: int) -> float | None:
        """Return when a bit leaves a register, or a box from a register within; None if it does not."""
        if bit not in self.driver:
            return None
        cell, port = self.driver[bit]
        box = self.boxes.get(cell["type"])
        if box is not None:
            return box.out.get(port)
        return CLOCK_NS if self._cuts(cell) else None


def carry_pairs(module: Mapping[str, Any]) -> int:
    """Return the number of LUTs that are packed with another LUT into one LUT6, which has two outputs (UltraScale, UG574).

    Packed are the LUTs that drive inputs S and DI of one bit of a CARRY4 if both together have at most five inputs and nothing else
    reads the LUT of DI. If the LUT of S reads the output of the LUT of DI, it takes that LUT's inputs instead.
    """
    reads, driver = Counter[int](), dict[int, frozenset[int]]()
    for cell in module["cells"].values():
        directions = cell["port_directions"]
        inputs = [
            b for port, bits in cell["connections"].items() if directions[port] != "output" for b in bits if isinstance(b, int)
        ]
        reads.update(inputs)
        if cell["type"].startswith("LUT"):
            driver[cell["connections"]["O"][0]] = frozenset(inputs)
    for port in module["ports"].values():
        if port["direction"] != "input":
            reads.update(b for b in port["bits"] if isinstance(b, int))
    found = 0
    for cell in module["cells"].values():
        if cell["type"] == "CARRY4":
            pins = cell["connections"]
            for select, operand in zip(pins.get("S", ()), pins.get("DI", ()), strict=False):
                if select in driver and operand in driver and select != operand:
                    others = reads[operand] - 1 - (operand in driver[select])
                    found += others == 0 and len((driver[select] - {operand}) | driver[operand]) <= 5
    return found


def cells_of(module: Mapping[str, Any], boxes: Mapping[str, Summary]) -> Summary:
    """Return what a module of a JSON netlist takes, without its paths. Raises ValueError."""
    cells, used = Counter[str](), Counter[str]()
    for cell in module["cells"].values():
        if cell["type"] in boxes:
            used[cell["type"]] += 1
        else:
            kind, count = kind_of(cell["type"])
            if kind:
                cells[kind] += count
    cells["LUT"] -= carry_pairs(module)
    return Summary(dict(cells), dict(used))


def summary(module: Mapping[str, Any], boxes: Mapping[str, Summary]) -> Summary:
    """Return the summary of a module of a JSON netlist. boxes: of what it instantiates, by name. Raises ValueError."""
    counted = cells_of(module, boxes)
    timing = _Timing(module, boxes)
    order = timing.order()
    arrival, came = _arrivals(timing, order)
    inner, last, end = max(
        ((arrival[bit] + setup, bit, end) for bit, setup, end in timing.ends if bit in arrival), default=(0.0, -1, "")
    )
    path = [end] if end else []
    while last >= 0:
        if last in timing.driver:
            path.append(str(timing.driver[last][0]["type"]))
        last = came.get(last, -1)
    outputs = {(n, i): b for n, port in timing.ports.items() if port["direction"] != "input" for i, b in enumerate(port["bits"])}
    since, until, before_register = _through(timing, order, outputs)
    return Summary(
        counted.cells,
        counted.boxes,
        inner,
        tuple(reversed(path)),
        {bit: before_register[net] for net, bit in timing.source.items() if net in before_register},
        {bit: arrival[net] for bit, net in outputs.items() if net in arrival},
        {bit: until[net] for net, bit in timing.source.items() if net in until},
        {bit: since[net] for bit, net in outputs.items() if net in since},
        timing.loops,
    )


def _arrivals(timing: _Timing, order: Sequence[int]) -> tuple[dict[int, float], dict[int, int]]:
    """Return when a bit is there after the clock, and the bit before it on its slowest path."""
    arrival, came = dict[int, float](), dict[int, int]()
    for bit in order:
        best = timing.launched(bit)
        for b, delay in timing.edges.get(bit, ()):
            if b in arrival and (best is None or arrival[b] + delay > best):
                best, came[bit] = arrival[b] + delay, b
        if best is not None:
            arrival[bit] = best
    return arrival, came


Steps = list[tuple[float, str, str]]
"""Of a path: ns after the clock, net, kind of the cell that drives it."""


def slowest_paths(module: Mapping[str, Any], boxes: Mapping[str, Summary], count: int) -> list[tuple[str, Steps]]:
    """Return the slowest paths of a module of a JSON netlist that end in different registers or boxes, the slowest first.

    Of each: its end, and ns after the clock, net and cell of every step; see `summary`.
    """
    nets = {bit: f"{name}[{i}]" for name, net in module["netnames"].items() for i, bit in enumerate(net["bits"])}
    timing = _Timing(module, boxes)
    arrival, came = _arrivals(timing, timing.order())
    ends = sorted(((arrival[bit] + setup, bit, end) for bit, setup, end in timing.ends if bit in arrival), reverse=True)
    found: dict[str, Steps] = {}
    for ns, bit, box in ends:
        end = f"{nets[bit].partition('[')[0]} {f'in {box}' if box else 'before a register'}"
        if end in found or len(found) == count:
            continue
        steps, at = [(ns, end, "")], bit
        while at >= 0:
            steps.append((arrival[at], nets[at], timing.driver[at][0]["type"] if at in timing.driver else "input"))
            at = came.get(at, -1)
        found[end] = steps[::-1]
    return list(found.items())


Delays = dict[int, dict[str, float]]


def _through(timing: _Timing, order: Sequence[int], outputs: Mapping[Bit, Any]) -> tuple[Delays, Delays, dict[int, float]]:
    """Return of each bit the delays since each input, until each output, and until the slowest register."""
    since: Delays = {net: {bit[0]: 0.0} for net, bit in timing.source.items()}
    for bit in order:
        for b, delay in timing.edges.get(bit, ()):
            for name, before in since.get(b, {}).items():
                found = since.setdefault(bit, {})
                found[name] = max(found.get(name, 0.0), before + delay)
    until: Delays = {}
    for (name, _), net in outputs.items():
        until.setdefault(net, {})[name] = 0.0
    register: dict[int, float] = {}
    for bit, setup, _ in timing.ends:
        register[bit] = max(register.get(bit, 0.0), setup)
    for bit in reversed(order):
        for b, delay in timing.edges.get(bit, ()):
            if bit in register:
                register[b] = max(register.get(b, 0.0), register[bit] + delay)
            for name, after in until.get(bit, {}).items():
                found = until.setdefault(b, {})
                found[name] = max(found.get(name, 0.0), after + delay)
    return since, until, register


def operator_box(alone: Summary) -> OperatorBox:
    """Return an operator as a box: the delay between its registers."""
    cells = {kind: count for kind, count in alone.cells.items() if kind != "FF"}
    return OperatorBox(cells, path=alone.path, delay=max(0.0, alone.inner - CLOCK_NS - SETUP_NS))
