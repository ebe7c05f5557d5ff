"""Programs before and after passes give the same results, and NumPy gives them too."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from spelled import Model, data

from fleet.engines.interp import interpret
from fleet.ir.program import Program
from fleet.transforms.edit import Edit
from fleet.transforms.pipeline import PassHooks, Pipeline, parse_passes

RAISE = "canonicalise,fold-constants,cse,raise-softmax,raise-norm,raise-activation,raise-rope,raise-attention,dce"


def passed(program: Program, passes: str = RAISE) -> Program:
    """The program after the passes, verified after each; the one given is untouched."""
    before = str(program.module)
    after, _ = Pipeline("test", parse_passes(passes)).run(program, PassHooks(verify_each=True))
    assert str(program.module) == before
    Edit(after).check()
    return after


def outputs(program: Program, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    return list(interpret(program, inputs, echo=lambda *_, **__: None)[0].values())


def assert_close(before: Program, after: Program, model: Model | None = None, seed: int = 0, factor: float = 64.0) -> None:
    """Results within `factor` roundings of their largest value; of NumPy's own too, where the model is given."""
    inputs = data(before, seed)
    expected = outputs(before, inputs)
    found = outputs(after, inputs)
    if model is not None:
        with np.errstate(all="ignore"):
            direct = model(np, **inputs, **before.weights)
        for a, b in zip(expected, direct if isinstance(direct, tuple) else (direct,), strict=True):
            np.testing.assert_array_equal(a, b)  # the trace itself is the model
    narrowest = max(float(np.finfo(a.dtype).eps) for a in before.arguments if a.dtype.kind == "f")
    for a, b in zip(expected, found, strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert np.isfinite(a).all()
        np.testing.assert_allclose(b, a, rtol=0, atol=factor * narrowest * max(float(np.abs(a).max(initial=0)), 1e-30))


def assert_same_bits(before: Program, after: Program, inputs: Mapping[str, np.ndarray]) -> None:
    for a, b in zip(outputs(before, inputs), outputs(after, inputs), strict=True):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()
