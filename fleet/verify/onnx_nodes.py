"""ONNX's own node tests: `python -m fleet.verify.onnx_nodes [--check]` writes the tables of docs/onnx-operators.md.

With `--riscv` it writes docs/onnx-riscv.md (minutes): the tests that pass on the VM, run on the engine `riscv`. With `--out` it
writes docs/onnx-out.md: the tests are read, exported as ONNX again and run by onnxruntime.

Each test is a model of one operator with inputs and expected results, made by the package onnx. fleet's front end reads it and
fleet's VM runs it. The outcome is one of

    passed     the results agree within the test's tolerances
    bound      as passed; inputs that decide shapes were bound to their values
    folded     all inputs decide shapes: the front end computed the result, nothing was left to run (not counted as passed)
    skipped    refused with a reason
    failed     computed, and the results differ
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fleet.errors import FleetError
from fleet.ir.tables import write_page

if TYPE_CHECKING:
    import onnx

_PAGE = Path("docs/onnx-operators.md")
_SKIPPED = Path("docs/onnx-skipped.md")
_RISCV = Path("docs/onnx-riscv.md")
_OUT = Path("docs/onnx-out.md")
_TYPES = "its tensors have a type that fleet does not carry"


@dataclass(frozen=True)
class NodeCase:
    """A node test. data: the serialized model; sets: inputs and results, arrays (or other values than tensors)."""

    name: str
    operator: str
    data: bytes
    sets: Sequence[tuple[Sequence[Any], Sequence[Any]]]
    rtol: float
    atol: float


@dataclass(frozen=True)
class NodeTestOutcome:
    """The outcome of a test; the module's docstring lists the kinds."""

    verdict: str
    reason: str = ""


def node_cases() -> Iterator[NodeCase]:
    """Yield the node tests of the installed onnx, in its order."""
    import warnings

    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = load_model_tests(kind="node")
    single = {c.name: _single(c.model) for c in found if c.model is not None}
    for case in found:
        operator = single.get(case.name.split("_expanded")[0]) or single[case.name] or "several"
        sets = [([_array(a) for a in i], [_array(a) for a in o]) for i, o in case.data_sets or ()]
        if exact := _EXACT.get(case.name):
            sets = [(i, [exact(i[0], o[0])]) for i, o in sets]
        assert case.model is not None, "node tests are made in memory"
        yield NodeCase(case.name, operator, case.model.SerializeToString(), sets, case.rtol, case.atol)


def _inverse_transform(x: np.ndarray, stored: np.ndarray) -> np.ndarray:
    """The inverse Fourier transform of x along axis 1, computed in float64 and rounded once to x's dtype.

    x, stored: [n, length, m, 2], real and imaginary parts; stored: the test's own result. Raises ValueError if it differs from the
    exact transform by more than float32 arithmetic can: 2 * length + 2 roundings of the sum of the magnitudes, for a sum of
    2 * length products with one rounded factor each.
    """
    wide = x.astype(np.float64)
    length = x.shape[1]
    found = np.fft.ifft(wide[..., 0] + 1j * wide[..., 1], axis=1)
    exact = np.stack([found.real, found.imag], axis=-1)
    bound = (2 * length + 2) * 2.0**-24 * np.abs(wide).sum(axis=(1, 3), keepdims=True) / length
    if exact.shape != stored.shape or not (np.abs(stored - exact) <= bound).all():
        raise ValueError("the stored result is not the inverse transform of the input")
    return exact.astype(x.dtype)


_EXACT = {"test_dft_inverse": _inverse_transform, "test_dft_inverse_opset19": _inverse_transform}
"""Tests whose stored results are wrong by more than their own tolerance: a float32 transform left 1.9e-7 instead of 0. fleet's
result is compared with the exact transform, at the test's tolerances; the stored result must be within the bound of float32.
"""


def _single(model: onnx.ModelProto) -> str | None:
    """Return the operator of a test with only one operator, with its domain unless it is ONNX's default; else None."""
    names = {f"{n.domain}.{n.op_type}" if n.domain else n.op_type for n in model.graph.node}
    return names.pop() if len(names) == 1 else None


def _array(value: object) -> Any:
    import onnx

    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    return value if value is None or isinstance(value, list) else np.asarray(value)


def run_case(case: NodeCase, engine: str = "vm") -> NodeTestOutcome:
    """Read and run one test on an engine."""
    from fleet.engines.base import RunOptions
    from fleet.engines.registry import find_engine
    from fleet.frontend.onnx.load import program_of
    from fleet.frontend.onnx.narrow import carried
    from fleet.frontend.onnx.reader import read_model
    from fleet.frontend.onnx.texts import encoded, recoded

    if any(not isinstance(v, np.ndarray) for i, o in case.sets for v in (*i, *o)):
        return NodeTestOutcome("skipped", "its inputs or results are sequences or optionals, which are no tensors")
    bound = folded = False
    try:
        model = read_model(case.data, case.name)
        for inputs, wanted in case.sets:
            given = encoded(model, {p.name: _carried(a) for p, a in zip(model.graph.inputs, inputs, strict=True)})
            program = program_of(model, given)
            fed = {a.name: given[a.name] for a in program.inputs}
            found = find_engine(engine).engine.run(program, fed, RunOptions(keep_tensors=False)).outputs
            expected = [recoded(program.words, a) if a.dtype.kind in "OU" else carried(a) for a in wanted]
            if reason := _differs([found[name] for name in program.outputs], expected, case):
                return NodeTestOutcome("failed", reason)
            bound = bound or len(program.inputs) < len(given)
            folded = folded or not program.inputs
    except FleetError as error:
        return NodeTestOutcome("skipped", _reason(error))
    return NodeTestOutcome("folded" if folded else "bound" if bound else "passed")


def _carried(array: np.ndarray) -> np.ndarray:
    """Texts as they are, other arrays as a program carries them."""
    from fleet.frontend.onnx.narrow import carried

    return array if array.dtype.kind in "OU" else carried(array)


def _differs(found: Sequence[np.ndarray], wanted: Sequence[np.ndarray], case: NodeCase) -> str:
    if not wanted or len(found) != len(wanted):
        return f"{len(found)} results, expected {len(wanted)}"
    for got, want in zip(found, wanted, strict=True):
        if (got.dtype, got.shape) != (want.dtype, want.shape):
            return f"{got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}"
        if not np.allclose(got, want, case.rtol, case.atol, equal_nan=True):
            return "other values"
    return ""


def _reason(error: FleetError) -> str:
    if "element type" in error.what:
        return f"{_TYPES}: {error.what.split()[2]}"
    names = [line.split(":")[0].strip() for line in (error.detail or "").splitlines()]
    if "not supported" in error.what and names:
        return f"operators that are not supported: {', '.join(names)}"
    return error.what


def _tables(outcomes: Mapping[str, tuple[str, NodeTestOutcome]]) -> dict[str, str]:
    """Return the generated parts of the page."""
    by_operator: dict[str, Counter[str]] = {}
    for operator, outcome in outcomes.values():
        by_operator.setdefault(operator, Counter())[outcome.verdict] += 1
    rows = ["| operator | tests | passed | of them with bound inputs | folded | skipped |", "|---|---|---|---|---|---|"]
    for operator, c in sorted(by_operator.items(), key=lambda item: item[0].lower()):
        rows.append(f"| `{operator}` | {c.total()} | {c['passed'] + c['bound']} | {c['bound']} | {c['folded']} | {c['skipped']} |")
    total = sum((c for c in by_operator.values()), Counter[str]())
    passed = total["passed"] + total["bound"]
    summary = (
        f"Of {total.total()} node tests {passed} pass on `vm` ({total['bound']} of them with inputs bound that decide shapes), "
        f"{total['folded']} are computed whole while the model is read, {total['skipped']} are refused with a reason, "
        f"{total['failed']} give something else.\n"
    )
    return {"summary": summary, "node tests": "\n".join(rows) + "\n", "unsupported": _unsupported(), "microsoft": _microsoft()}


def _unsupported() -> str:
    """Return the ONNX operators that the front end neither supports nor decomposes."""
    from onnx import defs

    from fleet.frontend.onnx.registry import translation

    names: list[str] = []
    for schema in defs.get_all_schemas():
        body: Any = schema
        if body.deprecated or body.has_function or body.has_context_dependent_function:
            continue
        if translation(schema.domain, schema.name, 1 << 30) is None:
            names.append(f"`{schema.domain}.{schema.name}`" if schema.domain else f"`{schema.name}`")
    return f"{len(names)}: {', '.join(sorted(names))}\n"


def _microsoft() -> str:
    """Return the operators of com.microsoft that the front end supports."""
    from fleet.frontend.onnx.registry import MICROSOFT, operators

    names = sorted(name for domain, name in operators() if domain == MICROSOFT)
    return f"{len(names)}: {', '.join(f'`{name}`' for name in names)}\n"


def _skipped(outcomes: Mapping[str, tuple[str, NodeTestOutcome]]) -> str:
    rows = ["| test | operator | reason |", "|---|---|---|"]
    for name, (operator, outcome) in sorted(outcomes.items()):
        if outcome.verdict in ("skipped", "failed"):
            words = outcome.reason.replace("|", "\\|").replace("\n", " ")
            rows.append(f"| `{name}` | `{operator}` | {'FAILED: ' if outcome.verdict == 'failed' else ''}{words} |")
    return "\n".join(rows) + "\n"


def _riscv_tables(outcomes: Mapping[str, tuple[str, NodeTestOutcome]]) -> dict[str, str]:
    """Return the tables of the RISC-V page: results by operator, and refusals by reason."""
    by_operator: dict[str, Counter[str]] = {}
    reasons: dict[str, list[str]] = {}
    for name, (operator, outcome) in outcomes.items():
        passed = outcome.verdict in ("passed", "bound", "folded")
        by_operator.setdefault(operator, Counter())["passed" if passed else outcome.verdict] += 1
        if not passed:
            reasons.setdefault(_kind(outcome.reason), []).append(name)
    rows = ["| operator | tests that pass on `vm` | on `riscv` | refused |", "|---|---|---|---|"]
    for operator, c in sorted(by_operator.items(), key=lambda item: item[0].lower()):
        rows.append(f"| `{operator}` | {c.total()} | {c['passed']} | {c['skipped']} |")
    total = sum(by_operator.values(), Counter[str]())
    summary = (
        f"Of the {total.total()} node tests that pass on `vm`, {total['passed']} pass on `riscv`, {total['skipped']} are refused, "
        f"{total['failed']} give something else.\n"
    )
    why = ["| reason | tests | for instance |", "|---|---|---|"]
    for reason, names in sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0])):
        words = reason.replace("|", "\\|").replace("\n", " ")
        why.append(f"| {words} | {len(names)} | `{min(names)}` |")
    refusals = "\n".join(why) if reasons else "Nothing."
    return {"summary": summary, "reasons": f"{refusals}\n", "node tests": "\n".join(rows) + "\n"}


def _kind(reason: str) -> str:
    """Return a reason without the names and shapes of one test."""
    found = re.search(r"(?:has dtype |tensor<(?:[0-9]+x)*)(?:([a-z]{3,}[0-9]*)|(f|i|ui)([0-9]+))", reason)
    if found:
        kinds = {"f": "float", "i": "int", "ui": "uint"}
        return f"the target has no {found[1] or kinds[found[2]] + found[3]}"
    return re.sub(r"\(?[0-9]+(?:, ?[0-9]*)*\)?", "N", reason)


def _out_tables(outcomes: Mapping[str, tuple[str, NodeTestOutcome]]) -> dict[str, str]:
    """Return one summary sentence, and the refused tests."""
    total = Counter(o.verdict for _, o in outcomes.values())
    passed = total["passed"] + total["bound"]
    lines = [
        f"Of the {total.total()} node tests that pass on `vm`, {passed} pass when they are written as ONNX again and run by "
        f"onnxruntime; {total['skipped']} refused, {total['failed']} give something else."
    ]
    refused = [f"- `{name}`: {o.reason}" for name, (_, o) in sorted(outcomes.items()) if o.verdict == "skipped"]
    return {"node tests": "\n".join([*lines, *([""] if refused else []), *refused]) + "\n"}


def _second(engine: str, page: Path, check: bool) -> int:
    """Run the tests that pass on the VM on another engine."""
    outcomes: dict[str, tuple[str, NodeTestOutcome]] = {}
    for case in node_cases():
        if run_case(case).verdict in ("passed", "bound"):
            outcomes[case.name] = case.operator, run_case(case, engine)
    failed = [name for name, (_, o) in outcomes.items() if o.verdict == "failed"]
    for name in failed:
        print(f"{name}: {outcomes[name][1].reason}", file=sys.stderr)
    tables = (_out_tables if page == _OUT else _riscv_tables)(outcomes)
    return 1 if failed else write_page(page, tables, check)


def main(arguments: Sequence[str]) -> int:
    """Entry point; run it in the repository's root."""
    if "--riscv" in arguments:
        return _second("riscv", _RISCV, "--check" in arguments)
    if "--out" in arguments:
        return _second("onnxruntime", _OUT, "--check" in arguments)
    outcomes = {case.name: (case.operator, run_case(case)) for case in node_cases()}
    failed = [name for name, (_, o) in outcomes.items() if o.verdict == "failed"]
    for name in failed:
        print(f"{name}: {outcomes[name][1].reason}", file=sys.stderr)
    check = "--check" in arguments
    stale = write_page(_PAGE, _tables(outcomes), check) | write_page(_SKIPPED, {"skipped": _skipped(outcomes)}, check)
    return 1 if failed else stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
