"""`argparse` of a program: what CPython parses, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers_corpus import Program, by_python, by_vm

from fleet.errors import SourceError
from fleet.frontend.interpreter import run

PARSER = "import argparse\np = argparse.ArgumentParser(description='x')\n"
EXCLUSIVE = f"""{PARSER}
g = p.add_mutually_exclusive_group()
g.add_argument("--fast", action="store_true")
g.add_argument("--slow", action="store_true")
h = p.add_mutually_exclusive_group()
h.add_argument("--high", type=int, default=3)
"""
LINES = {
    "argparse of exclusive groups": f"""{EXCLUSIVE}
print(vars(p.parse_args([])), vars(p.parse_args(["--slow", "--high", "4"])))
""",
    "argparse": """
import argparse
p = argparse.ArgumentParser(description='x')
p.add_argument('--n', type=int, default=5, help='count')
p.add_argument('--lr', '-l', type=float, default='0.5')
p.add_argument('--quiet', action='store_true')
p.add_argument('--name', choices=['a', 'b'], default='a')
args = p.parse_args()
print(args.n, args.lr, args.quiet, args.name, vars(args), p.parse_args(['--n', '7', '--quiet']).n)
""",
    "argparse shows no help": """
import argparse
ap = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, epilog="x")
g = ap.add_mutually_exclusive_group()
g.add_argument("--fast", action="store_true")
g.add_argument("--slow", action="store_true")
print(ap.parse_args([]).fast)
""",
}


def program(folder: Path, text: str) -> Program:
    path = folder / "line.py"
    path.write_text(f"import numpy as np\n\n{text}\n")
    return Program(path, None, {}, "", "")


@pytest.mark.parametrize("text", LINES.values(), ids=LINES.keys())
def test_what_python_prints(tmp_path: Path, text: str) -> None:
    given = program(tmp_path, text)
    expected = by_python(given)[1]
    assert by_vm(given)[1] == expected
    assert run(str(given.path), {}).printed == expected


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (PARSER + "p.add_argument('file')\nprint(p.parse_args().file)", "F506"),
        (PARSER + "g = p.add_mutually_exclusive_group(required=True)\ng.add_argument('-a')\nprint(p.parse_args().a)", "F506"),
        (EXCLUSIVE + "print(p.parse_args(['--fast', '--slow']).fast)", "F506"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, code: str) -> None:
    with pytest.raises(SourceError) as caught:
        by_vm(program(tmp_path, text))
    assert caught.value.code == code
