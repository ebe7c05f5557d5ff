"""Every error code is in the table, and every code of the table is what its example gives."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from fleet.errors import SourceError
from fleet.frontend import codes
from fleet.frontend.arrays import builder
from fleet.frontend.source import load

FRONTEND = Path(codes.__file__).parent


def error_of(folder: Path, text: str, function: str | None = None) -> SourceError:
    path = folder / "model.py"
    path.write_text(text)
    with pytest.raises(SourceError) as caught:
        load(f"{path}:{function}" if function else str(path), {}, {"x": np.ones(2)} if function else {})
    return caught.value


@pytest.mark.parametrize("code", [c for c in codes.CODES if c not in ("F207", "F509", "F510")])
def test_the_example_has_its_code(tmp_path, code: str, monkeypatch) -> None:
    monkeypatch.setattr(builder, "MAX_OPERATIONS", 3000)
    error = error_of(tmp_path, codes.CODES[code].example)
    assert error.code == code, str(error)
    assert f": {code} " in str(error)
    assert re.match(rf"{re.escape(str(tmp_path))}/model\.py(:\d+:\d+)?: F\d\d\d ", str(error))


def test_codes_of_models(tmp_path) -> None:
    assert error_of(tmp_path, "def f(x):\n    return x\n", "g").code == "F207"
    assert error_of(tmp_path, "def f(x):\n    y = x\n", "f").code == "F509"


def test_codes_of_unknown_dimensions(tmp_path) -> None:
    path = tmp_path / "model.py"
    path.write_text(codes.CODES["F510"].example)
    with pytest.raises(SourceError) as caught:
        load(f"{path}:forward", {}, {}, dynamic={"N"})
    assert caught.value.code == "F510"


def test_every_code_in_the_sources_is_in_the_table_and_the_other_way_round() -> None:
    used = {c for p in FRONTEND.rglob("*.py") if p.name != "codes.py" for c in re.findall(r'"(F\d{3})"', p.read_text())}
    assert used == set(codes.CODES)


def test_codes_are_ascending_and_have_words() -> None:
    assert list(codes.CODES) == sorted(codes.CODES)
    assert all(c.title and c.example and c.instead for c in codes.CODES.values())
