"""A functional model in C or C++: a shared library with the functions of `fleet/sdk/fleet_functional.h`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from pathlib import Path

from fleet.errors import ModelError
from fleet.sdk.functional import Command, FunctionalModel, JobContext

_U8, _U32, _I64, _U64, _TEXT = ctypes.c_uint8, ctypes.c_uint32, ctypes.c_int64, ctypes.c_uint64, ctypes.c_char_p
_FUNCTIONS = ("fleet_model_new", "fleet_model_command", "fleet_model_delete")


class _Field(ctypes.Structure):
    _fields_ = (("name", _TEXT), ("value", _U64), ("bytes", ctypes.POINTER(_U8)), ("size", _U32))


class _Command(ctypes.Structure):
    _fields_ = (
        ("kind", _TEXT), ("port", _TEXT), ("reg", _TEXT), ("address", _U64), ("data", _Field), ("fields", ctypes.POINTER(_Field)),
        ("field_count", _U32),
    )  # fmt: skip


class _Job(ctypes.Structure):
    _fields_ = (
        ("commit", _TEXT), ("tagged", ctypes.c_int32), ("tag", _U64), ("events", _U32), ("queue", _TEXT),
        ("after", ctypes.POINTER(_I64)), ("after_count", _U32),
    )  # fmt: skip


class _Parameter(ctypes.Structure):
    _fields_ = (("name", _TEXT), ("value", _TEXT))


_ADDRESS = ctypes.c_void_p  # a number in a callback
_JOB = ctypes.CFUNCTYPE(_I64, _ADDRESS)
_READ = ctypes.CFUNCTYPE(None, _TEXT, _U64, _ADDRESS, _U32)
_WRITE = ctypes.CFUNCTYPE(None, _TEXT, _U64, _ADDRESS, _U32)
_GIVE = ctypes.CFUNCTYPE(None, _TEXT, _ADDRESS, _U32)
_EXPECT = ctypes.CFUNCTYPE(None, _U64, _U64)


class _Callbacks(ctypes.Structure):
    _fields_ = (("job", _JOB), ("read", _READ), ("write", _WRITE), ("give", _GIVE), ("expect", _EXPECT))


class NativeModel(FunctionalModel):
    """A library's model. Raises ModelError if the library cannot be loaded or lacks a function. A crash in it ends the process."""

    def __init__(self, path: Path, parameters: Mapping[str, str]) -> None:
        super().__init__(parameters)
        try:
            self._library = ctypes.CDLL(str(path.absolute()))
            new, command, delete = (getattr(self._library, name) for name in _FUNCTIONS)
        except (OSError, AttributeError) as error:
            raise ModelError(
                f"cannot be used as a functional model: {error}",
                where=str(path),
                hint="fleet/sdk/fleet_functional.h says what it exports",
            ) from error
        new.restype, new.argtypes = ctypes.c_void_p, (ctypes.POINTER(_Parameter), _U32)
        command.restype, command.argtypes = None, (ctypes.c_void_p, ctypes.POINTER(_Command), ctypes.POINTER(_Callbacks))
        delete.restype, delete.argtypes = None, (ctypes.c_void_p,)
        given = (_Parameter * len(parameters))(*((n.encode(), v.encode()) for n, v in parameters.items()))
        self._command, self._delete = command, delete
        self._model: int | None = new(given, len(parameters))

    def __del__(self) -> None:
        if getattr(self, "_model", None):
            self._delete(self._model)

    def command(self, command: Command, context: JobContext) -> None:
        """Calls the library; what a callback raises is raised when it has returned."""
        fields = [_field(name, value) for name, value in command.fields.items()]
        given = _Command(
            command.kind.encode(), command.port.encode(), command.register.encode(), command.address, _field("", command.data),
            (_Field * len(fields))(*fields), len(fields),
        )  # fmt: skip
        calls = _Calls(context)
        self._command(self._model, ctypes.byref(given), ctypes.byref(calls.table))
        if calls.raised is not None:
            raise calls.raised


def _field(name: str, value: int) -> _Field:
    data = value.to_bytes(max(8, (value.bit_length() + 7) // 8), "little")
    return _Field(name.encode(), value & (1 << 64) - 1, (_U8 * len(data))(*data), len(data))


class _Calls:
    """The callbacks of one command. raised: the first thing that one of them raised; after it the others do nothing."""

    def __init__(self, context: JobContext) -> None:
        self._context = context
        self.raised: BaseException | None = None
        self.table = _Callbacks(
            _JOB(self._job), _READ(self._read), _WRITE(self._write), _GIVE(self._give), _EXPECT(self._expect)
        )  # fmt: skip

    def _kept(self, call: Callable[[], int]) -> int:
        if self.raised is not None:
            return -1
        try:
            return call()
        except BaseException as error:  # ctypes would print it and go on
            self.raised = error
            return -1

    def _job(self, address: int | None) -> int:
        def call() -> int:
            if not address:
                return self._context.job()
            job = _Job.from_address(address)
            after = [job.after[n] for n in range(job.after_count)]
            return self._context.job(
                (job.commit or b"").decode(), tag=job.tag if job.tagged else None, events=job.events or 1,
                queue=(job.queue or b"").decode(), after=after,
            )  # fmt: skip

        return self._kept(call)

    def _read(self, memory: bytes, address: int, data: int, size: int) -> None:
        def call() -> int:
            ctypes.memmove(data, self._context.read(memory.decode(), address, size), size)
            return 0

        self._kept(call)

    def _write(self, memory: bytes, address: int, data: int, size: int) -> None:
        def call() -> int:
            self._context.write(memory.decode(), address, ctypes.string_at(data, size))
            return 0

        self._kept(call)

    def _give(self, port: bytes, fields: int | None, count: int) -> None:
        def call() -> int:
            given = {f.name.decode(): _value(f) for f in ((_Field * count).from_address(fields) if fields else ())}
            self._context.give(port.decode(), **given)
            return 0

        self._kept(call)

    def _expect(self, value: int, mask: int) -> None:
        def call() -> int:
            self._context.expect(value, mask)
            return 0

        self._kept(call)


def _value(field: _Field) -> int:
    return int.from_bytes(ctypes.string_at(field.bytes, field.size), "little") if field.bytes else field.value
