"""Arguments, options and output that the commands on any file share."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path

import click

from fleet.cli.looking.inspecting.kinds import refusal
from fleet.cli.looking.inspecting.page import InspectRequest, Page
from fleet.cli.model import data_options, onnx_options
from fleet.core.codec import Json
from fleet.errors import FleetError


@dataclass
class CommandOutput:
    """Output of a command: lines at once, or (quiet) one JSON object at the end, even after an error.

    page: of the file, once it is inspected; facts: JSON values in addition to the page's.
    """

    quiet: bool
    page: Page | None = None
    facts: dict[str, Json] = field(default_factory=dict[str, Json])

    def say(self, line: str = "") -> None:
        """Print a line unless JSON was asked for."""
        if not self.quiet:
            click.echo(line)


def on_a_file(device: str) -> Callable[[Callable[[InspectRequest, CommandOutput], int]], Callable[..., int]]:
    """Turn `command(asked, answer) -> exit code` into a click callback. device: help of --device."""

    def decorate(command: Callable[[InspectRequest, CommandOutput], int]) -> Callable[..., int]:
        @click.argument("model", metavar="FILE")
        @onnx_options
        @data_options
        @click.option("--device", help=device)
        @click.option("--json", "as_json", is_flag=True, help="The whole page, with every reason, as JSON; nothing else.")
        @wraps(command)
        def run(
            model: str, weights: Path | None, input_path: Path | None, seed: int, batch: int | None, device: str | None,
            as_json: bool,
        ) -> int:  # fmt: skip
            asked = InspectRequest(model, weights, input_path, seed, batch, device)
            answer = CommandOutput(as_json)
            try:
                code = command(asked, answer)
            except FleetError as error:
                if as_json:
                    click.echo(json.dumps(_problem(error, asked, answer), indent=1))
                raise
            if as_json and answer.page is not None:
                click.echo(json.dumps({**answer.page.to_json(), **answer.facts}, indent=1))
            return code

        return run

    return decorate


def _problem(error: FleetError, asked: InspectRequest, answer: CommandOutput) -> dict[str, Json]:
    if answer.page is None:
        return refusal(error, asked)
    return {**answer.page.to_json(), **answer.facts, "problem": str(error)}
