"""Engine `cuda`: the kernels of engine `opencl` in CUDA C++, on an NVIDIA GPU."""

from __future__ import annotations

from fleet.engines.gpu.engine import KernelDevice, KernelEngine


def _find() -> KernelDevice:
    from fleet.engines.gpu.cuda_device import find_cuda

    return find_cuda()


ENGINE = KernelEngine("cuda", _find)
