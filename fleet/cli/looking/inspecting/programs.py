"""Pages of models that fleet compiles: NumPy source, ONNX, MLIR."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fleet.cli.looking.inspecting.page import InspectedFile, InspectRequest, Page
from fleet.cli.looking.inspecting.rows import SHOWN, counted, listed, more, weights_row
from fleet.errors import FleetError, ModelError

if TYPE_CHECKING:
    from fleet.compiler.inspection import OnDevice
    from fleet.cosim.models.loaded import LoadedModel
    from fleet.frontend.onnx.graph import Graph
    from fleet.symbols.dims import Declared


def python_model(page: Page, file: InspectedFile) -> None:
    """NumPy source: one function of it, or the list of its functions."""
    from fleet.frontend.source import open_module, signature

    page.title = "a NumPy model (Python source)"
    module = open_module(str(file.path))
    function = file.function
    if not function and not module.statements() and module.functions:
        names = list(module.functions)
        chosen = names[0] if len(names) == 1 else next((n for n in ("forward", "model", "main") if n in names), "")
        if not chosen:
            page.rows["functions"] = [f"{n}({', '.join(a.arg for a in module.functions[n].args.args)})" for n in names]
            page.commands = [f"fleet inspect {shlex.quote(f'{file.path}:{n}')}" for n in names[:3]]
            page.facts["functions"] = names
            return
        function = chosen
    page.spec = f"{file.path}:{function}" if function else str(file.path)
    arguments = signature(page.spec)
    compile_into(page, arguments, file.asked)


def mlir_model(page: Page, file: InspectedFile) -> None:
    """MLIR text: one function of it."""
    from fleet.frontend.source import is_mlir, signature

    if not is_mlir(page.spec):
        page.problem = ModelError("is MLIR by another name", where=str(file.path), hint=f"name it {file.path.stem}.mlir")
        page.commands = [f"mv {file.quoted} {shlex.quote(str(file.path.with_suffix('.mlir')))}"]
        return
    compile_into(page, signature(page.spec), file.asked)


def onnx_model(page: Page, file: InspectedFile) -> None:
    """Opset, nodes and weights of the file, then the compiled program."""
    from fleet.frontend.source import is_onnx, signature

    if not is_onnx(page.spec):
        page.problem = ModelError("is an ONNX model by another name", where=str(file.path), hint=f"name it {file.path.stem}.onnx")
        page.commands = [f"mv {file.quoted} {shlex.quote(str(file.path.with_suffix('.onnx')))}"]
        return
    problem: FleetError | None = None
    arguments: list[Declared] = []
    try:
        arguments = signature(page.spec)
    except ModelError as error:
        problem = error
    from fleet.frontend.onnx.choice import ModelChoice
    from fleet.frontend.onnx.importer import unsupported_operators
    from fleet.frontend.onnx.load import open_model

    try:
        model = open_model(ModelChoice.of(page.spec))
    except FleetError as error:  # damaged: no page
        raise problem or error from None
    opsets = {domain or "ai.onnx": number for domain, number in model.opsets.items()}
    counts = Counter(_operators(model.graph))
    for body in model.functions.values():
        counts.update(node.op for node in body.nodes)
    missing = dict(unsupported_operators(model))
    arrays = model.graph.weights
    page.rows["opset"] = [", ".join(f"{domain} {number}" for domain, number in opsets.items())]
    page.rows["nodes"] = [counted(dict(counts.most_common()))]
    page.rows["weights"] = [weights_row(len(arrays), sum(a.size for a in arrays.values()), sum(a.nbytes for a in arrays.values()))]
    page.rows["outputs"] = [", ".join(p.name for p in model.graph.outputs)]
    page.facts |= {
        "opset": opsets, "nodes": dict(counts.most_common()), "unsupported": missing,
        "outputs": [p.name for p in model.graph.outputs],
    }  # fmt: skip
    if missing:
        page.rows["unsupported"] = [
            f"{op}: {', '.join(nodes[:4])}{more(len(nodes), 4)}" for op, nodes in list(missing.items())[:SHOWN]
        ]
        page.commands = ["fleet help onnx-operators"]
    if problem is not None:
        page.problem = problem
        return
    compile_into(page, arguments, file.asked)


def _operators(graph: Graph) -> Iterator[str]:
    """Yield the operator of each node, including bodies of control flow."""
    for node in graph.nodes:
        yield node.op
        for body in node.subgraphs():
            yield from _operators(body)


def compile_into(page: Page, arguments: Sequence[Declared], asked: InspectRequest) -> None:
    """Compile the model of `page.spec`; fill in arguments, operators, work and devices, or the problem."""
    from fleet.cosim.models.loaded import load_model

    page.facts["arguments"] = [{"name": a.name, "dtype": a.dtype and a.dtype.name, "dims": a.dims} for a in arguments]
    named = replace(asked, spec=page.spec)
    if arguments:
        page.rows = {"arguments": listed([f"{a.name} {a}" for a in arguments]), **page.rows}
    free = sorted({d for a in arguments for d in a.dims or () if isinstance(d, str)})
    if free:
        page.rows["free"] = [f"{', '.join(free)}: given by the data, or by --batch"]
    page.facts["free"] = free
    try:
        page.loaded = load_model(page.spec, asked.weights, asked.input_path, asked.seed, asked.batch)
        if page.loaded.spec != page.spec:
            page.rows["free"] = [f"{', '.join(free)}: drawn as in {page.loaded.spec}, 8 is refused; or given by the data"]
        _compiled(page, replace(named, spec=page.loaded.spec), page.loaded)
    except FleetError as error:
        page.problem = error


def _compiled(page: Page, asked: InspectRequest, loaded: LoadedModel) -> None:
    from fleet.compiler.inspection import inspect_program

    facts = page.program = inspect_program(loaded.program, asked.device)
    program = loaded.program
    inputs = [f"{a.name} {a.dtype.name}{list(a.shape)}" for a in program.inputs]
    if inputs:
        page.rows["inputs"] = [", ".join(inputs[:SHOWN]) + (", drawn" if loaded.random else "")]
    if facts.weights:
        drawn = ", drawn: give --weights" if any(a.kind == "weight" and a.name in loaded.random for a in program.arguments) else ""
        page.rows["weights"] = [weights_row(facts.weights, facts.weight_numbers, facts.weight_bytes) + drawn]
    if "outputs" not in page.rows and program.outputs:
        page.rows["outputs"] = [", ".join(program.outputs)]
    page.rows["operators"] = [counted(facts.operators)]
    sizes = ", ".join(f"{name} = {size}" for name, size in facts.symbols.items())
    rounds = ", of a loop those of one round" if "while" in facts.operators else ""
    page.rows["work"] = [f"{facts.macs:,} multiply-accumulates{f' at {sizes}' if sizes else ''}{rounds}"]
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
    """Yield share and cycles of each device, operations left to the host and why; merges neighbours with equal reasons."""
    before: list[str] = []
    for d in devices:
        if d.refused is not None:
            yield f"{d.device:<12} {'' if d.refused.startswith('not ') else 'nothing: '}{d.refused}"
            continue
        share = f"{100 * d.share:.0f} % of the {'work' if d.macs else 'operations'}"
        cycles = f", {d.cycles:,} cycles (estimated)" if d.cycles is not None else ", not compiled: whether it fits was not tried"
        yield f"{d.device:<12} {share}, {d.placed} of {d.operations} operations{cycles if d.placed else ''}"
        kept = [f"{', '.join(r.operations[:3])}{more(len(r.operations), 3)}: {r.why}" for r in d.reasons[:3]]
        if len(d.reasons) > 3:
            kept.append(f"{sum(len(r.operations) for r in d.reasons[3:])} more, for {len(d.reasons) - 3} other reasons")
        own = [line.replace(d.device, "the device") for line in kept]
        if own and own == before:
            kept = ["as the device above"]
        before = own
        yield from (f"{'':<12} host: {line}" for line in kept)
