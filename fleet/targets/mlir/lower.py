"""MLIR text -> LLVM IR text, with LLVM's own tools of generation 22 and one fixed pass pipeline."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from fleet.core.processes import run
from fleet.core.scratch import Scratch
from fleet.errors import ComparisonFailure, FleetError, SetupError

GENERATION = 22
"""The LLVM release of the MLIR syntax; xDSL 0.74 prints what this release reads."""

PIPELINE: tuple[str, ...] = (
    # tensors become buffers, which are freed; buffer-deallocation-pipeline is not used, because one of its passes takes time that
    # is quadratic in a function's length (19 s for GPT-2)
    "one-shot-bufferize{allow-return-allocs-from-loops=true bufferize-function-boundaries=true "
    "function-boundary-type-conversion=identity-layout-map}",
    "ownership-based-buffer-deallocation",
    "canonicalize",
    "bufferization-lower-deallocations",
    "cse",
    "canonicalize",
    "func.func(optimize-allocation-liveness)",
    "convert-bufferization-to-memref",
    # linalg becomes loops, in the order in which the export wrote them
    "convert-linalg-to-loops",
    "expand-strided-metadata",
    "lower-affine",
    "arith-expand",
    "math-expand-ops{ops=rsqrt}",
    "convert-scf-to-cf",
    "convert-math-to-libm",
    "convert-math-to-llvm",
    "finalize-memref-to-llvm",
    "convert-arith-to-llvm",
    "convert-index-to-llvm",
    "convert-cf-to-llvm",
    "convert-func-to-llvm",
    "reconcile-unrealized-casts",
)
"""The passes, in order. rsqrt is expanded first: convert-math-to-libm would call an rsqrtf that no libm has. libm comes before
llvm: the latter turns expm1 into exp(x) - 1 and log1p into log(1 + x), which lose their digits near 0.
"""

_SECONDS = 900


@lru_cache(maxsize=1)
def tools() -> tuple[str, str] | None:
    """Return the paths of mlir-opt and mlir-translate of the right generation; None if one is missing."""
    found = [_find(name) for name in ("mlir-opt", "mlir-translate")]
    return (found[0], found[1]) if found[0] and found[1] else None


def missing() -> str | None:
    """Return None if the tools are installed, else one line: what is missing and how to get it."""
    if tools() is not None:
        return None
    return f"mlir-opt and mlir-translate {GENERATION} are missing; apt-get install mlir-{GENERATION}-tools"


def _find(name: str) -> str | None:
    folder = os.environ.get("FLEET_LLVM_BIN")  # for tools outside of PATH and Debian's folders
    candidates = [
        *([shutil.which(name, path=folder)] if folder else []),
        shutil.which(f"{name}-{GENERATION}"),
        shutil.which(name, path=f"/usr/lib/llvm-{GENERATION}/bin"),
        shutil.which(name),
    ]
    return next((path for path in candidates if path and _generation(path) == GENERATION), None)


def _generation(path: str) -> int | None:
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(r"version (\d+)\.", done.stdout)
    return int(match[1]) if match else None


def _tools() -> tuple[str, str]:
    found = tools()
    if found is None:
        raise SetupError(missing() or "", where="MLIR")
    return found


def optimise(text: str, passes: Sequence[str] = ()) -> str:
    """Run mlir-opt on a module: parse, verify, run `passes`, print.

    Raises SetupError without mlir-opt, ComparisonFailure if it refuses the module.
    """
    pipeline = [f"--pass-pipeline=builtin.module({','.join(passes)})"] if passes else []
    return _run([_tools()[0], *pipeline], text)


def lower(text: str) -> str:
    """Return the LLVM IR of a module of upstream dialects. Raises as `optimise` does."""
    return _run([_tools()[1], "--mlir-to-llvmir"], optimise(text, PIPELINE))


def _run(command: Sequence[str], text: str) -> str:
    name = Path(command[0]).name
    with Scratch("mlir") as folder:
        source, target = folder / "in.mlir", folder / "out"
        source.write_text(text)
        try:
            done = run([*command, source, "-o", target], timeout=_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise FleetError(f"{name} does not run ({error})", where="MLIR", hint="see `fleet doctor`") from error
        if done.returncode:
            lines = [line.replace(str(source), "export") for line in done.stderr.splitlines() if "error:" in line]
            reason = lines[0] if lines else f"it ended with {done.returncode}"
            raise ComparisonFailure(f"{name} refuses the export: {reason}", where="MLIR", hint="this is a bug of fleet's export")
        return target.read_text()
