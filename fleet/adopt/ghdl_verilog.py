"""Mends the Verilog that ghdl's synthesis writes.

ghdl 2.0 writes its netlist well as VHDL and badly as Verilog: signed operators lose their sign, wide constants become strings, a
case loses its last choice, some lines stay VHDL. Each fault has one form of line. A line of that form is mended, with what ghdl's
other outputs say where the Verilog lacks it; a line of VHDL in no known form is refused. Right lines stay as they are, so the text
of a ghdl without these faults does not change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from fleet.errors import DeviceError

_NAME = r"(?:\\\S+ |\w+)"
_LITERAL = r"\d+'b[01XZxz]+"
_OPERAND = rf"(?:{_LITERAL}|\"[01XZ]+\"|{_NAME}(?:\[\d+(?::\d+)?\])?)"
_STRING = re.compile(r'"([01XZ]+)"')
_CONNECTION = re.compile(r"^    \.")
_LONG = 33
"""Constants of so many bits and more may become strings."""

_PLACE = re.compile(r"^\s*/\*#? ((.+):(\d+)):(\d+)\s*\*/$")
_MODULE = re.compile(rf"^module ({_NAME})")
_ASR = re.compile(r"^(  assign .+? = \$signed\(.+\)) >> (.+;)$")
_TAGGED = re.compile(rf"^  assign ({_NAME}) = ({_OPERAND}) ([/%]) ({_OPERAND}); // (sdiv|srem|smod)$")
_TAG = re.compile(r"// (sdiv|srem|smod)$")
_ABS = re.compile(rf"^  ({_NAME}) <= std_logic_vector ?\(abs \$signed\(({_OPERAND})\)\);$")
_SIDE = re.compile(rf"^  ({_NAME}) <= ({_OPERAND}) when (\$signed\({_OPERAND}\) [<>] \$signed\({_OPERAND}\)) else ({_OPERAND});$")
_TRUNCATED = re.compile(r"^  assign (n(\d+)_o) = (\w+)\[(?:(\d+):)?0\]; +// trunc$")
_NOT_VERILOG = re.compile(
    r"^  (?!(?:assign|initial|always|parameter|localparam)\b)(?:\S+ <= |\S+: (?:postponed )?assert )|^   ?gate_\w+"
)
_OPERATOR = re.compile(r"\b(rotate_left|rotate_right|abs|when|assert|gate_\w+)\b")
_ARM = re.compile(r"^      \d+'b[01]+: (\S+) (<?=) ")
_BITS_OF = r"^ .*\b(?:wire|reg|input|output|inout) +\[(\d+):0\] {}\s*[;,)]"
_WORD = re.compile(r"(?:\w+\.)*(\w+)")
_ROTATIONS = frozenset({"rotate_left", "rotate_right", "rol", "ror"})
_SHIFT = re.compile(rf"^  assign (n\d+_o) = ({_OPERAND}) (<<|>>) (\w+);$")
_INITIAL = re.compile(rf"^    ({_NAME}) (?:<=|=) ")
_DRIVEN_BY_CONSTANT = re.compile(rf"^    ({_NAME}) = ({_LITERAL}|\"[01XZ]+\"); // \(isignal\)$")
_REGISTER = re.compile(r"^  reg (?:\[\d+:0\] )?(n\d+_q);$")
_WIDE = re.compile(r"\b(\d+)'b(0+)(1[01]{31})\b")
_CELL = re.compile(rf"^    {_NAME}\[\d+\] = ")
"""The first value of a memory's word."""
_DECLARED = re.compile(rf"^\s*\(?(?:\(\*.*\*\) )?(?:wire|reg|input|output|inout) +(?:\[\d+:0\] )?({_NAME})\s*[;,)]", re.M)
_EXTENDED = re.compile(r"^\s*\(?(?:\(\*.*\*\) )?(?:wire|reg|input|output|inout) +(?:\[\d+:0\] )?(\\.*\\)[;,)]", re.M)
"""An extended identifier as VHDL has it: in Verilog a space ends one."""
_KEYWORDS = frozenset({
    "always", "and", "assign", "automatic", "begin", "buf", "case", "casex", "casez", "cell", "config", "deassign", "default",
    "defparam", "design", "disable", "edge", "else", "end", "endcase", "endconfig", "endfunction", "endgenerate", "endmodule",
    "endprimitive", "endspecify", "endtable", "endtask", "event", "for", "force", "forever", "fork", "function", "generate",
    "genvar", "if", "ifnone", "include", "initial", "inout", "input", "instance", "integer", "join", "large", "liblist",
    "library", "localparam", "macromodule", "medium", "module", "nand", "negedge", "nmos", "nor", "noshowcancelled", "not",
    "notif0", "notif1", "or", "output", "parameter", "pmos", "posedge", "primitive", "pull0", "pull1", "pulldown", "pullup",
    "real", "realtime", "reg", "release", "repeat", "scalared", "signed", "small", "specify", "specparam", "strong0", "strong1",
    "supply0", "supply1", "table", "task", "time", "tran", "tri", "tri0", "tri1", "triand", "trior", "trireg", "unsigned",
    "use", "uwire", "vectored", "wait", "wand", "weak0", "weak1", "while", "wire", "wor", "xnor", "xor",
})  # fmt: skip

_ENTITY_OF = re.compile(r"^architecture rtl of (\S+) is$")
_SIGNAL_VALUE = re.compile(r"^  signal (n\d+_q) : .* := (.+);$")
_SELECT = re.compile(r"^  with \S+ select (\S+) <=$")
_ALL = re.compile(r"^\((\d+) downto 0 => '([01XZ])'\)$")
_OTHERS = re.compile(r"^    (.+) when others;$")
_TRUNCATION = re.compile(r"^\s+instance %(\d+)\{\w+\}: \$strunc$")
_INSTANCE = re.compile(r"^\s+instance .*: \$const_(SB32|UB32|bit)$")
_VALUE = re.compile(r"^\s+parameters (?:\$val=)?(\d+)((?: \d+)*)$")
_WIDTH = re.compile(r"^\s+outputs .*w(\d+)\}$")


@dataclass(frozen=True)
class GhdlOutputs:
    """What ghdl writes of an entity.

    Attributes:
        version: first line of `ghdl --version`.
        entity: its name.
        other: runs ghdl with another value of `--out`.
    """

    version: str
    entity: str
    verilog: str
    other: Callable[[str], str]


@dataclass
class _Netlist:
    """What the VHDL of a module has and its Verilog lacks: values at the start and the choices of `others`."""

    values: dict[str, str] = field(default_factory=dict[str, str])
    others: dict[str, str] = field(default_factory=dict[str, str])


def mended(outputs: GhdlOutputs) -> str:
    """Return the Verilog without the known faults of ghdl's writer. Raises DeviceError for a line that cannot be mended."""
    return _Mending(outputs).text()


class _Mending:
    def __init__(self, outputs: GhdlOutputs) -> None:
        self._outputs = outputs
        self._place = outputs.entity
        self._at: tuple[str, int, int] = ("", 0, 0)
        self._netlists: Mapping[str, _Netlist] | None = None
        self._truncations: frozenset[tuple[str, str]] | None = None
        self._sources: dict[str, list[str]] = {}

    def text(self) -> str:
        """Return the whole text."""
        return "\n".join(self._lines(self._signed_constants(self._outputs.verilog))) + "\n"

    def _lines(self, text: str) -> Iterator[str]:
        for module in re.split(r"(?m)(?=^module )", text):
            lines = module.splitlines()
            found = _MODULE.match(module)
            if found is None:
                yield from lines
                continue
            for name in (*_EXTENDED.findall(module), *(n for n in _DECLARED.findall(module) if n in _KEYWORDS)):
                raise self._refused(f"the name {name}", self._outputs.entity, "rename it")
            yield from self._module(found[1].strip(), lines)

    def _module(self, name: str, lines: list[str]) -> Iterator[str]:
        begun = {m[1] for above, line in pairwise(lines) if above == "  initial" and (m := _INITIAL.match(line))}
        registers = {m[1] for line in lines if (m := _REGISTER.match(line))}
        arm: re.Match[str] | None = None  # of the case that is open and has no default
        at = 0
        while at < len(lines):
            line = lines[at]
            at += 1
            if (found := _PLACE.match(line)) is not None:
                self._place, self._at = found[1], (found[2], int(found[3]), int(found[4]))
            if line == "endmodule":
                for register in sorted(registers - begun):
                    if value := self._netlist(name).values.get(register):
                        yield from ("  initial", f"    {register} = {self._declared(value, lines)};")
            if line == "  always @*" and at < len(lines) and (found := _DRIVEN_BY_CONSTANT.match(lines[at])) is not None:
                # Nothing that it waits for changes, so it never runs.
                yield from ("  initial", f"    {found[1]} = {_literal(found[2])};")
                at += 1
                if lines[at : at + 1] == ["  initial"] and (again := _INITIAL.match(lines[at + 1])) and again[1] == found[1]:
                    at += 2
                continue
            if (found := _ARM.match(line)) is not None:
                arm = found
            if line.startswith("      default:"):
                arm = None
            if line == "    endcase" and arm is not None and not _complete(lines, at - 1):
                last = self._netlist(name).others.get(arm[1], "")
                yield f"      default: {arm[1]} {arm[2]} {self._declared(last, lines)};"
            if line == "    endcase":
                arm = None
            if (found := _TRUNCATED.match(line)) is not None and self._resizes(found[2]):
                sign = next((m[1] for above in lines if (m := re.match(_BITS_OF.format(found[3]), above))), "")
                if not sign:
                    raise self._refused("resize of signed", self._place)
                rest = f", {found[3]}[{int(found[4]) - 1}:0]" if found[4] else ""
                yield f"  assign {found[1]} = {{{found[3]}[{sign}]{rest}}};  // resize"
                continue
            if (found := _SHIFT.match(line)) is not None and self._word() in _ROTATIONS:  # by so many bits and more, too
                top = next((m[1] for above in lines if (m := re.match(_BITS_OF.format(found[1]), above))), "0")
                yield f"  assign {found[1]} = {found[2]} {found[3]} ({found[4]} & {top});"
                continue
            yield self._line(line)

    def _line(self, line: str) -> str:
        """Return a line by itself, mended."""
        if "(*" not in line and "$fatal" not in line:
            short = 1 if _CONNECTION.match(line) is None else _LONG
            line = _STRING.sub(lambda m: _literal(m[0]) if len(m[1]) >= short else m[0], line)
        if (found := _ASR.match(line)) is not None:
            return f"{found[1]} >>> {found[2]}"
        if (found := _TAGGED.match(line)) is not None:
            target, left, sign, right, tag = found.groups()
            value = f"$signed({left}) {sign} $signed({right})"
            if tag == "sdiv":  # Verilator has 0 for the lowest value of 32 and 64 bits by -1
                value = f"$signed({right}) == -1 ? -$signed({left}) : {value}"
            if tag == "smod":  # the sign of the divisor, where Verilog's % has that of the dividend
                other = f"({value}) != 0 && ($signed({left}) < 0) != ($signed({right}) < 0)"
                value = f"({other}) ? ({value}) + $signed({right}) : ({value})"
            return f"  assign {target} = {value}; // {tag}"
        if (found := _TAG.search(line)) is not None and (found[1] == "smod" or line.count("$signed(") != 2):
            raise self._refused({"sdiv": "/ of signed", "srem": "rem of signed", "smod": "mod of signed"}[found[1]], self._place)
        if (found := _ABS.match(line)) is not None:
            return f"  assign {found[1]} = $signed({found[2]}) < 0 ? -{found[2]} : {found[2]};"
        if (found := _SIDE.match(line)) is not None:
            return f"  assign {found[1]} = ({found[3]}) ? {found[2]} : {found[4]};"
        if _NOT_VERILOG.match(line) is not None:
            operator = _OPERATOR.search(line)
            raise self._refused(operator[1] if operator is not None else line.strip(), self._place)
        return line

    def _signed_constants(self, text: str) -> str:
        """Return the text with negative integers of more than 32 bits, which it extends by zeros, as they are."""
        suspects = {(int(m[1]), int(m[3], 2)) for m in _WIDE.finditer(text) if int(m[1]) == len(m[2]) + 32}
        if not suspects:
            return text
        kinds = _constants(self._outputs.other("dump"))
        as_text = {(len(bits), int(bits, 2)) for bits in _STRING.findall(text) if set(bits) <= {"0", "1"}}
        negative, positive = suspects & kinds["SB32"], kinds["UB32"] | (kinds["bit"] - as_text)
        if both := sorted(negative & positive):
            width, value = both[0]
            what = f"the integers {value - (1 << 32)} and {value} of {width} bits in one entity"
            raise self._refused(what, self._outputs.entity, "write one of them as a sum of signals")

        def extended(found: re.Match[str]) -> str:
            is_one = len(found[2]) + 32 == int(found[1]) and (int(found[1]), int(found[3], 2)) in negative
            return f"{found[1]}'b{'1' * len(found[2])}{found[3]}" if is_one else found[0]

        return "\n".join(line if _CELL.match(line) else _WIDE.sub(extended, line) for line in text.splitlines())

    def _resizes(self, instance: str) -> bool:
        """Return whether the statement is a resize of signed, which keeps the sign where a truncation keeps the bits."""
        if self._word() != "resize":
            return False
        if self._truncations is None:
            self._truncations = frozenset(_truncations(self._outputs.other("dump")))
        return ("{}:{}:{}".format(*self._at), instance) in self._truncations

    def _word(self) -> str:
        """Return the word of the VHDL that a statement is made of, in lower case."""
        file, line, column = self._at
        if file not in self._sources:
            path = Path(file)
            self._sources[file] = path.read_text(encoding="latin-1").splitlines() if path.is_file() else []
        text = self._sources[file][line - 1].expandtabs(8) if line <= len(self._sources[file]) else ""
        found = _WORD.match(text, column - 1)
        return found[1].lower() if found is not None else ""

    def _netlist(self, module: str) -> _Netlist:
        if self._netlists is None:
            self._netlists = dict(_netlists(self._outputs.other("raw-vhdl")))
        return self._netlists.get(module, _Netlist())

    def _declared(self, value: str, lines: list[str]) -> str:
        """Return the Verilog of a value of the VHDL: a constant or a signal."""
        if (found := _ALL.match(value)) is not None:
            return f"{int(found[1]) + 1}'b{found[2] * (int(found[1]) + 1)}"
        if value[:1] in ('"', "'"):
            return _literal(value)
        if value not in _DECLARED.findall("\n".join(lines)):
            raise self._refused("the last choice of a case", self._place)
        return value

    def _refused(self, operator: str, where: str, instead: str = "") -> DeviceError:
        instead = instead or "write the expression another way (shifts, comparisons and sums of signed are mended)"
        return DeviceError(
            f"{_short(self._outputs.version)} writes wrong Verilog for {operator}; fleet cannot mend it", where=where,
            hint=f"{instead}, use a newer ghdl, or give fleet Verilog of this entity",
        )  # fmt: skip


def _complete(lines: list[str], end: int) -> bool:
    """Return whether the case that ends there names all values of its word."""
    arms = 0
    while _ARM.match(lines[end - 1 - arms]) is not None:
        arms += 1
    width = re.match(r"^      (\d+)'b", lines[end - 1])
    return width is not None and arms == 1 << int(width[1])


def _short(version: str) -> str:
    """`ghdl 2.0.0` of its first line."""
    return "ghdl " + [*version.split(), "", ""][1]


def _literal(text: str) -> str:
    """Return a constant of Verilog of one of VHDL; another one as it is."""
    bits = text.strip("\"'")
    return f"{len(bits)}'b{bits}" if text[:1] in ('"', "'") else text


def _netlists(vhdl: str) -> Iterator[tuple[str, _Netlist]]:
    """Yield each architecture of a text of `--out=raw-vhdl`."""
    name, found, target = "", _Netlist(), ""
    for line in vhdl.splitlines():
        if (m := _ENTITY_OF.match(line)) is not None:
            name, found = m[1], _Netlist()
        elif (m := _SIGNAL_VALUE.match(line)) is not None:
            found.values[m[1]] = m[2]
        elif (m := _SELECT.match(line)) is not None:
            target = m[1]
        elif (m := _OTHERS.match(line)) is not None and target:
            found.others[target], target = m[1], ""
        elif line.startswith("end "):
            yield name, found


def _truncations(dump: str) -> Iterator[tuple[str, str]]:
    """Yield (file:line:column, number) of each truncation of a signed value."""
    place = ""
    for line in dump.splitlines():
        if line.lstrip().startswith("# "):
            place = line.lstrip()[2:].strip()
        elif (m := _TRUNCATION.match(line)) is not None:
            yield place, m[1]


def _constants(dump: str) -> Mapping[str, set[tuple[int, int]]]:
    """Return the constants of a netlist that have only a sign above their lower 32 bits, by their kinds: (bits, lower 32)."""
    kinds: dict[str, set[tuple[int, int]]] = {"SB32": set(), "UB32": set(), "bit": set()}
    kind, value = "", 0
    for line in dump.splitlines():
        if (m := _INSTANCE.match(line)) is not None:
            kind = m[1]
        elif kind and (m := _VALUE.match(line)) is not None:
            value, kind = int(m[1]), kind if not m[2].replace("0", "").strip() else ""
        elif kind and (m := _WIDTH.match(line)) is not None:
            kinds[kind].add((int(m[1]), value))
            kind = ""
    return kinds
