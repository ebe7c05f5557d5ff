"""The options by which commands name a model and its data; reading them is `fleet.cosim.model`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

_F = TypeVar("_F", bound=Callable[..., Any])


def data_options(function: _F) -> _F:
    """The options that every command on a model shares."""
    for option in reversed(
        [
            click.option("--weights", type=click.Path(path_type=Path), help="Weights by argument name (.npz)."),
            click.option("--input", "input_path", type=click.Path(path_type=Path), help="Inputs by argument name (.npz)."),
            click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of everything random."),
            click.option(
                "--batch", type=click.IntRange(min=1), help="Rows of random inputs (default 8), or only the first rows given."
            ),
        ]
    ):
        function = option(function)
    return function
