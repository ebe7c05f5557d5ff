"""The driver in C++: compiled against a host that writes down what it is told, and compared with the module in every step."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small import CHANNELS, Weights, decoder, dims, wide

from fleet.dlavm import adr, ne, transform
from fleet.ir.accel.nodes import Node
from fleet.isa.codec import register_writes
from fleet.targets.accel.build import build
from fleet.targets.accel.module import Module

HOST = r"""
#include <cstdint>
#include <cstdio>
#include <string>
struct HANDLE { int kind; };
inline void CSB_Write(HANDLE& d, uint32_t r, uint32_t v) { if (d.kind != 1) return; std::printf("c %u %u\n", r, v); }
inline uint32_t CSB_Read(HANDLE& d, uint32_t r) { std::printf("r %u %d\n", r, d.kind); return r == 40 ? 77 : 1; }
inline void DDR_Update(HANDLE& h, uint64_t a, uint32_t v) { if (h.kind == 2) std::printf("u %llu %u\n", (unsigned long long)a, v); }
inline void file(const char* what, HANDLE& h, const char* f, uint64_t a, uint64_t s) {
  if (h.kind == 2) std::printf("%s %s %llu %llu\n", what, f, (unsigned long long)a, (unsigned long long)s);
}
inline void DDR_Write_bin(HANDLE& h, const char* f, uint64_t a, uint64_t s) { file("d", h, f, a, s); }
inline void HBM_Write_bin(HANDLE& h, const char* f, uint64_t a, uint64_t s) { file("h", h, f, a, s); }
"""
BASE = 0x2_0000_0000


def run(folder: Path, headers: Mapping[str, str], main: str) -> list[list[str]]:
    """Compiles and runs; the lines that the host wrote, in words."""
    (folder / "host.h").write_text(HOST)
    for name, text in headers.items():
        (folder / name).write_text(text)
    includes = "\n".join(f'#include "{n}"' for n in ("host.h", *headers))
    handles = '  [[maybe_unused]] HANDLE device{1}, h2cx{2};\n  [[maybe_unused]] char prefix[] = "folder";'
    (folder / "main.cpp").write_text(f"{includes}\nint main() {{\n{handles}\n{main}\n}}\n")
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror"]
    made = subprocess.run(["g++", *flags, "main.cpp", "-o", "main"], cwd=folder, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr[:3000]
    out = subprocess.run([str(folder / "main")], capture_output=True, text=True, check=True).stdout
    return [line.split() for line in out.splitlines()]


def writes(lines: list[list[str]]) -> list[tuple[int, int]]:
    return [(int(line[1]), int(line[2])) for line in lines if line[0] == "c"]


def expected_writes(module: Module, **step: int) -> Iterator[tuple[int, int]]:
    for call in module.calls(**step):
        yield from ((a // 4, v) for a, v in register_writes(module.description, call))


STEPS = [(1, 0), (7, 1), (1, 8), (1, 9), (24, 10), (1, 34)]


def test_regs(tmp_path: Path) -> None:
    module = build(decoder(data=False), name="model")
    main = "\n".join(f'  std::printf("s\\n"); model(device, {t}, {last});' for t, last in STEPS)
    lines = run(tmp_path, {"model.inc.h": module.get_source()}, main)
    starts = [i for i, line in enumerate(lines) if line == ["s"]]
    for (t, last), first, end in zip(STEPS, starts, [*starts[1:], len(lines)], strict=True):
        found = writes(lines[first:end])
        assert found[0] == (224, int(np.float32(1e-5).view(np.uint32)))
        assert found[1:] == list(expected_writes(module, token=t, last_token=last))
        # Every instruction is waited for at its unit's status register.
        reads = [int(line[1]) for line in lines[first:end] if line[0] == "r"]
        assert len(reads) == len(module.calls(token=t, last_token=last))
        assert set(reads) == {1, 193}


def test_regs_with_loops(tmp_path: Path) -> None:
    module = build(wide(100), name="model")
    source = module.get_source()
    assert "void mvm_bn_res_step_2(HANDLE& device, int token) {" in source
    for tokens in (1, 32, 33, 100):
        lines = run(tmp_path, {"model.inc.h": source}, f"  model(device, {tokens});")
        assert writes(lines)[1:] == list(expected_writes(module, token=tokens))


def patched(module: Module, lines: list[list[str]], memory: np.ndarray) -> None:
    insts = module.storage.storages[module.insts].address
    for line in lines:
        if line[0] == "u":
            at = int(line[1]) - BASE - insts
            assert at % 4 == 0
            memory[at // 4] = int(line[2])


@pytest.mark.parametrize("graph", ["decoder", "wide"])
def test_aux(tmp_path: Path, graph: str) -> None:
    made = decoder(data=False) if graph == "decoder" else wide(100)
    module = build(made, name="model", aux=True)
    steps = STEPS if graph == "decoder" else [(33, 0), (33, 0), (1, 0), (100, 0), (2, 0)]
    main = "\n".join(f'  std::printf("s\\n"); model_update(h2cx, {t}, {last}); model(device);' for t, last in steps)
    lines = run(tmp_path, {"model.inc.h": module.get_source()}, "  model_load_params(device, h2cx, prefix);\n" + main)
    starts = [i for i, line in enumerate(lines) if line == ["s"]]
    memory = np.frombuffer(module.get_insts_bin(), "<u4").copy()
    insts = module.storage.storages[module.insts].address
    assert ["d", "folder/inst.bin", str(BASE + insts), str(4 * memory.size)] in lines[: starts[0]]
    for (t, last), first, end in zip(steps, starts, [*starts[1:], len(lines)], strict=True):
        patched(module, lines[first:end], memory)
        wanted = memory.copy()
        for offset, words in module.patches(token=t, last_token=last):
            at = (offset - insts) // 4
            wanted[at : at + words.size] = words
        np.testing.assert_array_equal(memory, wanted)
        found = [w for w in writes(lines[first:end]) if w[0] != 224]
        assert found == [w for b in module.binaries(token=t, last_token=last)
                         for w in ((65, b.offset), (66, b.beats), (67, b.count), (73, 1))]  # fmt: skip
    # A step like the one before changes nothing.
    if graph == "wide":
        assert not [line for line in lines[starts[1] : starts[2]] if line[0] == "u"]


def test_outputs(tmp_path: Path) -> None:
    module = build(decoder(data=False), name="model")
    shown = "(unsigned long long)x, (unsigned long long)output, output_argmax(device)"
    lines = run(tmp_path, {"m.h": module.get_source()}, f'  std::printf("o %llu %llu %u\\n", {shown});')
    o = module.outputs["output"]
    assert lines[-1] == ["o", str(BASE + int(module.inputs["x"].address)), str(BASE + int(o.address)), "77"]
    assert lines[-2] == ["r", "40", "1"]


def test_output_whose_address_depends_on_the_step(tmp_path: Path) -> None:
    token, last = dims()
    w = Weights(data=False)
    x = adr.hbm.mvm(adr.hbm.var_ddr("x", (1, token, CHANNELS)), w.matrix("w", CHANNELS, 64))
    module = build(transform.infer_type(adr.gather(x), "hbm_small", attrs={"last_token": last}), name="m")
    lines = run(tmp_path, {"m.h": module.get_source()}, '  std::printf("o %llu\\n", (unsigned long long)output(9));')
    assert (
        int(lines[0][1])
        == BASE + module.bound_port("output", token=9).address
        == BASE + int(module.outputs["output"].address.evaluate(token=9))
    )


def strange() -> Node:
    """Names that C++ does not take."""
    size = ne.Var("int", max_data=8)
    x = adr.hbm.var_ddr("class", (1, size, CHANNELS))
    y = adr.hbm.mvm(x, Weights(data=False).matrix("2 weights::of mine", CHANNELS, 64), name="device")
    return transform.infer_type(y, "hbm_small")


def test_strange_names_and_two_models(tmp_path: Path) -> None:
    config = {"namespace": True}
    a = build(strange(), name="float", aux=True, build_config=config)
    b = build(decoder(data=False), name="float_two", build_config=config)
    main = """
  float_::load_params(device, h2cx, prefix); float_::update(h2cx, 3); float_::run(device);
  float_two::load_params(device, h2cx, prefix); float_two::run(device, 3, 4);
  std::printf("o %llu\\n", (unsigned long long)float_::class_);"""
    lines = run(tmp_path, {"a.h": a.get_source(), "b.h": b.get_source()}, main)
    assert writes(lines)[:4] == [(65, a.binaries(int=3)[0].offset), (66, 65), (67, 1), (73, 1)]
    assert writes(lines)[5:] == list(expected_writes(b, token=3, last_token=4))
    assert int(lines[-1][1]) == BASE + int(a.inputs["class"].address)
    assert any(line[0] == "h" and line[1] == "folder/n2_weights_of_mine_07.bin" for line in lines)


@pytest.mark.parametrize("through_device", [False, True])
def test_loading(tmp_path: Path, through_device: bool) -> None:
    config: dict[str, Any] = {"wt2hbm": through_device, "hbm_base": 0x10_0000_0000, "ddr_base": 0x4000_0000}
    module = build(decoder(1, data=False), name="model", build_config=config)
    lines = run(tmp_path, {"m.h": module.get_source()}, "  model_load_params(device, h2cx, prefix);")
    storages, places = module.storage.storages, module.constants.places
    hbm = [p for p in places if p.space == "hbm"]
    ddr = [["d", f"folder/{p.name}.bin", str(0x4000_0000 + storages[p.storage].address), str(p.packing.room.size)]
           for p in places if p.space == "ddr"]  # fmt: skip
    if not through_device:
        wanted = [["h", f"folder/{p.name}_{port:02d}.bin", str(0x10_0000_0000 + (port << 28) + storages[p.storage].address),
                   str(p.packing.room.size)] for p in hbm for port in range(8)]  # fmt: skip
        assert [line for line in lines if line[0] == "h"] == wanted
        assert [line for line in lines if line[0] == "d"] == ddr
        return
    registers = dict.fromkeys(range(65, 74), 0)
    copies: list[dict[int, int]] = []
    for line in lines:
        if line[0] == "c":
            registers[int(line[1])] = int(line[2])
            if int(line[1]) == 73:
                copies.append(dict(registers))
    staging = storages[module.staging].address
    assert copies == [
        {65: 0, 66: 0, 67: 0, 68: staging, 69: storages[p.storage].address, 70: 0, 71: 8 * p.packing.room.size, 72: port, 73: 2}
        for p in hbm for port in range(8)
    ]  # fmt: skip
    # Waited for before the next piece overwrites the staging room.
    kinds = [line[0] + (line[1] if line[0] != "d" else "") for line in lines if line[0] in "dr" or line[1] == "73"]
    first = next(i for i, k in enumerate(kinds) if k == "c73")
    assert kinds[first - 1 : first + 3] == ["d", "c73", "r64", "d"]


def test_sections_in_order_and_a_hash_instead_of_a_time() -> None:
    module = build(decoder(1, data=False), name="model", aux=True)
    source = module.get_source()
    assert re.match(r"// generated by fleet, content [0-9a-f]{32}, device hbm_small\n\n// ", source)
    marks = ["// weight storage define", "// insts storage define", "uint64_t x = (runtime", "uint64_t output = ",
             "void model_load_params(HANDLE& device, HANDLE& h2cx, char* prefix) {",
             "void model_update(HANDLE& h2cx, int token, int last_token) {", "void aux_block_1(HANDLE& device) {",
             "void model(HANDLE& device) {"]  # fmt: skip
    places = [source.index(m) for m in marks]
    assert places == sorted(places)
    assert source == build(decoder(1, data=False), name="model", aux=True).get_source()
    assert (
        source.splitlines()[0] != build(decoder(1, data=False, positions=65), name="model", aux=True).get_source().splitlines()[0]
    )


def test_the_source_is_the_same_in_every_process() -> None:
    code = """from small import decoder
from fleet.targets.accel.build import build
print(build(decoder(data=False), aux=True).get_source())"""
    environment = {**os.environ, "PYTHONPATH": f"{Path(__file__).parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    made = [
        subprocess.run(
            [sys.executable, "-c", code], env={**environment, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert made[0] == made[1] != b""


def test_debug_logs_where_operators_read_and_write() -> None:
    graph = decoder(1, data=False)
    loud, quiet = build(graph, build_config={"debug": True}), build(graph, build_config={"debug": False})
    assert loud.log[1].startswith("mvm_bn_1: mvm_bn(ddr:runtime")
    assert quiet.log == ()
    assert f"// {loud.log[1]}" in loud.get_source()
    assert "mvm_bn_1: " not in quiet.get_source()


def test_names_that_would_leave_their_comment_or_text(tmp_path: Path) -> None:
    token, _ = dims()
    x = adr.hbm.var_ddr("x\n#error", (1, token, 64))
    w = adr.hbm.const_hbm("w", 'folder/a"b\\c\n.bin', (64, 32))
    node = adr.hbm.mvm(x, w, name="first\n#error second\\")
    module = build(transform.infer_type(node, "hbm_small"))
    lines = run(tmp_path, {"model.h": module.get_source()}, "model_load_params(device, h2cx, prefix);")
    assert len([line for line in lines if line[0] == "h"]) == 8
