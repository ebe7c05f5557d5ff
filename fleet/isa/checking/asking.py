"""Asks an author's class, which may raise anything and answer anything: what is no answer becomes a finding."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar, cast

import numpy as np

from fleet.core.plugins import all_of
from fleet.isa.checking.finding import Finding, class_place, method_place
from fleet.sdk import Call, CycleRules, Device, Draw, Instruction, NoRoomError, Range, Source

_D = TypeVar("_D", bound=Draw | int)


class NoAnswer(Exception):
    """Carries the finding."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(str(finding))
        self.finding = finding


def reason(error: BaseException) -> str:
    """Return the reason as one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def _asked(cls: type[Instruction], method: str, device: Device, fields: Mapping[str, int], *more: object) -> object:
    try:
        return getattr(cls, method)(device, fields, *more)
    except (Exception, SystemExit) as error:  # whatever the author's code raises
        words = " ".join(f"{k}={v:#x}" for k, v in fields.items())
        what = f"{cls.name}: `{method}` fails: {reason(error)} ({words})"
        raise NoAnswer(Finding(method_place(cls, method), what)) from error


def _expected(cls: type[Instruction], method: str, answer: object, expected: str) -> NoAnswer:
    text = repr(answer)
    shown = text if len(text) < 60 else f"a {type(answer).__name__}"
    return NoAnswer(Finding(method_place(cls, method), f"{cls.name}: `{method}` answers {shown}, expected {expected}"))


def ask_legal(cls: type[Instruction], device: Device, fields: Mapping[str, int]) -> list[str]:
    """Return the lines that `legal` gives. Raises NoAnswer."""
    answer = _asked(cls, "legal", device, fields)
    if not all_of(answer, str):
        raise _expected(cls, "legal", answer, "a sequence of lines")
    return list(answer)


def ask_refusal(cls: type[Instruction], device: Device, fields: Mapping[str, int]) -> tuple[int, str] | None:
    """(cause, why) of `refusal`, or None."""
    answer = _asked(cls, "refusal", device, fields)
    if answer is None:
        return None
    match answer:
        case (int() | np.integer() as cause, str() as why) if isinstance(answer, tuple):
            return int(cause), why
        case _:
            raise _expected(cls, "refusal", answer, "(cause, why) or None")


def ask_ranges(cls: type[Instruction], method: str, device: Device, fields: Mapping[str, int]) -> list[Range]:
    """Ranges of `reads`, `writes` or `destination`."""
    answer = _asked(cls, method, device, fields)
    if not all_of(answer, Range):
        raise _expected(cls, method, answer, "a sequence of Range")
    if method != "destination" and any(r.strides for r in answer):
        raise _expected(cls, method, answer, "contiguous ranges")
    return list(answer)


def ask_configures(cls: type[Instruction], device: Device, fields: Mapping[str, int]) -> Mapping[str, int]:
    """State registers that the call changes: name -> value, as the class says. Raises NoAnswer."""
    answer = _asked(cls, "configures", device, fields)
    if not isinstance(answer, Mapping):
        raise _expected(cls, "configures", answer, "state registers and their values")
    return cast("Mapping[str, int]", answer)


def ask_cycles(cls: type[Instruction], method: str, device: Device, fields: Mapping[str, int], memory: str | None = None) -> int:
    """Cycles of `cost`, or of `expected_cycles` with a memory model, which may have none: 0."""
    answer = _asked(cls, method, device, fields, *(() if memory is None else (memory,)))
    if answer is None and memory not in {None, "ideal"}:
        return 0
    if isinstance(answer, bool) or not isinstance(answer, int | np.integer) or answer <= 0:
        what = f"{cls.name}: {method} is {answer!r}{f' with {memory} memory' if memory else ''}, expected an integer above 0"
        raise NoAnswer(Finding(method_place(cls, method), what))
    return int(answer)


def ask_rules(source: Source, device: Device, call: Call) -> None:
    """The source's `cycles` of a legal call. Raises NoAnswer with the method's place."""
    at = method_place(type(source), "cycles")
    try:
        answer: object = source.cycles(device, call)
    except (Exception, SystemExit) as error:  # whatever the author's code raises
        words = " ".join(f"{k}={v:#x}" for k, v in call.fields.items())
        raise NoAnswer(Finding(at, f"{call.instruction}: `cycles` of its source fails: {reason(error)} ({words})")) from error
    if not isinstance(cast("object", answer), CycleRules):
        what = f"{call.instruction}: `cycles` of its source answers a {type(answer).__name__}, expected CycleRules"
        raise NoAnswer(Finding(at, what))


def ask_macs(cls: type[Instruction], device: Device, fields: Mapping[str, int]) -> tuple[int, int]:
    """(useful, issued) of `macs`. Raises NoAnswer."""
    answer = _asked(cls, "macs", device, fields)
    match answer:
        case (int() | np.integer() as useful, int() | np.integer() as issued) if 0 <= useful <= issued:
            return int(useful), int(issued)
        case _:
            raise _expected(cls, "macs", answer, "(useful, issued), as many or more issued than useful")


def drawn(name: str, source: object, draw: Callable[[], _D]) -> _D:
    """Return a source's draw, or its number of directed draws. Raises NoRoomError as the source does."""
    try:
        answer = draw()
    except NoRoomError:
        raise
    except (Exception, SystemExit) as error:  # as above
        raise NoAnswer(Finding(class_place(type(source)), f"{name}: its conformance source fails: {reason(error)}")) from error
    if not isinstance(cast("object", answer), Draw | int):
        what = f"{name}: its conformance source answers a {type(answer).__name__}, expected a Draw"
        raise NoAnswer(Finding(class_place(type(source)), what))
    return answer
