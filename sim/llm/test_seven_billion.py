"""Models of seven and six billion weights: one token of their shapes in RTL, every commit equal to the functional model's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from fleet.isa.registry import find_device
from fleet.llm.contestants import GenerateRequest, generate
from fleet.llm.load import load_shape
from fleet.llm.models import ModelOptions
from fleet.llm.quantisation import Quantisation

pytestmark = pytest.mark.nightly

_DISK = 10 << 30
"""Bytes: iss and rtl have a memory of up to 4 GB each."""


@pytest.mark.parametrize(("name", "within"), [("llama2-7b", 1.03), ("chatglm2-6b", 1.03)])
def test_one_token(tmp_path: Path, name: str, within: float) -> None:
    if shutil.disk_usage(tmp_path).free < _DISK:
        pytest.skip(f"less than {_DISK >> 30} GB are free under {tmp_path}")
    request = GenerateRequest(
        f"shape {name}", "a", 1, ("iss", "rtl"), device="hbm0923", plan=ModelOptions(tokens=1, positions=64),
        quantisation=Quantisation(64, "absmax"), folder=tmp_path, rtl_jobs=2,
    )  # fmt: skip
    loaded = load_shape(name, group=64, seed=0)
    config, ports = loaded.weights.config, find_device("hbm0923")[1].parameters["HbmPorts"]
    limit = Quantisation(64).stored_bits(config) / (256 * ports)  # cycles in which the ports deliver all weights and scales once
    result = generate(loaded, request)
    assert result.verdict == "pass"
    (bits,) = [c for c in result.comparisons if c.kind == "bits"]
    assert bits.commits == 14 * config.blocks + 2
    rtl = next(e for e in result.engines if e.name == "rtl")
    cycles = rtl.prefill[0].cycles
    assert cycles is not None
    print(f"{name}: {cycles:,} cycles, {cycles / limit:.3f} of the traffic's")
    assert limit < cycles < within * limit
