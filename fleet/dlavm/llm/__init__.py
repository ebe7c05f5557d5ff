"""Language models as graphs; see `fleet.llm`."""

from fleet.dlavm._lazy import handing_on

__getattr__ = handing_on(
    __name__,
    {
        "models": "fleet.llm.models:*",
        "build_model": "fleet.llm.models",
        "ModelOptions": "fleet.llm.models",
        "preset": "fleet.llm.config",
        "load_model": "fleet.llm.load",
    },
)
