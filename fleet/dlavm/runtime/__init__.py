"""Runs compiled models; see `fleet.llm.sessions.session`."""

from fleet.dlavm._lazy import handing_on

__getattr__ = handing_on(
    __name__,
    {
        "session": "fleet.llm.sessions.session:*",
        "Runner": "fleet.llm.sessions.run_module:ModuleRunner",
        "generate": "fleet.llm.contestants",
        "Request": "fleet.llm.contestants:GenerateRequest",
    },
)
