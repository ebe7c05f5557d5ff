"""The code that starts a bare machine: calls the functions of a table and counts what each retires.

Its place is the caller's; 0x8000 bytes behind it lie eight words of status (1 at the end or 2 after a trap; mcause; mepc;
mtval), then the table: function, stack pointer, and room for the instructions that were retired from behind the first reading
of `minstret` to the second. A function of 0 ends it. LLVM's library as packaged has no assembler for this machine, so the words
stand here beside their text; a test holds them against `ASSEMBLY` where an assembler is installed.
"""

from __future__ import annotations

import struct

__all__ = ["ASSEMBLY", "BOOT", "NOTHING", "STATUS", "TABLE"]

STATUS = 0x8000
TABLE = STATUS + 64
ASSEMBLY = """
    li   t0, 0x6600       # floating point and vectors on
    csrs mstatus, t0
    csrw fcsr, zero
    la   t0, trap
    csrw mtvec, t0
    auipc s0, 8
    addi s0, s0, 36
next:
    ld   s1, 0(s0)
    beqz s1, end
    ld   sp, 8(s0)
    csrr s2, minstret
    jalr s1
    csrr s3, minstret
    sub  s3, s3, s2
    sd   s3, 16(s0)
    addi s0, s0, 24
    j    next
    nop
trap:
    auipc t2, 8
    addi t2, t2, -80
    csrr t1, mcause
    sd   t1, 8(t2)
    csrr t1, mepc
    sd   t1, 16(t2)
    csrr t1, mtval
    sd   t1, 24(t2)
    li   t1, 2
    j    leave
end:
    auipc t2, 8
    addi t2, t2, -120
    li   t1, 1
leave:
    sd   t1, 0(t2)
    li   t0, 0x100000     # the machine's switch
    lui  t1, 5
    addi t1, t1, 0x555
    sw   t1, 0(t0)
wait:
    j    wait
nothing:
    ret
"""
"""For rv64g, without linker relaxation."""
_WORDS = """
    000062b7 60028293 3002a073 00301073 00000297 04028293 30529073 00008417 02440413 00043483 04048863 00843103 b0202973 000480e7
    b02029f3 412989b3 01343823 01840413 fddff06f 00000013 00008397 fb038393 34202373 0063b423 34102373 0063b823 34302373 0063bc23
    00200313 0100006f 00008397 f8838393 00100313 0063b023 001002b7 00005337 55530313 0062a023 0000006f 00008067
"""
BOOT = b"".join(struct.pack("<I", int(word, 16)) for word in _WORDS.split())
NOTHING = len(BOOT) - 4
"""Offset of a function that only returns."""
