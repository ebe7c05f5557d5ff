"""Lowers a graph to instructions: nodes in order, a place for every result, the instruction set's task for every call."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from fleet.errors import DeviceError, ModelError
from fleet.ir.accel.nodes import ConstantNode, Node, OperatorCall, TupleItemNode, TupleNode, VarNode
from fleet.ir.accel.types import AccelTensor
from fleet.isa.description import Description
from fleet.sdk import Device
from fleet.sdk.tasks import GraphTasks, Packing, TaskCall, TaskOperand
from fleet.symbols.expr import Expr, Numb, Number, as_expr, dim, upper
from fleet.symbols.expr import Var as Dim
from fleet.targets.accel.emission import ConstantPlace, Emission, Instr, Loop, NodeInfo, Requirement, address_of, set_parameter
from fleet.targets.accel.memory.place import GraphPlacement, located, short
from fleet.targets.accel.memory.storage import Planner
from fleet.targets.accel.settings import BuildConfig
from fleet.targets.driver.names import Names

_MOST_ROUNDS = 1 << 16
"""Each takes space in the binary."""

GLOBAL = "global::"
"""Name prefix of shared constants: equal names are equal constants, stored in block "global"."""


def lower(
    graph: Node, tasks: GraphTasks, device: Device, description: Description, planner: Planner, config: BuildConfig,
    options: Mapping[str, Any],
) -> Emission:  # fmt: skip
    """Emit the instructions of a graph and allocate memory for all its tensors.

    Args:
        graph: after `infer_type`.
        tasks: of the instruction set.
        device, description: what it runs on, and of its set.
        planner: allocates the storages; their addresses are not known yet.
        config, options: of the build.

    Raises:
        ModelError: a node has no type, a dimension has no bound, a constant is used in two ways.
        DeviceError: the device cannot run a node; the message names the node and the reason.
    """
    return _Lowering(graph, tasks, device, description, planner, config, options).run()


@dataclass
class _Context:
    """The context of a task (`fleet.sdk.tasks.TaskContext`)."""

    device: Device
    description: Description
    lite: bool
    items: list[Instr | Loop] = field(default_factory=list["Instr | Loop"])
    requirements: dict[Requirement, None] = field(default_factory=dict[Requirement, None])
    parameters: dict[str, int] = field(default_factory=dict[str, int])
    ops: tuple[str, ...] = ()
    tokens: tuple[Number, Number] | None = None
    _body: list[Instr] | None = None
    _loops: int = 0

    def emit(self, instruction: str, fields: Mapping[str, Number], tokens: tuple[Number, Number] | None = None) -> None:
        made = Instr(instruction, {n: dim(v) for n, v in fields.items()}, self.ops, tokens or self.tokens)
        (self.items if self._body is None else self._body).append(made)

    @contextmanager
    def loop(self, name: str, count: Number) -> Generator[Expr]:
        if self._body is not None:
            raise DeviceError("a loop in a loop", where=name)
        rounds = dim(count)
        if not isinstance(rounds, Expr) and rounds == 1:
            yield Numb(0)
        elif self.lite:
            self.require(rounds, 1, "rounds of a loop over tokens, of which setting 'lite' allows none")
            yield Numb(0)
        else:
            most = upper(rounds)
            if most > _MOST_ROUNDS:
                raise DeviceError(f"a loop of {most:,} rounds, at most {_MOST_ROUNDS:,} are possible", hint="make steps smaller")
            self._loops += 1
            index = Dim(f"{name}_{self._loops}", most - 1)
            self._body = []
            try:
                yield index
                self.items.append(Loop(index, as_expr(rounds), most, tuple(self._body)))
            finally:
                self._body = None

    def parameter(self, register: str, value: int) -> None:
        set_parameter(self.parameters, self.description, register, value)

    def require(self, value: Number, most: int, what: str) -> None:
        number = as_expr(value).simplify()
        if number.upper() > most:
            self.requirements.setdefault(Requirement(number, most, what))


class _Lowering:
    def __init__(
        self, graph: Node, tasks: GraphTasks, device: Device, description: Description, planner: Planner, config: BuildConfig,
        options: Mapping[str, Any],
    ) -> None:  # fmt: skip
        self.graph, self.tasks, self.device, self.planner = graph, tasks, device, planner
        self.config, self.options = config, options
        self.place = GraphPlacement(graph, tasks, device, planner, config)
        self.context = _Context(device, description, config.lite)
        self.places: dict[Node, tuple[TaskOperand, ...]] = {}
        self.constants: dict[ConstantNode, ConstantPlace] = {}
        self.constant_names = Names()
        self.nodes: list[NodeInfo] = []
        self.inputs: dict[str, TaskOperand] = {}
        self.log: list[str] = []

    def run(self) -> Emission:
        for node in self.place.order:
            if isinstance(node, VarNode):
                self.places[node] = self.place.operands(node)
                self.inputs[node.label or "input"] = self.places[node][0]
        for node in self.place.order:
            if isinstance(node, OperatorCall):
                self._call(node)
            elif isinstance(node, TupleItemNode):
                self._item(node)
            elif isinstance(node, TupleNode) and node is not self.graph:
                self.places[node] = tuple(self.places[f][0] for f in node.fields)
        self._check_names()
        return Emission(
            tuple(self.context.items), tuple(self.nodes), self.inputs, self._outputs(),
            tuple(self.constants.values()), self.place.dims, tuple(self.context.requirements), self.context.parameters,
            tuple(self.log),
        )  # fmt: skip

    def _check_names(self) -> None:
        """Dimensions, storages and loops are variables of the same expressions."""
        loops = [item.index.name for item in self.context.items if isinstance(item, Loop)]
        for name in (*self.planner.names(), *loops):
            if name in self.place.dims:
                raise ModelError(f"a dimension is called '{name}', as a storage or a loop is", where="graph", hint="rename it")

    # ---- nodes

    def _item(self, node: TupleItemNode) -> None:
        source = self.places[node.source]
        self.places[node] = (source[node.index],)
        for size in source[node.index].shape:
            self.context.require(1 - as_expr(size), 0, f"too few for result {node.index} of '{node.source.label or 'a split'}'")

    def _call(self, node: OperatorCall) -> None:
        name, types = self.place.names[node], self.place.types(node)
        args = tuple(self._argument(node, name, i, a) for i, a in enumerate(node.args))
        call = TaskCall(node.op, name, args, (), dict(node.attrs))
        view = self.tasks.views.get(node.op)
        with located(f"{name} ({node.op})", name, view or self.tasks.tasks[node.op]):
            if view is None:
                self._task(node, call)
            else:
                self.places[node] = view(call, [t.shape for t in types])
                self._possible(node, call, types)

    def _possible(self, node: OperatorCall, call: TaskCall, types: Sequence[AccelTensor]) -> None:
        """Refuse steps too small for a view: a part of negative size, a token that does not exist."""
        what = f"too few for '{call.node}' ({node.op})"
        for size in {d: None for t in types for d in t.shape}:
            self.context.require(-as_expr(size), 0, what)
        index = node.attrs.get("index")
        if index is not None:
            self.context.require(as_expr(index) + 1 - call.args[0].shape[1], 0, what)
            self.context.require(-as_expr(index), 0, what)

    def _task(self, node: OperatorCall, call: TaskCall) -> None:
        args = tuple(self._constant(call, i, a) for i, a in zip(range(len(call.args)), node.args, strict=True))
        done = replace(call, args=args, results=self.place.operands(node))
        self.places[node] = done.results
        shape = done.results[0].shape
        context = self.context
        context.ops, context.tokens = (call.node,), (0, shape[1]) if len(shape) == 3 else None
        first = len(context.items)
        self.tasks.tasks[node.op](context, done)
        self.nodes.append(NodeInfo(call.node, node.op, first, len(context.items), done.results))
        if self.config.debug:
            self.log.append(_line(done))

    # ---- constants

    def _argument(self, node: OperatorCall, name: str, index: int, argument: Node) -> TaskOperand:
        if not isinstance(argument, ConstantNode):
            return self.places[argument][0]
        if node.op in self.tasks.views:
            what = f"operand {index + 1} is the constant '{argument.label}', views are of computed tensors"
            raise DeviceError(what, where=f"{name} ({node.op})")
        (tensor,) = self.place.types(argument)
        return TaskOperand(tensor.shape, tensor.dtype.dtype, tensor.dtype.mapped, 0, name=argument.label or "constant")

    def _constant(self, call: TaskCall, index: int, argument: Node) -> TaskOperand:
        """Return the operand of an argument; a constant is placed at its first use."""
        operand = call.args[index]
        if not isinstance(argument, ConstantNode):
            return operand
        packing = self.tasks.packing(self.device, call, index, self.options)
        shared = argument.prefix == "global" or operand.name.startswith(GLOBAL)
        place = self.constants.get(argument)
        if place is None:
            name = self.constant_names.unique(operand.name)
            block = "global" if shared else argument.prefix
            storage = self.planner.take(f"constant {name}", block, operand.space, packing.room.size)
            place = self.constants[argument] = ConstantPlace(name, argument.data, storage, operand.space, packing)
        _check_use(place, packing, call)
        room = place.packing.room
        return replace(
            operand, shape=packing.shape, address=address_of(place.storage), surface=room.surface, line=room.line,
            group=packing.group, kept=packing.kept, name=place.name, storage=place.storage,
        )  # fmt: skip

    # ---- results

    def _outputs(self) -> Mapping[str, TaskOperand]:
        fields = self.graph.fields if isinstance(self.graph, TupleNode) else (self.graph,)
        single = not isinstance(self.graph, TupleNode)
        outputs: dict[str, TaskOperand] = {}
        for n, node in enumerate(fields):
            if isinstance(node, (ConstantNode, VarNode)):
                raise ModelError(f"'{node.label}' is not a result of a computation", where="graph", hint="return what a call gives")
            for i, operand in enumerate(self.places[node]):
                if operand.space == "onchip":
                    raise ModelError(
                        "a result stands on chip, where no host can read it", where="graph", hint="leave its block 'runtime'"
                    )
                base = "output" if single else f"output{n}"
                outputs[base if i == 0 else f"{base}_argmax"] = operand
        return outputs


def _check_use(place: ConstantPlace, packing: Packing, call: TaskCall) -> None:
    """Raises ModelError if a constant is used in two ways."""
    known = place.packing
    if (known.kind, known.room, known.shape) != (packing.kind, packing.room, packing.shape):
        ways = f"as {packing.kind} of {list(packing.shape)}, elsewhere as {known.kind} of {list(known.shape)}"
        raise ModelError(
            f"constant '{place.name}' is used {ways}", where=f"{call.node} ({call.op})", hint="make two constants of it"
        )


def _line(call: TaskCall) -> str:
    def show(o: TaskOperand) -> str:
        return f"{o.name}={o.space}:{o.address}" if o.name else f"{o.space}:{o.address}"

    return f"{call.node}: {short(call.op)}({', '.join(map(show, call.args))}) -> {', '.join(map(show, call.results))}"
