"""An ONNX model as the user gave it, with those intermediate values exposed that correspond to operations of the program.

An operation that produces a node's output has the output's name (`var`) and the node's place (`at`). Operations without a name,
the parts of a node, count as fused into the operations that produce the outputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from xdsl.ir import SSAValue

from fleet.core.notice import notice
from fleet.engines.onnxruntime.accuracy import compute_exactly
from fleet.engines.onnxruntime.exact_sums import make_sums_exact
from fleet.engines.onnxruntime.norms import FoldedNorm, norm_of
from fleet.engines.onnxruntime.part import cut
from fleet.engines.onnxruntime.resizes import Resizing, resizing_of
from fleet.engines.onnxruntime.transforms import FourierTransform, transform_of
from fleet.engines.onnxruntime.widened import widen
from fleet.errors import ModelError
from fleet.ir.dialect import ConstantOp, FleetOp, PrintOp, op_id
from fleet.ir.program import Program


@dataclass(frozen=True)
class FileModel:
    """The file's model with further outputs.

    Attributes:
        data: the serialised model. folder: of external data. exposed: operation id -> name of the value.
        norms: operation id -> its normalisation, transform or resizing, which onnxruntime computes in its own way.
        weights: the file's initializers. widened: value -> the output that has it in a type that NumPy has.
        taken: further values that the roundings of `norms` are computed from.
    """

    data: bytes
    folder: Path
    exposed: Mapping[str, str]
    norms: Mapping[str, FoldedNorm | FourierTransform | Resizing]
    weights: Mapping[str, np.ndarray]
    widened: Mapping[str, str]
    taken: tuple[str, ...]


def file_of(program: Program) -> Path | None:
    """Return the ONNX file that the program was read from, if it still exists."""
    path = Path(program.source_name)
    return path if path.suffix == ".onnx" and not program.source and path.is_file() else None


def open_file(path: Path, program: Program, *, keep: bool) -> FileModel:
    """Read the model; with `keep` every value that corresponds to an operation becomes an output.

    Raises ModelError if the file is not the one that the program was read from.
    """
    import onnx

    from fleet.frontend.onnx.reader import read_file
    from fleet.frontend.onnx.texts import text_values
    from fleet.targets.onnx.export import IR_VERSION

    graph = read_file(path).graph
    texts = text_values(graph)
    made = {(node.where, name) for node in graph.nodes for name in node.outputs if name and name not in texts}
    exposed: dict[str, str] = {}
    for op in program.operations() if keep else ():
        at, var = (str(getattr(op.properties.get(key), "data", "")) for key in ("at", "var"))
        if op.results and (at, var) in made:
            exposed[op_id(op)] = var
    for name, value in zip(program.outputs, program.returned(), strict=True):
        if isinstance(value.owner, FleetOp) and not isinstance(value.owner, ConstantOp):
            exposed[op_id(value.owner)] = name
    model = onnx.load(str(path), load_external_data=False)
    model.ir_version = min(model.ir_version, IR_VERSION)  # additions of later versions of the format are not read
    given = {*(a.name for a in program.inputs), *program.bound}  # in place of defaults of the file
    dense, sparse = [*model.graph.initializer], [*model.graph.sparse_initializer]
    model.graph.ClearField("initializer")
    model.graph.ClearField("sparse_initializer")
    model.graph.initializer.extend(w for w in dense if w.name not in given)
    model.graph.sparse_initializer.extend(w for w in sparse if w.values.name not in given)
    made_names = {name for node in model.graph.node for name in node.output}
    weights = {*(w.name for w in model.graph.initializer), *(w.values.name for w in model.graph.sparse_initializer)}
    if missing := [name for name in program.outputs if name not in made_names | weights | {v.name for v in model.graph.input}]:
        raise ModelError(f"has no output {missing[0]!r}", where=str(path), hint="it has changed since it was read: run it again")
    own = {v.name for v in model.graph.input}
    if not {o.name for o in model.graph.output} >= set(program.outputs) or any(a.name not in own for a in program.inputs):
        cut(model, program.inputs, program.outputs)
    exposed = {identity: name for identity, name in exposed.items() if name in made_names}  # others are the converter's
    there = {o.name for o in model.graph.output}
    ways = ((node, norm_of(node) or transform_of(node) or resizing_of(node)) for node in graph.nodes)
    found = {node.outputs[0]: way for node, way in ways if way is not None}
    norms = {identity: found[name] for identity, name in exposed.items() if name in found}
    taken = [n for norm in norms.values() for n in norm.inputs if n in made_names and n not in exposed.values()]
    model.graph.output.extend(onnx.ValueInfoProto(name=n) for n in dict.fromkeys([*exposed.values(), *taken]) if n not in there)
    widened = widen(model, [*dict.fromkeys(o.name for o in model.graph.output)])
    make_sums_exact(model)
    if changed := compute_exactly(model.graph):
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        notice(
            f"{path.name}: engine onnxruntime runs {changed[0]}{more} with accuracy_level 0, the file's may quantise activations"
        )
    return FileModel(model.SerializeToString(), path.parent, exposed, norms, graph.weights, widened, tuple(taken))


def fused(program: Program, exposed: Mapping[str, str]) -> dict[str, str]:
    """Operation id -> "fused into ID" for operations without their own value: ID is the next operation with a value that uses it.

    Operations that lead only to a check (of the sizes the program was compiled for) are "not needed": onnxruntime has no check.
    """
    nearest: dict[SSAValue, str] = {}
    found: dict[str, str] = {}
    for op in reversed(list(program.operations())):
        if isinstance(op, PrintOp | ConstantOp):
            continue
        result = op.results[0]
        into = op_id(op) if op_id(op) in exposed else nearest.get(result)
        if into is None:
            found[op_id(op)] = "not needed"
            continue
        if into != op_id(op):
            found[op_id(op)] = f"fused into {into}"
        for operand in op.operands:
            nearest[operand] = into  # going backwards, the last entry written is the first operation that runs
    return found
