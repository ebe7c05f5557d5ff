"""The request that runs a test of the regression again, out of pytest's id: data, from which a command line is shown."""

from __future__ import annotations

from collections.abc import Sequence

from fleet.cosim.run_request import RunRequest

_TIERS = ("--nightly", "--weekly")


def tiers_in(arguments: Sequence[str]) -> tuple[str, ...]:
    """Return the options among pytest's arguments that choose a tier: without them a test of that tier is not collected."""
    return tuple(option for option in _TIERS if option in arguments)


def node_request(node: str, tiers: Sequence[str] = ()) -> RunRequest:
    """The request of a test by pytest's id. tiers: the options of its session that choose a tier.

    >>> str(node_request("sim/test_a.py::test_b[1 x]", ("--nightly",)))
    "python -m pytest 'sim/test_a.py::test_b[1 x]' --nightly"
    """
    return RunRequest("python", ("-m", "pytest", node, *tiers))


def request_of(node: str, kind: str) -> RunRequest:
    """The request of a recorded run, of whatever tier.

    kind: as recorded; a case's node is its file, its name and the run's id in brackets.

    >>> str(request_of("sim/cases/digits.toml::digits[hbm_small-fixed-0]", "case"))
    'fleet case run sim/cases/digits.toml --only hbm_small-fixed-0'
    """
    file, _, name = node.partition("::")
    if kind != "case" or not name.endswith("]"):
        return node_request(node, ("--nightly",))
    return RunRequest("fleet", ("case", "run", file, "--only", name.partition("[")[2].removesuffix("]")))
