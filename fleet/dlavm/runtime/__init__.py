"""Runs compiled models; see `fleet.llm.session`."""

from fleet.dlavm._lazy import handing_on

__getattr__ = handing_on(
    __name__,
    {
        "session": "fleet.llm.session:*",
        "Runner": "fleet.llm.run_module",
        "generate": "fleet.llm.contestants",
        "Request": "fleet.llm.contestants",
    },
)
