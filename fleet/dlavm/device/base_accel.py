"""A device with dlavm's names for its sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fleet.errors import DeviceError
from fleet.ir.accel.views import LANES
from fleet.isa.registry import description_hash, instruction_sets
from fleet.sdk import Device

__all__ = ["ATTRIBUTES", "Accel"]

ATTRIBUTES: Mapping[str, Callable[[Mapping[str, int]], int]] = {
    "Tin": lambda p: p["Tin"],
    "base_Tin": lambda p: p["Tin"],
    "Tout": lambda p: p["Tout"],
    "log2_Tout": lambda p: p["Tout"].bit_length() - 1,
    "HBM_Port": lambda p: p["HbmPorts"],
    "T_quant_block": lambda p: p["Tblk"],
    "log2_T_quant_block": lambda p: p["Tblk"].bit_length() - 1,
    "WT_CH_Tgroup": lambda p: p["TgroupCh"],
    "log2_WT_CH_Tgroup": lambda p: p["TgroupCh"].bit_length() - 1,
    "DAT_BRAM_DEPTH": lambda p: p["DatDepth"],
    "WT_BRAM_DEPTH": lambda p: p["WtDepth"],
    "MAX_TOKEN": lambda p: p["MaxToken"],
    "log2_Bank_Step": lambda p: p["Log2BankStep"],
    "AXI_DAT_WIDTH": lambda _: 8 * 2 * LANES,
    "Pixel_Data_Bytes": lambda _: 2 * LANES,
}
"""dlavm's name -> value from the device's parameters."""


@dataclass
class Accel:
    """A device with dlavm's names for its sizes.

    Attributes:
        device: the device in the instruction-set registry.
        name: the kind of accelerator, as graphs print it.
        version: of the instruction set's description, for people.
        MAX_TOKEN: tokens that models are planned for; a script may lower it.
    """

    device: Device
    name: str = "hbm"

    @property
    def version(self) -> str:
        """Name of the instruction set, and the start of its description's hash."""
        found = instruction_sets()[self.device.instruction_set]
        return f"{found.name} {description_hash(found, self.device)[:12]}"

    def __setattr__(self, attribute: str, value: Any) -> None:
        if attribute in ATTRIBUTES and attribute != "MAX_TOKEN":
            raise AttributeError(f"{attribute} of device {self.device.name} is its hardware's; MAX_TOKEN can be assigned")
        if attribute == "MAX_TOKEN":
            most = ATTRIBUTES[attribute](self.device.parameters)
            if not isinstance(value, int) or not 1 <= value <= most:
                raise DeviceError(f"MAX_TOKEN is {value!r}, expected 1 to {most}", where=f"device {self.device.name}")
        object.__setattr__(self, attribute, value)

    def __getattr__(self, attribute: str) -> int:
        """Return a size by dlavm's name. Raises AttributeError listing the names."""
        try:
            return ATTRIBUTES[attribute](self.device.parameters)
        except KeyError:
            known = ", ".join(ATTRIBUTES)
            raise AttributeError(f"device {self.__dict__['device'].name} has no {attribute}; it has {known}") from None
