"""The emulators by name, for `--riscv-emulator`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from fleet.engines.riscv_emulators.base import Emulator
from fleet.errors import SetupError
from fleet.targets.riscv.isa import Isa


@dataclass(frozen=True)
class EmulatorInfo:
    """One emulator: `module` has `missing() -> str | None` and `make(isa) -> Emulator`.

    vectors: whether it has V. host_calls: whether a program can call the host (`fleet.targets.riscv.host_calls`).
    """

    name: str
    module: str
    vectors: bool
    host_calls: bool = False

    def available(self) -> str | None:
        """Return None if it can run here, else what is missing."""
        missing: Callable[[], str | None] = import_module(self.module).missing
        return missing()

    def check(self, isa: Isa) -> None:
        """Raises SetupError if it does not support the instruction set."""
        if isa.vlen and not self.vectors:
            raise SetupError(
                f"{self.name} has no vector instructions, which {isa.name} needs",
                hint="use --riscv-emulator qemu",
                where="engine riscv",
            )

    def make(self, isa: Isa) -> Emulator:
        """Return a fresh machine for that instruction set. Raises SetupError if there is none."""
        self.check(isa)
        if reason := self.available():
            raise SetupError(reason, where=f"engine riscv: emulator {self.name}")
        make: Callable[[Isa], Emulator] = import_module(self.module).make
        return make(isa)


_HOME = "fleet.engines.riscv_emulators"
EMULATORS: dict[str, EmulatorInfo] = {
    "unicorn": EmulatorInfo("unicorn", f"{_HOME}.unicorn", vectors=False, host_calls=True),
    "qemu": EmulatorInfo("qemu", f"{_HOME}.qemu", vectors=True),
    "spike": EmulatorInfo("spike", f"{_HOME}.spike", vectors=True),
    "rvsim": EmulatorInfo("rvsim", f"{_HOME}.rvsim", vectors=True),
}


def find_emulator(name: str) -> EmulatorInfo:
    """Return the emulator of that name. Raises SetupError listing the known ones."""
    if name not in EMULATORS:
        raise SetupError(f"no RISC-V emulator is called {name}", hint=f"known are {', '.join(EMULATORS)}")
    return EMULATORS[name]


def default_emulator(isa: Isa) -> EmulatorInfo:
    """Return Unicorn, or QEMU if vectors are needed."""
    return EMULATORS["qemu" if isa.vlen else "unicorn"]
