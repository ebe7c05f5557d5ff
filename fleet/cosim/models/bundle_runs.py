"""A stored model run again: what it has against what is expected of it."""

from __future__ import annotations

from pathlib import Path

from fleet.compare.signature import other_than_expected
from fleet.cosim.campaign import cosim
from fleet.cosim.models.model_bundle import load_model_bundle, save_model_bundle
from fleet.cosim.options import CosimOptions
from fleet.cosim.result_signature import of_result
from fleet.cosim.what_ran import DataProvenance

__all__ = ["renew_model_bundle", "run_model_bundle"]


def run_model_bundle(path: Path, *, any_description: bool = False) -> str:
    """Co-simulates a bundle's model: what it has against what the bundle expects, in one line, empty where it is as expected.

    Raises ModelError, DeviceError for another description (unless any will do), and what the engines raise.
    """
    bundle, program, inputs = load_model_bundle(path)
    if not any_description:
        bundle.check_description(str(path))
    data = DataProvenance("real", 1, None, None, None)
    options = CosimOptions(str(path), data, bundle.device, bundle.memory, bundle.seed, lowering=bundle.lowering)
    result = cosim(program, inputs, None, bundle.engines, options)
    return other_than_expected(bundle.expect, bundle.signature, of_result(result), result.reasons)


def renew_model_bundle(path: Path) -> str:
    """Runs a bundle on the installed description and, where it does what it expects, stores it in its place for that one.

    Returns what is not as expected, empty where it was written.
    """
    bundle, program, inputs = load_model_bundle(path)
    wrong = run_model_bundle(path, any_description=True)
    if not wrong:
        save_model_bundle(path if path.is_dir() else path.parent, bundle, program, inputs)
    return wrong
