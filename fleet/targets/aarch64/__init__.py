"""AArch64: the RISC-V target's LLVM IR with another triple, linked into an image."""
