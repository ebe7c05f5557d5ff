"""A test of an adopted design: a register script, images of memory and what must be there in the end, as TOML.

limit = 100000                          # cycles of the reference clock
smoke = false                           # true: that the monitors are quiet is what is tested

[[memory]]                              # before the reset
port = "m"                              # whose memory; or space = 0
address = 0x1000
words = [1, 2, 3]                       # or file = "in.bin", or bytes = "0011aaff"
size = 4                                # bytes of a word, little-endian

[[step]]                                # one after the other; of each step one of these
write = "apb"                           # a port; register = "name" or address = 0x8; data = 1 (or -1: as many bits as the port has)
size = 4                                # optional, of all accesses: bytes, on a port with lanes of bytes; default: the register's
[[step]]
read = "apb"                            # register or address; expect = 3, mask = 0xff: compared
error = true                            # of a write or read: the design must answer it with an error; default: without one
[[step]]
until = "apb"                           # register or address; read until (value & mask) == value; limit = cycles
[[step]]
wait = "irq_o"                          # an output; value = 1, mask; limit
[[step]]
send = "in"                             # a stream or a port of commands; data = [1, 2] or [{tdata = 1, tlast = 1}]
[[step]]
receive = "out"                         # until the port has given so many in all: count = 2; limit
[[step]]
set = "cfg.scale"                       # an input that is tied; value = 3
[[step]]
idle = 100                              # cycles

[[expect]]                              # in the end
port = "m"                              # memory as above, address and words, file or bytes
[[expect]]
received = "out"                        # all that a port gave: data = [1, 2] or tables of fields
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeGuard

from fleet.adopt.bench.plan import REGISTER_OP, BenchPlan, ProtocolInstance
from fleet.adopt.workspace import AdoptWorkspace
from fleet.core.toml_file import TomlTable, TomlValue, is_list, read_toml
from fleet.errors import DeviceError

_KINDS = ("write", "read", "until", "wait", "send", "receive", "set", "idle")
_KEYS = {"write": ("data", "error"), "read": ("expect", "mask", "error"), "until": ("mask", "value")}
"""Keys of a step of registers, beside those of all."""

_LANES = {
    "apb": ("pwdata", "pstrb"), "axi4": ("wdata", ""), "axi4_lite": ("wdata", ""), "ahb_lite": ("hwdata", "hsize"),
    "wishbone": ("dat_r", "sel"), "avalon_mm": ("readdata", "byteenable"), "tilelink": ("d_data", ""), "obi": ("rdata", "be"),
    "hci": ("data", "be"), "native_memory": ("rdata", "wstrb"),
}  # fmt: skip
"""Protocol -> its data, and what says which bytes of them an access takes ("": it always can)."""
_LIMIT = 10_000
_WORDS = ("sram", "two_port_sram")
"""Memories whose addresses count their words, whatever a word has."""
_WHOLE = ("keep", "_xd", "_xs1", "_xs2")
"""Ends of fields that are all ones where a test does not state them."""
IMAGE = 9
"""Operation that loads a file into memory."""
ADDRESSED = (1, 2, 3)
"""Operations that a design answers, with data or an error response."""
ERROR = 1024
"""Bit of an answer that says so."""
_PACKET = ("startofpacket", "endofpacket", "empty", "channel", "error", "data")
_BEAT = ("tlast", "tkeep", "tuser", "tdest", "tid", "tdata")
_INSTRUCTION = ("cmd_inst_opcode", "cmd_inst_xd", "cmd_inst_xs1", "cmd_inst_xs2")
"""Fields of an instruction that only some ports have; by default it has operands and a result."""
_LAYOUTS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "axi4_stream": (_BEAT, _BEAT),
    "rocc": ((*_INSTRUCTION, "cmd_funct", "cmd_rd", "cmd_rs1", "cmd_rs2"), ("resp_rd", "resp_data")),
    "cfu": (("cmd_function", "cmd_input0", "cmd_input1"), ("rsp_output",)),
    "fifo_read": (("dout",), ("dout",)),
    "fifo_write": (("din",), ("din",)),
    "avalon_st": (_PACKET, _PACKET),
    "pcpi": (("insn", "rs1", "rs2"), ("wr", "rd")),
    "nios_custom": (("readra", "readrb", "writerc", "a", "b", "c", "n", "dataa", "datab"), ("result",)),
}
"""Protocol -> (what is sent, what is received): signals, first in the highest bits."""


@dataclass(frozen=True)
class ScriptOperation:
    """One line of the bench's script. where: file:line of the step; text: in words; error: whether the answer must be an error.

    stated: whether the test says which number an output must come to, which counts as compared. size: bytes of an access; 0: as
    many as its address allows.
    """

    code: int
    number: int = 0
    a: int = 0
    b: int = 0
    c: int = 0
    limit: int = _LIMIT
    where: str = ""
    text: str = ""
    error: bool = False
    stated: bool = False
    size: int = 0

    @property
    def whole_code(self) -> int:
        """The code as the bench reads it: above it 1 + log 2 of the bytes."""
        return self.code | self.size.bit_length() << 8

    def line(self) -> str:
        """Return the line that the bench reads."""
        return f"{self.whole_code:x} {self.number:x} {self.a:x} {self.b:x} {self.c:x} {self.limit:x}"


@dataclass(frozen=True)
class Compare:
    """The value that an operation must have read. op: its index."""

    op: int
    value: int
    mask: int
    where: str
    text: str


@dataclass(frozen=True)
class MemoryCheck:
    """The bytes that memory must hold at the end. dump: number of the file."""

    dump: int
    address: int
    expected: bytes
    where: str
    text: str


@dataclass(frozen=True)
class ReceivedCheck:
    """The words that a port must have sent. expected: (value, mask) of each."""

    port: str
    expected: tuple[tuple[int, int], ...]
    where: str


@dataclass
class ReplayScript:
    """A test. images: contents of the files that the operations load."""

    name: str
    limit: int
    smoke: bool
    ops: list[ScriptOperation] = field(default_factory=list[ScriptOperation])
    images: list[bytes] = field(default_factory=list[bytes])
    compares: list[Compare] = field(default_factory=list[Compare])
    memory: list[MemoryCheck] = field(default_factory=list[MemoryCheck])
    received: list[ReceivedCheck] = field(default_factory=list[ReceivedCheck])

    def text(self) -> str:
        """The bench's script."""
        return "".join(f"{op.line()}\n" for op in self.ops)


def fields_of(instance: ProtocolInstance, *, sent: bool) -> tuple[tuple[str, int], ...]:
    """(name, bits) of what a port takes or gives, first in the highest bits."""
    port = instance.port
    if not (instance.part.is_driven if sent else "result" in instance.part.outputs):
        return ()
    if port.protocol.name in _LAYOUTS:
        names = _LAYOUTS[port.protocol.name][not sent]
        return tuple((n, port.width(n)) for n in names if n not in _INSTRUCTION or n in port.widths)
    if port.protocol.payload:
        return (("payload", port.width("payload")),)
    return ()


def is_test(path: Path) -> bool:
    """Return whether a file of a workspace is a test."""
    try:
        return "step" in read_toml(path, DeviceError)
    except DeviceError:
        return False


def read_script(path: Path, work: AdoptWorkspace, plan: BenchPlan, rest: int = 0) -> ReplayScript:
    """A test of a file. rest: cycles within which the design must come to rest at the end; 0: it need not.

    Raises DeviceError with file:line for what a test or this design does not have.
    """
    table = read_toml(path, DeviceError)
    table.only("title", "limit", "smoke", "memory", "step", "expect")
    limit = table.integer("limit", 1) if "limit" in table else 1_000_000
    return _Reader(path, work, plan, ReplayScript(path.stem, limit, table.boolean("smoke", False))).read(table, rest)


class _Reader:
    def __init__(self, path: Path, work: AdoptWorkspace, plan: BenchPlan, script: ReplayScript) -> None:
        self._path, self._work, self._plan, self._script = path, work, plan, script

    def read(self, table: TomlTable, rest: int) -> ReplayScript:
        script = self._script
        for t in table.tables("memory"):
            t.only("port", "space", "address", "words", "size", "file", "bytes")
            image = self._bytes(t)
            address = self._place(t, len(image))
            script.ops.append(ScriptOperation(IMAGE, len(script.images), address, self._space(t), where=t.at()))
            script.images.append(image)
        script.ops.append(ScriptOperation(11))
        for t in table.tables("step"):
            self._step(t)
        if rest:
            script.ops.append(ScriptOperation(12, limit=rest, where=str(self._path), text="to come to rest"))
        for t in table.tables("expect"):
            if "received" in t:
                self._received(t)
                continue
            t.only("port", "space", "address", "words", "size", "file", "bytes")
            expected = self._bytes(t)
            address = self._place(t, len(expected))
            number = len(script.memory)
            script.memory.append(MemoryCheck(number, address, expected, t.at(), t.optional_text("port") or "memory"))
            script.ops.append(ScriptOperation(10, number, address, self._space(t), len(expected), where=t.at()))
        script.ops.append(ScriptOperation(0))
        return script

    # Steps.

    def _step(self, t: TomlTable) -> None:
        kinds = [k for k in _KINDS if k in t]
        if len(kinds) != 1:
            raise t.wrong(kinds[1] if kinds else "", f"a step has one of {', '.join(_KINDS)}, this one {len(kinds)}")
        kind = kinds[0]
        limit = t.integer("limit", 1) if "limit" in t else _LIMIT
        for op in self._ops(kind, t):
            self._script.ops.append(replace(op, limit=limit, where=t.at(kind), text=op.text or f"{kind} {t.values[kind]}"))
        if kind == "read" and "expect" in t:
            mask = t.integer("mask", 0) if "mask" in t else (1 << 1024) - 1
            at = len(self._script.ops) - 1
            value = _fitting(t, "expect", self._driver(t, kind).port.data_bits(write=False), t.text(kind))
            self._script.compares.append(Compare(at, value & mask, mask, t.at(kind), self._script.ops[-1].text))

    def _ops(self, kind: str, t: TomlTable) -> Iterator[ScriptOperation]:
        if kind in ("write", "read", "until"):
            yield self._register(kind, t)
        elif kind == "wait":
            t.only("wait", "value", "mask", "limit")
            number = self._number(t, "wait", self._plan.watched, "an output that can be waited for")
            bits = self._bits(t.text("wait"))
            value = _fitting(t, "value", bits, t.text("wait")) if "value" in t else 1
            stated = "value" in t and bits > 1
            yield ScriptOperation(4, number, 0, t.integer("mask", 1) if "mask" in t else (1 << 1024) - 1, value, stated=stated)
        elif kind == "send":
            t.only("send", "data", "limit")
            instance = self._driver(t, "send")
            if not instance.part.is_driven or instance.port.protocol.name in REGISTER_OP:
                raise t.wrong("send", f"{instance.port.name} takes nothing that can be sent")
            values = list(self._values(t, fields_of(instance, sent=True), ones=True))
            for n, value in enumerate(values):
                yield ScriptOperation(5, instance.index, 0, value[0], int(n + 1 < len(values)))
        elif kind == "receive":
            t.only("receive", "count", "limit")
            yield ScriptOperation(6, self._receiver(t, "receive").index, t.integer("count", 1))
        elif kind == "set":
            t.only("set", "value")
            number = self._number(t, "set", self._plan.ties, "an input that is tied")
            yield ScriptOperation(7, number, 0, _fitting(t, "value", self._bits(t.text("set")), t.text("set")))
        else:
            t.only("idle")
            yield ScriptOperation(8, 0, t.integer("idle", 1))

    def _register(self, kind: str, t: TomlTable) -> ScriptOperation:
        t.only(kind, "register", "address", "size", "limit", *_KEYS[kind])
        instance = self._driver(t, kind)
        if instance.port.protocol.name not in REGISTER_OP:
            raise t.wrong(kind, f"{instance.port.name} has no addresses")
        if "register" in t:
            found = next((r for r in self._work.registers if r.name == t.text("register")), None)
            if found is None:
                known = ", ".join(r.name for r in self._work.registers) or "none"
                raise t.wrong("register", f"there is no register {t.text('register')}", hint=f"registers are {known}")
            address, name, bits = found.offset, found.name, found.bits
        else:
            address, name, bits = t.integer("address", 0), f"{t.integer('address', 0):#x}", 0
        self._reaches(t, instance, address, write=kind == "write")
        size = self._size(t, instance, address, bits // 8)
        width = instance.port.data_bits(write=kind == "write")
        text = f"{kind} {instance.port.name} {name}"
        if kind == "write":
            data = _fitting(t, "data", width, instance.port.name)
            return ScriptOperation(1, instance.index, address, data, text=text, error=t.boolean("error", False), size=size)
        if kind == "read":
            return ScriptOperation(2, instance.index, address, text=text, error=t.boolean("error", False), size=size)
        value = _fitting(t, "value", width, instance.port.name) if "value" in t else 1
        mask = t.integer("mask", 1) if "mask" in t else (1 << 64) - 1
        return ScriptOperation(3, instance.index, address, mask, value & mask, text=text, size=size)

    def _size(self, t: TomlTable, instance: ProtocolInstance, address: int, known: int) -> int:
        """Return how many bytes an access has; 0: as many as its address allows. known: those of the register, 0 without one."""
        most = _lanes(instance)
        if "size" not in t:
            return known if known < most and known.bit_count() == 1 and address % known == 0 else 0
        size = t.integer("size", 1)
        if not most:
            raise t.wrong("size", f"{instance.port.name} has no lanes of bytes: an access is as wide as its data")
        if size > most or size.bit_count() != 1 or address % size:
            raise t.wrong("size", f"an access at {address:#x} of {instance.port.name} has 1, 2, 4, ... up to {most} bytes, aligned")
        return size

    def _reaches(self, t: TomlTable, instance: ProtocolInstance, address: int, *, write: bool) -> None:
        """Raises DeviceError for an address that the port cannot have: too large, or between two that it counts."""
        port, key = instance.port, "register" if "register" in t else "address"
        shift = port.settings.shift if "SHIFT" in instance.part.parameters else 0
        if address % (1 << shift) and not _lanes(instance):
            raise t.wrong(
                key, f"{address:#x} is between two addresses of {port.name}, which count {1 << shift} bytes: expected a multiple",
                hint="`shift` of the port in adopt.toml says how many bytes its addresses count (2**shift)",
            )  # fmt: skip
        bits = port.address_bits(write=write)
        if bits is not None and address >> shift + bits:
            raise t.wrong(key, f"{address:#x} is beyond {port.name}, {_space_of(bits, 1 << shift)}")

    def _place(self, t: TomlTable, size: int) -> int:
        """Return the address of an image; the port that it names, if any, must reach all of it."""
        address = t.integer("address", 0)
        name = t.text("port").partition("[")[0] if "port" in t else ""
        instances = [i for i in self._plan.instances if i.port.group.name == name and "SPACE" in i.part.parameters]
        for port, part in [(i.port, i.part) for i in instances[:1]]:
            sizes = [b for b in (port.address_bits(write=False), port.address_bits(write=True)) if b is not None]
            unit = 1 << port.settings.shift if "SHIFT" in part.parameters else 1
            if port.protocol.name in _WORDS:
                unit = (max(b for b in (port.data_bits(write=False), port.data_bits(write=True), 1) if b is not None) + 7) // 8
            last = address + max(size, 1) - 1
            if sizes and last >= unit << max(sizes):
                raise t.wrong("address", f"{last:#x} is beyond {name}, {_space_of(max(sizes), unit)}")
        return address

    def _bits(self, path: str) -> int:
        return next(x.width * x.count for x in self._work.top.leaves() if x.path == path)

    def _driver(self, t: TomlTable, key: str) -> ProtocolInstance:
        found = self._plan.driver(t.text(key))
        if found is None:
            raise t.wrong(key, f"no port {t.text(key)} is driven", hint=f"these are: {', '.join(self._plan.driven) or 'none'}")
        return found

    def _receiver(self, t: TomlTable, key: str) -> ProtocolInstance:
        instance = self._driver(t, key)
        if not fields_of(instance, sent=False) or "result" not in instance.part.outputs:
            raise t.wrong(key, f"{instance.port.name} gives nothing that is recorded")
        return instance

    def _number(self, t: TomlTable, key: str, known: Mapping[str, int], what: str) -> int:
        if t.text(key) not in known:
            raise t.wrong(key, f"{t.text(key)} is not {what}", hint=f"these are: {', '.join(known) or 'none'}")
        return known[t.text(key)]

    # Values.

    def _values(self, t: TomlTable, fields: tuple[tuple[str, int], ...], *, ones: bool) -> Iterator[tuple[int, int]]:
        """(value, mask of what is stated). A number is the last field; ones: some fields are all ones by default."""
        values = t.get("data", "a list of numbers or tables of fields", is_list)
        for entry in values:
            stated: dict[str, int] = {}
            if isinstance(entry, int):
                stated[fields[-1][0]] = entry
            elif isinstance(entry, dict):
                for name, value in TomlTable(t.path, f"{t.name}.data", entry, t.error, t.places).values.items():
                    if name not in dict(fields) or not isinstance(value, int):
                        raise t.wrong("data", f"{name} is not a field", hint=f"fields are {', '.join(n for n, _ in fields)}")
                    stated[name] = value
            else:
                raise t.wrong("data", "expected numbers or tables of fields")
            value = mask = 0
            for name, bits in fields:
                every = (1 << bits) - 1
                known = _within(t, "data", stated.get(name, every if ones and name.endswith(_WHOLE) else 0), bits, name)
                value = value << bits | known
                mask = mask << bits | (every if name in stated else 0)
            yield value, mask

    def _received(self, t: TomlTable) -> None:
        t.only("received", "data")
        instance = self._receiver(t, "received")
        fields = fields_of(instance, sent=False)
        self._script.received.append(ReceivedCheck(instance.port.name, tuple(self._values(t, fields, ones=False)), t.at()))

    def _space(self, t: TomlTable) -> int:
        if "port" not in t:
            return t.integer("space", 0) if "space" in t else 0
        name, _, lane = t.text("port").partition("[")
        if name not in self._work.settings.ports:
            raise t.wrong("port", f"there is no port {name}", hint=f"these are: {', '.join(self._work.settings.ports)}")
        group = self._work.group(name)
        more = int(lane.rstrip("]") or "0") if group is not None and group.protocol == "sram" else 0
        return self._work.settings.ports[name].space + more

    def _bytes(self, t: TomlTable) -> bytes:
        kinds = [k for k in ("words", "file", "bytes") if k in t]
        if len(kinds) != 1:
            raise t.wrong("", "one of words, file and bytes says what memory holds")
        if kinds == ["words"]:
            size = t.integer("size", 1) if "size" in t else 4
            words = t.integers("words", -(1 << 8 * size - 1), ())
            fitting = (_within(t, "words", w, 8 * size, f"a word of {size} bytes") for w in words)
            return b"".join(w.to_bytes(size, "little") for w in fitting)
        if kinds == ["file"]:
            path = self._path.parent / t.text("file")
            try:
                return path.read_bytes()
            except OSError as error:
                raise t.wrong("file", f"{path} cannot be read ({error.strerror})") from error
        try:
            return bytes.fromhex(t.text("bytes"))
        except ValueError as error:
            raise t.wrong("bytes", f"is not hexadecimal text ({error})") from error


def _lanes(instance: ProtocolInstance) -> int:
    """Return the bytes of a port's data of which an access may take some; 0 where it takes all of them."""
    data, says = _LANES.get(instance.port.protocol.name, ("", ""))
    return instance.port.width(data) // 8 if data and (not says or says in instance.port.widths) else 0


def _many(bits: int) -> str:
    return f"{bits} bit{'' if bits == 1 else 's'}"


def _space_of(bits: int, unit: int) -> str:
    counted = f", which count {unit} bytes" if unit > 1 else ""
    return f"whose addresses have {_many(bits)}{counted}: expected at most {(unit << bits) - 1:#x}"


def _fitting(t: TomlTable, key: str, bits: int | None, what: str) -> int:
    """Return the number of a key as the bits of a port; bits: None: not known."""
    value = t.get(key, "an integer", _is_integer)
    return _within(t, key, value, bits, what) if bits is not None or value < 0 else value


def _within(t: TomlTable, key: str, value: int, bits: int | None, what: str) -> int:
    """Return a number as so many bits, a negative one as its two's complement. Raises DeviceError if it does not fit."""
    if bits is None:
        raise t.wrong(key, f"{value} is negative, and the width of {what} is not known: write its bits")
    if not -(1 << bits >> 1) <= value < 1 << bits:
        least = f"{-(1 << bits >> 1)} to " if value < 0 else "at most "
        said = f"{value if value < 0 else hex(value)} does not fit into {what}, which has {_many(bits)}"
        raise t.wrong(key, f"{said}: expected {least}{(1 << bits) - 1:#x}")
    return value & (1 << bits) - 1


def _is_integer(value: TomlValue) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
