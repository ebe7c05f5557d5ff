"""Constants as bytes: loaded on demand, packed as the instruction set requires, one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from fleet.errors import FleetError, ModelError
from fleet.sdk.tasks import Quantiser
from fleet.targets.accel.emission import ConstantPlace
from fleet.targets.driver.names import Names, identifier
from fleet.targets.quantised import quantiser
from fleet.transforms.quantise import Quantised, QuantiseOptions

_LARGEST = 1 << 34
"""Largest size of a file of packed constants, in bytes."""


class GraphConstants:
    """The constants of a compiled graph."""

    def __init__(
        self, places: tuple[ConstantPlace, ...], options: QuantiseOptions, ports: int,
        stored: Mapping[str, Quantised] | None = None,
    ) -> None:  # fmt: skip
        """ports: banks of space "hbm". stored: matrices that are already quantised, by name; they precede data."""
        self.places, self._options, self._ports = places, options, ports
        self._stored: Mapping[str, Quantised] = {} if stored is None else stored
        self._packed_of: dict[tuple[int, str, int], tuple[Quantised, tuple[np.ndarray, ...]]] = {}
        self._stems: dict[str, str] = {}
        names = Names(("inst.bin",))
        for place in places:
            data = Path(place.data).name if isinstance(place.data, str) else f"{identifier(place.name)}.bin"
            self._stems[place.name] = names.unique(data)

    def has_data(self, place: ConstantPlace) -> bool:
        """Return whether the constant has data."""
        return place.data is not None or place.packing.default is not None or place.name in self._stored

    def banks(self, place: ConstantPlace) -> int:
        """Return the number of banks that it fills."""
        return self._ports if place.space == "hbm" else 1

    def files(self, place: ConstantPlace) -> list[str]:
        """Return the names of its files, one per bank: the name of its path, for HBM with the bank's two digits after the stem."""
        path = Path(self._stems[place.name])
        if place.space != "hbm":
            return [path.name]
        return [f"{path.stem}_{bank:02d}{path.suffix}" for bank in range(self._ports)]

    def load(self, place: ConstantPlace) -> tuple[np.ndarray, ...]:
        """Return the bytes of the constant, one flat uint8 array per bank.

        Raises:
            ModelError: there is no data, a file is missing or has another size, an array does not fit or is not finite.
        """
        if place.name in self._stored:
            return self._packed_once(place, self._stored[place.name])
        if isinstance(place.data, str):
            return tuple(self._packed(place, Path(place.data)))
        array = place.data() if callable(place.data) else place.data
        if array is None and place.packing.default is not None:
            array = place.packing.default()
        if array is None:
            raise ModelError("no data, only a shape", where=f"constant '{place.name}'", hint="give the constant an array or a file")
        return self._pack(place, np.asarray(array), quantiser(self._options, place.name))

    def _packed_once(self, place: ConstantPlace, stored: Quantised) -> tuple[np.ndarray, ...]:
        """Pack a stored matrix; a matrix used at several places is packed once."""
        key = id(stored), place.packing.kind, place.packing.room.size
        if key not in self._packed_of:
            self._packed_of[key] = stored, self._pack(place, stored.codes, lambda *_asked: (stored.codes, stored.scales))
        return self._packed_of[key][1]

    def _pack(self, place: ConstantPlace, array: np.ndarray, quantised: Quantiser) -> tuple[np.ndarray, ...]:
        where = f"constant '{place.name}'"
        try:
            made = tuple(place.packing.pack(array, quantised))
        except FleetError as error:
            if error.where is not None and place.name in error.where:
                raise
            raise ModelError(error.what, where=where, hint=error.hint) from error
        size = place.packing.room.size
        if len(made) != self.banks(place) or any(m.size != size for m in made):
            what = f"{len(made)} banks of {sorted({m.size for m in made})} bytes, expected {self.banks(place)} of {size}"
            raise ModelError(what, where=where)
        return made

    def _packed(self, place: ConstantPlace, path: Path) -> Iterator[np.ndarray]:
        """Read files of packed bytes: one per bank beside the path, or one with all banks in order."""
        size, banks = place.packing.room.size, self.banks(place)
        folder, names = path.parent, self.files(place)
        single = path.is_file() and (banks == 1 or not (folder / names[0]).is_file())
        for bank in range(banks):
            one = path if single else folder / names[bank]
            try:
                found = one.stat().st_size
                wanted = size * banks if single else size
                if found != wanted or found > _LARGEST:
                    raise ModelError(f"{found} bytes, expected {wanted}", where=f"constant '{place.name}', {one}")
                data = np.fromfile(one, np.uint8, size, offset=bank * size if single else 0)
            except (OSError, ValueError) as error:  # ValueError: a path with a zero byte
                raise ModelError(
                    f"cannot be read ({getattr(error, 'strerror', None) or error})", where=f"constant '{place.name}', {one}"
                ) from error
            yield data
