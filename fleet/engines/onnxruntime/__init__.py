"""Engine `onnxruntime`: an oracle that shares no code with fleet's compiler or kernels."""

from fleet.engines.onnxruntime.engine import ENGINE as ENGINE
from fleet.engines.onnxruntime.engine import OnnxRuntimeEngine as OnnxRuntimeEngine
