"""The opcodes and type codes of the seeds; the indexed forms contain the slot in the opcode."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class OpCode(IntEnum):
    """The opcodes. 43 to 45 are fleet's own; each is followed by the code offset of its target."""

    iconst_m1 = 1
    iconst_0 = 2
    iconst_1 = 3
    iconst_2 = 4
    iconst_3 = 5
    iconst_4 = 6
    iconst_5 = 7
    fconst_0 = 8
    fconst_1 = 9
    fconst_2 = 10
    ldc = 11
    invokestatic = 12
    iload = 13
    iload_0 = 14
    iload_1 = 15
    iload_2 = 16
    iload_3 = 17
    istore = 18
    istore_0 = 19
    istore_1 = 20
    istore_2 = 21
    istore_3 = 22
    fload = 23
    fload_0 = 24
    fload_1 = 25
    fload_2 = 26
    fload_3 = 27
    fstore = 28
    fstore_0 = 29
    fstore_1 = 30
    fstore_2 = 31
    fstore_3 = 32
    aload = 33
    aload_0 = 34
    aload_1 = 35
    aload_2 = 36
    aload_3 = 37
    astore = 38
    astore_0 = 39
    astore_1 = 40
    astore_2 = 41
    astore_3 = 42
    goto = 43
    if_true = 44
    if_false = 45


class TypeCode(IntEnum):
    """Types that `ldc` loads, and elements of tensors. 8 to 15 are fleet's own: the seeds' table lacks these dtypes."""

    scalar = 1
    tensor = 2
    string = 3
    int32 = 4
    float32 = 5
    int64 = 6
    float64 = 7
    float16 = 8
    bool = 9
    int8 = 10
    int16 = 11
    uint8 = 12
    uint16 = 13
    uint32 = 14
    uint64 = 15


INDEXED = 4
"""Slots 0 to 3 have their own opcodes."""

ELEMENT_CODES: dict[np.dtype, TypeCode] = {
    np.dtype(code.name): code for code in TypeCode if code not in (TypeCode.scalar, TypeCode.tensor, TypeCode.string)
}
"""NumPy dtype -> type code of tensor elements."""
