"""LLVM IR of the operations, by family."""
