"""What a file is and holds, as a page of rows: one function a kind of file. Nothing runs, nothing is executed."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fleet.core.file_kinds import kind_of, refuse_foreign, remedy
from fleet.errors import FleetError, ModelError

if TYPE_CHECKING:
    from fleet.compiler.inspection import OnDevice, ProgramFacts
    from fleet.cosim.model import LoadedModel
    from fleet.llm.config import ModelConfig
    from fleet.symbols.dims import Declared

__all__ = ["Asked", "Page", "inspected", "told"]

_SHOWN = 12


@dataclass(frozen=True)
class Asked:
    """What is named on the command line. spec: a file, path.py:function, or the name of a set, a device or a model."""

    spec: str
    weights: Path | None = None
    input_path: Path | None = None
    seed: int = 0
    batch: int | None = None
    device: str | None = None

    def words(self, *behind: str) -> str:
        """The part of a command that names the same model and data."""
        data = [("--weights", self.weights), ("--input", self.input_path)]
        given = [word for option, path in data if path for word in (option, str(path))]
        if self.batch is not None:
            given += ["--batch", str(self.batch)]
        return shlex.join([self.spec, *given, *behind])


@dataclass
class Page:
    """What is shown.

    Attributes:
        spec: what the next commands name; kind, title: of the file.
        rows: label -> lines.
        commands: what to type next, the best first.
        facts: the same for programs, JSON values.
        problem: why fleet does not read it, None where it does.
        loaded, program: of a model that fleet compiles.
    """

    spec: str
    kind: str
    title: str
    rows: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    commands: list[str] = field(default_factory=list[str])
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    problem: FleetError | None = None
    loaded: LoadedModel | None = None
    program: ProgramFacts | None = None

    def text(self) -> str:
        """The page without its commands."""
        lines = [f"{self.spec}: {self.title}"]
        for label, texts in self.rows.items():
            lines += [f"  {label if i == 0 else '':<12} {text}" for i, text in enumerate(texts)]
        return "\n".join(_plain(line) for line in lines)

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        problem = None if self.problem is None else str(self.problem)
        return {"file": self.spec, "kind": self.kind, "title": self.title, **self.facts, "problem": problem, "next": self.commands}


def _plain(line: str) -> str:
    """Without what would move a terminal's cursor: names come from files."""
    return "".join(c if c.isprintable() else "\ufffd" for c in line)


def inspected(asked: Asked) -> Page:
    """The page of a file. Raises FleetError for one that cannot be read, is damaged, or of a kind that fleet does not read."""
    path, function = _place(asked.spec)
    if path is None:
        return _named(asked)
    kind = kind_of(path)
    if kind.name in ("text", "unknown", "empty", "folder", "special") or kind.convert:
        refuse_foreign(path, "a model (NumPy Python, ONNX, GGUF, safetensors) or a file that fleet wrote", ())
    page = Page(asked.spec, kind.name, kind.title, facts={"bytes": path.stat().st_size} if path.is_file() else {})
    read = _PAGES.get(kind.name)
    if read is not None:
        read(page, path, asked, function)
        return page
    page.problem = ModelError(f"is {kind.title}", where=str(path), hint="; ".join(remedy(kind, path)) or None)
    page.facts["remedy"] = list(remedy(kind, path))
    return page


def told(error: FleetError, asked: Asked) -> dict[str, Any]:
    """For programs: a file that has no page."""
    path, _ = _place(asked.spec)
    try:
        kind = None if path is None else kind_of(path)
    except FleetError:
        kind = None
    lines = list(remedy(kind, path)) if kind is not None and path is not None else []
    return {"file": asked.spec, "kind": kind and kind.name, "problem": str(error), "remedy": lines}


def _place(spec: str) -> tuple[Path | None, str]:
    """The file that is named, None where there is none of the name, and the function behind it."""
    for text in (spec, spec.partition("?")[0]):
        if Path(text).exists():
            return Path(text), ""
    name, colon, function = spec.rpartition(":")
    if colon and Path(name).exists():
        return Path(name), function
    bare = "/" not in spec and "." not in spec and ":" not in spec
    return (None, "") if bare else (Path(spec), "")


def _named(asked: Asked) -> Page:
    """An installed instruction set, a device, or a language model by its name."""
    from fleet.isa.registry import broken, instruction_sets
    from fleet.llm.fetch import LANGUAGE_MODELS

    spec = asked.spec
    if spec in LANGUAGE_MODELS or spec == "tiny" or spec.startswith("tiny-"):
        from fleet.llm.load import load_model

        page = Page(spec, "language-model", "a language model")
        _language(page, load_model(spec).weights.config)
        return page
    sets = instruction_sets(tell=False)
    if spec in sets or spec in broken() or any(spec in s.devices for s in sets.values()):
        page = Page(spec, "instruction-set", "an installed instruction set" if spec in sets else "an installed device")
        _installed_set(page, spec)
        return page
    raise ModelError(
        "no such file, and no instruction set, device or language model of this name", where=spec, hint="fleet devices lists sets"
    )


# Models


def _python(page: Page, path: Path, asked: Asked, function: str) -> None:
    from fleet.frontend.source import open_module, signature

    page.title = "a NumPy model (Python source)"
    module = open_module(str(path))
    if not function and not module.statements() and module.functions:
        names = list(module.functions)
        chosen = names[0] if len(names) == 1 else next((n for n in ("forward", "model", "main") if n in names), "")
        if not chosen:
            page.rows["functions"] = [f"{n}({', '.join(a.arg for a in module.functions[n].args.args)})" for n in names]
            page.commands = [f"fleet inspect {shlex.quote(f'{path}:{n}')}" for n in names[:3]]
            page.facts["functions"] = names
            return
        function = chosen
    page.spec = f"{path}:{function}" if function else str(path)
    arguments = signature(page.spec)
    _model(page, arguments, asked)


def _onnx(page: Page, path: Path, asked: Asked, function: str) -> None:
    from fleet.frontend.source import is_onnx, signature

    del function
    if not is_onnx(page.spec):
        page.problem = ModelError("is an ONNX model by another name", where=str(path), hint=f"name it {path.stem}.onnx")
        page.commands = [f"mv {shlex.quote(str(path))} {shlex.quote(str(path.with_suffix('.onnx')))}"]
        return
    problem: FleetError | None = None
    arguments: list[Declared] = []
    try:
        arguments = signature(page.spec)
    except ModelError as error:
        problem = error
    from fleet.frontend.onnx.choice import Choice
    from fleet.frontend.onnx.importer import unsupported_operators
    from fleet.frontend.onnx.load import open_model

    try:
        model = open_model(Choice.of(page.spec))
    except FleetError as error:  # damaged: there is nothing to show
        raise problem or error from None
    opsets = {domain or "ai.onnx": number for domain, number in model.opsets.items()}
    counts = Counter(_operators(model.graph))
    for body in model.functions.values():
        counts.update(node.op for node in body.nodes)
    missing = dict(unsupported_operators(model))
    arrays = model.graph.weights
    page.rows["opset"] = [", ".join(f"{domain} {number}" for domain, number in opsets.items())]
    page.rows["nodes"] = [_counted(dict(counts.most_common()))]
    page.rows["weights"] = [_weights_row(len(arrays), sum(a.size for a in arrays.values()), sum(a.nbytes for a in arrays.values()))]
    page.rows["outputs"] = [", ".join(p.name for p in model.graph.outputs)]
    page.facts |= {
        "opset": opsets, "nodes": dict(counts.most_common()), "unsupported": missing,
        "outputs": [p.name for p in model.graph.outputs],
    }  # fmt: skip
    if missing:
        page.rows["unsupported"] = [
            f"{op}: {', '.join(nodes[:4])}{_more(len(nodes), 4)}" for op, nodes in list(missing.items())[:_SHOWN]
        ]
        page.commands = ["fleet help onnx-operators"]
    if problem is not None:
        page.problem = problem
        return
    _model(page, arguments, asked)


def _operators(graph: Any) -> Iterable[str]:
    for node in graph.nodes:
        yield node.op
        for body in node.subgraphs():
            yield from _operators(body)


def _model(page: Page, arguments: Sequence[Declared], asked: Asked) -> None:
    """Inputs, operators, work, devices; a problem where the model does not compile."""
    from fleet.cosim.model import load_model

    page.facts["arguments"] = [{"name": a.name, "dtype": a.dtype and a.dtype.name, "dims": a.dims} for a in arguments]
    named = Asked(page.spec, asked.weights, asked.input_path, asked.seed, asked.batch, asked.device)
    shown = [f"{a.name} {a}" for a in arguments]
    if arguments:
        page.rows = {
            "arguments": [*shown[:_SHOWN], *([f"and {len(shown) - _SHOWN} more"] if len(shown) > _SHOWN else [])],
            **page.rows,
        }
    free = sorted({d for a in arguments for d in a.dims or () if isinstance(d, str)})
    if free:
        page.rows["free"] = [f"{', '.join(free)}: given by the data, or by --batch"]
    page.facts["free"] = free
    try:
        page.loaded = load_model(page.spec, asked.weights, asked.input_path, asked.seed, asked.batch)
        _compiled(page, named, page.loaded)
    except FleetError as error:
        page.problem = error


def _compiled(page: Page, asked: Asked, loaded: LoadedModel) -> None:
    from fleet.compiler.inspection import inspect_program

    facts = page.program = inspect_program(loaded.program, asked.device)
    program = loaded.program
    inputs = [f"{a.name} {a.dtype.name}{list(a.shape)}" for a in program.inputs]
    if inputs:
        page.rows["inputs"] = [", ".join(inputs[:_SHOWN]) + (", drawn" if loaded.random else "")]
    if facts.weights:
        drawn = ", drawn: give --weights" if any(a.kind == "weight" and a.name in loaded.random for a in program.arguments) else ""
        page.rows["weights"] = [_weights_row(facts.weights, facts.weight_numbers, facts.weight_bytes) + drawn]
    if "outputs" not in page.rows and program.outputs:
        page.rows["outputs"] = [", ".join(program.outputs)]
    page.rows["operators"] = [_counted(facts.operators)]
    sizes = ", ".join(f"{name} = {size}" for name, size in facts.symbols.items())
    page.rows["work"] = [f"{facts.macs:,} multiply-accumulates{f' at {sizes}' if sizes else ''}"]
    page.rows["devices"] = list(_devices(facts.devices)) or ["no instruction set is installed"]
    page.facts["program"] = facts.to_json()
    best = facts.best
    if best is not None:
        page.commands = [
            f"fleet cosim {asked.words('--engines', 'vm,iss,rtl,riscv', '--device', best.device)}",
            f"fleet compile --emit accel-regs {asked.words('--device', best.device)}",
        ]
    else:
        page.commands = [f"fleet cosim {asked.words('--engines', 'vm,riscv')}"]
    page.commands.insert(0, f"fleet try {asked.words()}")


def _devices(devices: Sequence[OnDevice]) -> Iterator[str]:
    """What each device runs, what the host keeps, and why: reasons that the devices of a set share are told once."""
    told: list[str] = []
    for d in devices:
        if d.refused is not None:
            yield f"{d.device:<12} {'' if d.refused.startswith('not ') else 'nothing: '}{d.refused}"
            continue
        share = f"{100 * d.share:.0f} % of the {'work' if d.macs else 'operations'}"
        cycles = f", {d.cycles:,} cycles (estimated)" if d.cycles is not None else ", not compiled: whether it fits was not tried"
        yield f"{d.device:<12} {share}, {d.placed} of {d.operations} operations{cycles if d.placed else ''}"
        kept = [f"{', '.join(r.operations[:3])}{_more(len(r.operations), 3)}: {r.why}" for r in d.reasons[:3]]
        if len(d.reasons) > 3:
            kept.append(f"{sum(len(r.operations) for r in d.reasons[3:])} more, for {len(d.reasons) - 3} other reasons")
        own = [line.replace(d.device, "the device") for line in kept]
        if own and own == told:
            kept = ["as the device above"]
        told = own
        yield from (f"{'':<12} host: {line}" for line in kept)


def _listed(lines: Sequence[str]) -> list[str]:
    return [*lines[:_SHOWN], *([f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else [])]


def _counted(counts: Mapping[str, int]) -> str:
    words = [f"{name} {count}" for name, count in list(counts.items())[: 2 * _SHOWN]]
    more = f" and {len(counts) - len(words)} more kinds" if len(counts) > len(words) else ""
    return f"{', '.join(words) or 'none'}{more} ({sum(counts.values()):,} in all)" if counts else "none"


def _weights_row(arrays: int, numbers: int, size: int) -> str:
    return f"{arrays:,} arrays, {numbers:,} numbers, {size:,} bytes"


def _more(count: int, shown: int) -> str:
    return f" and {count - shown} more" if count > shown else ""


# Language models


def _gguf(page: Page, path: Path, asked: Asked, function: str) -> None:
    from fleet.llm.gguf import gguf_config
    from fleet.llm.gguf_file import GgufFile

    del asked, function
    file = GgufFile(path)
    formats = Counter(file.format_of(name) for name in file.tensors)
    page.rows["tensors"] = [f"{len(file.tensors):,}: {', '.join(f'{n} {name}' for name, n in formats.most_common())}"]
    named = file.fields.get("general.name")
    if isinstance(named, str):
        page.rows["name"] = [named[:200]]
    page.facts |= {"tensors": len(file.tensors), "formats": dict(formats)}
    try:
        _language(page, gguf_config(file))
    except ModelError as error:
        page.problem = error


def _language_folder(page: Page, path: Path, asked: Asked, function: str) -> None:
    from fleet.llm.hugging_face import open_hugging_face

    del asked, function
    try:
        _language(page, open_hugging_face(path).config)
    except ModelError as error:
        page.problem = error


def _language(page: Page, c: ModelConfig) -> None:
    import math

    from fleet.isa.registry import instruction_sets
    from fleet.llm.weights import linear_names, weight_shapes

    shapes = weight_shapes(c)
    numbers = sum(math.prod(shape) for name, shape in shapes.items() if name != "head" or not c.tied)
    work = sum(math.prod(shapes[name]) for name in linear_names(c))
    page.rows["model"] = [
        f"{c.architecture}: {c.blocks} blocks of {c.channels} channels, {c.heads} heads ({c.kv_heads} of keys and values), "
        f"{c.ffn} hidden, {c.vocabulary:,} tokens, context {c.context:,}"
    ]
    page.rows["inputs"] = ["a prompt; tokens int32[N], N free up to the context"]
    page.rows["weights"] = [f"{numbers:,} numbers, {'head tied to the embedding' if c.tied else 'a head of its own'}"]
    page.rows["work"] = [f"{work:,} multiply-accumulates a token, without attention"]
    devices = [d for s in instruction_sets(tell=False).values() if s.tasks is not None for d in s.devices.values()]
    able = [d for d in devices if work // 2 <= d.memory.get("hbm", 0) * d.parameters.get("HbmPorts", 1)]
    page.rows["devices"] = [
        f"{d.name:<12} {'runs the blocks' if d in able else f'too small: {work // 2:,} bytes of weights'}" for d in devices
    ]
    page.facts |= {"config": vars(c) | {"eos": list(c.eos)}, "weight_numbers": numbers, "macs_per_token": work,
                   "devices": [{"device": d.name, "fits": d in able} for d in devices]}  # fmt: skip
    spec = shlex.quote(page.spec)
    ask = f'fleet generate --model {spec} --prompt "Hello" --tokens 4'
    chosen = min(able, key=lambda d: sum(d.memory.values()), default=None)
    page.commands = [
        f"fleet try {spec}",
        *([f"{ask} --engines vm,iss --device {chosen.name}"] if chosen else []),
        f"{ask} --engines vm",
    ]
    page.facts["device"] = chosen.name if chosen else None


def _safetensors(page: Page, path: Path, asked: Asked, function: str) -> None:
    from fleet.llm.safetensors import read_header

    del asked, function
    tensors = read_header(path)
    kinds = Counter(t.dtype for t in tensors.values())
    page.rows["tensors"] = _listed([f"{name} {t.dtype}{list(t.shape)}" for name, t in tensors.items()])
    page.rows["weights"] = [f"{len(tensors):,} tensors: {', '.join(f'{n} {kind}' for kind, n in kinds.most_common())}"]
    page.facts["tensors"] = {name: {"dtype": t.dtype, "shape": list(t.shape)} for name, t in tensors.items()}
    folder = path.resolve().parent
    if (folder / "config.json").is_file():
        page.commands = [f"fleet inspect {shlex.quote(str(path.parent))}"]
    else:
        page.problem = ModelError(
            "holds weights alone", where=str(path), hint="a language model has config.json and tokenizer.json beside it"
        )


# Files of fleet


def _bytecode(page: Page, path: Path, asked: Asked, function: str) -> None:
    from fleet.targets.bytecode.module import ByteCodeModule

    del asked, function
    module = ByteCodeModule.load(path)
    inputs = [a for a in module.arguments if a.kind == "input"]
    page.rows["arguments"] = _listed([f"{a.name} {a.dtype}{_dims(a.shape, a.dims)}" for a in inputs]) or ["none"]
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
    quoted = shlex.quote(str(path))
    page.commands = [
        f"fleet try {quoted}",
        f"fleet run {quoted}{data}",
        f"fleet run --profile {quoted}{data}",
        "fleet help bytecode",
    ]


def _dims(shape: Sequence[int], names: Sequence[str]) -> str:
    padded = names or [""] * len(shape)
    return "[" + ", ".join(str(n) if n >= 0 else name or "?" for n, name in zip(shape, padded, strict=True)) + "]"


def _stream(page: Page, path: Path, asked: Asked, function: str) -> None:
    from fleet.targets.accel.container import load

    del asked, function
    stream = load(path)
    tasks = sum(part.tasks for parts in stream.segments for part in parts)
    page.rows["device"] = [f"{stream.device} of {stream.instruction_set}, description {stream.description_hash[:16]}"]
    page.rows["stream"] = [f"{tasks:,} instructions in {len(stream.segments)} segments"]
    page.rows["memory"] = _listed([f"{i.space} bank {i.bank} from {i.offset:#x}: {len(i.data):,} bytes" for i in stream.images])
    page.facts |= {"device": stream.device, "instruction_set": stream.instruction_set, "instructions": tasks,
                   "description_hash": stream.description_hash, "images": len(stream.images)}  # fmt: skip
    page.commands = [f"fleet inspect {stream.device}", "fleet help host"]


def _result(page: Page, path: Path, asked: Asked, function: str) -> None:
    from fleet.cosim.result import CosimResult

    del asked, function
    result = CosimResult.load(path)
    page.rows["model"] = [f"{result.identity.model}, {result.identity.date}"]
    page.rows["engines"] = [", ".join(f"{e.name} {e.status}" for e in result.engines if e.status != "not asked")]
    page.rows["compared"] = [f"{c.name}: {c.verdict}" for c in result.comparisons]
    page.rows["verdict"] = [f"{result.verdict.upper()}{': ' + '; '.join(result.reasons) if result.reasons else ''}"]
    page.facts |= {"verdict": result.verdict, "model": result.identity.model, "reasons": list(result.reasons)}
    spec = shlex.quote(str(path))
    page.commands = [f"fleet report {spec}", *([f"fleet why {spec}"] if result.divergence else []), result.identity.command]


def _generation(page: Page, path: Path, asked: Asked, function: str) -> None:
    from fleet.cosim.generation import GenerationResult

    del asked, function
    result = GenerationResult.load(path)
    page.rows["answer"] = [f"{result.text[:200]!r} ({result.stop})"]
    page.rows["engines"] = [", ".join(e.name for e in result.engines)]
    page.rows["verdict"] = [result.verdict.upper()]
    page.facts |= {"verdict": result.verdict, "text": result.text}
    page.commands = [f"fleet report {shlex.quote(str(path))}"]


def _case(page: Page, path: Path, asked: Asked, function: str) -> None:
    from fleet.cosim.cases import load_case

    del function
    case = load_case(path)
    page.rows["case"] = [f"{case.name}: {len(case.runs)} runs"]
    page.rows["runs"] = _listed([f"{run.id}: {','.join(run.engines)} ({run.tier})" for run in case.runs])
    page.facts |= {"case": case.name, "model": case.model, "runs": [run.id for run in case.runs]}
    inner = Asked(case.model, case.weights, case.input, asked.seed, asked.batch, asked.device)
    model = inspected(inner)
    page.rows |= {"model": [model.spec], **model.rows}
    page.facts["inspected"] = model.facts
    page.problem, page.loaded, page.program = model.problem, model.loaded, model.program
    page.commands = [f"fleet case run {shlex.quote(str(path))}", *model.commands[:2]]


def _bundle(page: Page, path: Path, asked: Asked, function: str) -> None:
    del function
    from fleet.cosim.model import BUNDLE

    page.spec = str(path / BUNDLE if path.is_dir() else path)
    _model(page, (), asked)


def _stored_stream(page: Page, path: Path, asked: Asked, function: str) -> None:
    from fleet.cosim.streams.bundle import load_bundle

    del asked, function
    bundle, _ = load_bundle(path)
    page.rows["stream"] = [f"{bundle.name} on {bundle.device}, memory {bundle.setting.memory}, issued by {bundle.setting.issue}"]
    page.facts |= {"stream": bundle.name, "device": bundle.device}
    quoted = shlex.quote(str(path))
    page.commands = [f"fleet stream run {quoted}", f"fleet why {quoted}", f"fleet shrink {quoted}"]


def _description(page: Page, path: Path, asked: Asked, function: str) -> None:
    from fleet.isa.description import load

    del asked, function
    if path.is_dir():
        path = sorted(path.glob("*.rdl"))[0]
    d = load(path)
    page.rows["set"] = [f"{d.name}: {d.title}"]
    page.rows["instructions"] = [", ".join(f"{i.name} {i.opcode:#04x}" for i in d.instructions.values())]
    page.rows["registers"] = [f"{len(d.registers)} registers, {len(d.units)} units"]
    page.facts |= {"set": d.name, "instructions": list(d.instructions), "registers": len(d.registers)}
    from fleet.isa.registry import broken, instruction_sets

    if d.name in instruction_sets(tell=False) or d.name in broken():
        page.commands = [f"fleet try {d.name}", f"fleet isa check {d.name}", "fleet devices"]
    else:
        page.rows["installed"] = ["no: its package has no entry point in the group fleet.instruction_sets"]
        page.commands = ["fleet help bring-your-own"]


def _installed_set(page: Page, name: str) -> None:
    from fleet.cli.isa_target import find_set

    found, device = find_set(name)
    page.rows["set"] = [f"{found.name}{f' {found.rtl.top}' if found.rtl else ', no RTL'}"]
    page.rows["instructions"] = [", ".join(found.instructions)]
    page.rows["devices"] = [
        f"{d.name:<12} {d.clock_mhz:g} MHz, " + ", ".join(f"{space} {size:,} bytes" for space, size in d.memory.items())
        for d in ([device] if device else found.devices.values())
    ]
    page.facts |= {"set": found.name, "instructions": list(found.instructions), "devices": list(found.devices)}
    page.commands = [f"fleet try {name}", f"fleet isa check {name}", "fleet devices"]


def _arrays(page: Page, path: Path, asked: Asked, function: str) -> None:
    from fleet.cosim.data import load_arrays

    del asked, function
    arrays = load_arrays(path, what="arrays")
    page.rows["arrays"] = _listed([f"{name} {a.dtype.name}{list(a.shape)}" for name, a in arrays.items()])
    page.facts["arrays"] = {name: {"dtype": a.dtype.name, "shape": list(a.shape)} for name, a in arrays.items()}
    quoted = shlex.quote(str(path))
    given = ("--weights", "--input", "--input x.npz --weights")
    page.commands = [f"fleet try model.py:forward {option} {quoted}" for option in given]


_PAGES: Mapping[str, Callable[[Page, Path, Asked, str], None]] = {
    "python": _python, "onnx": _onnx, "gguf": _gguf, "language-model": _language_folder, "safetensors": _safetensors,
    "bytecode": _bytecode, "stream": _stream, "result": _result, "generation": _generation, "case": _case, "bundle": _bundle,
    "stored-stream": _stored_stream,
    "instruction-set": _description, "set-folder": _description, "npz": _arrays, "npy": _arrays,
}  # fmt: skip
