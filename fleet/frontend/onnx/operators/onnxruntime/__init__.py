"""Operators of onnxruntime's own domain, com.microsoft: what its optimiser and quantiser write."""
