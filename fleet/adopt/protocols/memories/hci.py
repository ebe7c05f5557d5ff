"""HCI and TCDM ports of PULP's clusters: request and grant, `wen` is a read where it is 1."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal

_ALL = {"req", "gnt", "add", "wen", "data", "r_data"}

PROTOCOL = Protocol(
    "hci", "HCI/TCDM", 41,
    (
        Signal("req", widths=(1,)),
        Signal("gnt", ("grant",), driver="subordinate", widths=(1,)),
        Signal("add", ("addr",)),
        Signal("wen", ("typ", "type"), widths=(1,), low=".*"),
        Signal("data", ("wdata",)),
        Signal("be", bytes_of="data"),
        Signal("boffs"),
        Signal("r_ready", ("lrdy",), widths=(1,)),
        Signal("user", aside=True),
        Signal("id"),
        Signal("ecc", aside=True),
        Signal("r_data", driver="subordinate", same_as="data"),
        Signal("r_valid", driver="subordinate", widths=(1,)),
        Signal("r_opc", driver="subordinate", aside=True),
        Signal("r_user", driver="subordinate", aside=True),
        Signal("r_id", driver="subordinate", same_as="id"),
        Signal("r_ecc", driver="subordinate", aside=True),
        Signal("ereq", widths=(1,)),
        Signal("egnt", driver="subordinate", widths=(1,)),
        Signal("r_eready", widths=(1,)),
        Signal("r_evalid", driver="subordinate", widths=(1,)),
    ),
    (frozenset(_ALL),),
)  # fmt: skip
