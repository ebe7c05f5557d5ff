"""Choices of quantisation: what each does to a model, what the cache keeps, and the table of the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fleet.cli.main import main
from fleet.errors import ModelError
from fleet.llm import quantisation
from fleet.llm.load import load_model
from fleet.llm.perplexity import bundled_text, score, score_logits
from fleet.llm.quantisation import ROUNDINGS, Quantisation, quantise_model
from fleet.llm.reference import forward
from fleet.llm.tiny import tiny_model
from fleet.llm.weights import linear_names
from fleet.transforms.quantise import QuantiseOptions, quantise

MODEL = tiny_model()
TEXT = [int(t) for t in np.random.default_rng(3).integers(0, 320, 60)] * 3


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FLEET_CACHE", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("host", [(), ("head",)])
def test_the_device_gets_codes_and_the_host_fp16(rounding: str, host: tuple[str, ...]) -> None:
    choice = Quantisation(32, rounding, host)
    made = quantise_model(MODEL, choice, TEXT)
    assert list(made) == [name for name in linear_names(MODEL.config) if name not in host]
    for name, layer in made.items():
        assert layer.codes.shape == MODEL.shapes[name]
        assert np.abs(layer.codes).max() == 7
        again = quantise(made.rounded[name], group=32, levels=7, options=QuantiseOptions.of(made.options), name=name)
        np.testing.assert_array_equal(again.values(np.float32), made.rounded[name])
    if host:
        np.testing.assert_array_equal(made.rounded["head"], MODEL["head"].astype(np.float16).astype(np.float32))
    np.testing.assert_array_equal(made.rounded["embedding"], MODEL["embedding"])
    logits = forward(MODEL.config, dict(made.rounded), [70, 71, 72, 73, 74, 70, 71, 72])
    assert int(logits[-1].argmax()) == 73


def test_each_rounding_brings_layers_outputs_closer() -> None:
    """Measured on the inputs that the layer met, which is what the better roundings promise."""
    inputs: list[np.ndarray] = []
    from fleet.llm.reference import block_forward, embed

    arrays = dict(MODEL)
    block_forward(
        MODEL.config, arrays, 0, embed(MODEL.config, arrays, TEXT), lambda n, x: inputs.append(x) if n.endswith("up") else None
    )
    name, errors = "blocks.0.ffn.up", []
    for rounding in ROUNDINGS:
        rounded = quantise_model(MODEL, Quantisation(128, rounding), TEXT).rounded[name]
        errors.append(float(np.square(inputs[0] @ (rounded - arrays[name])).sum()))
    assert errors[4] < 0.9 * errors[3]
    assert errors[3] < 0.5 * errors[2]
    assert errors[2] < errors[1] < errors[0]


def test_a_calibrated_result_is_kept_and_a_damaged_one_made_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    choice = Quantisation(64, "weighted")
    first = quantise_model(MODEL, choice, TEXT)
    (path,) = (cache / "models" / "quantised").iterdir()

    def never(*_: object) -> None:
        raise AssertionError("computed again")

    with monkeypatch.context() as patch:
        patch.setattr(quantisation, "_calibrated", never)
        second = quantise_model(MODEL, choice, TEXT)
        quantise_model(MODEL, Quantisation(64, "weighted", ("head",)), TEXT)  # the same but for the head
        with pytest.raises(AssertionError, match="again"):
            quantise_model(MODEL, choice, TEXT[:-1])
    assert first.key == second.key
    for name in first:
        np.testing.assert_array_equal(first[name].codes, second[name].codes)
        np.testing.assert_array_equal(first[name].scales, second[name].scales)
    for damage in (b"", path.read_bytes()[:5000], b"PK" + path.read_bytes()[2:300]):
        path.write_bytes(damage)
        np.testing.assert_array_equal(quantise_model(MODEL, choice, TEXT)["head"].codes, first["head"].codes)
    assert quantise_model(tiny_model(seed=1), choice, TEXT).key != first.key


def test_the_cache_keeps_the_newest(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantisation, "KEPT", 1)
    for group in (32, 64):
        quantise_model(MODEL, Quantisation(group, "weighted"), TEXT)
    assert len(list((cache / "models" / "quantised").iterdir())) == 1


@pytest.mark.parametrize("rounding", ["compensated", "corrected"])
@pytest.mark.parametrize("architecture", ["qwen2", "chatglm2", "gpt2"])
def test_every_architecture_can_be_calibrated(architecture: str, rounding: str) -> None:
    model = tiny_model(architecture)
    made = quantise_model(model, Quantisation(64, rounding), TEXT)
    assert list(made) == linear_names(model.config)
    tokens = TEXT[:30]
    exact, rounded = (forward(model.config, dict(w), tokens) for w in (model, made.rounded))
    assert np.square(rounded - exact).mean() < 0.2 * np.square(exact - exact.mean()).mean()
    plain = quantise_model(model, Quantisation(64, "absmax"), TEXT).rounded
    assert np.square(rounded - exact).sum() < np.square(forward(model.config, dict(plain), tokens) - exact).sum()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Quantisation(48), "group is 48"),
        (lambda: Quantisation(64, "best"), "rounding is 'best'"),
        (lambda: quantise_model(MODEL, Quantisation(64, "absmax", ("tail",)), TEXT), "no layer 'tail'"),
        (lambda: quantise_model(MODEL, Quantisation(64), []), "no text"),
    ],
)
def test_wrong_choices_are_named(make: object, says: str) -> None:
    assert callable(make)
    with pytest.raises(ModelError, match=says):
        make()


def test_perplexity_is_that_of_its_definition() -> None:
    tokens = [3, 1, 4, 1]
    logits = forward(MODEL.config, dict(MODEL), tokens).astype(np.float64)
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    expected = (p[0, 1] * p[1, 4] * p[2, 1]) ** (-1 / 3)
    found = score(MODEL.config, dict(MODEL), tokens)
    assert found.perplexity == pytest.approx(expected, rel=1e-6)
    assert score_logits(np.zeros((4, 320), np.float32), tokens).perplexity == pytest.approx(320)
    ratio, error = score_logits(np.zeros((4, 320)), tokens).ratio(found)
    assert ratio == pytest.approx(320 / expected, rel=1e-6)
    assert error > 0
    assert found.ratio(found) == (1.0, 0.0)
    with pytest.raises(ModelError, match="at least 2"):
        score(MODEL.config, dict(MODEL), [1])


def test_the_texts_are_apart() -> None:
    """Nothing is measured on what was learnt from."""
    first, second = (set(bundled_text(*names).split("\n\n")) for names in (("evaluation",), ("calibration", "calibration_more")))
    assert not first & second
    assert {name for r in ROUNDINGS for name in Quantisation(rounding=r).texts} == {"calibration", "calibration_more"}
    assert len(bundled_text("evaluation")) > 4000


def test_the_command_prints_every_choice(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("abcdefghijkl " * 20)
    command = [
        "models",
        "perplexity",
        "tiny",
        "--group",
        "32,128",
        "--rounding",
        "absmax,compensated",
        "--text",
        str(text),
        "--json",
    ]
    assert main(command) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(r.get("group"), r.get("rounding"), r.get("host")) for r in rows] == [
        (None, None, None),
        *((g, r, h) for h in (["head"], []) for g in (32, 128) for r in ("absmax", "compensated")),
    ]
    assert rows[0]["perplexity"] < 3  # it continues what repeats
    assert all(r["tokens"] == 259 for r in rows)
    again = [row | {} for row in rows]
    assert main(command[:-1]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len(again)
    assert main(["models", "perplexity", "tiny", "--group", "x"]) == 2
    assert main(["models", "perplexity", "nowhere.gguf"]) == 2
    assert main(["models", "list"]) == 0
    assert "fleet models fetch smollm2" in capsys.readouterr().out
    assert load_model("tiny").weights.digest == MODEL.digest
