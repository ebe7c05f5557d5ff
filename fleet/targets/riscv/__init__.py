"""The RISC-V target: from IR to LLVM IR, object and linked image."""
