"""What each operator of ONNX computes, by family."""
