"""Export the history as Parquet, for notebooks and dashboards: three tables, one row group per night."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fleet.errors import SetupError
from fleet.night.history import NightHistory

TABLES = ("nights", "runs", "figures")


def export(history: Path, folder: Path) -> tuple[Path, ...]:
    """Write nights.parquet, runs.parquet (one row per run) and figures.parquet (one row per figure of a run) into a folder.

    Raises:
        SetupError: pyarrow is not installed, or the folder cannot be written.
        ModelError: there is no history.
    """
    try:
        pa: Any = importlib.import_module("pyarrow")
        pq: Any = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise SetupError(
            "pyarrow is not installed", where="fleet night export", hint="pip install 'fleet-cosim[parquet]'"
        ) from error
    text, number, whole, yes = pa.string(), pa.float64(), pa.int64(), pa.bool_()
    schemas = {
        "nights": {
            "night": text, "at": text, "until": text, "revision": text, "branch": text, "changed": yes, "scope": text,
            "planned": whole, "finished": whole, "failed": whole, "red": whole, "partial": yes, "seconds": number, "wall": number,
        },
        "runs": {
            "night": text, "key": text, "kind": text, "node": text, "outcome": text, "seconds": number, "content": text,
            "signature": text, "error": text, "red": yes,
        },
        "figures": {"night": text, "key": text, "figure": text, "value": number},
    }  # fmt: skip
    paths = {name: folder / f"{name}.parquet" for name in TABLES}
    with NightHistory(history) as store:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            writers = {name: pq.ParquetWriter(paths[name], pa.schema(list(schemas[name].items()))) for name in TABLES}
            for night in store.nights():
                rows: dict[str, list[Mapping[str, object]]] = {
                    "nights": [{**vars(night), "night": night.id}],
                    "runs": [],
                    "figures": [],
                }
                for key, run in sorted(store.runs(night.number).items()):
                    rows["runs"].append({**vars(run), "night": night.id})
                    rows["figures"] += [
                        {"night": night.id, "key": key, "figure": name, "value": v} for name, v in sorted(run.figures.items())
                    ]
                for name, writer in writers.items():
                    table = {column: [row[column] for row in rows[name]] for column in schemas[name]}
                    writer.write_table(pa.table(table, schema=writer.schema))
            for writer in writers.values():
                writer.close()
        except OSError as error:
            raise SetupError(f"cannot be written ({error})", where=str(folder)) from error
    return tuple(paths.values())
