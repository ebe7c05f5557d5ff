"""Text in, text out: every file in `texts` names passes, and holds a program before and after them.

`python tests/transforms/test_texts.py` writes what comes out now into the files; read the difference before you commit it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.ir.text import parse_ir, print_ir
from fleet.transforms.entry import program_of
from fleet.transforms.pipeline import PassHooks, Pipeline, parse_passes

FOLDER = Path(__file__).parent / "texts"
SEPARATOR = "\n// ----- becomes -----\n"


def split(path: Path) -> tuple[str, str, str]:
    """Passes, text before, text after."""
    head, _, rest = path.read_text().partition("\n")
    before, _, after = rest.partition(SEPARATOR)
    return head.removeprefix("// passes: "), before + "\n", after


def result(path: Path) -> str:
    passes, before, _ = split(path)
    program = program_of(parse_ir(before, path.name))
    return print_ir(Pipeline("text", parse_passes(passes)).run(program, PassHooks(verify_each=True))[0].module)


def test_there_are_texts() -> None:
    assert len(list(FOLDER.glob("*.mlir"))) >= 8


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.mlir")), ids=lambda p: p.stem)
def test_passes_turn_the_first_text_into_the_second(path: Path) -> None:
    assert result(path) == split(path)[2]
    assert print_ir(parse_ir(split(path)[2])) == split(path)[2]


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.mlir")):
        passes, before, _ = split(path)
        path.write_text(f"// passes: {passes}\n{before.rstrip()}\n{SEPARATOR}{result(path)}")
