"""MLIR: export to upstream dialects, lowering with LLVM's tools, and running the result in process."""
