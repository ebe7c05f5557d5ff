"""Random programs of NumPy: drawn alike from a seed, of all dtypes and layouts; what is wrong with an engine is found by them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fleet.errors import ModelError
from fleet.targets.bytecode import operators
from fleet.verify.programs.batches import BatchOrder, run_batch
from fleet.verify.programs.bins import BINS, BinCounts, aims
from fleet.verify.programs.devices import draw_device_program
from fleet.verify.programs.drawing import Shares, draw_program
from fleet.verify.programs.fuzz import ProgramFuzzState, _keep, fuzz, load_state
from fleet.verify.programs.memory_order import in_c_order
from fleet.verify.programs.oracle import ComparedProgram, ProgramOracle, by_cpython, difference
from fleet.verify.programs.parts.values import DTYPES, LAYOUTS, draw_array, layout_of
from fleet.verify.programs.parts.wrong import same_kind
from fleet.verify.programs.shrinking import shrink
from fleet.verify.programs.stored import find_programs, load_program, save_program

ALL = tuple(range(len(BINS)))
FOUND = Path(__file__).parent / "found"


@pytest.mark.parametrize("path", list(find_programs(FOUND)), ids=lambda p: p.stem)
def test_what_failed_once_agrees(path: Path) -> None:
    """Or, where CPython raises an error, is refused with one of its kind."""
    model, story = load_program(path)
    raised = by_cpython(model.source, model.arrays).results
    with ProgramOracle() as oracle:
        outcome = oracle.compare(model)
    if isinstance(raised, str):
        assert outcome.kind == "refused", f"{story}\nCPython raises {raised}\n{model.source}"
        assert same_kind(outcome.cause, raised), f"{story}\nCPython raises {raised}, fleet says {outcome.said}"
        return
    assert outcome.kind == "agreed", f"{story}\n{outcome.said}\n{model.source}"


def test_a_seed_and_a_number_make_one_program() -> None:
    for n in range(5):
        one, other = draw_program((3, n), ALL), draw_program((3, n), ALL)
        assert one.source == other.source
        assert all(one.inputs[k].tobytes() == other.inputs[k].tobytes() for k in one.inputs)
    assert draw_program((3, 1), ALL).source != draw_program((4, 1), ALL).source


def test_programs_run_in_cpython_as_they_were_drawn() -> None:
    for n in range(60):
        drawn = draw_program((5, n), ALL)
        found = by_cpython(drawn.source, drawn.inputs).results
        assert drawn.planted or isinstance(found, str) == drawn.wrong, (drawn.source, found)


def test_what_stands_around_the_function_is_drawn_and_what_does_not_fit() -> None:
    shares = Shares(wrong=0.5, planted=0.8, surrounded=0.7, declared=0.5)
    drawn = [draw_program((8, n), ALL, shares=shares) for n in range(60)]
    assert sum(bool(d.head) for d in drawn) > 20
    assert {d.planted for d in drawn if d.head} == {True, False}
    assert sum(bool(d.declared) for d in drawn) > 10
    assert any(d.unfit is not None for d in drawn)
    for d in drawn:
        found = by_cpython(d.source, d.arrays).results
        assert d.planted or isinstance(found, str) == d.wrong, (d.source, found)


def test_every_dtype_and_layout_is_drawn_and_every_bin_can_be_aimed_at() -> None:
    met: Counter[int] = Counter()
    for n in range(150):
        for line in draw_program((6, n), ALL).lines:
            met.update(line.bins)
    assert {BINS[b][1] for b in met} == set(DTYPES)
    assert {BINS[b][2] for b in met} == set(LAYOUTS)
    assert len({BINS[b][0] for b in met}) > 120
    rng = np.random.default_rng(0)
    assert {aims(rng, (7, 11), 2)[0] for _ in range(30)} == {BINS[7], BINS[11]}  # one of a program where few are wanted
    half = frozenset(range(0, len(BINS), 2))
    assert sum(BINS.index(b) in half for _ in range(40) for b in aims(rng, (), 5, half)) < 20


def test_special_values_are_drawn() -> None:
    rng = np.random.default_rng(1)
    values = np.concatenate([draw_array(rng, np.dtype("float16"), (5,)) for _ in range(60)])
    assert np.isnan(values).any()
    assert np.isposinf(values).any()
    assert np.isneginf(values).any()
    assert (np.signbit(values) & (values == 0)).any()
    ends = np.concatenate([draw_array(rng, np.dtype("int8"), (5,)) for _ in range(60)])
    assert {-128, 127} <= set(ends.tolist())


def test_layouts_are_told_by_strides() -> None:
    a = np.zeros((3, 4))
    views = (a, a[:, ::2], a[::-1], np.broadcast_to(a, (2, 3, 4)), a[0, 0], a[:0], a.T)
    assert tuple(layout_of(np.asarray(v)) for v in views) == LAYOUTS


def test_what_cpython_never_takes_is_closed() -> None:
    account = BinCounts(closed={3: 6, 4: 6, 5: 5}, met={4: 1})
    assert account.is_closed(3)
    assert not account.is_closed(4)
    assert 3 not in account.open()
    assert 5 in account.open()


@pytest.mark.parametrize(
    ("expected", "found", "cause"),
    [
        (np.float32(0.0), np.float32(-0.0), "bits"),
        (np.float32(1.0), np.nextafter(np.float32(1), np.float32(2)), "bits"),
        (np.float32(1.0), np.float64(1.0), "dtype"),
        (np.zeros((1, 2)), np.zeros(2), "shape"),
        (np.array([1, 2], np.uint8), np.array([1, 3], np.uint8), "bits"),
        (np.array([1.0, np.nan]), np.array([1.0, 2.0]), "bits"),
    ],
)
def test_every_bit_counts(expected: np.ndarray, found: np.ndarray, cause: str) -> None:
    outcome = difference("return v", [np.asarray(expected)], [np.asarray(found)])
    assert outcome is not None
    assert outcome.cause == cause


def test_a_wrong_operator_is_found_shrunk_and_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`np.cumsum` along the wrong axis: a few statements are left of it, and the stored program fails until it is mended."""
    right = operators.OPERATORS["cumsum"]
    monkeypatch.setitem(operators.OPERATORS, "cumsum", lambda _info: lambda x: np.cumsum(x, axis=0))
    wanted = tuple(i for i, b in enumerate(BINS) if b[0] == "np.cumsum" and b[1] in ("int32", "float64"))
    with ProgramOracle() as oracle:
        batch = run_batch(BatchOrder(1, 0, 25, wanted, ()), oracle)
        assert batch.failures
        first = batch.failures[0]
        small = shrink(first.model, lambda m: oracle.compare(m).kind == "differs", 5.0)
        assert len(small.source.strip().split("\n")) <= 6, small.source
        path = save_program(tmp_path, small, first.said)
        again, story = load_program(path)
        assert story == first.said
        assert again.source == small.source
        assert oracle.compare(again).kind == "differs"
        monkeypatch.setitem(operators.OPERATORS, "cumsum", right)
        assert oracle.compare(again).kind == "agreed"


def test_what_failed_is_kept_as_it_was_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(operators.OPERATORS, "cumsum", lambda _info: lambda x: np.cumsum(x, axis=0)[::-1])
    wanted = [i for i, b in enumerate(BINS) if b[0] == "np.cumsum" and b[1] == "int32"]
    state = ProgramFuzzState(1, "", wanted=tuple(wanted))
    with ProgramOracle() as oracle:
        failure = run_batch(BatchOrder(1, 0, 25, tuple(wanted), ()), oracle).failures[0]
    _keep(state, failure, tmp_path)
    (kept,) = find_programs(tmp_path)
    drawn, _ = load_program(tmp_path / "drawn" / kept.name)
    assert drawn.source == failure.model.source
    assert len(kept.read_text()) < len(drawn.source)


def test_last_digits_may_depend_on_how_arrays_lie_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """`np.tile` keeps no order of axes in memory, `np.ravel` makes contiguous; what is wrong in its last digit is found."""
    arrays = {"a": np.random.default_rng(1).standard_normal((17, 5, 3)).astype(np.float32)}
    text = "import numpy as np\n\n\ndef forward(a: 'float32[17, 5, 3]'):\n    v0 = np.tile(a.T, 2).mean()\n    return v0\n"
    with ProgramOracle() as oracle:
        outcome = oracle.compare(ComparedProgram(text, arrays))
        assert (outcome.kind, outcome.reordered) == ("agreed", True), outcome
        reverse = "import numpy as np\n\n\ndef forward(a: 'float32[1]'):\n    return np.exp2(np.ravel(a[::-1]))\n"
        outcome = oracle.compare(ComparedProgram(reverse, {"a": np.array([0.5033833], np.float32)}))
        assert outcome.kind == "agreed", outcome  # reordered where NumPy has vector loops
        right = operators.OPERATORS["mean"]
        monkeypatch.setitem(operators.OPERATORS, "mean", lambda info: lambda x: np.nextafter(right(info)(x), np.float32(9)))
        assert oracle.compare(ComparedProgram(text, arrays)).kind == "differs"


def test_operands_are_copied_into_c_order() -> None:
    a = np.broadcast_to(np.arange(3.0), (2, 3)).T
    products = "a.T @ a, np.linalg.norm(x=a)"
    source = in_c_order(f"import numpy as np\ndef forward(a):\n    return a.sum(), np.einsum('ij->', a), {products}")
    assert source.count("_in_c_order(") == 6, source
    found, expected = by_cpython(source, {"a": a}).results, [a.sum(), a.sum(), a.T @ a, np.linalg.norm(a)]
    assert all(np.allclose(x, y) for x, y in zip(found, expected, strict=True))


def test_what_cpython_refuses_is_refused() -> None:
    """A NumPy scalar has no method dot; an average of no elements divides by their number; a diagonal of what is no square is
    not there."""
    arrays = {"a": np.arange(3.0)}
    with ProgramOracle() as oracle:
        for text, kind, cause in (
            ("a.dot(a)", "agreed", ""),
            ("a[0].dot(a[1])", "refused", "F206"),
            ("a[3]", "refused", "F306"),
            ("np.average(a[:, None][:, :0], axis=1)", "agreed", ""),
            ("np.average(a[:0, None], axis=1)", "refused", "F305"),
            ("np.average(a[:0, None], axis=-1, keepdims=True)", "refused", "F305"),
            ("np.average(a[:0, None], axis=0)", "agreed", ""),
            ("np.diff(a, n=-1)", "refused", "F703"),
            ("np.diff(a, n=0)", "agreed", ""),
            ("np.clip(a > 1)", "refused", "F401"),
            ("np.clip(a)", "agreed", ""),
            ("np.einsum('ii->i', a[:0, None])", "refused", "F311"),
            ("np.einsum('ij,ij->ij', a[:1, None], a[:, None])", "agreed", ""),
        ):
            source = f"import numpy as np\n\n\ndef forward(a: 'float64[3]'):\n    v0 = {text}\n    return v0\n"
            outcome = oracle.compare(ComparedProgram(source, arrays))
            assert (outcome.kind, outcome.cause) == (kind, cause), outcome


def test_stored_programs_keep_every_value(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    arrays = {d: draw_array(rng, np.dtype(d), shape) for d, shape in zip(DTYPES, [(2, 3), (), (0, 2)] * 4, strict=True)}
    arrays["special"] = np.array([-0.0, np.nan, np.inf, -np.inf, 5e-324])
    model, _ = load_program(save_program(tmp_path, ComparedProgram("x = 1\n", arrays, ("bool",), ("interp",), None), "story"))
    for name, array in arrays.items():
        assert model.arrays[name].dtype == array.dtype
        assert model.arrays[name].shape == array.shape
        assert np.array_equal(np.signbit(model.arrays[name].astype(float)), np.signbit(array.astype(float)))
        assert np.array_equal(model.arrays[name], array, equal_nan=array.dtype.kind == "f")
    (tmp_path / "bad.py").write_text("x = 1\n")
    (tmp_path / "bad.json").write_text('{"arrays": {"a": {"dtype": "object", "shape": [1], "values": [1]}}}')
    with pytest.raises(ModelError, match="not a stored program"):
        load_program(tmp_path / "bad.py")


def test_a_run_goes_on_where_it_stood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fleet.verify.programs.fuzz._SHRINK_SECONDS", 0.0)
    once, here = fuzz(tmp_path / "a.json", tmp_path / "x", 9, programs=60, seconds=120, jobs=1, engines=())
    assert here.accepted >= 60
    fuzz(tmp_path / "b.json", tmp_path / "x", 9, programs=1, seconds=120, jobs=1, engines=())
    while (state := load_state(tmp_path / "b.json", 9)).next < once.next:
        fuzz(tmp_path / "b.json", tmp_path / "x", 9, programs=1, seconds=120, jobs=1, engines=())
    assert replace(state, seconds=0.0, failures={}) == replace(once, seconds=0.0, failures={})


def test_a_program_for_a_device_runs_there() -> None:
    model = draw_device_program((0, 1))
    assert model.weights
    with ProgramOracle() as oracle:
        outcome = oracle.compare(replace(model, source=model.source))
    assert outcome.kind == "agreed", outcome
    assert outcome.engines == ("iss",)
