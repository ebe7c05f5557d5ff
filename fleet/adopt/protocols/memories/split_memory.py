"""A memory with a stream of requests and one of responses (Chisel's Decoupled pairs, SpinalHDL's BMB and simple buses)."""

from __future__ import annotations

from fleet.sdk.ports import Protocol, Signal


def _named(prefixes: tuple[str, ...], *words: str) -> tuple[str, ...]:
    return tuple(f"{prefix}{word}" for prefix in prefixes for word in words)


_REQ = ("req", "cmd", "request", "rqst", "q")
_RESP = ("resp", "rsp", "response", "p")

PROTOCOL = Protocol(
    "split_memory", "request/response memory", 43,
    (
        Signal("req_valid", _named(_REQ, "valid", "vld", "val"), widths=(1,)),
        Signal("req_ready", _named(_REQ, "ready", "rdy"), driver="subordinate", widths=(1,)),
        Signal("req_addr", _named(_REQ, "addr", "address", "pc")),
        Signal(
            "req_write",
            _named(_REQ, "write", "wr", "we", "rw", "iswrite", "wen", "opcode", "cmd", "op", "rnw", "read"),
            low=r"\w*(rnw|read)",
        ),
        Signal("req_amo", _named(_REQ, "amo", "atop")),
        Signal("req_data", _named(_REQ, "data", "wdata", "writedata"), same_as="resp_data"),
        Signal("req_mask", _named(_REQ, "mask", "strb", "wmask", "wstrb", "be", "byteen", "byteenable"), bytes_of="req_data"),
        Signal("req_size", _named(_REQ, "size", "length", "len", "bytes")),
        Signal("req_id", _named(_REQ, "id", "tag", "source", "context")),
        Signal("req_last", _named(_REQ, "last"), widths=(1,)),
        Signal("req_user", _named(_REQ, "user", "prot", "type", "exclusive"), open=True),
        Signal("resp_valid", (*_named(_RESP, "valid", "vld", "val"), "rspready", "respready"), driver="subordinate", widths=(1,)),
        Signal("resp_ready", _named(_RESP, "ready", "rdy"), widths=(1,)),
        Signal("resp_data", _named(_RESP, "data", "rdata", "readdata", "inst", "instr"), driver="subordinate"),
        Signal("resp_error", _named(_RESP, "error", "err", "opcode", "status"), driver="subordinate"),
        Signal("resp_id", _named(_RESP, "id", "tag", "source", "context"), driver="subordinate", same_as="req_id"),
        Signal("resp_last", _named(_RESP, "last"), driver="subordinate", widths=(1,)),
    ),
    (frozenset({"req_valid", "req_ready", "req_addr", "resp_valid", "resp_data"}),),
)  # fmt: skip
