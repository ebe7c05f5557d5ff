"""Answers to an interrupt: acknowledge, its number, end of interrupt."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "interrupt_ack", "interrupt acknowledge", 65,
    (
        Signal(
            "irq_ack", ("eoi", "irqack", "irqid", "intrack", "intack", "interruptack", "irqlevel", "irqsec", "irqshv", "irqpriv"),
            driver="either",
        ),
    ),
    (frozenset({"irq_ack"}),),
    single=True,
)  # fmt: skip
