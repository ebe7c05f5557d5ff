"""Exports programs as ONNX models."""
