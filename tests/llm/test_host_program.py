"""The C++ host program of a model, against the functional model: the tokens that Python's session says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fleet.engines.base import RunOptions
from fleet.engines.host_port.run import HostRun, run_program
from fleet.engines.iss import IssBackend
from fleet.errors import DeviceError, FleetError
from fleet.isa.registry import find_device
from fleet.llm.contestants import CompiledContestant, GenerateRequest, compile_model
from fleet.llm.host_program import emit_host
from fleet.llm.load import LoadedLanguageModel, load_model
from fleet.llm.models import ModelOptions
from fleet.llm.quantisation import Quantisation
from fleet.llm.sessions.device_session import DeviceSession
from fleet.llm.sessions.session import Embedding
from fleet.targets.driver.build import build_program

PLAIN = Quantisation(128, "search")
PLAN = ModelOptions(tokens=4, positions=16)


def emitted(spec: str, folder: Path, plan: ModelOptions = PLAN) -> tuple[LoadedLanguageModel, CompiledContestant]:
    loaded = load_model(spec)
    compiled = compile_model(loaded, plan, find_device("hbm_small")[1], PLAIN, aux=True)
    emit_host(loaded, compiled.module, compiled.model.options, loaded.tokenizer.chat("xyzxy"), folder)
    build_program([folder / "answer.cpp"], folder / "answer", folders=[folder])
    return loaded, compiled


def answer(folder: Path, *arguments: str) -> HostRun:
    options = RunOptions(device="hbm_small")
    return run_program(folder / "answer", [str(folder), *arguments], options, timeout=60, capture=True)


@pytest.mark.parametrize("spec", ["tiny", "tiny-gpt2"])
def test_it_prints_the_tokens_of_the_session(spec: str, tmp_path: Path) -> None:
    loaded, compiled = emitted(spec, tmp_path / "host")
    said: list[int] = []
    with DeviceSession(
        compiled.model, Embedding(loaded.weights), compiled.module, IssBackend(), tmp_path / "iss", RunOptions(), compiled.images
    ) as session:
        *_, step = session.prefill(loaded.tokenizer.chat("xyzxy"))
        while len(said) < 4:
            said.append(step.argmax)
            if step.argmax in loaded.weights.config.eos:
                break
            step = session.step([step.argmax])
    run = answer(tmp_path / "host", "4")
    assert run.exit_code == 0
    assert run.output.decode(errors="replace").splitlines()[-1] == f"tokens: {' '.join(map(str, said))}"
    if spec == "tiny":
        assert run.output.decode() == "zxyz\ntokens: 186 184 185 186\n"


def test_arguments_the_cache_and_bad_input(tmp_path: Path) -> None:
    emitted("tiny", tmp_path)
    assert answer(tmp_path, "2", "184", "185", "184").output.decode() == "yx\ntokens: 185 184\n"
    full = answer(tmp_path, "40", *(["184", "185"] * 7))
    # 14 tokens of 16 positions: three more are chosen, two of them read.
    assert full.output.decode() == "xyx\ntokens: 184 185 184\n"
    assert answer(tmp_path, "3", "999").exit_code == 2
    assert answer(tmp_path, "3", *(["184"] * 17)).exit_code == 2
    (tmp_path / "embedding.bin").write_bytes(b"short")
    assert answer(tmp_path, "3").exit_code == 2


def test_a_folder_without_a_prompt_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    emitted("tiny", tmp_path)
    (tmp_path / "prompt.txt").unlink()
    assert answer(tmp_path, "3").exit_code == 2
    assert f"{tmp_path}/prompt.txt cannot be read" in capfd.readouterr().err


def test_the_programs_rounding_to_half_is_numpys(tmp_path: Path) -> None:
    source = (Path(__file__).parents[2] / "fleet" / "llm" / "host" / "answer.cpp").read_text()
    begin, end = source.index("uint16_t half_of"), source.index("std::vector<float> read_floats")
    program = (
        "#include <cstdint>\n#include <cstdio>\n#include <cstring>\n"
        + source[begin:end]
        + (
            "int main() { float v; uint16_t h; while (std::fread(&v, 4, 1, stdin) == 1) { h = half_of(v);"
            " std::fwrite(&h, 2, 1, stdout); } }\n"
        )
    )
    import subprocess

    (tmp_path / "half.cpp").write_text(program)
    subprocess.run(["g++", "-std=c++17", "-O1", "-o", tmp_path / "half", tmp_path / "half.cpp"], check=True)
    rng = np.random.default_rng(0)
    halves = np.arange(0x7C01, dtype=np.uint16).view(np.float16).astype(np.float32)
    middles = (halves[:-2] + halves[1:-1]) / 2
    values = np.concatenate([
        halves, middles, np.nextafter(middles, np.float32(9e9)), np.nextafter(middles, np.float32(-9e9)), -halves, -middles,
        np.array([np.inf, -np.inf, 65519.99, 65520, 1e30, 1e-30, 2**-25, -(2**-25), 0, -0.0], np.float32),
        rng.integers(0, 1 << 31, 20000, dtype=np.uint32).view(np.float32),
    ])  # fmt: skip
    values = values[~np.isnan(values)].astype(np.float32)
    found = subprocess.run([tmp_path / "half"], input=values.tobytes(), capture_output=True, check=True).stdout
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(np.frombuffer(found, np.uint16), values.astype(np.float16).view(np.uint16))


def test_a_module_without_a_binary_is_refused(tmp_path: Path) -> None:
    loaded = load_model("tiny")
    compiled = compile_model(loaded, PLAN, find_device("hbm_small")[1], PLAIN, aux=False)
    with pytest.raises(DeviceError, match="needs a module called 'model' with a binary"):
        emit_host(loaded, compiled.module, compiled.model.options, [1], tmp_path)
    with pytest.raises(FleetError, match="a host program needs a device"):
        GenerateRequest("tiny", "a", 1, ("vm",), host=tmp_path)
