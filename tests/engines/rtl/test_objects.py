"""Objects that simulations share: what they are known by, and that a build compiles nothing but what changed."""

from __future__ import annotations

import dataclasses
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from fleet.engines.rtl_sim.objects import Compilation, compilations, keep, place
from fleet.engines.rtl_sim.tools import find_toolchain

LISTING = """\
make: Entering directory
/bin/sh ../whole.sh g++ -I. -MMD -I{here}/include -DA=1 -O2 -c -o bench.o ../src/bench.cpp
g++ -O3 -I. -MMD -I{here}/include -include Vtop__pch.h.fast -c Vtop.cpp
g++ -O3 -I. -c -x c++-header Vtop__pch.h -o Vtop__pch.h.fast.gch
g++ -O3 -I. -c -o Vtop__ALL.o Vtop__ALL.cpp
g++ bench.o Vtop.o \\
  -o Vtop
"""


@pytest.fixture
def obj(tmp_path: Path) -> Path:
    for name in ("obj", "src", "include"):
        (tmp_path / name).mkdir()
    (tmp_path / "src" / "bench.cpp").write_text('#include "bench.h"\n#include <vector>\nint b;\n')
    (tmp_path / "src" / "bench.h").write_text("#  include <runtime.h>\n")
    (tmp_path / "include" / "runtime.h").write_text("int r;\n")
    (tmp_path / "obj" / "Vtop.cpp").write_text('#include "Vtop__pch.h"\n')
    (tmp_path / "obj" / "Vtop__pch.h").write_text('#include "runtime.h"\n')
    return tmp_path / "obj"


def found(obj: Path, listing: str = LISTING, compiler: str = "g++ 12") -> dict[str, Compilation]:
    return {c.path.name: c for c in compilations(listing.format(here=obj.parent), obj, compiler)}


def test_what_a_listing_compiles(obj: Path) -> None:
    """Not the precompiled header, the link, or what make has yet to write."""
    assert {name: c.header for name, c in found(obj).items()} == {"bench.o": "", "Vtop.o": "Vtop__pch.h.fast"}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("src/bench.cpp", {"bench.o"}), ("src/bench.h", {"bench.o"}), ("include/runtime.h", {"bench.o", "Vtop.o"}),
        ("obj/Vtop__pch.h", {"Vtop.o"}),
    ],
)  # fmt: skip
def test_every_file_that_is_included_counts(obj: Path, change: str, expected: set[str]) -> None:
    before = found(obj)
    with (obj.parent / change).open("a") as f:
        f.write("// more\n")
    after = found(obj)
    assert {name for name in before if before[name].key != after[name].key} == expected


def test_flags_and_compiler_count_and_places_do_not(obj: Path, tmp_path: Path) -> None:
    before = found(obj)
    assert not {c.key for c in before.values()} & {c.key for c in found(obj, compiler="g++ 13").values()}
    assert found(obj, LISTING.replace("-DA=1", "-DA=2"))["bench.o"].key != before["bench.o"].key
    assert found(obj, LISTING.replace("-O3", "-O2"))["Vtop.o"].key != before["Vtop.o"].key
    moved = tmp_path.parent / f"{tmp_path.name}-moved"
    tmp_path.rename(moved)
    assert {name: c.key for name, c in found(moved / "obj").items()} == {name: c.key for name, c in before.items()}


def test_a_macro_of_verilator_counts_where_it_is_mentioned(obj: Path) -> None:
    before = found(obj)
    told = LISTING.replace("-MMD", "-DVM_TRACE=1 -DVL_OWN -MMD")
    assert {name: c.key for name, c in found(obj, told).items()} == {name: c.key for name, c in before.items()}
    header = obj.parent / "include" / "runtime.h"
    header.write_text("#if VM_TRACE  // waves\n# define WAVES 1  // for old code\n#endif\nint r;\n")
    before = found(obj)
    assert found(obj, told)["bench.o"].key == before["bench.o"].key, "nothing reads that word"
    (obj.parent / "src" / "bench.h").write_text("#include <runtime.h>\n#ifdef VL_OWN\n#endif\n")
    before = found(obj)
    after = found(obj, told)
    assert {name for name in before if before[name].key != after[name].key} == {"bench.o"}


def test_the_runtime_reads_no_word_for_waves() -> None:
    asked = [str(find_toolchain().verilator), "--getenv", "VERILATOR_ROOT"]
    root = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
    runtime = [p for p in (root / "include").rglob("*") if p.suffix in {".h", ".cpp"}]
    assert [p.name for p in runtime if re.search(r"\bWAVES\b", p.read_text(errors="replace"))] == ["verilated.h"]


def _headers(names: Sequence[str]) -> None:
    assert not names


def test_an_object_is_used_as_it_was_kept_or_not_at_all(obj: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    objects, shared = tuple(found(obj).values()), tmp_path / "objects"
    assert {c.path.name for c in place(shared, objects, _headers)} == {"bench.o", "Vtop.o"}
    for c in objects:
        c.path.write_bytes(c.path.name.encode())
    keep(shared, objects)
    for c in objects:
        c.path.unlink()
    assert place(shared, objects, _headers) == ()
    assert [c.path.read_bytes() for c in objects] == [b"bench.o", b"Vtop.o"]
    kept = shared / f"{objects[0].key}.o"
    kept.write_bytes(kept.read_bytes() + b"!")
    objects[0].path.unlink()
    assert place(shared, objects, _headers) == (objects[0],)
    assert "is not what was stored there" in capsys.readouterr().err


def test_a_header_is_compiled_first_where_many_need_it(obj: Path, tmp_path: Path) -> None:
    asked: list[str] = []
    (one,) = (c for c in found(obj).values() if c.header)
    many = [dataclasses.replace(one, path=obj / f"Vtop{i}.o", key=f"k{i}") for i in range(9)]
    place(tmp_path / "objects", many, asked.extend)
    assert asked == ["Vtop__pch.h.fast.gch"]
    assert not (obj / "Vtop__pch.h.fast").exists()
