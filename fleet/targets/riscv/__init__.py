"""The RISC-V target: LLVM IR, object, linked image."""
