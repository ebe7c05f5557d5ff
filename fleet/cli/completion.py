"""`fleet completion`: the script with which a shell completes commands, options, devices, engines, cases and instructions."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from fleet.errors import ExitCode

COMPLETE = "_FLEET_COMPLETE"
"""Environment variable with which the shell's script requests completions."""

_EPILOG = """\b
Examples:
  fleet completion bash
  fleet completion zsh
  fleet completion fish

\b
To have it in every shell:
  bash: eval "$(fleet completion bash)" in ~/.bashrc
  zsh:  eval "$(fleet completion zsh)" in ~/.zshrc, behind compinit
  fish: fleet completion fish | source, in ~/.config/fish/config.fish
"""


@click.command(name="completion", epilog=_EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> int:
    """Print the script that completes `fleet` in SHELL."""
    from fleet.cli.main import fleet

    found = get_completion_class(shell)
    assert found is not None
    click.echo(found(fleet, {}, "fleet", COMPLETE).source())
    return ExitCode.AGREED
