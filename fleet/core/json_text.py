"""JSON files: read with the line of what is wrong, and written so that people can read and compare them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from fleet.core.codec import Json, is_list, is_table
from fleet.errors import ModelError


def read_json(path: Path, wrong: str = "not JSON", hint: str | None = None) -> Json:
    """Return the value in a file. Raises ModelError, with the line if the text is not JSON.

    wrong: what is said of a file that cannot be read ("not a stored replay"); hint: what to do about it.
    """
    try:
        return parse_json(path.read_bytes(), path, wrong, hint)
    except OSError as error:
        raise ModelError(f"{wrong} ({error.strerror or error})", where=str(path), hint=hint) from error


def parse_json(text: bytes, path: Path, wrong: str = "not JSON", hint: str | None = None) -> Json:
    """Return the value of a UTF-8 text; path: of its file, for messages. Raises ModelError as `read_json` does."""
    try:
        return json.loads(text.decode())
    except json.JSONDecodeError as error:
        where = f"{path}:{error.lineno}"
        raise ModelError(f"{wrong} ({error.msg} at column {error.colno})", where=where, hint=hint) from None
    except UnicodeDecodeError as error:
        where = f"{path}:{text[: error.start].count(10) + 1}"
        raise ModelError(f"{wrong} (not UTF-8)", where=where, hint=hint) from None
    except (ValueError, RecursionError) as error:  # a number of too many digits, or lists nested too deeply
        raise ModelError(f"{wrong} ({error!s:.80})", where=str(path), hint=hint) from None


def json_text(table: Mapping[str, Json]) -> str:
    """Return the text of a file: indented down to the lists of tables in it, each other value on one line.

    Half of the time of `json.dumps(indent=1)`, which indents to the last number, and two thirds of its size for a large result.
    ValueError for an infinity or NaN.
    """
    return _lines(dict(table), "\n") + "\n"


def _lines(value: Json, line: str) -> str:
    """line: what ends a line, and indents the next as deep as the value stands."""
    inner = line + " "
    if is_table(value) and value:
        pairs = (f"{json.dumps(key)}: {_text(part, inner)}" for key, part in value.items())
        return f"{{{inner}{f',{inner}'.join(pairs)}{line}}}"
    if is_list(value) and value:
        return f"[{inner}{f',{inner}'.join(_text(part, inner) for part in value)}{line}]"
    return json.dumps(value)


def _text(value: Json, line: str) -> str:
    return _lines(value, line) if _has_tables(value) else json.dumps(value, allow_nan=False)


def _has_tables(value: Json) -> bool:
    """Return True for a list of tables, and for a table with one at any depth."""
    if is_table(value):
        return any(_has_tables(part) for part in value.values())
    return is_list(value) and bool(value) and is_table(value[0])
