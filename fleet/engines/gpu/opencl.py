"""Engine `opencl`: kernels in OpenCL C on a device of this machine, a processor's cores too (pocl)."""

from __future__ import annotations

from fleet.engines.gpu.engine import KernelDevice, KernelEngine


def _find() -> KernelDevice:
    from fleet.engines.gpu.opencl_device import find_opencl

    return find_opencl()


ENGINE = KernelEngine("opencl", _find)
