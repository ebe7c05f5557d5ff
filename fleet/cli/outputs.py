"""Prints a run's outputs: name, dtype and shape, then the numbers; long arrays are shortened."""

from __future__ import annotations

from collections.abc import Mapping

import click
import numpy as np


def print_outputs(outputs: Mapping[str, np.ndarray]) -> None:
    """Print arrays by name on standard output."""
    for name, array in outputs.items():
        click.echo(f"{name} {array.dtype.name}{list(array.shape)}\n{np.array2string(array, threshold=64, precision=6)}")
