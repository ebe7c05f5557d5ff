"""TileLink (SiFive 1.8): channels A and D of TL-UL and TL-UH, and B, C and E of TL-C."""

from __future__ import annotations

from fleet.sdk.ports import Driver, Protocol, Signal


def _channel(c: str, driver: Driver, *fields: str) -> tuple[Signal, ...]:
    back: Driver = "subordinate" if driver == "manager" else "manager"
    words = {"address": (f"{c}addr",)}
    widths = {"opcode": (3,), "param": (2, 3), "denied": (1,), "corrupt": (1,), "error": (1,)}
    strobes = {"mask": f"{c}_data"}
    return (
        Signal(f"{c}_valid", driver=driver, widths=(1,)),
        Signal(f"{c}_ready", driver=back, widths=(1,)),
        *(
            Signal(
                f"{c}_{f}", words.get(f, ()), driver=driver, widths=widths.get(f, ()), bytes_of=strobes.get(f, ""), open=f == "user"
            )
            for f in fields
        ),
    )


PROTOCOL = Protocol(
    "tilelink", "TileLink", 12,
    (
        *_channel("a", "manager", "opcode", "param", "size", "source", "address", "mask", "data", "user", "corrupt"),
        *_channel("b", "subordinate", "opcode", "param", "size", "source", "address", "mask", "data", "corrupt"),
        *_channel("c", "manager", "opcode", "param", "size", "source", "address", "data", "user", "corrupt"),
        *_channel("d", "subordinate", "opcode", "param", "size", "source", "sink", "data", "user", "denied", "corrupt", "error"),
        *_channel("e", "manager", "sink"),
    ),
    (frozenset({"a_valid", "a_ready", "a_opcode", "a_size", "a_address", "d_valid", "d_ready", "d_opcode"}),),
)  # fmt: skip
