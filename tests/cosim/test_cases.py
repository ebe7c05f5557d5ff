import datetime
from pathlib import Path

import pytest

from fleet.cosim.cases import add_case, find_cases, load_case, parse_case, select
from fleet.cosim.waivers import check_waivers, load_waivers, waivers_of
from fleet.errors import ComparisonFailure, ModelError

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
    assert {r.id: r.lowering for r in runs} == {
        "small-ideal-0-device": {"load": "device"},
        "small-ideal-0": {},
        "small-ideal-0-aux-device": {"issue": "aux", "load": "device"},
        "small-ideal-0-aux": {"issue": "aux"},
    }
    for wrong in ('issues=["binary"]', 'loads=["me"]'):
        key = wrong.partition("=")[0]
        with pytest.raises(ModelError, match=f"{key}: expected"):
            parse_case(f'name="a"\nmodel="m.py:f"\nengines=["iss"]\ndevices=["s"]\n{wrong}\n', tmp_path / "a.toml")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('name = "digits"', "", "name: expected letters"),
        ('name = "digits"', 'name = "../x"', "name: expected letters"),
        ('model = "../m/model.py:forward"', "", "model: expected"),
        ('metric = "accuracy"', 'metric = "speed"', "metric: expected one of accuracy, got 'speed'"),
        ('input = "../m/x.npz"', "", "labels: mean nothing without input"),
        ('labels = "../m/y.npz"', "", "metric: needs labels"),
        ("image = [8, 8]", "image = [8]", "image: expected"),
        ('make = "python train.py"', "make = 3", "make: expected a text"),
        ('weights = "../m/w.npz"', "weight = 1", "weight: no such key"),
        ("seeds = [0, 3]", "seeds = [-1]", r"runs\[1\].seeds: expected a list of integers"),
        ("samples = 32", "samples = 0", r"runs\[1\].samples: expected an integer"),
        ("samples = 32", "samples = true", r"runs\[1\].samples: expected an integer"),
        ('tier = "nightly"', 'tier = "weekly"', r"runs\[1\].tier: expected quick or nightly"),
        (
            'memories = ["fixed", "stall"]',
            'memories = ["dram"]',
            r"runs\[1\].memories: expected ideal, fixed, stall, timed, got 'dram'",
        ),
        ('engines = ["vm", "cpython", "iss"]', "engines = []", r"runs\[0\].engines"),
        ('engines = ["vm", "cpython", "iss"]', 'engines = ["vm", "vm"]', r"runs\[0\].engines: expected a list of different names"),
        ('tier = "nightly"', 'wat = "nightly"', r"runs\[1\].wat: no such key"),
        ("[[runs]]\ndevices", "[[runs]]\ndevices = 1\nx", "runs"),
        ("image = [8, 8]", "image = [8,", "not TOML"),
        ("image = [8, 8]", "golden = 1", "golden: expected true or false"),
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
    with pytest.raises(ModelError, match=r"b.toml: name: 'digits' is taken by .*a.toml"):
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
    with pytest.raises(ModelError, match="wat: no such key"):
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


def test_waivers(tmp_path: Path):
    path = tmp_path / "waivers.toml"
    assert load_waivers(path) == ()
    path.write_text(WAIVER)
    waivers = load_waivers(path)
    assert waivers_of(waivers, "digits", ["logits"], TODAY) == {
        "iss-vs-vm-rounded": {"logits": "ada: table being fixed (until 2030-01-31)"}
    }
    assert waivers_of(waivers, "other", [], TODAY) == {}
    check_waivers(waivers, TODAY, {"digits"})
    with pytest.raises(ComparisonFailure, match="expired on 2030-01-31"):
        check_waivers(waivers, TODAY + datetime.timedelta(1))
    with pytest.raises(ComparisonFailure, match="case 'digits', which does not exist"):
        check_waivers(waivers, TODAY, {"other"})
    with pytest.raises(ComparisonFailure, match="operation 'logits', which digits does not have"):
        waivers_of(waivers, "digits", ["h1"], TODAY)
    with pytest.raises(ComparisonFailure, match="expired"):
        waivers_of(waivers, "digits", ["logits"], TODAY + datetime.timedelta(1))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('owner = "ada"\n', "", r"waiver\[0\].owner: missing"),
        ('owner = "ada"\n', 'owner = ""\n', r"waiver\[0\].owner: expected a text"),
        ("2030-01-31", '"2030-01-31"', r"waiver\[0\].expires: expected a date"),
        ("[[waiver]]", "[[waivers]]", "waivers: no such key"),
        ('op = "logits"\n', 'op = "logits"\nbound = 3\n', r"waiver\[0\].bound: no such key"),
        ("[[waiver]]", "[[waiver", "not TOML"),
    ],
)
def test_a_bad_waiver_names_its_key(tmp_path: Path, old, new, says):
    path = tmp_path / "waivers.toml"
    path.write_text(WAIVER.replace(old, new))
    with pytest.raises(ModelError, match=says):
        load_waivers(path)
