"""All choices at once: one copy of the project in which `FLEET_FAULT=<number>` says which expression is the wrong one.

Number 0 is no fault: the controls run with it. The hardware, its memories and the bench are built once for a device, whatever the
number; faults in the functional model leave the hash of the description as it is, so that it refuses nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from planting import Choice, Edit, Fault, Project

_PYTHON = '''"""Which planted fault this process has: 0 is none."""

import os


def chosen() -> int:
    return int(os.environ.get("FLEET_FAULT", "0"))
'''
_DECLARED = 'extern "C" int fleet_fault_number();\n'
_DEFINED = """
extern "C" int fleet_fault_number() {
    static const char* const text = std::getenv("FLEET_FAULT");
    static const int number = text == nullptr ? 0 : std::atoi(text);
    return number;
}
"""
_PACKAGE = (
    '"package fleet_fault_pkg;\\n  import \\"DPI-C\\" function int fleet_fault_number();\\n'
    '  int chosen = fleet_fault_number();\\nendpackage\\n"'
)
# The package goes into the first file that is compiled, the function into a source of every simulation.
_SUPPORT = (
    Edit(
        "fleet/engines/rtl_sim/dut.py",
        '        "fleet_dut_pkg.sv": f"{head}',
        f'        "fleet_dut_pkg.sv": {_PACKAGE} + f"{{head}}',
    ),
    Edit("rtl_models/memory/memory.cpp", "#include <cstring>\n", f"#include <cstdlib>\n#include <cstring>\n{_DEFINED}"),
)


def plant_choices(project: Project, faults: Sequence[Fault]) -> None:
    """Plants the choices of all faults, each under the number of its fault (`number_of`)."""
    (project.folder / "fleet_fault.py").write_text(_PYTHON, encoding="utf-8")
    for edit in _SUPPORT:
        project.edit(edit)
    for file, text in texts_with_choices(project, faults).items():
        project.write(file, text)


def texts_with_choices(project: Project, faults: Sequence[Fault]) -> dict[str, str]:
    """Return file -> its text with the choices of all faults. AssertionError where one does not fit, or two overlap."""
    spans: dict[str, dict[tuple[int, int], str]] = {}
    texts: dict[str, str] = {}
    for fault in faults:
        for choice in fault.choices:
            text = texts.setdefault(choice.file, project.text(choice.file))
            start = place_of(text, choice)
            of_file, span = spans.setdefault(choice.file, {}), (start, start + len(choice.right))
            # Several faults may have the same expression: each is planted into what those before it left.
            of_file[span] = _expression(choice, number_of(faults, fault), of_file.get(span, choice.right))
    for file, found in spans.items():
        text, end = texts[file], len(texts[file])
        for (first, last), planted in sorted(found.items(), reverse=True):
            assert last <= end, f"{file}: two choices overlap: {text[first:last]!r}"
            text, end = text[:first] + planted + text[last:], first
        if PurePath(file).suffix in {".cpp", ".h"}:
            text = _with_declaration(text)
        texts[file] = text
    return texts


def number_of(faults: Sequence[Fault], fault: Fault) -> int:
    """Of a fault with choices; 0 for another."""
    with_choices = [f.name for f in faults if f.choices]
    return with_choices.index(fault.name) + 1 if fault.choices else 0


def place_of(text: str, choice: Choice) -> int:
    """Where the right expression begins. AssertionError when it does not stand there exactly once."""
    whole = choice.before + choice.right + choice.after
    found = text.count(whole)
    assert found == 1, f"{choice.file}: the text to edit stands there {found} times, expected once: {whole!r}"
    assert choice.right != choice.wrong, f"{choice.file}: the choice is none"
    return text.index(whole) + len(choice.before)


def _expression(choice: Choice, number: int, right: str) -> str:
    match PurePath(choice.file).suffix:
        case ".sv":
            chosen = "fleet_fault_number()" if choice.in_task else "chosen"
            return f"((fleet_fault_pkg::{chosen} == {number}) ? ({choice.wrong}) : ({right}))"
        case ".cpp" | ".h":
            return f"(fleet_fault_number() == {number} ? ({choice.wrong}) : ({right}))"
        case ".py":
            return f'(({choice.wrong}) if __import__("fleet_fault").chosen() == {number} else ({right}))'
        case other:
            raise AssertionError(f"{choice.file}: no choice can be planted into {other}")


def _with_declaration(text: str) -> str:
    """Before the first include; a header's `#pragma once` may stand above it."""
    at = text.index("#include")
    return text[:at] + _DECLARED + text[at:]
