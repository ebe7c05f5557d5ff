"""Chains of elementwise steps in one step: what quantised models do between their products.

The steps one by one define the result. The compiled kernel (`fleet.targets.bytecode.kernels.chain_kernel`) does the same to one
element after the other. `FLEET_KERNEL=numpy` selects NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fleet.sdk.native import Target, target
from fleet.targets.bytecode.kernels.chain_kernel import ChainSpec, library


@dataclass(frozen=True)
class ChainOperand:
    """An operand besides the elements: its step's dtype, and its size, 1 or the number of channels."""

    dtype: np.dtype
    size: int


@dataclass(frozen=True)
class _Prepared:
    """A kernel's function and the address of its operands' table. held: the memory behind it. lasting: no array was copied."""

    target: Target
    others: tuple[Any, ...]
    function: Callable[..., Any]
    address: int
    held: tuple[npt.NDArray[Any], ...]
    lasting: bool

    def serves(self, for_target: Target, others: Sequence[Any]) -> bool:
        """Return whether it is what these operands need."""
        same = self.lasting and self.target is for_target
        return same and all(a is b for a, b in zip(self.others, others, strict=True))


class ElementChain:
    """One step: called with the elements and the other operands, in their steps' order.

    Args:
        shape: of the elements.
        spec: the steps.
        operands: the others. Those of several elements have one for each index of dimension `axis`.
        axis: the dimension of the channels.
        separate: the steps one by one, called with the same values.
    """

    def __init__(
        self, shape: tuple[int, ...], spec: ChainSpec, operands: Sequence[ChainOperand], axis: int, separate: Callable[..., Any]
    ) -> None:
        self._shape, self._spec, self._operands, self._separate = shape, spec, tuple(operands), separate
        self._source, self._result = np.dtype(spec.source), np.dtype(spec.steps[-1].dtype)
        channels = max((o.size for o in operands), default=1)
        self._sizes = (1, 1, math.prod(shape))
        if channels > 1:
            self._sizes = math.prod(shape[:axis]), channels, math.prod(shape[axis + 1 :])
        self._last: _Prepared | None = None
        """What was prepared for the last call; replaced whole, for threads."""

    def __call__(self, x: Any, *others: Any) -> Any:
        """Return the last step's result."""
        for_target = target()
        fits = isinstance(x, np.ndarray) and x.dtype == self._source and x.shape == self._shape and x.flags.c_contiguous
        if for_target is None or not fits:
            return self._separate(x, *others)
        last = self._last
        if last is None or not last.serves(for_target, others):
            last = self._prepared(for_target, others)
            if last is None:
                return self._separate(x, *others)
            self._last = last
        out = np.empty(self._shape, self._result)
        unfit = last.function(_address(x), _address(out), *self._sizes, last.address)
        return self._separate(x, *others) if unfit else out

    def _prepared(self, for_target: Target, others: Sequence[Any]) -> _Prepared | None:
        """Return what the kernel needs of the other operands; None if it does not take them."""
        places: list[tuple[int, int]] = []
        held: list[npt.NDArray[Any]] = []
        lasting = True
        for value, operand in zip(others, self._operands, strict=True):
            if isinstance(value, np.ndarray | np.generic) and value.dtype != operand.dtype:
                return None
            array = np.asarray(value, operand.dtype, order="C")
            if array.size != operand.size:
                return None
            lasting = lasting and (array is value or not isinstance(value, np.ndarray))
            held.append(array)
            places.append((_address(array), array.itemsize if operand.size > 1 else 0))
        table = np.array(places, np.int64)
        before = self._last
        function = before.function if before is not None and before.target is for_target else library(for_target, self._spec)
        return _Prepared(for_target, tuple(others), function, _address(table), (table, *held), lasting)


def _address(array: npt.NDArray[Any]) -> int:
    """Return the address of the first element, in a quarter of the time that `array.ctypes` takes."""
    return array.__array_interface__["data"][0]
