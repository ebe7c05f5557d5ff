"""Programs as strangers write them (`corpus/`): what is taken is CPython's on vm and on riscv; what is refused says why."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from helpers_corpus import Program, by_python, by_vm, corpus
from helpers_uses import corpus as corpus_of_uses
from helpers_uses import difference

from fleet.engines.base import RunOptions
from fleet.engines.riscv import ENGINE as RISCV
from fleet.errors import SourceError
from fleet.frontend.source import load

PROGRAMS = corpus()
TAKEN = [p for p in PROGRAMS if not p.refused]
DOCS = Path(__file__).parents[2] / "docs" / "numpy.md"


def test_most_programs_are_taken() -> None:
    assert len(PROGRAMS) >= 150
    assert len(TAKEN) >= 0.93 * len(PROGRAMS)


@pytest.mark.parametrize("program", TAKEN, ids=lambda p: p.path.stem)
def test_vm_gives_what_python_gives(program: Program) -> None:
    expected, text = by_python(program)
    found, printed = by_vm(program)
    assert printed == text
    assert len(found) == len(expected)
    assert not [d for f, e in zip(found, expected, strict=True) if (d := difference(f, e))]


@pytest.mark.nightly
@pytest.mark.parametrize("program", TAKEN, ids=lambda p: p.path.stem)
def test_riscv_gives_what_python_gives(program: Program) -> None:
    expected, text = by_python(program)
    compiled = load(program.spec, {}, program.inputs)
    trace = RISCV.run(compiled, program.inputs, RunOptions(keep_tensors=False))
    assert alike(str(trace.meta["stdout"]), text)
    for f, e in zip(trace.outputs.values(), expected, strict=True):
        tolerance = 2e-5 if e.dtype == np.float32 else 1e-9
        assert f.shape == e.shape
        assert np.allclose(f, e, rtol=tolerance, atol=tolerance, equal_nan=True)


def alike(found: str, expected: str) -> bool:
    """The same words, and the same numbers up to what another order of sums changes in them."""
    number = re.compile(r"-?\d+\.\d*(?:e[+-]\d+)?")
    if number.sub("#", found).split() != number.sub("#", expected).split():
        return False
    a, b = ([float(n) for n in number.findall(t)] for t in (found, expected))
    return np.allclose(a, b, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.refused.startswith("F")], ids=lambda p: p.path.stem)
def test_what_is_refused_says_why(program: Program) -> None:
    with pytest.raises(SourceError) as caught:
        load(program.spec, {}, program.inputs)
    assert caught.value.code == program.refused


def table() -> str:
    """What `docs/numpy.md` says of the corpus."""
    rows = [f"Of {len(PROGRAMS)} programs {len(TAKEN)} are taken.", "", "| program | refused | why |", "|---|---|---|"]
    rows += [f"| `{p.path.stem}` | {p.refused} | {p.reason} |" for p in PROGRAMS if p.refused]
    return "\n".join(rows)


def test_the_documentation_lists_the_reasons() -> None:
    text = DOCS.read_text()
    begin, end = "<!-- corpus: tests/frontend/test_corpus.py -->\n\n", "\n<!-- end of corpus -->"
    assert text[text.index(begin) + len(begin) : text.index(end)] == table()
    uses = corpus_of_uses()[1]
    assert f"Of {len(uses)} one-line uses" in text
    assert f"(`tests/frontend/numpy_uses.txt`) {sum(not u.refused for u in uses)} are taken" in text
