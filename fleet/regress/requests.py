"""The request that runs a test of the regression again, out of pytest's id: data, from which a command line is shown."""

from __future__ import annotations

from fleet.cosim.run_request import RunRequest

__all__ = ["node_request", "request_of"]


def node_request(node: str) -> RunRequest:
    """The request of a test by pytest's id.

    >>> str(node_request("sim/test_a.py::test_b[1 x]"))
    "python -m pytest 'sim/test_a.py::test_b[1 x]'"
    """
    return RunRequest("python", ("-m", "pytest", node))


def request_of(node: str, kind: str) -> RunRequest:
    """The request of a recorded run. kind: as recorded; a case's node is its file, its name and the run's id in brackets.

    >>> str(request_of("sim/cases/digits.toml::digits[hbm_small-fixed-0]", "case"))
    'fleet case run sim/cases/digits.toml --only hbm_small-fixed-0'
    """
    file, _, name = node.partition("::")
    if kind != "case" or not name.endswith("]"):
        return node_request(node)
    return RunRequest("fleet", ("case", "run", file, "--only", name.partition("[")[2].removesuffix("]")))
