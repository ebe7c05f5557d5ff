"""Fractions, dates, hashes: Python's own objects, and what they are refused in. What they give is held by the corpus."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fleet.errors import SourceError
from fleet.frontend.source import load


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("from datetime import date\nprint(date.today())", "F20"),
        ("from datetime import datetime\nprint(datetime.now())", "F20"),
        ("from fractions import Fraction\nprint(Fraction(1, 2) + np.ones(3))", "F408"),
        ("from fractions import Fraction\nprint(Fraction(np.float64(0.5)))", "F506"),
        ("from fractions import Fraction\nprint(Fraction(1, 2) ** 10**9)", "F607"),
        ("from decimal import Decimal\nprint(Decimal('x'))", "F703"),
        ("import struct\nprint(struct.pack('<Q', -1))", "F703"),
        ("from datetime import date\nprint({date(2020, 1, 1), date(2020, 1, 2)})", "F507"),
        ("import hashlib\nprint(hashlib.sha3_256(b'x').hexdigest())", "F20"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, code: str) -> None:
    (tmp_path / "model.py").write_text(f"import numpy as np\n{text}\n")
    with pytest.raises(SourceError) as caught:
        load(str(tmp_path / "model.py"), {}, {})
    assert caught.value.code.startswith(code), str(caught.value)


def test_a_hash_is_not_updated_where_the_run_decides(tmp_path: Path) -> None:
    text = "    h = hashlib.sha256()\n    if x.sum() > 0:\n        h.update(b'a')\n    return x\n"
    (tmp_path / "model.py").write_text(f"import hashlib\n\ndef forward(x: 'float64[3]'):\n{text}")
    with pytest.raises(SourceError, match="F511 a hash is updated in a part that only the run enters"):
        load(f"{tmp_path / 'model.py'}:forward", {}, {"x": np.ones(3)})
