"""Registry, pipelines and what happens around passes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from same_results import assert_close, passed
from spelled import data, kinds, trace

from fleet.errors import FleetError, ModelError
from fleet.frontend.source import load
from fleet.ir.build import make
from fleet.ir.dialect import FleetOp, all_operations, op_id
from fleet.ir.text import parse_ir, print_ir
from fleet.ir.types import tensor_type
from fleet.ir.weights import Creation
from fleet.transforms.edit import Edit
from fleet.transforms.listing import listing, main, tables
from fleet.transforms.passes import Pass, find_pass, pass_names
from fleet.transforms.pipeline import PIPELINES, PassHooks, Pipeline, parse_passes, pipeline, record_table, run_pipeline


def model(m, x, g, b):
    y = (x - x.mean(-1, keepdims=True)) / m.sqrt(x.var(-1, keepdims=True) + 1e-5) * g + b
    e = m.exp(y - m.max(y, axis=-1, keepdims=True))
    return e / m.sum(e, axis=-1, keepdims=True)


def program():
    return trace(model, x=(4, 8), g=(8,), b=(8,))


@pytest.mark.parametrize("name", PIPELINES)
def test_every_pipeline_runs_and_is_deterministic(name: str) -> None:
    before = program()
    text = print_ir(before.module)
    once, twice = run_pipeline(before, name), run_pipeline(before, name)
    assert print_ir(once.module) == print_ir(twice.module)
    assert once.fates == twice.fates
    assert print_ir(before.module) == text
    assert_close(before, once)


def test_every_pass_is_found_by_name_and_takes_no_option_that_it_does_not_know() -> None:
    for name in pass_names():
        assert find_pass(name).name == name
        with pytest.raises(FleetError, match=r"nonsense"):
            find_pass(f"{name}{{nonsense=z}}").run(program())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nope", "no pass is called nope; passes are inline"),
        ("cse{", "is not a pass"),
        ("infer-shapes{x}", "has no value"),
        ("infer-shapes{x=8xz}", "is not a shape"),
    ],
)
def test_what_is_no_pass_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(FleetError, match=re.escape(message)) as caught:
        parse_passes(text)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_pipelines_that_are_not_there() -> None:
    with pytest.raises(FleetError, match="no pipeline is called sycl; pipelines are vm"):
        pipeline("sycl")


def test_commas_in_options_do_not_separate_passes() -> None:
    passes = parse_passes("infer-shapes{x=8x64,y=1}, dce")
    assert [p.name for p in passes] == ["infer-shapes", "dce"]


def test_dumps_are_numbered_and_chain(tmp_path: Path) -> None:
    before = program()
    after, _ = pipeline("raise").run(before, PassHooks(dump=tmp_path))
    names = sorted(p.name for p in tmp_path.iterdir())
    assert names[:3] == ["01-canonicalise-after.mlir", "01-canonicalise-before.mlir", "02-fold-constants-after.mlir"]
    assert len(names) == 2 * len(PIPELINES["raise"])
    assert (tmp_path / "01-canonicalise-before.mlir").read_text() == print_ir(before.module)
    assert (tmp_path / "03-cse-before.mlir").read_text() == (tmp_path / "02-fold-constants-after.mlir").read_text()
    last = sorted(tmp_path.glob("*-after.mlir"))[-1]
    assert last.read_text() == print_ir(after.module)
    for path in tmp_path.iterdir():
        assert print_ir(parse_ir(path.read_text())) == path.read_text()


def test_only_the_dumps_that_were_asked_for(tmp_path: Path) -> None:
    pipeline("vm").run(program(), PassHooks(dump=tmp_path, dump_before=False))
    assert {p.name.rsplit("-", 1)[1] for p in tmp_path.iterdir()} == {"after.mlir"}


def test_records_say_what_changed() -> None:
    _, records = pipeline("raise").run(program())
    by_name = {r.name: r for r in records}
    assert by_name["raise-softmax"].changed["softmax"] == 1
    assert by_name["raise-norm"].changed["layer_norm"] == 1
    assert by_name["raise-norm"].changed["mean"] == -1
    assert records[0].before >= records[-1].after
    assert all(r.seconds >= 0 for r in records)
    table = record_table(records)
    assert "layer_norm+1" in table
    assert table.splitlines()[0].split() == ["pass", "ms", "before", "after", "changed"]
    assert table.splitlines()[-1].startswith("all")


def broken(edit: Edit) -> None:
    op = edit.operations()[0]
    edit.operations()[1].properties["id"] = op.properties["id"]


def test_verify_each_names_the_pass_that_left_bad_ir() -> None:
    bad = Pass("twins", "two operations under one id", "bits", broken)
    good = find_pass("cse")
    with pytest.raises(ModelError, match=r"pass twins: leaves IR that does not verify: two operations have the id"):
        Pipeline("test", (good, bad, good)).run(program(), PassHooks(verify_each=True))


LOOP = """
def forward(x: "float32[4]"):
    while x.max() > 1:
        if x.min() > 0:
            x = x * x * 0.5
        x = x - 1
    return x
"""


@pytest.mark.parametrize("adds_weights", [True, False], ids=["on copies", "in place"])
def test_bodies_are_changed_and_keep_their_names_apart(tmp_path: Path, adds_weights: bool) -> None:
    """In each body and outside, every product is followed by a sum with a name of its own."""

    def more(edit: Edit) -> None:
        for op in [op for op in edit.operations() if op.name == "fleet.mul"]:
            edit.insert_before(op, make("add", list(op.operands)), "more")

    (tmp_path / "m.py").write_text(LOOP)
    before = load(f"{tmp_path / 'm.py'}:forward", {}, {"x": np.array([9, 1, 2, 3], "f4")})
    one = Pass("more", "sums", "bits", more, adds_weights)
    after, _ = Pipeline("test", (one, find_pass("cse"), one)).run(before, PassHooks(verify_each=True))
    count = len([op for op in all_operations(before.function.body.block) if op.name == "fleet.mul"])
    names = [op_id(op) for op in all_operations(after.function.body.block) if isinstance(op, FleetOp)]
    assert count > 0
    assert sum(name.startswith("more") for name in names) == 2 * count
    assert len(set(names)) == len(names)


def test_a_body_gets_no_weight(tmp_path: Path) -> None:
    def weight(edit: Edit) -> None:
        if edit.inside:
            edit.add_weight("w", Creation("arange", (3,), (3,), np.dtype("f4")), tensor_type((3,), np.dtype("f4")))

    (tmp_path / "m.py").write_text(LOOP)
    program = load(f"{tmp_path / 'm.py'}:forward", {}, {"x": np.array([9, 1, 2, 3], "f4")})
    same, _ = Pipeline("test", (Pass("weight", "a weight", "bits", weight),)).run(program, PassHooks(verify_each=True))
    assert print_ir(same.module) == print_ir(program.module)
    with pytest.raises(
        FleetError, match=r"m.py:3\S*: the pass adds the weight w to the body of a loop .*; leave out adds_weights=False"
    ):
        Pipeline("test", (Pass("weight", "a weight", "bits", weight, adds_weights=False),)).run(program, PassHooks())


def test_the_hook_sees_every_program() -> None:
    seen: list[tuple[str, int]] = []
    pipeline("raise").run(program(), PassHooks(after=lambda one, changed: seen.append((one.name, len(kinds(changed))))))
    assert [name for name, _ in seen] == list(PIPELINES["raise"])
    assert seen[-1][1] == 2


def test_a_plug_in_pass_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint

    from fleet.transforms import passes

    point = EntryPoint("mine", "fleet.transforms.simplify.dce:PASS", passes.GROUP)
    monkeypatch.setattr(passes, "installed", lambda group, name=None: [point] if name in (None, "mine") else [])
    assert pass_names()[-1] == "mine"
    assert find_pass("mine").name == "dce"
    broken_point = EntryPoint("mine", "fleet.transforms.nothing:PASS", passes.GROUP)
    monkeypatch.setattr(passes, "installed", lambda group, name=None: [broken_point])
    with pytest.raises(FleetError, match="cannot be loaded"):
        find_pass("mine")


def test_fates_tell_of_every_operation_that_is_gone() -> None:
    before = program()
    for name in PIPELINES:
        after = run_pipeline(before, name)
        left = {op.properties["id"].data for op in after.operations()}
        gone = {op.properties["id"].data for op in before.operations() if op.name != "fleet.constant"} - left
        assert gone <= after.fates.keys()
        assert not left & after.fates.keys()


def test_the_page_s_tables_are_current() -> None:
    assert main(["--check"]) == 0
    assert all(name in listing() and f"`{name}`" in tables() for name in (*pass_names(), *PIPELINES))


def test_raising_twice_changes_nothing_more() -> None:
    once = passed(program())
    again = passed(once)
    assert print_ir(again.module) == print_ir(once.module)
    assert data(once)
