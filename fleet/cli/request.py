"""Requests as data: of a command, for its result, and of a stored result, to run it again."""

from __future__ import annotations

from collections.abc import Sequence

import click

from fleet.cosim.run_request import RunRequest


def own_request() -> RunRequest | None:
    """Return the request of the running command; None if its function was called without a command line."""
    context = click.get_current_context(silent=True)
    found = context.find_root().obj if context is not None else None
    return found if isinstance(found, RunRequest) else None


def again(request: RunRequest, more: Sequence[str] = ()) -> int:
    """Run a request of fleet again, with more arguments behind its own; returns its exit code. Raises what the command raises."""
    given = [*request.arguments, *more]
    command = click.get_current_context().find_root().command
    code = command.main(args=given, prog_name=request.program, standalone_mode=False, obj=RunRequest(request.program, tuple(given)))
    return code if isinstance(code, int) else 0
