"""Which type a file has: Google's Magika on fleet's engines, beside onnxruntime.

    fleet models fetch magika
    python examples/onnx/file_types.py [--engines vm,riscv,onnxruntime] [FILE ...]

The features are Magika's: the first bytes without white space before them and the last without white space behind them, as many
as its published configuration says, filled with a number that no byte has. A class whose score is below its threshold in that
configuration is not reported.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from engines import TOLERANCE, difference, fetched, run

from fleet.errors import FleetError, ModelError

ROOT = Path(__file__).parents[2]
FILES = ("README.md", "LICENSE", "Makefile", "pyproject.toml", "docs/architecture.svg", "examples/digits/model.py",
         "examples/digits/weights.npz", "rtl_models/bench/bench.cpp", "rtl_models/hbm0923/hbm0923_top.sv",
         "reports/mutants/mutants.json", "reports/mutants/index.html", "docs/pictures/generate.png")  # fmt: skip
UNSURE = "unknown"


def features(content: bytes, config: Mapping[str, Any]) -> np.ndarray:
    """int32 [beg_size + end_size]: what the model sees of a file."""
    block, fill = int(config["block_size"]), int(config["padding_token"])
    first, last = content[:block].lstrip(), content[-block:].rstrip()
    beginning, end = first[: config["beg_size"]], last[-config["end_size"] :]
    made = np.full(config["beg_size"] + config["end_size"], fill, np.int32)
    made[: len(beginning)] = list(beginning)
    made[len(made) - len(end) :] = list(end)
    return made


def types(scores: np.ndarray, config: Mapping[str, Any]) -> list[tuple[str, float]]:
    """The class of every row of scores [files, classes], and its score; UNSURE below the threshold."""
    found: list[tuple[str, float]] = []
    for row in scores:
        name, score = config["target_labels_space"][int(row.argmax())], float(row.max())
        enough = score >= config["thresholds"].get(name, config["medium_confidence_threshold"])
        found.append((config["overwrite_map"].get(name, name) if enough else UNSURE, score))
    return found


def compare(files: Sequence[Path], engines: Sequence[str]) -> tuple[dict[str, np.ndarray], dict[str, list[tuple[str, float]]]]:
    """The scores by engine, and each one's types. Raises ModelError where the model is not here or a file cannot be read."""
    path = fetched("magika")
    config = json.loads(path.with_suffix(".json").read_text())
    rows: list[np.ndarray] = []
    for file in files:
        try:
            content = file.read_bytes()
        except OSError as error:
            raise ModelError(f"cannot be read ({error.strerror})", where=str(file)) from None
        if len(content.strip()) < config["min_file_size_for_dl"]:
            raise ModelError(f"has fewer than {config['min_file_size_for_dl']} bytes, too few to tell", where=str(file))
        rows.append(features(content, config))
    scores = run(path, "target_label", {"bytes": np.stack(rows)}, engines)
    return scores, {name: types(found, config) for name, found in scores.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """The table; 0 where all engines agree within TOLERANCE and on every file's type, else 1."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--engines", default="vm,riscv,onnxruntime")
    chosen = parser.parse_args(arguments)
    files = chosen.files or [ROOT / name for name in FILES]
    scores, found = compare(files, chosen.engines.split(","))
    for file, (name, score) in zip(files, found["vm"], strict=True):
        print(f"{file.name:28} {name:14} {score:.4f}")
    agreed = True
    for name, rows in found.items():
        off = difference(scores, name)
        same = [row[0] for row in rows] == [row[0] for row in found["vm"]]
        agreed &= off <= TOLERANCE and same
        print(f"{name:12} scores {off:.1e} off vm, types the same: {same}")
    return 0 if agreed else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except FleetError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
