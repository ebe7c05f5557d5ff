"""Pages of files that fleet wrote, and of arrays."""

from __future__ import annotations

from collections.abc import Sequence

from fleet.cli.looking.inspecting.page import InspectedFile, Page
from fleet.cli.looking.inspecting.rows import listed


def bytecode_file(page: Page, file: InspectedFile) -> None:
    """A compiled program: arguments, outputs, size of its code."""
    from fleet.targets.bytecode.module import ByteCodeModule

    module = ByteCodeModule.load(file.path)
    inputs = [a for a in module.arguments if a.kind == "input"]
    page.rows["arguments"] = listed([f"{a.name} {a.dtype}{_dims(a.shape, a.dims)}" for a in inputs]) or ["none"]
    page.rows["outputs"] = [", ".join(f"{o.name} {o.type}" for o in module.outputs)]
    page.rows["operators"] = [
        f"{len(module.invokes):,} operations, {len(module.code):,} words of code, {module.variable_size:,} slots"
    ]
    page.rows["weights"] = [f"{len(module.weights):,} arrays"]
    page.facts |= {
        "arguments": [{"name": a.name, "dtype": a.dtype, "shape": list(a.shape)} for a in inputs],
        "outputs": [o.name for o in module.outputs], "operations": len(module.invokes), "program_hash": module.program_hash,
    }  # fmt: skip
    data = " --input x.npz" if inputs else ""
    page.commands = [
        f"fleet try {file.quoted}",
        f"fleet run {file.quoted}{data}",
        f"fleet run --profile {file.quoted}{data}",
        "fleet help bytecode",
    ]


def _dims(shape: Sequence[int], names: Sequence[str]) -> str:
    padded = names or [""] * len(shape)
    return "[" + ", ".join(str(n) if n >= 0 else name or "?" for n, name in zip(shape, padded, strict=True)) + "]"


def stream_file(page: Page, file: InspectedFile) -> None:
    """Instructions and memory images for one device."""
    from fleet.targets.accel.container import load

    stream = load(file.path)
    tasks = sum(part.tasks for parts in stream.segments for part in parts)
    page.rows["device"] = [f"{stream.device} of {stream.instruction_set}, description {stream.description_hash[:16]}"]
    page.rows["stream"] = [f"{tasks:,} instructions in {len(stream.segments)} segments"]
    page.rows["memory"] = listed([f"{i.space} bank {i.bank} from {i.offset:#x}: {len(i.data):,} bytes" for i in stream.images])
    page.facts |= {"device": stream.device, "instruction_set": stream.instruction_set, "instructions": tasks,
                   "description_hash": stream.description_hash, "images": len(stream.images)}  # fmt: skip
    page.commands = [f"fleet inspect {stream.device}", "fleet help host"]


def result_folder(page: Page, file: InspectedFile) -> None:
    """A stored co-simulation."""
    from fleet.cosim.result import CosimResult

    result = CosimResult.load(file.path)
    page.rows["model"] = [f"{result.identity.model}, {result.identity.date}"]
    page.rows["engines"] = [", ".join(f"{e.name} {e.status}" for e in result.engines if e.status != "not asked")]
    page.rows["compared"] = [f"{c.name}: {c.verdict}" for c in result.comparisons]
    page.rows["verdict"] = [f"{result.verdict.upper()}{': ' + '; '.join(result.reasons) if result.reasons else ''}"]
    page.verdict = result.verdict
    page.facts |= {"verdict": result.verdict, "model": result.identity.model, "reasons": list(result.reasons)}
    spec = file.quoted
    page.commands = [f"fleet report {spec}", *([f"fleet why {spec}"] if result.divergence else []), result.identity.command]


def generation_folder(page: Page, file: InspectedFile) -> None:
    """A stored answer of a language model."""
    from fleet.cosim.generation import GenerationResult

    result = GenerationResult.load(file.path)
    page.rows["answer"] = [f"{result.text[:200]!r} ({result.stop})"]
    page.rows["engines"] = [", ".join(e.name for e in result.engines)]
    page.rows["verdict"] = [result.verdict.upper()]
    page.facts |= {"verdict": result.verdict, "text": result.text}
    page.commands = [f"fleet report {file.quoted}"]


def stored_stream(page: Page, file: InspectedFile) -> None:
    """A stream case with its memory."""
    from fleet.streams.bundle import load_bundle

    bundle, _ = load_bundle(file.path)
    page.rows["stream"] = [f"{bundle.name} on {bundle.device}, memory {bundle.setting.memory}, issued by {bundle.setting.issue}"]
    page.facts |= {"stream": bundle.name, "device": bundle.device}
    page.commands = [f"fleet stream run {file.quoted}", f"fleet why {file.quoted}", f"fleet shrink {file.quoted}"]


def arrays_file(page: Page, file: InspectedFile) -> None:
    """NumPy arrays by name."""
    from fleet.cosim.models.data import load_arrays

    arrays = load_arrays(file.path, what="arrays")
    page.rows["arrays"] = listed([f"{name} {a.dtype.name}{list(a.shape)}" for name, a in arrays.items()])
    page.facts["arrays"] = {name: {"dtype": a.dtype.name, "shape": list(a.shape)} for name, a in arrays.items()}
    given = ("--weights", "--input", "--input x.npz --weights")
    page.commands = [f"fleet try model.py:forward {option} {file.quoted}" for option in given]
