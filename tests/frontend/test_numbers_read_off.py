"""`int(x)` and `x.item()` of an array that is known: the run computes it all the same, and what is printed is the run's."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers_corpus import Program as Source
from helpers_corpus import by_python, by_vm

from fleet.frontend.source import load
from fleet.ir import dialect as d
from fleet.ir.program import Program

SEEDED = "import numpy as np\nrng = np.random.default_rng(0)\na = rng.normal(size=(8, 8))\nb = a @ a.T\n"


def _read(folder: Path, text: str) -> Program:
    (folder / "s.py").write_text(SEEDED + text)
    return load(str(folder / "s.py"), {}, {})


@pytest.mark.parametrize(
    "shown",
    [
        "print(int(b.sum()))",
        "print(b.sum().item())",
        "print(b.argmax().item())",
        "print('%d of %.3f' % (int(b.sum()), b.mean().item()))",
        "print(f'{int((b > 0).sum()) / b.size:.1%}')",
        "print('total ' + str(int(b.sum()) * 2 - 1))",
        "print('sum ' + str(b.sum()), repr(b.max()))",
        "print([int(v) for v in b[0]])",
        "print({'most': int(b.max())})",
        "print('{:>8d}'.format(int(b.sum())))",
        "log = []\nfor row in b:\n    log.append(row.sum().item())\nprint(log)",
    ],
)
def test_what_a_script_logs_is_computed_by_the_run(tmp_path: Path, shown: str) -> None:
    """Were the number taken, no engine would compute anything."""
    program = _read(tmp_path, shown)
    assert sum(isinstance(op, d.MatmulOp) for op in program.operations()) == 1
    printed = [op for op in program.operations() if isinstance(op, d.PrintOp)]
    assert any(op.operands for op in printed)


def test_structure_follows_the_number(tmp_path: Path) -> None:
    """Sizes, loops, indices, keys and decisions take its value; what is shown of it is the run's."""
    program = _read(
        tmp_path,
        """n, k = int(abs(b).sum()) % 5 + 2, int(np.argmax(b[0]))
xs = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
print(n, k, xs[k % 7], xs[:n], b[k, :k + 1].shape, "abc"[k % 3], np.zeros((n, 3)).shape, {0: "a"}.get(k), "x" * k)
for i in range(n):
    print(i + n, list(range(0, n, 2)), np.arange(n).sum(), np.repeat(b[0], n).shape)
if n > 3:
    print("more", f"{n:4d}|{n!r}|{n + 0.5:.2f}")
print({str(b.argmax()): 1}, str(b.argmax()).zfill(4), len(str(k)), str(b.sum())[:5], "x".join(str(v) for v in b[0]))
print(f"{n:,} {n:x} {n:08b} {n:^9}|{n:+d} {n:e}", "%x %-5d|" % (n, k), n / 7, n // 7, -n, n**2, n & 3, n << 2, divmod(n, 3))
key = f"{n}{k}"
print({key: 1}[str(n) + str(k)], len(key))
""",
    )
    assert isinstance(program, Program)
    source = Source(tmp_path / "s.py", None, {}, "", "")
    assert by_vm(source)[1] == by_python(source)[1]


def test_a_number_that_leaves_the_body_it_was_read_in(tmp_path: Path) -> None:
    """Behind a rolled loop the array in its body has no value; the number keeps its own."""
    program = _read(
        tmp_path,
        """total = np.zeros(8)
for i in range(5000):
    total = total + b[i % 8]
    n = int(b.sum())
print(n, n + 1, total.sum())
""",
    )
    assert any(op.regions for op in program.operations())
    source = Source(tmp_path / "s.py", None, {}, "", "")
    assert by_vm(source)[1] == by_python(source)[1]
