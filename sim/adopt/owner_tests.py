"""The owner's tests of the small foreign designs, each with a planted fault (FAULT) that the design may have."""

from __future__ import annotations

from pathlib import Path

from adopted import CELLS, COPIER, ENGINE, FIR, GATHER, KERNEL, MESH, NETWORK, PAIRER, RELAY, SCALER, VAULT

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


def _gather(source: int, destination: int, beats: int, mask: int) -> str:
    registers = [("source", source), ("destination", destination), ("beats", beats), ("mask", mask), ("control", 1)]
    return "".join(_write(*r) for r in registers) + '[[step]]\nwait = "irq_o"\nlimit = 1500\n' + _write("status", 0)


GATHERED = (
    f'[[memory]]\nport = "m_axi"\naddress = 0x1000\nwords = {[(n * 2654435761 + 12345) % 2**32 for n in range(96)]}\n'
    + _fault("fault_i") + '[[step]]\nidle = 20\n[[step]]\nread = "apb"\nregister = "identity"\n'
    + _gather(0x1000, 0x2000, 8, 0x5A) + _gather(0x1040, 0x3000, 5, 0)
    + _gather(0x1010, 0x4000, 1, 0xC3) + _gather(0x1080, 0x5000, 7, 0x81)
    + _reads("source", "destination", "beats", "mask")
    + _write("beats", 0) + _write("control", 1)  # nothing begins
    + _reads("source", "destination", "beats", "mask")
    + _write("beats", 8) + _write("control", 1) + _write("beats", 8)  # busy stays
    + '[[step]]\nread = "apb"\nregister = "status"\nexpect = 1\n[[step]]\nwait = "irq_o"\nlimit = 1500\n' + _write("status", 0)
    # Of answers out of order, which is the last one: a write that does not wait for it is late in a few of them alone.
    + "".join(_gather(0x1000 + 16 * (n % 8), 0x6000 + 128 * n, 8, 37 * n & 255) for n in range(64))
    + '[[step]]\nread = "apb"\naddress = 0x1c\nerror = true\n[[step]]\nidle = 80\n'
)  # fmt: skip
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


def _kernel(a: int, b: int, out: int, words: int, between: str = "") -> str:
    """between: steps while it runs."""
    until = '[[step]]\nuntil = "s_axi_control"\naddress = 0\nvalue = 2\nmask = 2\nlimit = 20000\n'
    return "".join(_control(*w) for w in ((0x10, a), (0x1C, b), (0x28, out), (0x34, words), (0, 1))) + between + until


def _shown(address: int, expected: int | None = None) -> str:
    held = "" if expected is None else f"expect = {expected}\n"
    return f'[[step]]\nread = "s_axi_control"\naddress = {address}\n{held}'


_ARGUMENTS = (0x10, 0x14, 0x1C, 0x20, 0x28, 0x2C, 0x34)
_UPPER = (0x14, 0x20, 0x2C)  # upper halves of the pointers
VECTORS = (
    f'[[memory]]\nport = "m_axi_gmem"\naddress = 0x1000\nwords = {[3 * n + 0x7FFFFFF0 for n in range(64)]}\n'
    f'[[memory]]\nport = "m_axi_gmem"\naddress = {0x200001000}\nwords = {[7 * n + 5 for n in range(18)]}\n'
    + "".join(_shown(a) for a in _ARGUMENTS) + "".join(_shown(a, 0) for a in (4, 8, 12))
    + _kernel(0x1000, 0x1040, 0x4000, 21, _shown(0, 1)) + _kernel(0x1004, 0x1008, 0x5000, 1) + _kernel(0x1000, 0x1000, 0x6000, 32)
    + "[[step]]\nidle = 60\n" + _kernel(0x1000, 0x1000, 0x7000, 0) + _shown(0, 4) + "".join(_shown(a) for a in _ARGUMENTS)
    + "".join(_control(a, 5) + _shown(a) for a in _UPPER)
    + "".join(_control(a, n) for a, n in zip(_UPPER, (2, 2, 3), strict=True)) + "".join(_shown(a) for a in _UPPER)
    + _control(4, 1) + _control(8, 1) + _kernel(0x1000, 0x1004, 0x8000, 17)
    + '[[step]]\nwait = "interrupt"\n' + "".join(_shown(a, 1) for a in (4, 8, 12))
    + "".join(_control(12, 1 << n) + _shown(12, held) for n, held in ((0, 0), (1, 2), (1, 0))) + _control(0x34, 2) + _shown(12, 0)
    + _shown(4, 1) + _control(4, 0) + _shown(4, 0)
)  # fmt: skip


def _taps(*values: int) -> str:
    return "".join(f'[[step]]\nwrite = "bus"\naddress = {4 * n}\ndata = {v}\n' for n, v in enumerate(values))


def _samples(count: int, *values: int) -> str:
    return f'[[step]]\nsend = "sink"\ndata = {list(values)}\n[[step]]\nreceive = "source"\ncount = {count}\nlimit = 3000\n'


_FILTER_READS = "".join(f'[[step]]\nread = "bus"\naddress = {a}\n' for a in (0, 4, 8, 12, 16))
FILTER = (
    _FILTER_READS + _taps(3, 0xFFFE, 5, 0x7FFF) + _samples(5, 1, 2, 0xFFFD, 40, 0x8000) + _FILTER_READS + _taps(9, 8, 7, 6)
    + _samples(8, 11, 12, 13) + _FILTER_READS
)  # fmt: skip


def _mesh(*commands: tuple[int, int, int, int]) -> str:
    """Commands (function, rs1, rs2, rd), offered one right behind the other."""
    data = ", ".join(f"{{cmd_funct = {f}, cmd_rd = {rd}, cmd_rs1 = {a}, cmd_rs2 = {b}}}" for f, a, b, rd in commands)
    return f'[[step]]\nsend = "io"\nlimit = 4000\ndata = [{data}]\n'


MATRICES = (
    f'[[memory]]\nport = "auto_tl_out"\naddress = 0x800\nbytes = "{bytes(7 * n + 3 & 255 for n in range(64)).hex()}"\n'
    + _mesh(
        *((0, 0x800 + 16 * n, row, 0) for n, row in enumerate((2, 5, 7))), (1, 2 | 5 << 8, 4, 0), (2, 0x900, 4, 0),
        (1, 4 | 7 << 8, 1, 0), (1, 7 | 2 << 8, 0, 0), (2, 0x910, 1, 0), (2, 0x940, 0, 0), (3, 0, 0, 9),
    ) + '[[step]]\nreceive = "io"\ncount = 1\nlimit = 3000\n[[step]]\nidle = 60\n'
)  # fmt: skip


def _csb(word: int, data: int) -> str:
    return f'[[step]]\nwrite = "csb2nvdla"\naddress = {4 * word}\ndata = {data}\n'


def _shows(word: int, expected: int) -> str:
    return f'[[step]]\nread = "csb2nvdla"\naddress = {4 * word}\nexpect = {expected}\n'


def _group(number: int, *values: int) -> str:
    """Source, destination, bytes - 1, scale, shift and ReLU of a group, read back."""
    return _csb(0x801, number) + "".join(f"{_csb(0x803 + n, v)}{_shows(0x803 + n, v)}" for n, v in enumerate(values))


def _start(number: int) -> str:
    return _csb(0x801, number) + _csb(0x802, 1)


_RESET = "".join(f"{_csb(0x801, g)}{''.join(_shows(0x802 + n, 0) for n in range(7))}" for g in (1, 0)) + _shows(0x800, 0)
_DONE = (
    '[[step]]\nwait = "dla_intr"\n[[step]]\nuntil = "csb2nvdla"\naddress = 0x100c\nvalue = 3\nlimit = 5000\n'
    + _csb(0x403, 1) + _shows(0x403, 2) + _csb(0x403, 2) + _shows(0x403, 0)
)  # fmt: skip
ELEMENTS = (
    f'[[memory]]\nport = "nvdla_core2dbb"\naddress = 0x1000\nbytes = "{bytes(83 * n + n // 7 & 255 for n in range(320)).hex()}"\n'
    "[[step]]\nidle = 40\n" + _shows(0x400, 0x303501) + _RESET + _csb(0x401, 2) + _shows(0x401, 2) + _csb(0x401, 0)
    + _group(0, 0x1000, 0x2000, 319, 3, 1, 0) + _group(1, 0x1008, 0x3000, 23, 0x10000 - 77, 5, 1)
    + _start(0) + _shows(0x802, 1) + _start(1) + _shows(0x800, 0x20001) + _shows(0x809, 0) + _shows(0x404, 0) + _DONE
    + _group(0, 0x1010, 0x4000, 7, 1, 0, 0) + _group(1, 0x2000, 0x5000, 127, 0x7FFF, 15, 1) + _start(0) + _start(1) + _DONE
    + _csb(0x402, 3) + _csb(0x402, 1) + _shows(0x403, 3) + _csb(0x403, 3) + _shows(0x403, 0) + _shows(0x801, 1) + _shows(0x800, 0)
)  # fmt: skip


def _row(count: int, step: int, keep: int = 15) -> str:
    """Inputs of a row, whose last word keeps some bytes only."""
    words = [int.from_bytes(bytes(step * (4 * n + b) + n * n & 255 for b in range(4)), "little") for n in range(count)]
    data = ", ".join(map(str, words[:-1])) + (", " if count > 1 else "")
    return f'[[step]]\nsend = "input_1_v_data_v"\ndata = [{data}{{tdata = {words[-1]}, tlast = 1, tkeep = {keep}}}]\n'


ROWS = (
    '[[step]]\nset = "ap_start"\nvalue = 1\n' + _row(4, 37) + _row(4, 91, 7) + _row(2, 11) + _row(4, 201, 5) + _row(1, 127, 9)
    + _row(4, 53) + '[[step]]\nreceive = "layer4_out_v_data_v"\ncount = 48\nlimit = 4000\n'
    '[[step]]\nset = "ap_start"\nvalue = 0\n[[step]]\nwait = "ap_idle"\n'
)  # fmt: skip
TESTS = {
    RELAY: PASS_ON, COPIER: COPY, SCALER: SCALE, PAIRER: PAIR, VAULT: ADD, KERNEL: VECTORS, FIR: FILTER, MESH: MATRICES,
    ENGINE: ELEMENTS, GATHER: GATHERED, NETWORK: ROWS,
}  # fmt: skip
PAUSES = ("pause = 0", "pause = 3")
SLOW = ("latency = 1", "latency = 3")


def edits(files: Path) -> list[tuple[str, str]]:
    """Refusals and slow memory, and addresses that count words of 4 bytes where the bus does so."""
    more = {
        FIR: [("shift = 0", "shift = 2")],
        # Without gaps between commands its two units work at once.
        PAIRER: [('[ports.io]\nclock = "clock"\nlatency = 3\npause = 3', '[ports.io]\nclock = "clock"\nlatency = 3\npause = 0')],
        GATHER: [("[clocks.aclk]\nperiod = 2\nphase = 0", "[clocks.aclk]\nperiod = 6\nphase = 1"), ("latency = 3", "latency = 20")],
        ENGINE: [
            ("substitutes = []", f'substitutes = ["{CELLS}"]'), ("cycles = 16", "cycles = 16\npulses = 2"),
            ("[clocks.dla_csb_clk]\nperiod = 2\nphase = 0", "[clocks.dla_csb_clk]\nperiod = 6\nphase = 1"),
        ],
    }  # fmt: skip
    return [PAUSES, SLOW, *more.get(files, [])]
