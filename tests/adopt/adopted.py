"""The small foreign designs of tests/fixtures/adopted and a workspace of each, as `fleet isa adopt -o` writes it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from fleet.adopt.classify import classify
from fleet.adopt.closure import closure_hash
from fleet.adopt.filelist import read_sources
from fleet.adopt.first import write_workspace
from fleet.adopt.own_protocols import known_protocols
from fleet.adopt.registers import read_registers, shipped
from fleet.adopt.top import read_top
from fleet.adopt.vhdl import with_verilog

__all__ = [
    "CELLS", "COPIER", "DMA", "DOTTER", "ENGINE", "FIR", "GATHER", "KERNEL", "MACC", "MESH", "NETWORK", "PAIRER", "RELAY",
    "SCALER", "VAULT", "modelled", "workspace",
]  # fmt: skip

_FOLDER = Path(__file__).parents[1] / "fixtures" / "adopted"
COPIER = _FOLDER / "apb_axi" / "copier.f"
DMA = _FOLDER / "ahb_dma" / "ahb_dma.f"
MACC = _FOLDER / "reggen_macc" / "macc.f"
DOTTER = _FOLDER / "obi_rocc" / "dotter.f"
SCALER = _FOLDER / "stream_if" / "scaler.f"
PAIRER = _FOLDER / "tagged" / "pairer.f"
RELAY = _FOLDER / "mixed" / "relay.f"
VAULT = _FOLDER / "hidden" / "vault.f"
KERNEL = _FOLDER / "hls" / "krnl_vadd.f"
GATHER = _FOLDER / "vhdl_gather" / "gather.f"
FIR = _FOLDER / "wb_fir" / "fir.f"
MESH = _FOLDER / "rocc_tilelink" / "MeshUnit.f"
ENGINE = _FOLDER / "csb_dla" / "mini_dla.f"
CELLS = ENGINE.parent / "models" / "cells.v"
"""Models of the cells that `ENGINE` has no source of."""
NETWORK = _FOLDER / "hls_stream" / "myproject.f"


def workspace(folder: Path, files: Path, *, own: Sequence[Path] = (), edits: Sequence[tuple[str, str]] = ()) -> Path:
    """A workspace; edits: (text, text that replaces it) in adopt.toml."""
    sources = read_sources([files])
    sources, _ = with_verilog(sources, "", {})
    top = read_top(sources)
    protocols = known_protocols(own)
    described = shipped([files.parent], top.files)
    registers = [r for path in described for r in read_registers(path)]
    write_workspace(
        folder, top, classify(top, protocols), closure_hash(top, sources), protocols, registers, sources=[files], include_dirs=[],
        parameters={}, defines={}, own=own, described=", ".join(p.name for p in described),
    )  # fmt: skip
    manifest = folder / "adopt.toml"
    text = manifest.read_text()
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    manifest.write_text(text)
    return folder


def modelled(folder: Path, files: Path, *, edits: Sequence[tuple[str, str]] = ()) -> Path:
    """A workspace with the design's functional model and its observations."""
    found = workspace(folder, files, edits=[('map = "ports.toml"', 'map = "ports.toml"\nobserve = "observe.toml"'), *edits])
    for name in (f"{files.stem}_model.py", "observe.toml"):
        (found / name).write_bytes((files.parent / name).read_bytes())
    if (weights := files.parent / "weights").is_dir():  # which the model reads, too
        shutil.copytree(weights, found / "weights")
    return found
