"""`fleet compile` of a language model: listings, stream files, memory map, and a header that a host program answers with."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from fleet.cli.main import main
from fleet.engines.base import RunOptions
from fleet.engines.host_port.run import run_program
from fleet.isa.codec_binary import decode_binary
from fleet.isa.registry import description_hash, find_device
from fleet.llm.load import TinyTokenizer
from fleet.llm.tiny import VOCABULARY
from fleet.targets.accel.container import load
from fleet.targets.driver import greedy_program
from fleet.targets.driver.build import build_program

SET, SMALL = find_device("hbm_small")
MODEL = ["compile", "tiny", "--device", "hbm_small"]


def test_listing_binary_and_memory_map(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*MODEL, "--emit", "accel-regs", "--batch", "3"]) == 0
    listing = capsys.readouterr().out
    assert listing.startswith("# model (token=3, last_token=0) for hbm_small (hbm0923)\n")
    names = re.findall(r"^\d+: (\w+) ", listing, re.MULTILINE)
    assert main([*MODEL, "--emit", "accel-aux", "--batch", "3", "-o", str(tmp_path / "tiny.stream")]) == 0
    ((part,),) = load(tmp_path / "tiny.stream", description_hash(SET, SMALL)).segments
    assert [c.instruction for c in decode_binary(SET, part.data)] == names
    assert names.count("softmax") > 0
    assert main([*MODEL, "--emit", "memory-map"]) == 0
    assert re.search(r"^  hbm  0x\w+ +\d+ hbm_cache ", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize("issue", ["regs", "aux"])
def test_a_program_around_the_header_answers(issue: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*MODEL, "--emit", "hpp", "--issue", issue, "-o", str(tmp_path / "tiny.h")]) == 0
    macros = [m.strip("'").replace("='", "=") for m in re.findall(r"-D (\S+)", capsys.readouterr().err)]
    program = build_program([greedy_program()], tmp_path / "tiny", folders=[tmp_path], macros=macros, debug=True)
    folder = tmp_path / "tiny.params"
    rows = np.fromfile(folder / "embedding.bin", "<f2").reshape(-1, 128)
    assert len(rows) == VOCABULARY

    def answers(count: int, *prompt: int) -> list[int]:
        given = [folder, folder / "embedding.bin", count, -1, *prompt]
        done = run_program(program, list(map(str, given)), RunOptions(device="hbm_small"), timeout=60, capture=True)
        assert done.exit_code == 0
        return [int(line) for line in done.output.split()]

    prompt = TinyTokenizer().encode("abcabcab")
    found = answers(3, *prompt)
    assert found == TinyTokenizer().encode("cab")  # it continues what repeats
    assert answers(1, *prompt, *found[:2]) == found[2:]  # from the cache, or from the prompt


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--emit", "ir"], "it is a language model, of which only a stage is shown; --emit accel-regs, accel-aux, memory-map, hpp"),
        (["--vm"], "it is a language model, of which only a stage is shown"),
        (["--emit", "accel-regs", "--dynamic", "all"], "a language model has weights and dimensions of its own"),
        (["--emit", "hpp", "--batch", "600"], "600 tokens a step and 512 positions"),
    ],
)
def test_what_a_graph_has_not(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*MODEL, *arguments]) == 2
    assert words in capsys.readouterr().err


def test_a_device_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "tiny", "--emit", "accel-regs"]) == 2
    assert "--emit accel-regs needs a device" in capsys.readouterr().err
