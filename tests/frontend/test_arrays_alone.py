"""Functions of NumPy that ask an argument for attributes of an array: NumPy itself says which they are."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_source import program_of

from fleet.errors import SourceError
from fleet.frontend.arrays.called import ARRAYS_ALONE, takes
from fleet.frontend.arrays.signatures import FUNCTIONS

MATRIX, VECTOR, DEEP = [[1.0, 2.0], [3.0, 4.0]], [1.0, 2.0, 3.0], [[[1.0, 2.0]]]
CALLS: list[tuple[Any, ...]] = [
    *((MATRIX,), (MATRIX, MATRIX), (MATRIX, 2), (MATRIX, [0, 1]), (MATRIX, MATRIX, MATRIX), (MATRIX, [0, 1], 1), (MATRIX, (0,), 1)),
    *((MATRIX, MATRIX, 2), (VECTOR,), (VECTOR, 2), (VECTOR, [1, 2, 0]), (VECTOR, [1, 2, 0], 0), (VECTOR, [1, 2, 0], 1.5, 0)),
    *((DEEP, 1), ([True, False, True], VECTOR)),
]


def works(function: Any, arguments: list[Any]) -> type[Exception] | None:
    try:
        function(*arguments)
    except Exception as error:
        return type(error)
    return None


def asked_for_attributes() -> Mapping[str, int]:
    """Function -> how many of its first arguments must be arrays, of all that fleet knows or calls."""
    names = {n.removeprefix("numpy.") for n in FUNCTIONS}
    for space in ("", "linalg.", "fft."):
        names |= {space + n for n in dir(attrgetter(space[:-1])(np) if space else np) if takes(f"numpy.{space}{n}")}
    found: dict[str, int] = {}
    for name in names:
        try:
            function = attrgetter(name)(np)
        except AttributeError:
            continue
        for call in CALLS:
            arrays = [np.array(a) if isinstance(a, list) else a for a in call]
            if works(function, list(arrays)) is not None:
                continue
            for i, argument in enumerate(call):
                mixed = [argument if j == i else np.array(a) if isinstance(a, list) else a for j, a in enumerate(call)]
                if isinstance(argument, list) and works(function, mixed) is AttributeError:
                    found[name] = max(found.get(name, 0), i + 1)
    return found


def test_the_table_is_numpys() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert asked_for_attributes() == ARRAYS_ALONE


@pytest.mark.parametrize(
    "call", ["np.rollaxis([[1.0, 2.0]], 1)", "np.rollaxis(a=[[1.0, 2.0]], axis=1)", "np.take_along_axis(x, indices=[0], axis=0)"]
)
def test_a_list_is_refused_in_its_place_and_by_name(tmp_path: Path, call: str) -> None:
    with pytest.raises(AttributeError):
        eval(call, {"np": np, "x": np.zeros(3)})
    with pytest.raises(SourceError, match="F206"):
        program_of(tmp_path, f"import numpy as np\n\n\ndef forward(x: 'float64[3]'):\n    return {call}\n", x=np.zeros(3))
