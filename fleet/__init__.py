"""fleet: a co-simulation harness for deep-learning accelerators."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fleet.compiler import Compiled as Compiled
    from fleet.compiler import compile_model as compile
    from fleet.compiler.decorator import jit as jit
    from fleet.core.version import __version__ as __version__
    from fleet.frontend.model_functions import device as device
    from fleet.frontend.model_functions import gelu as gelu
    from fleet.frontend.model_functions import kernel as kernel
    from fleet.frontend.model_functions import layer_norm as layer_norm
    from fleet.frontend.model_functions import relu as relu
    from fleet.frontend.model_functions import rms_norm as rms_norm
    from fleet.frontend.model_functions import sigmoid as sigmoid
    from fleet.frontend.model_functions import silu as silu
    from fleet.frontend.model_functions import softmax as softmax
    from fleet.frontend.tensor import Tensor as Tensor

__all__ = [
    "Compiled", "Tensor", "__version__", "compile", "device", "gelu", "jit", "kernel", "layer_norm", "relu", "rms_norm", "sigmoid",
    "silu", "softmax",
]  # fmt: skip

_LAZY = {
    **{name: ("fleet.frontend.model_functions", name) for name in __all__},  # all but these:
    "__version__": ("fleet.core.version", "__version__"),
    "compile": ("fleet.compiler", "compile_model"),
    "Compiled": ("fleet.compiler", "Compiled"),
    "jit": ("fleet.compiler.decorator", "jit"),
    "Tensor": ("fleet.frontend.tensor", "Tensor"),
}


def __getattr__(name: str) -> Any:
    """`fleet.compile` and the like, loaded when they are used: importing the package loads nothing."""
    if name not in _LAZY:
        raise AttributeError(f"module 'fleet' has no attribute {name!r}")
    module, attribute = _LAZY[name]
    return getattr(importlib.import_module(module), attribute)
