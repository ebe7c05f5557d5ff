"""Differences between the identities of two runs: the first question about a figure that moved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fleet.core.codec import Json
from fleet.cosim.result import CosimResult
from fleet.cosim.what_ran import RunIdentity
from fleet.report.frame.text import date

PROVENANCE = ("revision", "host", "processor")
"""Names of the parts that change no figure."""


@dataclass(frozen=True)
class DependencyChange:
    """One dependency of a run, in two runs. before, after: None if that run does not have it."""

    what: str
    before: str | None
    after: str | None

    @property
    def changed(self) -> bool:
        """True if the two runs differ in this row."""
        return self.before != self.after

    def to_json(self) -> dict[str, Json]:
        """Return the change as JSON values."""
        return {"what": self.what, "before": self.before, "after": self.after, "changed": self.changed}


def changes(before: CosimResult, after: CosimResult) -> tuple[DependencyChange, ...]:
    """Compare everything that identifies a run, in the order in which a reader looks for a cause."""
    return tuple(_each(before, after))


def compared_with(result: CosimResult) -> str:
    """Return the name of a run that another one is compared with."""
    identity = result.identity
    return f"{identity.case or identity.model} of {date(identity.date) or 'an unknown date'}"


def _each(before: CosimResult, after: CosimResult) -> Iterator[DependencyChange]:
    a, b = before.identity, after.identity
    yield DependencyChange("model", a.model, b.model)
    yield DependencyChange("source of the model", a.source_hash, b.source_hash)
    yield DependencyChange("weights", a.weights_hash, b.weights_hash)
    yield DependencyChange("inputs", a.inputs_hash, b.inputs_hash)
    yield DependencyChange("compiled program", a.program_hash, b.program_hash)
    yield DependencyChange("program with rounded weights", a.rounded_program_hash, b.rounded_program_hash)
    yield DependencyChange("instruction set description", a.description_hash, b.description_hash)
    yield DependencyChange("RTL", a.rtl_hash, b.rtl_hash)
    yield DependencyChange("device", a.device.name if a.device else None, b.device.name if b.device else None)
    if a.device and b.device:
        for name in sorted(set(a.device.parameters) | set(b.device.parameters)):
            yield DependencyChange(f"parameter {name}", _text(a.device.parameters.get(name)), _text(b.device.parameters.get(name)))
        yield DependencyChange("clock (MHz)", f"{a.device.clock_mhz:g}", f"{b.device.clock_mhz:g}")
    yield DependencyChange("memory model", a.memory, b.memory)
    yield DependencyChange("seed", str(a.seed), str(b.seed))
    yield DependencyChange("samples", str(before.data.samples), str(after.data.samples))
    yield DependencyChange("kind of data", before.data.kind, after.data.kind)
    yield DependencyChange("engines that ran", _engines(before), _engines(after))
    yield from _content(a, b)
    for name in sorted(set(a.tools) | set(b.tools)):
        yield DependencyChange(f"tool {name}", a.tools.get(name), b.tools.get(name))


def _content(a: RunIdentity, b: RunIdentity) -> Iterator[DependencyChange]:
    """Yield the content as a whole, its parts that no other line shows, and the provenance."""
    if a.content is None or b.content is None:
        return
    yield DependencyChange("content", a.content.hash, b.content.hash)
    for name, words in (
        ("device", "device's parameters and timing"),
        ("bench", "bench and memory models"),
        ("software", "fleet's own code"),
    ):
        yield DependencyChange(words, getattr(a.content, name), getattr(b.content, name))
    yield DependencyChange("settings", a.content.settings, b.content.settings)
    if a.provenance is not None and b.provenance is not None:
        for name in PROVENANCE:
            yield DependencyChange(name, getattr(a.provenance, name), getattr(b.provenance, name))


def _engines(result: CosimResult) -> str:
    return ", ".join(e.name for e in result.engines if e.status == "ran")


def _text(value: int | None) -> str | None:
    return None if value is None else str(value)
