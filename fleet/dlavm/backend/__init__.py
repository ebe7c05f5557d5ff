"""The graph compiler; see `fleet.targets.accel.build`."""

from fleet.dlavm._lazy import handing_on

__getattr__ = handing_on(
    __name__, {"build": "fleet.llm.sessions.run_module", "Module": "fleet.llm.sessions.run_module:RunnableModule"}
)
