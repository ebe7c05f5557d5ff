import datetime
from pathlib import Path

import numpy as np
import pytest

from fleet.core.exemption import LONGEST
from fleet.errors import ComparisonFailure, ModelError
from fleet.regress.case_runs import CaseOptions, comparisons_of, run_case
from fleet.regress.cases import add_case, find_cases, load_case, parse_case, select
from fleet.regress.waivers import check_waivers, load_waivers, waivers_of

GOOD = """
name = "digits"
model = "../m/model.py:forward"
weights = "../m/w.npz"
input = "../m/x.npz"
labels = "../m/y.npz"
metric = "accuracy"
image = [8, 8]
make = "python train.py"
engines = ["vm", "iss", "rtl"]

[[runs]]
devices = ["small"]
engines = ["vm", "cpython", "iss"]

[[runs]]
devices = ["small", "large"]
memories = ["fixed", "stall"]
seeds = [0, 3]
samples = 32
tier = "nightly"
"""


def test_a_case_expands_into_single_runs(tmp_path: Path):
    case = parse_case(GOOD, tmp_path / "cases" / "digits.toml")
    assert case.model == str(tmp_path / "m" / "model.py:forward")
    assert case.weights == tmp_path / "m" / "w.npz"
    assert case.image == (8, 8)
    assert case.golden
    ids = [r.id for r in case.runs]
    assert ids[0] == "small-ideal-0"
    assert ids[1:] == [f"{d}-{m}-{s}" for d in ("small", "large") for m in ("fixed", "stall") for s in (0, 3)]
    first, last = case.runs[0], case.runs[-1]
    assert (first.engines, first.samples, first.tier) == (("vm", "cpython", "iss"), None, "quick")
    assert (last.engines, last.samples, last.tier) == (("vm", "iss", "rtl"), 32, "nightly")
    assert first.name == "digits[small-ideal-0]"
    assert first.replay(tmp_path) == "fleet case run cases/digits.toml --only small-ideal-0"
    assert "'" in parse_case(GOOD, tmp_path / "a b" / "d.toml").runs[0].replay(tmp_path)
    assert select(case, "large-stall-3") == (last,)
    with pytest.raises(ModelError, match="no run 'x'; choose among small-ideal-0"):
        select(case, "x")


def test_runs_that_would_share_an_id_are_told_apart(tmp_path: Path):
    text = 'name="a"\nmodel="m.py:f"\nengines=["vm"]\n[[runs]]\nsamples=1\n[[runs]]\n'
    assert [r.id for r in parse_case(text, tmp_path / "a.toml").runs] == ["host-0-1", "host-0-all"]


def test_ways_in_are_part_of_the_matrix(tmp_path: Path):
    text = 'name="a"\nmodel="m.py:f"\nengines=["iss"]\ndevices=["small"]\nissues=["regs", "aux"]\nloads=["device", "host"]\n'
    runs = parse_case(text, tmp_path / "a.toml").runs
    assert {r.id: r.lowering.stated for r in runs} == {
        "small-ideal-0-device": {"load": "device"},
        "small-ideal-0": {},
        "small-ideal-0-aux-device": {"issue": "aux", "load": "device"},
        "small-ideal-0-aux": {"issue": "aux"},
    }
    for wrong in ('issues=["binary"]', 'loads=["me"]'):
        with pytest.raises(ModelError, match=r":5: (issue 'binary'|load 'me') is unknown"):
            parse_case(f'name="a"\nmodel="m.py:f"\nengines=["iss"]\ndevices=["s"]\n{wrong}\n', tmp_path / "a.toml")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('name = "digits"', "", r":1: name is missing"),
        ('name = "digits"', 'name = "../x"', r":2: name is '../x', expected letters"),
        ('model = "../m/model.py:forward"', "", ":1: model is missing"),
        ('metric = "accuracy"', 'metric = "speed"', ":7: metric is 'speed', expected accuracy"),
        ('input = "../m/x.npz"', "", ":6: labels mean nothing without input"),
        ('labels = "../m/y.npz"', "", ":7: metric needs labels"),
        ("image = [8, 8]", "image = [8]", r":8: image is \[8\], expected \[height, width\]"),
        ('make = "python train.py"', "make = 3", ":9: make is 3, expected a text"),
        ('weights = "../m/w.npz"', "weight = 1", ":4: unknown key weight; known are name, model"),
        ("seeds = [0, 3]", "seeds = [-1]", r":19: runs\[1\].seeds is \[-1\], expected a list of integers"),
        ("samples = 32", "samples = 0", r":20: runs\[1\].samples is 0, expected an integer above 0"),
        ("samples = 32", "samples = true", r":20: runs\[1\].samples is True, expected an integer"),
        ('tier = "nightly"', 'tier = "weekly"', r":21: runs\[1\].tier is 'weekly', expected quick or nightly"),
        (
            'memories = ["fixed", "stall"]',
            'memories = ["dram"]',
            r":18: memory 'dram' is unknown; known are ideal, fixed, stall, timed",
        ),
        ('engines = ["vm", "cpython", "iss"]', "engines = []", r":14: runs\[0\].engines is \[\], expected a list"),
        (
            'engines = ["vm", "cpython", "iss"]',
            'engines = ["vm", "vm"]',
            r":14: runs\[0\].engines is .*, expected a list of different names",
        ),
        ('tier = "nightly"', 'wat = "nightly"', r":21: unknown key runs\[1\].wat"),
        ("[[runs]]\ndevices", "[[runs]]\ndevices = 1\nx", r":14: unknown key runs\[0\].x"),
        ("image = [8, 8]", "image = [8,", r":\d+: not TOML"),
        ("image = [8, 8]", "golden = 1", ":8: golden is 1, expected true or false"),
    ],
)
def test_a_bad_case_names_file_and_key(tmp_path: Path, old, new, says):
    assert old in GOOD
    with pytest.raises(ModelError, match=says) as caught:
        parse_case(GOOD.replace(old, new, 1), tmp_path / "digits.toml")
    assert str(caught.value).startswith(str(tmp_path / "digits.toml"))


def test_folders_of_cases(tmp_path: Path):
    (tmp_path / "a.toml").write_text(GOOD)
    (tmp_path / "b.toml").write_text(GOOD)
    with pytest.raises(ModelError, match=r"b.toml:2: name 'digits' is taken by .*a.toml"):
        find_cases(tmp_path)
    (tmp_path / "b.toml").unlink()
    assert [c.name for c in find_cases(tmp_path)] == ["digits"]
    with pytest.raises(ModelError, match="no case can be read"):
        load_case(tmp_path / "c.toml")


def test_a_case_can_be_added(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    keys = {
        "name": "new",
        "model": "m/model.py:f",
        "weights": "m/w.npz",
        "engines": ["vm", "iss"],
        "devices": ["small"],
        "samples": 4,
    }
    path = Path("sim/cases/new.toml")
    case = add_case(path, keys)
    assert case == load_case(path)
    assert case.model == "m/model.py:f"
    assert 'weights = "../../m/w.npz"' in path.read_text()
    with pytest.raises(ModelError, match="already there"):
        add_case(path, keys)
    with pytest.raises(ModelError, match="'new' is already in this folder"):
        add_case(path.with_name("other.toml"), keys)
    with pytest.raises(ModelError, match="unknown key wat"):
        add_case(path.with_name("other.toml"), {**keys, "name": "other", "wat": 1})
    assert not path.with_name("other.toml").exists()


WAIVER = """
[[waiver]]
case = "digits"
comparison = "iss-vs-vm-rounded"
op = "logits"
owner = "ada"
reason = "table being fixed"
expires = 2030-01-31
"""
TODAY = datetime.date(2030, 1, 31)


NAMES = frozenset({"iss-vs-vm-rounded", "riscv-vs-vm"})


def test_waivers(tmp_path: Path):
    path = tmp_path / "waivers.toml"
    assert load_waivers(path) == ()
    path.write_text(WAIVER)
    waivers = load_waivers(path)
    assert waivers_of(waivers, "digits", NAMES, ["logits"], TODAY) == {
        "iss-vs-vm-rounded": {"logits": "ada: table being fixed (until 2030-01-31)"}
    }
    assert waivers_of(waivers, "other", NAMES, [], TODAY) == {}
    check_waivers(waivers, TODAY, {"digits": NAMES})
    with pytest.raises(ComparisonFailure, match=r"waivers.toml:8: .* expired on 2030-01-31"):
        check_waivers(waivers, TODAY + datetime.timedelta(1))
    with pytest.raises(ComparisonFailure, match=r"waivers.toml:3: .*case 'digits', which does not exist"):
        check_waivers(waivers, TODAY, {"other": NAMES})
    with pytest.raises(ComparisonFailure, match=r"waivers.toml:5: .*operation 'logits', which digits does not have"):
        waivers_of(waivers, "digits", NAMES, ["h1"], TODAY)
    with pytest.raises(ComparisonFailure, match="expired"):
        waivers_of(waivers, "digits", NAMES, ["logits"], TODAY + datetime.timedelta(1))


def test_a_waiver_for_no_comparison_or_for_ever_is_refused(tmp_path: Path):
    path = tmp_path / "waivers.toml"
    path.write_text(WAIVER)
    waivers = load_waivers(path)
    says = r"waivers.toml:4: .*'iss-vs-vm-rounded', which digits does not hold to a bound; those are riscv-vs-vm; correct it"
    for check in (check_waivers, lambda w, today, known: waivers_of(w, "digits", known["digits"], ["logits"], today)):
        with pytest.raises(ComparisonFailure, match=says):
            check(waivers, TODAY, {"digits": {"riscv-vs-vm"}})
    check_waivers(waivers, TODAY - LONGEST, {"digits": NAMES})
    with pytest.raises(ComparisonFailure, match=r"waivers.toml:8: .* ends on 2030-01-31, more than a year from today"):
        check_waivers(waivers, TODAY - LONGEST - datetime.timedelta(1), {"digits": NAMES})
    path.write_text(WAIVER.replace("2030-01-31", "9999-12-31"))
    with pytest.raises(ComparisonFailure, match=r"waivers.toml:8: .* ends on 9999-12-31, more than a year from today"):
        waivers_of(load_waivers(path), "digits", NAMES, ["logits"], TODAY)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('owner = "ada"\n', "", r":2: waiver\[0\].owner is missing"),
        ('owner = "ada"\n', 'owner = ""\n', r":6: waiver\[0\].owner is '', expected a text"),
        ("2030-01-31", '"2030-01-31"', r":8: waiver\[0\].expires is '2030-01-31', expected a date"),
        ("[[waiver]]", "[[waivers]]", ":2: unknown key waivers"),
        ('op = "logits"\n', 'op = "logits"\nbound = 3\n', r":6: unknown key waiver\[0\].bound"),
        ("[[waiver]]", "[[waiver", ":2: not TOML"),
    ],
)
def test_a_bad_waiver_names_its_key(tmp_path: Path, old, new, says):
    path = tmp_path / "waivers.toml"
    path.write_text(WAIVER.replace(old, new))
    with pytest.raises(ModelError, match=says):
        load_waivers(path)


def test_the_names_of_bounded_comparisons_are_those_that_a_run_makes(tmp_path: Path):
    """Held against a real run, so that a waiver for what is really compared is never refused."""
    model = 'import numpy as np\n\ndef forward(x: "float32[4, 64]", w: "float32[64, 32]"):\n    return np.maximum(x @ w, 0)\n'
    (tmp_path / "m.py").write_text(model)
    rng = np.random.default_rng(0)
    np.savez(tmp_path / "w.npz", w=rng.standard_normal((64, 32)).astype(np.float32))
    np.savez(tmp_path / "x.npz", x=rng.standard_normal((4, 64)).astype(np.float32))
    text = 'name="a"\nmodel="m.py:forward"\nweights="w.npz"\ninput="x.npz"\ngolden=false\ndevices=["hbm_small"]\n'
    case = parse_case(text + 'engines=["vm", "cpython", "interp", "iss"]\n', tmp_path / "a.toml")
    result = run_case(case.runs[0], CaseOptions(today=TODAY, date=""))
    made = {c.name for c in result.comparisons if c.kind == "bound"}
    assert made == comparisons_of(case) == {"vm-vs-cpython", "interp-vs-vm", "iss-vs-vm-rounded"}
