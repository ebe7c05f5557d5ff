"""How a run's outputs are shown: name, dtype and shape, then the numbers, long arrays shortened."""

from __future__ import annotations

from collections.abc import Mapping

import click
import numpy as np

__all__ = ["print_outputs"]


def print_outputs(outputs: Mapping[str, np.ndarray]) -> None:
    """Prints arrays by name on standard output."""
    for name, array in outputs.items():
        click.echo(f"{name} {array.dtype.name}{list(array.shape)}\n{np.array2string(array, threshold=64, precision=6)}")
