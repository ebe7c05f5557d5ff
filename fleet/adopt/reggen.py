"""Registers in the hjson of lowRISC's reggen (OpenTitan's IP blocks), with the addresses that it gives them.

Registers lie one behind the other. `skipto`, `reserved`, `window`, `sameaddr` and `multireg` move what follows; interrupts and
alerts bring registers of their own in front, unless the block says `no_auto_intr_regs` or `no_auto_alert_regs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fleet.errors import DeviceError, SetupError

_ACCESS = {"ro": "r", "rc": "r", "wo": "w", "r0w1c": "w", "rw": "rw", "rw1c": "rw", "rw1s": "rw", "rw0c": "rw", "none": "r"}
_TRUE = ("true", "1", True)


@dataclass(frozen=True)
class ReggenRegister:
    """A register. offset: bytes; reset: in the bits of `known`, which the description states; access: "r", "w", "rw"."""

    name: str
    offset: int
    bits: int
    reset: int
    known: int
    access: str


def reggen_registers(path: Path) -> Sequence[ReggenRegister]:
    """Read a block's registers. Raises SetupError if hjson is not installed, DeviceError for what is not such a description."""
    try:
        import hjson
    except ImportError as error:
        raise SetupError(f"reading hjson needs the package hjson ({error})", hint="pip install 'fleet-cosim[adopt]'") from error
    try:
        found: object = hjson.loads(path.read_text(encoding="utf-8", errors="replace"))
    except ValueError as error:
        raise DeviceError(f"is not hjson ({error})", where=str(path)) from error
    if not isinstance(found, Mapping) or "registers" not in found:
        raise DeviceError("has no `registers`", where=str(path), hint="name a block's hjson of reggen with --registers")
    return tuple(_Block(str(path), {str(k): v for k, v in found.items()}).registers())


@dataclass
class _Block:
    path: str
    block: Mapping[str, object]
    at: int = 0
    bits: int = 32
    parameters: dict[str, int] = field(default_factory=dict[str, int])

    def registers(self) -> Iterator[ReggenRegister]:
        self.bits = self._number(self.block.get("regwidth", 32), "regwidth")
        for p in self._tables(self.block.get("param_list", ())):
            if "default" in p and str(p["default"]).strip("\"'").isdigit():
                self.parameters[str(p.get("name"))] = int(str(p["default"]).strip("\"'"))
        listed = self.block["registers"]
        if isinstance(listed, Mapping):
            raise self._wrong("has registers of several interfaces, which are not read")
        yield from self._automatic()
        for entry in self._tables(listed):
            yield from self._entry(entry)

    def _automatic(self) -> Iterator[ReggenRegister]:
        interrupts, alerts = (len(self._tables(self.block.get(k, ()))) for k in ("interrupt_list", "alert_list"))
        if interrupts and self.block.get("no_auto_intr_regs", "false") not in _TRUE:
            mask = (1 << interrupts) - 1
            yield from (self._next(n, 0, k, a) for n, k, a in (
                ("INTR_STATE", mask, "rw"), ("INTR_ENABLE", mask, "rw"), ("INTR_TEST", 0, "w"),
            ))  # fmt: skip
        if alerts and self.block.get("no_auto_alert_regs", "false") not in _TRUE:
            yield self._next("ALERT_TEST", 0, 0, "w")

    def _next(self, name: str, reset: int, known: int, access: str) -> ReggenRegister:
        self.at += self.bits // 8
        return ReggenRegister(name, self.at - self.bits // 8, self.bits, reset, known, access)

    def _entry(self, entry: Mapping[str, object]) -> Iterator[ReggenRegister]:
        step = self.bits // 8
        if "skipto" in entry:
            self.at = self._number(entry["skipto"], "skipto")
        elif "reserved" in entry:
            self.at += step * self._number(entry["reserved"], "reserved")
        elif "window" in entry:
            window = self._table(entry["window"])
            size = step * self._number(window.get("items", 1), "items")
            whole = 1 << max(0, size - 1).bit_length()
            self.at = -(-self.at // whole) * whole + size
        elif "sameaddr" in entry:
            at = self.at
            for one in self._tables(entry["sameaddr"]):
                self.at = at
                yield self._register(one)
        elif "multireg" in entry:
            yield from self._several(self._table(entry["multireg"]))
        elif "name" in entry:
            yield self._register(entry)
        else:
            raise self._wrong(f"has an entry that is not read: {', '.join(entry)}")

    def _several(self, entry: Mapping[str, object]) -> Iterator[ReggenRegister]:
        count = self._number(entry.get("count", 1), "count")
        fields = self._tables(entry.get("fields", ()))
        high = max((self._bits(f)[0] for f in fields), default=self.bits - 1)
        compact = entry.get("compact", "true" if len(fields) == 1 else "false") in _TRUE
        each = max(1, self.bits // (high + 1)) if compact else 1
        total = -(-count // each)
        for n in range(total):
            name = f"{entry.get('name')}_{n}" if total > 1 else str(entry.get("name"))
            held = min(each, count - n * each)
            yield self._register({**entry, "name": name}, [k * (high + 1) for k in range(held)])

    def _register(self, entry: Mapping[str, object], places: Sequence[int] = (0,)) -> ReggenRegister:
        access: set[str] = set()
        reset = known = 0
        outside = entry.get("hwext", "false") in _TRUE  # what it reads is the hardware's own
        for f in self._tables(entry.get("fields", ())) or [{"bits": str(self.bits - 1) + ":0"}]:
            given = str(f.get("swaccess", entry.get("swaccess", "none")))
            if given not in _ACCESS:
                raise self._wrong(f"register {entry.get('name')} has access '{given}', which is not known")
            access |= set(_ACCESS[given])
            if "resval" in (stated := {**entry, **f}) and not outside and str(stated["resval"]) != "x":
                high, low = self._bits(f)
                mask = (1 << (high - low + 1)) - 1
                for place in places:
                    reset |= (self._number(stated["resval"], "resval") & mask) << (low + place)
                    known |= mask << (low + place)
        said = "".join(a for a in "rw" if a in access)
        return self._next(str(entry.get("name")), reset, known, said or "r")

    def _bits(self, f: Mapping[str, object]) -> tuple[int, int]:
        high, _, low = str(f.get("bits", "0")).partition(":")
        return self._number(high, "bits"), self._number(low or high, "bits")

    def _number(self, given: object, what: str) -> int:
        text = str(given).strip().lower().replace("_", "")
        if str(given).strip() in self.parameters:
            return self.parameters[str(given).strip()]
        base, minus, rest = 0, text.endswith("-1"), text.removesuffix("-1")
        if minus and str(given).strip()[:-2] in self.parameters:
            return self.parameters[str(given).strip()[:-2]] - 1
        try:
            return {"true": 1, "false": 0}[rest] if rest in ("true", "false") else int(text, base)
        except ValueError:
            raise self._wrong(f"{what} is '{given}', expected a number") from None

    def _tables(self, given: object) -> Sequence[Mapping[str, object]]:
        if not isinstance(given, Sequence) or isinstance(given, str):
            raise self._wrong("has a value where a list is expected")
        return [self._table(one) for one in given]

    def _table(self, given: object) -> Mapping[str, object]:
        if not isinstance(given, Mapping):
            raise self._wrong(f"has '{given}' where a table is expected")
        return {str(k): v for k, v in given.items()}

    def _wrong(self, what: str) -> DeviceError:
        return DeviceError(what, where=self.path)
