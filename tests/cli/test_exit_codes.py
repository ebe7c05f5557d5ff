"""What every command leaves with, whatever ends it: one table."""

from __future__ import annotations

from command_line import Fleet

HIDING = """
import os, signal
from fleet.cli import doctor_command
def command(*_, **__):
    try:
        os.kill(os.getpid(), signal.{name})
    except BaseException:
        {then}
doctor_command.command.callback = command
"""


def test_a_signal_that_code_hides(fleet: Fleet) -> None:
    """Code that catches everything."""
    assert fleet("doctor", prelude=HIDING.format(name="SIGTERM", then="return 0")).code == 143
    ran = fleet("doctor", prelude=HIDING.format(name="SIGHUP", then="return 1"))
    assert ran.code == 129
