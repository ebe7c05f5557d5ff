"""The template environment: autoescape on, undefined names are errors, templates come from this folder only."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any

from fleet.report.frame import text as _text
from fleet.report.frame.place import TEMPLATES, PageFrame

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
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
        title_of=_text.engine_title,
    )
    shared: dict[str, Any] = {"interval": _text.interval, "symbols": _text.SYMBOLS, "absent": _text.ABSENT}  # jinja2's types
    made.globals.update(shared)
    return made


def render(template: str, values: DataclassInstance, frame: PageFrame) -> str:
    """Render a template as text.

    values: a dataclass; the template sees its fields by name. Texts are escaped, except fleet's own pictures
    (`markupsafe.Markup`). frame: of the page.
    """
    shown = {f.name: getattr(values, f.name) for f in fields(values)}
    return _environment().get_template(template).render({**shown, "frame": frame})
