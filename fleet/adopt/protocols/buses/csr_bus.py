"""Register buses of generators without a handshake: strobes for reading and writing (Amaranth), or a write enable (LiteX)."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

PROTOCOL = Protocol(
    "csr_bus", "CSR bus", 47,
    (
        Signal("addr", ("adr",)),
        Signal("r_stb", ("re", "rstb"), widths=(1,)),
        Signal("w_stb", ("we", "wstb"), widths=(1,)),
        Signal("w_data", ("datw",), same_as="r_data"),
        Signal("r_data", ("datr",), driver="subordinate"),
    ),
    (frozenset({"addr", "r_stb", "w_stb", "w_data", "r_data"}), frozenset({"addr", "w_stb", "w_data", "r_data"})),
)  # fmt: skip
