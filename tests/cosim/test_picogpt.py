"""A `generate` loop as people write it, tqdm and a growing list of tokens included: twenty tokens, the same on four engines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fleet.cli.main import main
from fleet.cosim.result import CosimResult

EXAMPLE = Path(__file__).parents[2] / "examples" / "picogpt.py"
TOKENS = [157, 167, 212, 157, 198, 13, 200, 151, 15, 94, 1, 127, 123, 162, 55, 206, 41, 127, 102, 238]
"""Of `python examples/picogpt.py`."""


@pytest.mark.parametrize("others", [["cpython"], pytest.param(["cpython", "riscv", "iss"], marks=pytest.mark.nightly)])
def test_picogpt_generates_the_same_tokens_on_every_engine(others: list[str], tmp_path: Path) -> None:
    np.savez(tmp_path / "prompt.npz", prompt=np.array([3, 17, 200, 45]))
    given = [f"{EXAMPLE}:main", "--input", str(tmp_path / "prompt.npz"), "--report", str(tmp_path / "r")]
    assert main(["cosim", *given, "--engines", ",".join(["vm", *others]), "--device", "hbm_small"]) == 0
    result = CosimResult.load(tmp_path / "r")
    assert (result.verdict, result.reasons) == ("pass", ())
    held = {c.name: c for c in result.comparisons}
    for other in others:
        name = "vm-vs-cpython" if other == "cpython" else f"{other}-vs-vm"
        tokens = held[name].operations[-1].op
        sides = [result.arrays[f"{name}/{tokens}/{side}"].tolist() for side in ("reference", "other")]
        assert sides == [TOKENS, TOKENS]
