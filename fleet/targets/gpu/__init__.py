"""Kernels as text for GPUs: OpenCL C and CUDA C++ from the loop level's kernels (`fleet.targets.riscv.kernels`)."""
