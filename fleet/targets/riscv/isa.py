"""The instruction sets that the RISC-V target supports.

`rv64gc` is scalar. `rv64gcv` adds the vector extension 1.0; its kernels use vectors of a fixed number of elements, so they give the
same results on every core whose vector registers have at least the named length. LLVM vectorises the few loops that no kernel
covers, with the length that it finds at run time: same results, other instruction counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fleet.errors import DeviceError

VLENS = (128, 256, 512, 1024)


@dataclass(frozen=True)
class Isa:
    """Instructions that code may use. vlen: bits of a vector register, 0 without vectors."""

    vlen: int = 0

    @property
    def name(self) -> str:
        """`rv64gc`, `rv64gcv` (256 bits), or `rv64gcv_zvl512b`."""
        return "rv64gc" if not self.vlen else "rv64gcv" if self.vlen == 256 else f"rv64gcv_zvl{self.vlen}b"

    @property
    def features(self) -> str:
        """LLVM's feature string."""
        return "+m,+a,+f,+d,+c" + (f",+v,+zvl{self.vlen}b" if self.vlen else "")

    def lanes(self, size: int, group: int) -> int:
        """Return the elements of `size` bytes in a group of so many vector registers; 1 without vectors."""
        return self.vlen * group // (8 * size) or 1


DEFAULT_ISA = Isa()


def find_isa(name: str) -> Isa:
    """Return the instruction set of that name. Raises DeviceError if it is not supported."""
    if name == "rv64gc":
        return DEFAULT_ISA
    found = re.fullmatch(r"rv64gcv(?:_zvl(\d+)b)?", name)
    vlen = int(found[1] or 256) if found else 0
    if vlen not in VLENS:
        raise DeviceError(
            f"instruction set {name!r} is not supported on riscv",
            hint="use rv64gc, rv64gcv (vectors of 256 bits) or rv64gcv_zvl<128, 256, 512 or 1024>b",
        )
    return Isa(vlen)
