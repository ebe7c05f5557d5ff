"""The graph compiler; see `fleet.targets.graph`."""

from fleet.dlavm._lazy import handing_on

__getattr__ = handing_on(__name__, {"build": "fleet.llm.run_module", "Module": "fleet.llm.run_module:RunnableModule"})
