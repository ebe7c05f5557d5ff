"""What host programs do wrong, and programs that crash, hang or lose their device: one line and an exit code."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest
from host_programs import compiled

from fleet.engines.host_port.model import ModelPort
from fleet.engines.host_port.protocol import MESSAGE, HostError, MessageKind, answer, configuration
from fleet.engines.host_port.server import VARIABLE, HostServer
from fleet.isa.memory import MappedMemory
from fleet.isa.registry import find_device
from fleet.targets.driver import include_dir

SMALL = "hbm_small"

# Each is one mistake; the program takes its name.
PROGRAM = """
#include "fleet_host.h"
#include <csignal>
int main(int, char** argv) {
  const std::string what = argv[1];
  uint8_t bytes[64] = {};
  if (what == "alone") return 7;
  HANDLE device = open_device(), h2cx = open_h2cx();
  const uint64_t ddr = 0x200000000ull, ddr_end = ddr + (64ull << 20), bank = 4ull << 20;
  if (what == "ok") return 5;
  if (what == "no register") CSB_Write(device, 999, 1);
  if (what == "no register read") CSB_Read(device, 41);
  if (what == "status") CSB_Write(device, 1, 1);
  if (what == "start") CSB_Write(device, 33, 5);
  if (what == "illegal") CSB_Write(device, 33, 0x11f);
  if (what == "unaligned") { CSB_Write(device, 131, 3); CSB_Write(device, 142, 1); }
  if (what == "no binary") { CSB_Write(device, 66, 65); CSB_Write(device, 67, 1); CSB_Write(device, 73, 1); }
  if (what == "binary outside") { CSB_Write(device, 66, 0x7fffffff); CSB_Write(device, 67, 1); CSB_Write(device, 73, 1); }
  if (what == "behind ddr") DDR_Write(h2cx, bytes, ddr_end - 63, 64);
  if (what == "far behind ddr") DDR_Write(h2cx, bytes, ~0ull - 3, 64);
  if (what == "below ddr") DDR_Read(h2cx, bytes, 0x1000, 64);
  if (what == "no port") HBM_Write(h2cx, bytes, 8ull << 28, 64);
  if (what == "ddr by hbm") HBM_Read(h2cx, bytes, ddr, 64);
  if (what == "behind bank") HBM_Write(h2cx, bytes, (3ull << 28) + bank - 32, 64);
  if (what == "no file") DDR_Write_bin(h2cx, argv[2], ddr, 64);
  if (what == "folder") DDR_Write_bin(h2cx, "/", ddr, 64);
  if (what == "null") DDR_Write_bin(h2cx, nullptr, ddr, 64);
  if (what == "size") HBM_Write_bin(h2cx, argv[2], 0, 64);
  if (what == "kind") CSB_Write(h2cx, 2, 64);
  if (what == "other kind") DDR_Write(device, bytes, ddr, 64);
  if (what == "closed") { close_device(device); CSB_Read(device, 1); }
  if (what == "crash") std::abort();
  if (what == "segv") std::raise(SIGSEGV);
  if (what == "spin") while (getppid() != 0) {}
  if (what == "poll") while (CSB_Read(device, 193) != 1) {}
  if (what == "exit") { CSB_Write(device, 999, 1); std::exit(0); }
  return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(PROGRAM, tmp_path_factory.mktemp("program"))


def run(program: Path, *arguments: object, folder: Path, timeout: float = 60) -> int:
    instruction_set, chip = find_device(SMALL)
    memory = MappedMemory(chip, folder)
    server = HostServer(ModelPort(instruction_set, chip, memory), memory)
    return server.run([str(program), *map(str, arguments)], timeout=timeout)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("no register", ["register 999", "no such register", "nearest is 238 (tasks_done)"]),
        ("no register read", ["register 41", "no such register"]),
        ("status", ["register 1", "mvm_status (status) can only be read"]),
        ("start", ["CSB_Write(33, 0x5) (mvm_start)", "no instruction"]),
        ("illegal", ["CSB_Write(33, 0x11f) (mvm_start)", "expected"]),
        ("unaligned", ["elementwise_a_addr", "multiple of 64"]),
        ("no binary", ["aux_start", "the binary at ddr 0x0 has 0 tasks, aux_tasks says 1"]),
        ("binary outside", ["aux_start", "leave 'ddr'"]),
        ("exit", ["register 999"]),
    ],
)
def test_what_the_device_does_not_have(what: str, words: list[str], program: Path, tmp_path: Path) -> None:
    with pytest.raises(HostError) as error:
        run(program, what, folder=tmp_path)
    assert error.value.exit_code == 2
    assert "\n" not in str(error.value)
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("behind ddr", "DDR_Write: 64 bytes at 0x203ffffc1 leave DDR, which has 0x4000000 bytes from 0x200000000"),
        ("far behind ddr", "leave DDR"),
        ("below ddr", "DDR_Read: 64 bytes at 0x1000 lie before DDR, which begins at 0x200000000"),
        ("no port", "HBM_Write: 64 bytes at 0x80000000 lie behind the last of 8 HBM ports"),
        ("ddr by hbm", "HBM_Read: 64 bytes at 0x200000000 lie behind the last of 8 HBM ports"),
        ("behind bank", "leave the bank of HBM port 3, which has 0x400000 bytes from 0x30000000"),
        ("no file", "absent.bin: cannot open the file: No such file or directory"),
        ("folder", "/: is not a file"),
        ("null", "(no name): cannot open the file"),
        ("size", "short.bin: has 3 bytes, expected 64"),
        ("kind", "CSB_Write: not this kind of handle; it takes one of open_device()"),
        ("other kind", "DDR_Write: not this kind of handle; it takes one of open_h2cx()"),
        ("closed", "CSB_Read: the handle is not open"),
    ],
)
def test_what_the_library_refuses(what: str, words: str, program: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "short.bin").write_bytes(b"abc")
    file = tmp_path / ("short.bin" if what == "size" else "absent.bin")
    assert run(program, what, file, folder=tmp_path / "memory") == 2
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith("fleet_host: ")
    assert words in said[0]


@pytest.mark.parametrize(("what", "code"), [("alone", 7), ("ok", 5), ("crash", -signal.SIGABRT), ("segv", -signal.SIGSEGV)])
def test_how_it_ends_is_told(what: str, code: int, program: Path, tmp_path: Path) -> None:
    assert run(program, what, folder=tmp_path) == code


@pytest.mark.parametrize("what", ["spin", "poll"])
def test_a_program_without_end(what: str, program: Path, tmp_path: Path) -> None:
    before = time.monotonic()
    with pytest.raises(HostError, match=r"did not end within 1 s; allow more with --timeout"):
        run(program, what, folder=tmp_path, timeout=1)
    assert time.monotonic() - before < 10


def test_no_program(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no program")
    text.chmod(0o755)
    with pytest.raises(HostError, match="cannot be started"):
        run(text, folder=tmp_path / "memory")


def test_without_a_server(program: Path, tmp_path: Path) -> None:
    for path, words in (("", "fleet host run"), (str(tmp_path / "nothing"), "cannot reach the device"), ("x" * 200, "too long")):
        done = subprocess.run([program, "ok"], env={**os.environ, VARIABLE: path}, capture_output=True, text=True, check=False)
        assert done.returncode == (1 if path.startswith("/") else 2)
        assert done.stderr.startswith("fleet_host: ")
        assert words in done.stderr
        assert done.stderr.count("\n") == 1


def test_the_server_goes(program: Path, tmp_path: Path) -> None:
    """It answers the first words and is gone when a register is to be read."""
    _, chip = find_device(SMALL)
    memory = MappedMemory(chip, tmp_path / "memory")
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen(1)

        def serve() -> None:
            client, _ = listening.accept()
            with client:
                assert MESSAGE.unpack(client.recv(MESSAGE.size))[0] == MessageKind.HELLO
                client.sendall(answer(text=configuration(memory, 0x2_0000_0000, 0)))

        thread = threading.Thread(target=serve)
        thread.start()
        command = [program, "poll"]
        done = subprocess.run(
            command, env={**os.environ, VARIABLE: str(path)}, capture_output=True, text=True, check=False, timeout=20
        )
        thread.join()
    assert done.returncode == 1
    assert done.stderr == "fleet_host: the device has gone (`fleet host run` ended)\n"


def test_another_version_is_refused(tmp_path: Path) -> None:
    line = "constexpr uint64_t kVersion = 1;"
    text = (include_dir() / "fleet_host.h").read_text()
    assert line in text
    (tmp_path / "fleet_host.h").write_text(text.replace(line, line.replace("1", "2")))
    program = compiled('#include "fleet_host.h"\nint main() { open_device(); return 0; }\n', tmp_path)
    with pytest.raises(HostError, match=r"built with version 2 of fleet_host.h, this is version 1; build it again"):
        run(program, folder=tmp_path / "memory")
