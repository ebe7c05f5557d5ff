"""The host program for language models, with a header written here whose "model" says what it was given."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from fleet.engines.base import RunOptions
from fleet.engines.host_port.run import HostRun, run_program
from fleet.targets.driver import greedy_program
from fleet.targets.driver.build import build_program

CHANNELS, VOCABULARY, TOKENS, POSITIONS = 40, 50, 4, 16

# The next token is a sum over what stands in the input's memory, weighted by place: a wrong layout gives another.
HEADER = """
uint64_t x = 0x200001000;
uint32_t answer = 0;
{space_begin}
void {load}(HANDLE& device, HANDLE& h2cx, char* prefix) {{ (void)device; (void)h2cx; std::fprintf(stderr, "load %s\\n", prefix); }}
int tokens = 0, last = 0;
{update}
void {run}(HANDLE& device{parameters}) {{
  (void)device;
  {take}
  HANDLE memory = open_h2cx();
  std::vector<uint16_t> feature(2 * 32 * tokens);
  DDR_Read(memory, feature.data(), x, 2 * feature.size());
  uint64_t sum = 7 * last;
  for (size_t i = 0; i < feature.size(); ++i) sum += feature[i] * (i % 1009 + 1);
  answer = sum % 50;
}}
uint32_t output_argmax(HANDLE& device) {{ (void)device; return answer; }}
{space_end}
"""


def header(*, aux: bool, space: bool) -> str:
    step = "HANDLE& h2cx, int token, int last_token"
    take = "tokens = token; last = last_token;"
    names = {"load": "load_params", "run": "run"} if space else {"load": "lm_load_params", "run": "lm"}
    update = f"void {'update' if space else 'lm_update'}({step}) {{ (void)h2cx; {take} }}" if aux else ""
    return HEADER.format(
        **names,
        update=update,
        parameters="" if aux else ", int token, int last_token",
        take="" if aux else take,
        space_begin="namespace lm {" if space else "",
        space_end="}" if space else "",
    )


def program(folder: Path, *, aux: bool = False, space: bool = False) -> Path:
    (folder / "lm.inc.h").write_text(header(aux=aux, space=space))
    macros = ['FLEET_HEADER="lm.inc.h"', "FLEET_MODEL=lm", f"FLEET_CHANNELS={CHANNELS}", f"FLEET_TOKENS={TOKENS}"]
    macros += [f"FLEET_POSITIONS={POSITIONS}", *(["FLEET_AUX"] if aux else []), *(["FLEET_NAMESPACE"] if space else [])]
    return build_program([greedy_program()], folder / "greedy", folders=[folder], macros=macros)


def expected(rows: np.ndarray, prompt: list[int], count: int) -> list[int]:
    """The same model in NumPy, the feature's layout spelled out."""
    step, last, made = list(prompt), 0, list[int]()
    while len(made) < count:
        now, step = step[:TOKENS], step[TOKENS:]
        feature = np.zeros((2, len(now), 32), np.uint16)
        for t, token in enumerate(now):
            for channel in range(CHANNELS):
                feature[channel // 32, t, channel % 32] = rows[token, channel]
        flat = feature.reshape(-1).astype(np.uint64)
        answer = int(7 * last + (flat * (np.arange(flat.size, dtype=np.uint64) % 1009 + 1)).sum()) % VOCABULARY
        last += len(now)
        if not step:
            made.append(answer)
            step = [answer]
    return made


@pytest.fixture
def rows(tmp_path: Path) -> np.ndarray:
    found = np.random.default_rng(2).integers(0, 1 << 16, (VOCABULARY, CHANNELS), dtype=np.uint16)
    found.tofile(tmp_path / "embedding.bin")
    return found


def run(greedy: Path, folder: Path, *arguments: object) -> HostRun:
    given = [str(folder), str(folder / "embedding.bin"), *map(str, arguments)]
    return run_program(greedy, given, RunOptions(device="hbm_small"), timeout=60, capture=True)


@pytest.mark.parametrize(("aux", "space"), [(False, False), (True, False), (False, True), (True, True)])
def test_greedy(aux: bool, space: bool, rows: np.ndarray, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Prompts of one step, of a whole step, of several; then one token a step."""
    greedy = program(tmp_path, aux=aux, space=space)
    for prompt in ([3], [1, 2, 3, 4], [5, 6, 7, 8, 9, 10]):
        done = run(greedy, tmp_path, 5, -1, *prompt)
        assert done.exit_code == 0
        assert [int(line) for line in done.output.split()] == expected(rows, prompt, 5)
    assert capfd.readouterr().err.splitlines() == [f"load {tmp_path}"] * 3


def test_stop(rows: np.ndarray, tmp_path: Path) -> None:
    tokens = expected(rows, [3], 6)
    first = tokens.index(tokens[3])
    done = run(program(tmp_path), tmp_path, 6, tokens[3], 3)
    assert [int(line) for line in done.output.split()] == tokens[: first + 1]


def test_bad_input(rows: np.ndarray, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    greedy = program(tmp_path)
    (tmp_path / "odd.bin").write_bytes(b"x" * 81)

    def refused(*arguments: object) -> str:
        done = run_program(greedy, [*map(str, arguments)], RunOptions(device="hbm_small"), timeout=60, capture=True)
        assert done.exit_code == 2
        return capfd.readouterr().err.splitlines()[-1]

    embedding = tmp_path / "embedding.bin"
    assert refused().startswith("usage: ")
    assert "no rows of 40 FP16" in refused("p", tmp_path / "odd.bin", 1, -1, 3)
    assert "absent: cannot open the file" in refused("p", tmp_path / "absent", 1, -1, 3)
    assert refused("p", embedding, 1, -1, 50) == "token 50 is none of 50"
    assert refused("p", embedding, "one", -1, 3) == "one: is not a number"
    assert refused("p", embedding, 20, -1, 3) == "the cache of 16 positions is full"


def test_it_compiles_without_a_warning(tmp_path: Path) -> None:
    (tmp_path / "lm.inc.h").write_text(header(aux=False, space=False))
    macros = ['-DFLEET_HEADER="lm.inc.h"', "-DFLEET_MODEL=lm", "-DFLEET_CHANNELS=40", "-DFLEET_TOKENS=4", "-DFLEET_POSITIONS=16"]
    folders = [f"-I{tmp_path}", f"-I{greedy_program().parent}"]
    line = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *macros, *folders, str(greedy_program())]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
