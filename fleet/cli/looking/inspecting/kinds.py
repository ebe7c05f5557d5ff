"""Maps the kind of a file to its page. Nothing of the file is executed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from fleet.cli.looking.inspecting.files import (
    arrays_file,
    bytecode_file,
    generation_folder,
    result_folder,
    stored_stream,
    stream_file,
)
from fleet.cli.looking.inspecting.language_models import gguf_file, language_folder, named_model, safetensors_file
from fleet.cli.looking.inspecting.page import InspectedFile, InspectRequest, Page
from fleet.cli.looking.inspecting.programs import compile_into, mlir_model, onnx_model, python_model
from fleet.cli.looking.inspecting.rows import listed
from fleet.cli.looking.inspecting.sets import description_file, installed_set
from fleet.core.codec import Json
from fleet.core.file_kinds import kind_of, refuse_foreign, remedy
from fleet.errors import FleetError, ModelError


def inspect(asked: InspectRequest) -> Page:
    """Fill the page of a file. Raises FleetError if it cannot be read, is damaged, or has an unknown kind."""
    path, function = _place(asked.spec)
    if path is None:
        return _named(asked)
    kind = kind_of(path)
    if kind.name in ("text", "unknown", "empty", "folder", "special") or kind.convert:
        refuse_foreign(path, "a model (NumPy Python, ONNX, GGUF, safetensors) or a file that fleet wrote", ())
    page = Page(asked.spec, kind.name, kind.title, facts={"bytes": path.stat().st_size} if path.is_file() else {})
    fill = _PAGES.get(kind.name)
    if fill is not None:
        fill(page, InspectedFile(path, asked, function))
        return page
    page.problem = ModelError(f"is {kind.title}", where=str(path), hint="; ".join(remedy(kind, path)) or None)
    page.facts["remedy"] = list(remedy(kind, path))
    return page


def refusal(error: FleetError, asked: InspectRequest) -> dict[str, Json]:
    """Return the JSON object for a file without a page: its kind if known, the problem, the commands that convert it."""
    path, _ = _place(asked.spec)
    try:
        kind = None if path is None else kind_of(path)
    except FleetError:
        kind = None
    lines = list(remedy(kind, path)) if kind is not None and path is not None else []
    return {"file": asked.spec, "kind": kind and kind.name, "problem": str(error), "remedy": lines}


def _place(spec: str) -> tuple[Path | None, str]:
    """Split a spec into (file, function after the colon); (None, "") for a bare name."""
    for text in (spec, spec.partition("?")[0]):
        if Path(text).exists():
            return Path(text), ""
    name, colon, function = spec.rpartition(":")
    if colon and Path(name).exists():
        return Path(name), function
    bare = "/" not in spec and "." not in spec and ":" not in spec
    return (None, "") if bare else (Path(spec), "")


def _named(asked: InspectRequest) -> Page:
    page = named_model(asked) or installed_set(asked)
    if page is None:
        what = "no such file, and no instruction set, device or language model of this name"
        raise ModelError(what, where=asked.spec, hint="fleet devices lists sets")
    return page


def _case(page: Page, file: InspectedFile) -> None:
    """Show the runs of a case, and the page of its model."""
    from fleet.regress.cases import load_case

    case = load_case(file.path)
    page.rows["case"] = [f"{case.name}: {len(case.runs)} runs"]
    page.rows["runs"] = listed([f"{run.id}: {','.join(run.engines)} ({run.tier})" for run in case.runs])
    page.facts |= {"case": case.name, "model": case.model, "runs": [run.id for run in case.runs]}
    model = inspect(replace(file.asked, spec=case.model, weights=case.weights, input_path=case.input))
    page.rows |= {"model": [model.spec], **model.rows}
    page.facts["inspected"] = model.facts
    page.problem, page.loaded, page.program = model.problem, model.loaded, model.program
    page.commands = [f"fleet case run {file.quoted}", *model.commands[:2]]


def _bundle(page: Page, file: InspectedFile) -> None:
    """Show a model that `fleet shrink` stored."""
    from fleet.core.file_kinds import MODEL_BUNDLE

    page.spec = str(file.path / MODEL_BUNDLE if file.path.is_dir() else file.path)
    compile_into(page, (), file.asked)


_PAGES: Mapping[str, Callable[[Page, InspectedFile], None]] = {
    "python": python_model, "onnx": onnx_model, "mlir": mlir_model, "gguf": gguf_file, "language-model": language_folder,
    "safetensors": safetensors_file, "bytecode": bytecode_file, "stream": stream_file, "result": result_folder,
    "generation": generation_folder, "case": _case, "bundle": _bundle, "stored-stream": stored_stream,
    "instruction-set": description_file, "set-folder": description_file, "npz": arrays_file, "npy": arrays_file,
}  # fmt: skip
"""Kind (`fleet.core.file_kinds`) -> function that fills its page."""
