"""Run a stored model again and compare the outcome with the expected one."""

from __future__ import annotations

from pathlib import Path

from fleet.compare.signature import other_than_expected
from fleet.cosim.campaign import cosim
from fleet.cosim.models.model_bundle import load_model_bundle, save_model_bundle
from fleet.cosim.options import CosimOptions
from fleet.cosim.result_signature import of_result
from fleet.cosim.what_ran import DataProvenance


def run_model_bundle(path: Path, *, any_description: bool = False) -> str:
    """Co-simulate a bundle's model; return in one line how the outcome differs from the expected one, "" if it does not.

    Raises ModelError; DeviceError if the description differs (unless `any_description`); and what the engines raise.
    """
    bundle, program, inputs = load_model_bundle(path)
    if not any_description:
        bundle.check_description(str(path))
    data = DataProvenance("real", 1, None, None, None)
    options = CosimOptions(str(path), data, bundle.device, bundle.memory, bundle.seed, lowering=bundle.lowering)
    result = cosim(program, inputs, None, bundle.engines, options)
    return other_than_expected(bundle.expect, bundle.signature, of_result(result), result.reasons)


def renew_model_bundle(path: Path) -> str:
    """Run a bundle on the installed description and, if the outcome is as expected, store the bundle for that description.

    Returns how the outcome differs from the expected one; "" if the bundle was written.
    """
    bundle, program, inputs = load_model_bundle(path)
    wrong = run_model_bundle(path, any_description=True)
    if not wrong:
        save_model_bundle(path if path.is_dir() else path.parent, bundle, program, inputs)
    return wrong
