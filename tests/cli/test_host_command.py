"""`fleet host` from the command line: build, run, where the library is; exit codes."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest
from command_line import Fleet, Refused

PROGRAM = """#include "fleet_host.h"
int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "--crash") std::abort();
  HANDLE device = open_device();
  CSB_Write(device, 2, 77);
  std::printf("%u %d\\n", CSB_Read(device, 2), CODE);
  if (argc > 1 && std::string(argv[1]) == "--bad") CSB_Write(device, 1, 0);
  if (argc > 1 && std::string(argv[1]) == "--cycles") CSB_Read(device, 230);
  return CODE;
}
"""


@pytest.fixture
def program(fleet: Fleet, tmp_path: Path) -> Path:
    (tmp_path / "main.cpp").write_text(PROGRAM)
    ran = fleet("host", "build", "main.cpp", "-D", "CODE=0", "-o", "program")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    return tmp_path / "program"


def test_where_the_library_is(fleet: Fleet) -> None:
    ran = fleet("host", "include-dir")
    assert ran.code == 0
    assert (Path(ran.out.strip()) / "fleet_host.h").is_file()


def test_a_program_runs_and_its_output_passes(fleet: Fleet, program: Path) -> None:
    ran = fleet("host", "run", "--device", "hbm_small", "program")
    assert (ran.code, ran.out) == (0, "77 0\n")
    assert ran.err == "fleet: iss: 0 instructions, 2 register accesses\n"


def test_what_has_no_clock_is_said(fleet: Fleet, program: Path) -> None:
    ran = fleet("host", "run", "--device", "hbm_small", "program", "--cycles")
    assert ran.err.splitlines()[1] == "fleet: engine iss has no clock: 230 (cycles) read 0"


def test_exit_codes(fleet: Fleet, refused: Refused, program: Path) -> None:
    assert fleet("host", "build", "main.cpp", "-DCODE=9", "-o", "nine").code == 0
    assert fleet("host", "run", "--device", "hbm_small", "nine").code == 9
    crashed = fleet("host", "run", "--device", "hbm_small", "program", "--crash")
    assert crashed.code == 128 + signal.SIGABRT
    assert crashed.err.splitlines()[-1].endswith("program: the program crashed (SIGABRT)")
    bad = refused("host", "run", "--device", "hbm_small", "program", "--bad", words=("register 1", "mvm_status"))
    assert bad.out == "77 0\n"


def test_images_are_kept_and_begin_empty(fleet: Fleet, tmp_path: Path) -> None:
    source = """#include "fleet_host.h"
int main() {
  HANDLE h2cx = open_h2cx();
  uint32_t word = 0;
  DDR_Read(h2cx, &word, 0x200000000, sizeof word);
  DDR_Update(h2cx, 0x200000000, 7);
  return static_cast<int>(word);
}
"""
    (tmp_path / "main.cpp").write_text(source)
    assert fleet("host", "build", "main.cpp", "-o", "program").code == 0
    for _ in range(2):
        assert fleet("host", "run", "--device", "hbm_small", "--folder", "kept", "program").code == 0
    image = (tmp_path / "kept" / "memory" / "ddr.bin").read_bytes()
    assert (len(image), image[0]) == (64 << 20, 7)


def test_options_of_the_program_are_its_own(fleet: Fleet, refused: Refused, tmp_path: Path) -> None:
    source = "#include <cstdio>\nint main(int argc, char** argv) { for (int i = 1; i < argc; ++i) std::puts(argv[i]); }\n"
    (tmp_path / "main.cpp").write_text(source)
    assert fleet("host", "build", "main.cpp", "-o", "program").code == 0
    ran = fleet("host", "run", "--device", "hbm_small", "program", "--engine", "x", "-I", "--", "--check")
    assert ran.out.split() == ["--engine", "x", "-I", "--", "--check"]
    assert "the program never used the device" in ran.err
    refused("host", "run", "--devise", "hbm_small", "program", words=("No such option",))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--device", "nope", "program"), ("no device 'nope'",)),
        (("--device", "hbm_small", "absent"), ("absent", "no such program", "fleet host build")),
        (("--device", "hbm_small", "main.cpp"), ("main.cpp", "is not a program that can be started")),
        (("--device", "hbm_small", "--check", "program"), ("--check", "--engines rtl")),
        (("--device", "hbm_small", "--engines", "rtl", "--memory", "fast", "program"), ("no memory model 'fast'",)),
        (("--device", "hbm_small", "--ddr-base", "top", "program"), ("'top' is not a number",)),
        (("--device", "hbm_small", "--timeout", "0", "program"), ("timeout",)),
    ],
)
def test_bad_requests(arguments: tuple[str, ...], words: tuple[str, ...], refused: Refused, program: Path) -> None:
    refused("host", "run", *arguments, words=words)


def test_no_compiler(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "main.cpp").write_text(PROGRAM)
    words = ("`no-such-g++` is needed to build a host program", "fleet doctor")
    refused("host", "build", "main.cpp", "-o", "program", "--compiler", "no-such-g++", words=words)
    refused("host", "build", "absent.cpp", "-o", "program", words=("absent.cpp", "no such file"))


def test_what_does_not_compile(fleet: Fleet, tmp_path: Path) -> None:
    (tmp_path / "main.cpp").write_text("int main() { return nothing; }\n")
    ran = fleet("host", "build", "main.cpp", "-o", "program")
    assert ran.code == 2
    assert "'nothing' was not declared" in ran.err.replace("\u2018", "'").replace("\u2019", "'")
    assert ran.err.splitlines()[-1].startswith("fleet: main.cpp: the host program does not compile")


def test_a_program_by_its_bare_name_is_that_of_this_folder(fleet: Fleet, program: Path, tmp_path: Path) -> None:
    """And not another one on PATH."""
    shutil.copy(program, tmp_path / "true")
    assert fleet("host", "run", "--device", "hbm_small", "true").out == "77 0\n"
