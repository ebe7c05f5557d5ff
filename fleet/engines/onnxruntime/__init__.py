"""Engine `onnxruntime`: an oracle that shares no code with fleet's compiler or kernels."""

from fleet.engines.onnxruntime.engine import ENGINE, OnnxRuntimeEngine

__all__ = ["ENGINE", "OnnxRuntimeEngine"]
