"""Partial content of device memory: known bytes by space, bank and offset."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fleet.isa.memory import as_bytes
from fleet.sdk import Write

_PAGE = 4096


class Sparse:
    """Pages of bytes, each with a mask of the known ones."""

    def __init__(self) -> None:
        self._pages: dict[tuple[str, int, int], tuple[np.ndarray, np.ndarray]] = {}

    def copy(self) -> Sparse:
        """Return an independent copy."""
        other = Sparse()
        other._pages = {key: (data.copy(), known.copy()) for key, (data, known) in self._pages.items()}
        return other

    def put(self, space: str, bank: int, offset: int, data: np.ndarray) -> None:
        """Set bytes. data: any dtype; its bytes in order."""
        flat = as_bytes(data)
        for page, at, start, n in _pieces(offset, flat.size):
            bytes_, known = self._page(space, bank, page)
            bytes_[at : at + n] = flat[start : start + n]
            known[at : at + n] = True

    def put_where(self, space: str, bank: int, offset: int, data: np.ndarray, mask: np.ndarray) -> None:
        """Set the bytes of a flat uint8 array where `mask` (bool, same size) is set."""
        for page, at, start, n in _pieces(offset, data.size):
            new = mask[start : start + n]
            if new.any():
                bytes_, known = self._page(space, bank, page)
                bytes_[at : at + n][new] = data[start : start + n][new]
                known[at : at + n] |= new

    def knows(self, space: str, bank: int, offset: int, size: int) -> np.ndarray:
        """Return which bytes of a range are known: bool [size]."""
        found = np.zeros(size, bool)
        for page, at, start, n in _pieces(offset, size):
            if (entry := self._pages.get((space, bank, page))) is not None:
                found[start : start + n] = entry[1][at : at + n]
        return found

    def blocks(self, *, zeros: bool = False) -> tuple[Write, ...]:
        """Return the known ranges, ascending. Without `zeros` only those with nonzero data, in lines of 64 bytes."""
        found: list[Write] = []
        for (space, bank, page), (data, known) in sorted(self._pages.items(), key=lambda item: item[0]):
            keep = known if zeros else _lines(known & (data != 0)) & known
            for start, end in _runs(keep):
                offset, part = page * _PAGE + start, data[start:end].copy()
                last = found[-1] if found else None
                if last is not None and (last.space, last.bank) == (space, bank) and last.offset + last.data.size == offset:
                    found[-1] = Write(space, last.offset, np.concatenate([last.data, part]), bank)
                else:
                    found.append(Write(space, offset, part, bank))
        return tuple(found)

    def _page(self, space: str, bank: int, page: int) -> tuple[np.ndarray, np.ndarray]:
        key = (space, bank, page)
        if key not in self._pages:
            self._pages[key] = np.zeros(_PAGE, np.uint8), np.zeros(_PAGE, bool)
        return self._pages[key]


def _pieces(offset: int, size: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield (page, offset in it, offset in the range, bytes)."""
    done = 0
    while done < size:
        page, at = divmod(offset + done, _PAGE)
        n = min(_PAGE - at, size - done)
        yield page, at, done, n
        done += n


def _lines(mask: np.ndarray) -> np.ndarray:
    """Extend a mask to whole lines of 64 bytes."""
    return np.repeat(mask.reshape(-1, 64).any(axis=1), 64)


def _runs(mask: np.ndarray) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.view(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
