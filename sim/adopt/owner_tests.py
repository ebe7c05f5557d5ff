"""The owner's tests of the small foreign designs, each with a planted fault (FAULT) that the design may have."""

from __future__ import annotations

from pathlib import Path

from adopted import COPIER, FIR, KERNEL, MESH, PAIRER, RELAY, SCALER, VAULT

__all__ = ["TESTS", "edits"]


def _write(register: str, data: int) -> str:
    return f'[[step]]\nwrite = "apb"\nregister = "{register}"\ndata = {data}\n'


def _reads(*registers: str) -> str:
    return "".join(f'[[step]]\nread = "apb"\nregister = "{register}"\n' for register in registers)


def _fault(name: str) -> str:
    return f'[[step]]\nset = "{name}"\nvalue = FAULT\n'


def _copy(source: int, destination: int, words: int) -> str:
    wait = '[[step]]\nwait = "irq_o"\nlimit = 1500\n'
    steps = [("source", source), ("destination", destination), ("words", words), ("control", 1)]
    return "".join(_write(*s) for s in steps) + wait + _write("status", 0) + "[[step]]\nidle = 60\n"


COPY = (
    f'[[memory]]\nport = "m"\naddress = 0x1000\nwords = {list(range(1, 25))}\n{_fault("fault_i")}'
    '[[step]]\nread = "apb"\nregister = "identity"\n'
    f"{_copy(0x1000, 0x2000, 3)}{_copy(0x1020, 0x2100, 2)}"
    + _write("control", 1)  # no words are left: nothing begins
    + _reads("source", "destination", "words", "status")
    + '[[step]]\nread = "apb"\naddress = 0x18\nerror = true\n'
    + _copy(0x1030, 0x2200, 1)
)


def _packet(scale: int, words: int, received: int) -> str:
    data = ", ".join(map(str, range(10, 10 * words, 10)))
    return (
        f'[[step]]\nset = "cfg.scale"\nvalue = {scale}\n'
        f'[[step]]\nsend = "in"\ndata = [{data}, {{tdata = {10 * words}, tlast = 1}}]\n'
        f'[[step]]\nreceive = "out"\ncount = {received}\nlimit = 1500\n'
    )


SCALE = _fault("fault") + _packet(3, 3, 3) + _packet(5, 15, 18)


def _pair(unit: int, tag: int, source: int, to: int) -> str:
    return f'[[step]]\nsend = "io"\ndata = [{{cmd_funct = {unit}, cmd_rd = {tag}, cmd_rs1 = {source}, cmd_rs2 = {to}}}]\n'


PAIR = (
    '[[memory]]\nport = "mem"\naddress = 0x100\nwords = [70001, 6, 70007, 8]\n'
    + _fault("fault")
    + "".join(_pair(*p) for p in ((1, 3, 0x100, 0x200), (0, 4, 0x104, 0x204), (1, 5, 0x108, 0x208), (0, 3, 0x10C, 0x20C)))
    + '[[step]]\nreceive = "io"\ncount = 4\nlimit = 2500\n[[step]]\nidle = 80\n'
)


def _add(a: int, b: int, to: int) -> str:
    return "".join(_write(*w) for w in (("a", a), ("b", b), ("to", to), ("go", 1))) + "[[step]]\nidle = 20\n"


FILL = "".join(_write("to", row) + _write("fill", 0x01020304 * (row + 1)) for row in range(16)) + "[[step]]\nidle = 20\n"
SUMS = ((2, 3, 4), (7, 6, 5), (4, 5, 9), (12, 15, 13), (13, 10, 14))
ADD = _fault("fault_i").replace("FAULT", "0") + FILL + _fault("fault_i") + "".join(_add(*s) for s in SUMS) + _reads("a", "b", "to")


def _relay(port: str, data: str, receive: str, count: int) -> str:
    received = f'[[step]]\nreceive = "{receive}"\ncount = {count}\nlimit = 2000\n'
    return f'[[step]]\nsend = "{port}"\ndata = [{data}]\n' + received


PASS_ON = (
    _fault("fault")
    + "".join(f'[[step]]\nwrite = "csr"\naddress = {a}\ndata = {d}\n' for a, d in ((0, 0x400), (4, 1000)))
    + _relay("in", ", ".join(map(str, [0x11223344, *range(7, 18)])), "out", 12)
    + _relay("fu", ", ".join(f"{{cmd_function = {n % 2}, cmd_input0 = {9 * n}, cmd_input1 = {n + 3}}}" for n in range(8)), "fu", 8)
    + "".join(f'[[step]]\nread = "csr"\naddress = {a}\n' for a in (0, 4, 8))
)


def _control(address: int, data: int) -> str:
    return f'[[step]]\nwrite = "s_axi_control"\naddress = {address}\ndata = {data}\n'


def _kernel(a: int, b: int, out: int, words: int) -> str:
    until = '[[step]]\nuntil = "s_axi_control"\naddress = 0\nvalue = 2\nmask = 2\nlimit = 20000\n'
    return "".join(_control(*w) for w in ((0x10, a), (0x1C, b), (0x28, out), (0x34, words), (0, 1))) + until


VECTORS = (
    f'[[memory]]\nport = "m_axi_gmem"\naddress = 0x1000\nwords = {[3 * n + 0x7FFFFFF0 for n in range(64)]}\n'
    f"{_kernel(0x1000, 0x1040, 0x4000, 21)}{_kernel(0x1004, 0x1008, 0x5000, 1)}{_kernel(0x1000, 0x1000, 0x6000, 32)}"
    '[[step]]\nread = "s_axi_control"\naddress = 0x28\n[[step]]\nread = "s_axi_control"\naddress = 0x34\n'
)


def _taps(*values: int) -> str:
    return "".join(f'[[step]]\nwrite = "bus"\naddress = {4 * n}\ndata = {v}\n' for n, v in enumerate(values))


def _samples(count: int, *values: int) -> str:
    return f'[[step]]\nsend = "sink"\ndata = {list(values)}\n[[step]]\nreceive = "source"\ncount = {count}\nlimit = 3000\n'


FILTER = (
    _taps(3, 0xFFFE, 5, 0x7FFF) + _samples(5, 1, 2, 0xFFFD, 40, 0x8000) + _taps(9, 8, 7, 6) + _samples(8, 11, 12, 13)
    + "".join(f'[[step]]\nread = "bus"\naddress = {a}\n' for a in (0, 4, 8, 12, 16))
)  # fmt: skip


def _mesh(funct: int, rs1: int, rs2: int, rd: int = 0) -> str:
    fields = f"cmd_funct = {funct}, cmd_rd = {rd}, cmd_rs1 = {rs1}, cmd_rs2 = {rs2}"
    return f'[[step]]\nsend = "io"\nlimit = 2000\ndata = [{{{fields}}}]\n'


MATRICES = (
    f'[[memory]]\nport = "auto_tl_out"\naddress = 0x800\nbytes = "{bytes(7 * n + 3 & 255 for n in range(64)).hex()}"\n'
    + "".join(_mesh(0, 0x800 + 16 * n, row) for n, row in enumerate((2, 5, 7)))
    + _mesh(1, 2 | 5 << 8, 4) + _mesh(2, 0x900, 4) + _mesh(1, 4 | 7 << 8, 1) + _mesh(1, 7 | 2 << 8, 0) + _mesh(2, 0x910, 1)
    + _mesh(2, 0x940, 0) + _mesh(3, 0, 0, 9) + '[[step]]\nreceive = "io"\ncount = 1\nlimit = 3000\n[[step]]\nidle = 60\n'
)  # fmt: skip
TESTS = {
    RELAY: PASS_ON, COPIER: COPY, SCALER: SCALE, PAIRER: PAIR, VAULT: ADD, KERNEL: VECTORS, FIR: FILTER, MESH: MATRICES,
}  # fmt: skip
PAUSES = ("pause = 0", "pause = 3")
SLOW = ("latency = 1", "latency = 3")


def edits(files: Path) -> list[tuple[str, str]]:
    """Refusals and slow memory, and addresses that count words of 4 bytes where the bus does so."""
    return [PAUSES, SLOW, ("shift = 0", "shift = 2")] if files == FIR else [PAUSES, SLOW]
