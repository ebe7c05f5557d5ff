"""Which OpenCL device is taken, without one."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from fleet.engines.gpu import opencl_device
from fleet.engines.gpu.opencl_device import find_opencl
from fleet.errors import SetupError

LOG = "Build on <device>:\n\nerror: unknown target CPU 'generic'\nDevice failed to build the program"


class _NoProgram(Exception):
    pass


def _device(name: str, *, works: bool, gpu: bool = False) -> Any:
    platform = SimpleNamespace(name=name)
    return SimpleNamespace(name=name, version="OpenCL 3.0", platform=platform, double_fp_config=1, type=int(gpu), works=works)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    devices: list[Any] = []

    def program(context: Any, _text: str) -> Any:
        def build(_options: list[str]) -> None:
            if not context[0].works:
                raise _NoProgram(LOG)

        return SimpleNamespace(build=build)

    cl = SimpleNamespace(
        Error=_NoProgram, RuntimeError=_NoProgram, Context=list, Program=program, device_type=SimpleNamespace(GPU=1),
        get_platforms=lambda: [SimpleNamespace(get_devices=lambda: devices)],
    )  # fmt: skip
    monkeypatch.setattr(opencl_device, "_pyopencl", lambda: cl)
    find_opencl.cache_clear()
    yield devices
    find_opencl.cache_clear()


def test_the_first_whose_compiler_works_is_taken(installed: list[Any]) -> None:
    installed += [_device("old", works=False), _device("system", works=True), _device("other", works=True)]
    assert find_opencl().device.name == "system"


def test_a_gpu_is_taken_first(installed: list[Any]) -> None:
    installed += [_device("processor", works=True), _device("card", works=True, gpu=True)]
    assert find_opencl().device.name == "card"


def test_where_none_works_the_first_compilers_error_is_said(installed: list[Any]) -> None:
    installed.append(_device("old", works=False))
    with pytest.raises(SetupError) as caught:
        find_opencl()
    assert str(caught.value).startswith(
        "old, OpenCL 3.0 compiles nothing: error: unknown target CPU 'generic'; an OpenCL that knows"
    )
    assert "\n" not in str(caught.value)
