"""MLIR: export to upstream dialects, lowering with LLVM's tools, and running what comes out in process."""
