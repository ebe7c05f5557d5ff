"""CV-X-IF (OpenHW): instructions that a core does not know go to a co-processor. The core is the manager."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal


def _signals(channel: str, manager: tuple[str, ...], subordinate: tuple[str, ...]) -> tuple[Signal, ...]:
    """The signals of a channel; a name as "req_id" also goes by "id" where its port is called a request."""

    def words(name: str) -> tuple[str, ...]:
        plain = name.removeprefix("req_").removeprefix("resp_")
        spellings = (name, plain, f"{channel}_{plain}", f"result_{plain}" if channel == "mem_result" else plain)
        return tuple(dict.fromkeys(f"{channel}{s}".replace("_", "") for s in spellings))

    bits = {"valid", "ready", "accept", "resp_accept", "kill"}
    return (
        *(Signal(f"{channel}_{n}", words(n), widths=(1,) if n in bits else ()) for n in manager),
        *(Signal(f"{channel}_{n}", words(n), driver="subordinate", widths=(1,) if n in bits else ()) for n in subordinate),
    )


PROTOCOL = Protocol(
    "cvxif", "CV-X-IF", 15,
    (
        *_signals("compressed", ("valid", "req_instr", "req_hartid", "req_mode", "req_id"), ("ready", "resp_instr", "resp_accept")),
        *_signals(
            "issue",
            ("valid", "req_instr", "req_mode", "req_id", "req_hartid", "req_rs", "req_rs_valid", "req_ecs", "req_ecs_valid"),
            (
                "ready", "resp_accept", "resp_writeback", "resp_dualwrite", "resp_dualread", "resp_loadstore", "resp_ecswrite",
                "resp_exc", "resp_register_read", "resp_ecs_read",
            ),
        ),
        *_signals("register", ("valid", "hartid", "id", "rs", "rs_valid", "ecs", "ecs_valid"), ("ready",)),
        *_signals("commit", ("valid", "id", "hartid", "kill"), ()),
        *_signals(
            "mem", ("ready", "resp_exc", "resp_exccode", "resp_dbg"),
            ("valid", "req_id", "req_hartid", "req_addr", "req_mode", "req_we", "req_size", "req_be", "req_attr", "req_wdata",
             "req_last", "req_spec"),
        ),
        *_signals("mem_result", ("valid", "id", "hartid", "rdata", "err", "dbg"), ()),
        *_signals(
            "result", ("ready",),
            ("valid", "hartid", "id", "data", "rd", "we", "ecsdata", "ecswe", "exc", "exccode", "err", "dbg"),
        ),
    ),
    (frozenset({"issue_valid", "issue_ready", "issue_req_instr", "result_valid"}),),
)  # fmt: skip
