"""ONNX models in, the same programs out that NumPy sources give."""
