"""Settings of a build: bases of memory blocks, and the settings of seed 004."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, fields
from typing import Any, cast

from fleet.errors import ModelError
from fleet.targets.driver import DDR_BASE, HBM_BASE

Blocks = Mapping[str, int | str]
"""Block -> its base: an address, or the name of the block that it follows."""

NEEDED_BLOCKS: tuple[str, ...] = ("global", "weight", "runtime", "insts", "hbm", "hbm_cache")
PING_PONG: tuple[str, ...] = ("runtime", "onchip", "hbm_rt")
"""Blocks whose storages are reused when their contents are dead."""

DEFAULT_BLOCKS: Blocks = {
    "global": 0,
    "weight": "global",
    "cache": "weight",
    "runtime": "cache",
    "insts": "runtime",
    "hbm": 0,
    "hbm_cache": "hbm",
    "hbm_rt": "hbm_cache",
    "onchip": 0,
}


def mapping(name: str, given: object) -> Mapping[str, Any]:
    """Return an argument of a build that must be a dict; None gives an empty one. Raises ModelError."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ModelError(f"{name} is {given!r}, expected a dict", where="build")
    return cast("Mapping[str, Any]", given)


_LARGEST_ALIGN = 1 << 28


@dataclass(frozen=True)
class BuildConfig:
    """Settings of a build.

    Attributes:
        wt2hbm: weights reach HBM through DDR and the device's own copies, else straight from the host.
        debug: keep a log of where every operator reads and writes (`Module.log`), also as comments of the header.
        ddr_base, hbm_base: absolute addresses at which the host sees the memories.
        align: bytes; every storage begins and ends at a multiple of it.
        lite: no loops over tokens: a step then has at most as many tokens as one instruction takes.
        namespace: the header is in a namespace with the model's name, so that one program can contain several models.
        spill: a tensor meant for on-chip memory that does not fit goes to block "runtime" instead of being refused.
        pingpong: names of further blocks with the ping-pong property.
    """

    wt2hbm: bool = False
    debug: bool = True
    ddr_base: int = DDR_BASE
    hbm_base: int = HBM_BASE
    align: int = 0x10
    lite: bool = False
    namespace: bool = False
    spill: bool = False
    pingpong: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> BuildConfig:
        """Build from a dict as seed 004 writes it. Raises ModelError if a setting is unknown or a value is wrong."""
        known = {f.name for f in fields(cls)}
        values = dict(given)
        for name in values:
            if name not in known:
                raise ModelError(f"no build setting '{name}'", where="build", hint=f"settings are {', '.join(sorted(known))}")
        for name in ("wt2hbm", "debug", "lite", "namespace", "spill"):
            if name in values and not isinstance(values[name], (bool, int)):
                raise ModelError(f"setting '{name}' is {values[name]!r}, expected True or False", where="build")
        for name in ("ddr_base", "hbm_base", "align"):
            if name in values and (isinstance(values[name], bool) or not isinstance(values[name], int) or values[name] < 0):
                raise ModelError(f"setting '{name}' is {values[name]!r}, expected an address", where="build")
        further: Any = values.get("pingpong", ())
        if not isinstance(further, Sequence | Set) or isinstance(further, str) or not all(isinstance(b, str) for b in further):
            raise ModelError(f"setting 'pingpong' is {further!r}, expected names of blocks", where="build")
        values["pingpong"] = tuple(sorted(further))
        made = cls(**values)
        if made.align == 0 or made.align & made.align - 1 or made.align > _LARGEST_ALIGN:
            what = f"setting 'align' is {made.align:#x}, expected a power of two up to {_LARGEST_ALIGN:#x}"
            raise ModelError(what, where="build")
        return made

    def ping_pong(self, block: str) -> bool:
        """Return whether a block's storages are reused."""
        return block in PING_PONG or block in self.pingpong
