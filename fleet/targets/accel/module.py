"""A compiled graph with its driver's source: the result of a build."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.targets.accel.compiled import CompiledGraph
from fleet.targets.accel.header import driver
from fleet.targets.driver.cpp import titled


@dataclass(frozen=True)
class Module(CompiledGraph):
    """A compiled graph with the driver's source, from `fleet.targets.accel.build`."""

    def get_source(self) -> str:
        """The driver in the target's language; its first line has a hash of the text after it and of the binary."""
        insts = b"" if self.binary is None else self.get_insts_bin()
        return titled(self.target.write(driver(self)), self.device.name, self.description_hash.encode(), insts)
