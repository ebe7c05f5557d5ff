"""The template environment: autoescape on, undefined names are errors, templates come from this folder only."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from fleet.report.frame import text as _text
from fleet.report.frame.place import TEMPLATES, PageFrame
from fleet.report.run.accuracy import has_ulps
from fleet.report.run.headline import engine_title

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters.update(
        number=_text.number,
        decibel=_text.decibel,
        n=_text.count,
        counter=_text.counter,
        percent=_text.percent,
        points=_text.signed_percent,
        date=_text.date,
        duration=_text.duration,
        times=_text.times,
        short=_text.short,
        shape=_text.shape,
        operations=_text.operations,
        title_of=engine_title,
    )
    tests: dict[str, Any] = {"of_floats": has_ulps}
    made.tests.update(tests)
    shared: dict[str, Any] = {"interval": _text.interval, "symbols": _text.SYMBOLS, "absent": _text.ABSENT}
    for name, value in shared.items():
        made.globals[name] = value
    return made


def render(template: str, context: dict[str, Any], frame: PageFrame) -> str:
    """Render a template as text. Values are escaped, except fleet's own pictures (`markupsafe.Markup`). frame: of the page."""
    return _environment().get_template(template).render({**context, "frame": frame})
