"""Check of the layout: every tensor that it takes comes back from memory as it was."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from fleet.errors import FleetError
from fleet.isa.checking.asking import reason
from fleet.isa.checking.finding import Finding, class_place
from fleet.sdk import InstructionSet
from fleet.sdk.layout import ArrangementError

_LEADING = ((), (1,), (2,), (5,), (2, 3))
_CHANNELS = (1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 129)
_DTYPES = ("float32", "float16", "int8", "uint8", "int16", "int32", "int64")
_MOST = 101
"""Values that every dtype holds exactly; neighbours differ, and so do elements a power of two apart."""


def check_layout(instruction_set: InstructionSet) -> Iterator[Finding]:
    """Pack and unpack tensors of shapes around powers of two. What the layout refuses (FleetError) is left out."""
    layout = instruction_set.layout
    at = class_place(type(layout))
    taken: set[np.dtype] = set()
    for dtype, leading, channels in product(map(np.dtype, _DTYPES), _LEADING, _CHANNELS):
        shape = (*leading, channels)
        tensor = (np.arange(np.prod(shape)) % _MOST).reshape(shape).astype(dtype)
        what = f"layout: a tensor {list(shape)} of {dtype}"
        try:
            memory, size = layout.pack(tensor), layout.size(shape, dtype)
            back = layout.unpack(memory, shape, dtype)
        except ArrangementError as error:
            yield Finding(at, f"{what} has no place: {error.what}")
            return
        except FleetError:
            continue
        except Exception as error:  # whatever the author's code raises
            yield Finding(at, f"{what} cannot be packed: {reason(error)}")
            return
        taken.add(dtype)
        if memory.nbytes != size:
            yield Finding(at, f"{what} is packed into {memory.nbytes} bytes, `size` says {size}")
            return
        if back.shape != shape or not np.array_equal(back, tensor):
            lost = tuple(int(n) for n in np.argwhere(back != tensor)[0]) if back.shape == shape else ()
            place = f"element {list(lost)} is {back[lost]}, expected {tensor[lost]}" if lost else f"its shape is {list(back.shape)}"
            yield Finding(at, f"{what} does not come back from memory: {place}")
            return
    reals = [dtype.name for dtype in sorted(taken, key=str) if dtype.kind == "f"]
    if reals and layout.real not in taken:
        what = f"layout: takes {' and '.join(reals)}, and not {layout.real.name}, in which traces keep its real tensors"
        yield Finding(at, f"{what}; set `real = np.dtype(np.{reals[0]})` in the class")
