"""The C headers, asked by a C compiler: every offset, mask, position, width, reset, named value, opcode and start value."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from export_files import files_of

from fleet.isa.description import Description, Register

_C = {"typeof"}


def member(name: str) -> str:
    return f"{name}_" if name in _C else name


def claims(d: Description) -> Iterator[str]:
    for r in d.registers:
        yield f"offsetof({d.name}_t, {member(r.name)}) == {r.address:#x}"
        yield from _fields(r, f"{d.name}__{r.name}")
    tops = f"{d.name}_instructions"
    for i in d.instructions.values():
        word = f"{tops}__{i.name}".upper()
        yield f"{word}_opcode == {i.opcode}"
        yield f"{word}__CFG_ID_reset == {i.opcode}"
        yield f"{word}_start == {i.start}"
        yield f"{word}_start_optional == {i.start_optional}"
        for r in i.view or ():
            yield f"offsetof({tops}__{i.name}_view_t, {member(r.name)}) == {r.address:#x}"
            yield from _fields(r, f"{tops}__{i.name}_view__{r.name}")


def _fields(r: Register, prefix: str) -> Iterator[str]:
    for f in r.fields:
        name = f"{prefix}__{f.name}".upper()
        yield f"{name}_bm == {f.mask:#x}"
        yield f"{name}_bp == {f.low}"
        yield f"{name}_bw == {f.width}"
        if f.software != "r":
            yield f"{name}_reset == {f.reset:#x}"
        for e in f.encode:
            yield f"{name}__{e.name.upper()} == {e.value}"


def compiled(folder: Path, d: Description, wanted: list[str]) -> subprocess.CompletedProcess[str]:
    cc = shutil.which("cc")
    assert cc, "a C compiler is needed"
    lines = [f'#include "{d.name}_instructions.h"', f'#include "{d.name}.h"', f'#include "{d.name}.h"', "#include <stddef.h>"]
    lines += [f'_Static_assert({claim}, "{claim}");' for claim in wanted]
    lines += [f"uint32_t read_first(volatile {d.name}_t *base) {{ return base->{member(d.registers[0].name)}; }}"]
    (folder / "claims.c").write_text("\n".join(lines) + "\n")
    command = [cc, "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "claims.c"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_c_compiler_agrees_with_the_description(described: Description, tmp_path: Path) -> None:
    files = files_of(described, "c")
    assert list(files) == [f"{described.name}.h", f"{described.name}_instructions.h"]
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    wanted = list(claims(described))
    assert len(wanted) > 10 * len(described.units)
    done = compiled(tmp_path, described, wanted)
    assert (done.returncode, done.stderr[-2000:]) == (0, "")
    done = compiled(tmp_path, described, [wanted[0].replace("== 0x", "== 0x1")])
    assert done.returncode != 0
    assert "static assertion failed" in done.stderr
