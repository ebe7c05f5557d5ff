"""A cache whose figures are a test's own, and whose compiled descriptions are those of all tests: they take seconds to make."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleet.core.cache import cache_root


@pytest.fixture
def own_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the cache, without figures of points."""
    shared, own = cache_root(), tmp_path / "cache"
    own.mkdir()
    for name in ("descriptions", "imports.json", "native", "quantised"):
        if (shared / name).exists():
            (own / name).symlink_to(shared / name)
    monkeypatch.setenv("FLEET_CACHE", str(own))
    return own
