"""A DMA engine on AHB-Lite and a block of OpenTitan's style: their owners' tests, and the same with another expected value."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("pyslang")
pytest.importorskip("hjson")

from adopted import DMA, MACC, workspace

from fleet.adopt.bench.replay import Outcome, replay
from fleet.adopt.workspace import open_workspace
from fleet.errors import ExitCode

pytestmark = pytest.mark.nightly


def _steps(port: str, *steps: tuple[str, str | int, int]) -> str:
    lines: list[str] = []
    for kind, place, value in steps:
        where = f'register = "{place}"' if isinstance(place, str) else f"address = {place}"
        lines += ["[[step]]", f'{kind} = "{port}"', where, f"{'expect' if kind == 'read' else 'data'} = {value}"]
    return "\n".join(lines) + "\n"


ADD = (
    '[[memory]]\nport = "m"\naddress = 0x1000\nwords = [1, 2, 3, 4000000000, 5]\n'
    '[[memory]]\nport = "m"\naddress = 0x2000\nwords = [10, 20, 30, 400000000, 50]\n'
    + _steps(
        "s", ("write", 8, 0x1000), ("write", 12, 0x2000), ("write", 16, 0x3000), ("write", 20, 5), ("read", 20, 5), ("write", 0, 3)
    )
    + '[[step]]\nwait = "dma_irq"\nlimit = 500\n'
    '[[expect]]\nport = "m"\naddress = 0x3000\nwords = [11, 22, 33, 105032704, 55]\n'
)
MULTIPLY = (
    "[[step]]\nidle = 10\n"
    + _steps("tl", ("read", "VERSION", 0x40001), ("write", "INTR_ENABLE", 1))
    + _steps("tl", ("write", "OP_A", 70000), ("write", "OP_B", 300), ("write", "CMD", 3))
    + '[[step]]\nwait = "intr_done_o"\nlimit = 100\n' + _steps("tl", ("read", "ACC", 21000000), ("write", "CMD", 1))
    + '[[step]]\nuntil = "tl"\nregister = "STATUS"\nmask = 1\nvalue = 1\n' + _steps("tl", ("read", "ACC", 42000000))
    + '[[step]]\nread = "tl"\naddress = 0x40\nerror = true\n'
)  # fmt: skip
Run = Callable[[Path, str], Outcome]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a test; each design is built once."""
    home = tmp_path_factory.mktemp("styles")

    def run(files: Path, text: str) -> Outcome:
        folder = home / files.stem
        if not folder.exists():
            workspace(folder, files, edits=[("pause = 0", "pause = 3")])
        test = folder / "owner.toml"
        test.write_text(text)
        return replay(open_workspace(folder), test)

    return run


@pytest.mark.parametrize(
    ("files", "text", "compared", "wrong"), [(DMA, ADD, 21, "55]"), (MACC, MULTIPLY, 4, "42000000")], ids=["ahb_lite", "tilelink"]
)
def test_the_owners_test_agrees_and_sees_another_value(run: Run, files: Path, text: str, compared: int, wrong: str) -> None:
    outcome = run(files, text)
    assert (outcome.differences, outcome.violations, outcome.exit_code) == ((), (), ExitCode.AGREED)
    assert outcome.compared == compared
    other = run(files, text.replace(wrong, wrong.replace("5]", "6]").replace("42", "43")))
    assert other.exit_code is ExitCode.DIFFERS
    assert len(other.differences) == 1
