"""Arrays of the source: their IR values, and the memory they share."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Literal, NoReturn

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir.types import numpy_dtype, shape_of

_SERIALS = count()


class ArrayStorage:
    """Memory shared by an array and its views.

    Attributes:
        members: the arrays that may share it.
        outside: it belongs to whoever calls the model, who would see a change.
        joined: arrays are among them of which only the run knows what they share.
    """

    def __init__(self, *, outside: bool = False) -> None:
        self.members: weakref.WeakSet[TracedArray] = weakref.WeakSet()
        self.outside = outside
        self.joined = False


@dataclass(frozen=True, eq=False)
class ViewPart:
    """How a view derives from its base.

    Attributes:
        base: the other one.
        of, value: a value of the base, and what the operations of the view made of it.
        writable: NumPy lets it be changed.
        where: whether it shares the base's memory: as NumPy's operations do, which may copy; always; or where the base is
            contiguous.
    """

    base: TracedArray
    of: SSAValue
    value: SSAValue
    writable: bool = True
    where: Literal["as NumPy", "always", "contiguous"] = "as NumPy"


class TracedArray:
    """An array or NumPy scalar: one object for one Python object, so that every name of an array sees its changes.

    ssa: the value of the IR that it has at present.
    scalar: a NumPy scalar, which cannot be changed in place.

    Attributes:
        made: its first value, or None (`Static`).
        part: what it shows of another array, if it is a view.
        lost: refuses its use, after a write to memory that it may share in an unknown way.
        serial: arrays in the order in which they were made.
    """

    def __init__(
        self, ssa: SSAValue | None, *, scalar: bool | None = None, storage: ArrayStorage | None = None, part: ViewPart | None = None
    ) -> None:
        self.made = self._ssa = ssa
        self._scalar = scalar
        self.storage = storage or ArrayStorage()
        self.storage.members.add(self)
        self.part = part
        self.lost: Callable[[], NoReturn] | None = None
        self.serial = next(_SERIALS)

    @property
    def ssa(self) -> SSAValue:
        """The IR value. SourceError F504 if a write may have changed the array in an unknown way."""
        if self.lost is not None:
            self.lost()
        assert self._ssa is not None
        return self._ssa

    @ssa.setter
    def ssa(self, value: SSAValue) -> None:
        self._ssa = value

    @property
    def scalar(self) -> bool:
        """True for a NumPy scalar."""
        return not self.shape if self._scalar is None else self._scalar

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape; -1 for a dimension that is not known before the run."""
        assert self._ssa is not None
        return shape_of(self._ssa.type)

    @property
    def dtype(self) -> np.dtype:
        """Element type."""
        assert self._ssa is not None
        return numpy_dtype(self._ssa.type)

    @property
    def held(self) -> SSAValue | None:
        """The IR value, or None. Reading it does not count as a use."""
        return self._ssa

    def view(
        self,
        ssa: SSAValue,
        *,
        scalar: bool | None = None,
        writable: bool = True,
        where: Literal["as NumPy", "always", "contiguous"] = "as NumPy",
    ) -> TracedArray:
        """What operations make of this array's value, as NumPy's view of it (`ViewPart`); of a NumPy scalar and without dimensions
        a NumPy scalar, if `scalar` does not tell.

        Whether it is a view indeed (a reshape may copy) is found out where one of them is written.
        """
        if scalar is None and not shape_of(ssa.type):
            scalar = self.scalar
        part = ViewPart(self, self.ssa, ssa, writable, where)
        return TracedArray(ssa, scalar=scalar, storage=self.storage, part=part)


class RowElement(TracedArray):
    """A row of an array that holds the elements of a list or dict; its operations are made when it is used.

    rows, row: the array's value, and the place of the row. make: makes the row's operations where the array is known.
    """

    made: SSAValue | None
    _ssa: SSAValue | None

    def __init__(self, rows: SSAValue, row: int, make: Callable[[], SSAValue], *, scalar: bool | None = None) -> None:
        self.rows, self.row = rows, row
        self._make = make
        super().__init__(None, scalar=scalar)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape, also before there is an IR value."""
        return shape_of(self.rows.type)[1:]

    @property
    def dtype(self) -> np.dtype:
        """Element type, also before there is an IR value."""
        return numpy_dtype(self.rows.type)

    @property
    def ssa(self) -> SSAValue:
        """The IR's value, made on the first use. SourceError F504 as `TracedArray.ssa`."""
        if self.lost is not None:
            self.lost()
        found = self._ssa
        if found is None:
            found = self.made = self._ssa = self._make()
        return found

    @ssa.setter
    def ssa(self, value: SSAValue) -> None:
        self._ssa = value

    def restore(self) -> None:
        """Be the row again, whatever was written since."""
        self._ssa = self.made

    @property
    def is_row(self) -> bool:
        """True until an element is written."""
        return self._ssa is self.made and self.lost is None


def joined_storage(made: TracedArray, other: TracedArray) -> None:
    """Merge the memory of two arrays, and of all that share it."""
    mine, its = made.storage, other.storage
    if mine is its:
        return
    for member in list(mine.members):
        member.storage = its
        its.members.add(member)
    its.outside |= mine.outside
    its.joined = True
