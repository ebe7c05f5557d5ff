"""Placement of all values of a graph before any instruction is emitted: names, lifetimes, memories, storages."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from fleet.errors import DeviceError, FleetError, ModelError
from fleet.ir.accel.nodes import Node, OperatorCall, TupleItemNode, TupleNode, VarNode, post_order
from fleet.ir.accel.types import AccelTensor
from fleet.ir.accel.walk import caches
from fleet.isa.pattern_calls import failed
from fleet.sdk import Device
from fleet.sdk.tasks import GraphTasks, OnChipRoom, TaskCall, TaskOperand
from fleet.symbols.expr import Expr, ExprError, Number
from fleet.symbols.expr import Var as Dim
from fleet.targets.accel.emission import address_of
from fleet.targets.accel.memory.halves import ONCHIP, Halves
from fleet.targets.accel.memory.storage import Planner
from fleet.targets.accel.settings import BuildConfig
from fleet.targets.driver.names import Names
from fleet.targets.liveness import FOREVER, Lives

REALLOC = "accel.realloc"


def short(op: str) -> str:
    """ "mvm" of "accel.hbm.mvm"."""
    return op.rsplit(".", 1)[-1]


@contextmanager
def located(where: str, name: str, code: Callable[..., object]) -> Generator[None]:
    """Add the current node of the graph to errors. code: what the set does with it."""
    try:
        yield
    except ExprError as error:
        raise ModelError(error.what, where=where, hint=error.hint) from error
    except FleetError as error:
        if error.where is not None and name in error.where:
            raise
        raise type(error)(f"{error}", where=where) from error
    except (Exception, SystemExit) as error:  # whatever the author's code raises
        raise failed(where, code, error) from error


class GraphPlacement:
    """The places of a graph's inputs and results.

    Attributes:
        order: every node, arguments first. names: call -> its unique name.
        dims: the dynamic dimensions, by name, in the order in which they appear.
        joined: call -> (join, operand index): its result is written directly into that join's result.
    """

    def __init__(self, graph: Node, tasks: GraphTasks, device: Device, planner: Planner, config: BuildConfig) -> None:
        """Allocate memory for everything. Raises ModelError and DeviceError naming a node, as `lower`."""
        self.order = list(post_order(graph))
        self.names: dict[OperatorCall, str] = {}
        self.dims: dict[str, Dim] = {}
        self.joined = dict(_joined(self.order, tasks))
        self._tasks, self._device, self._planner, self._config = tasks, device, planner, config
        self._lives = self._lifetimes(graph)
        self._halves = Halves(self.order, tasks, self._lives)
        self._reserved = self._reservations()
        self._caches = frozenset(caches(graph).values())
        self._placed: dict[Node, list[tuple[str, TaskOperand]]] = {}
        self._parts: dict[Node, tuple[TaskOperand, ...]] = {}
        self._taken, self._keys, self._joins = Names(), Names(), 0
        for node in self.order:
            if isinstance(node, VarNode):
                self._input(node)
        steps = views = 0
        for node in self.order:
            if isinstance(node, OperatorCall):
                is_view = node.op in tasks.views
                self._call(node, f"{short(node.op)}_{f'view_{views}' if is_view else steps}")
                steps, views = steps + (not is_view), views + is_view
        planner.settle()

    def operands(self, node: Node) -> tuple[TaskOperand, ...]:
        """Return the places of an input or of a call's results. Raises DeviceError if a join cannot be written part by part."""
        if isinstance(node, OperatorCall) and node in self.joined:
            join, index = self.joined[node]
            if join not in self._parts:
                (whole,) = self.operands(join)
                args = tuple(_operand(t, whole.space) for a in join.args for t in self.types(a))
                call = TaskCall(join.op, self._placed[join][0][0], args, (), join.attrs)
                self._parts[join] = self._tasks.joins[join.op](call, whole)
            return (self._parts[join][index],)
        found = [(self._planner.storage(key), operand) for key, operand in self._placed[node]]
        return tuple(replace(operand, address=address_of(storage), storage=storage) for storage, operand in found)

    def types(self, node: Node) -> tuple[AccelTensor, ...]:
        """Return the types of a node's results and register their dimensions. Raises ModelError."""
        found = node.checked_type
        if found is None:
            where = f"node '{node.label or type(node).__name__}'"
            raise ModelError("it has no type", where=where, hint="run infer_type first")
        types = (found,) if isinstance(found, AccelTensor) else tuple(found)
        for t in types:
            self._dimensions(t.shape)
        return types

    def _dimensions(self, values: Iterable[object]) -> None:
        """Register dimensions; `infer_type` has found that each has a bound, and one name."""
        for value in values:
            for variable in value.variables if isinstance(value, Expr) else ():
                self.dims.setdefault(variable.name, variable)

    # ---- lifetimes

    def _lifetimes(self, graph: Node) -> Lives[Node]:
        """Steps are the calls that have instructions, from 0; inputs exist before the first."""
        lives = Lives[Node]()
        step = 0
        for node in self.order:
            match node:
                case VarNode():
                    lives.begin(node, -1)
                case OperatorCall() if node.op in self._tasks.views:
                    lives.view(node, node.args)
                case OperatorCall():
                    for argument in node.args:
                        lives.use(argument, step)
                    root = self.joined[node][0] if node in self.joined else node
                    if root not in lives.of:
                        lives.begin(root, step)
                    if root is not node:
                        lives.view(node, [root])
                    lives.use(node, step)
                    step += 1
                case TupleNode():
                    lives.view(node, node.fields)
                case TupleItemNode():
                    lives.view(node, [node.source])
                case _:
                    pass
        lives.use(graph, FOREVER)
        return lives

    def _reservations(self) -> Mapping[Node, list[tuple[Number, ...]]]:
        """Return root -> shapes for which it needs memory (`realloc`)."""
        found: dict[Node, list[tuple[Number, ...]]] = {}
        for node in self.order:
            if isinstance(node, OperatorCall) and node.op == REALLOC:
                for root in self._lives.roots(node):
                    found.setdefault(root, []).append(tuple(node.attrs["new_shape"]))
        return found

    # ---- places

    def _input(self, node: VarNode) -> None:
        (tensor,) = self.types(node)
        if node.prefix == ONCHIP:
            raise ModelError("it stands on chip, where no host can write it", where=f"input '{node.label}'")
        name = node.label or "input"
        operand = _operand(tensor, _space(node, tensor))
        with located(f"input '{name}'", name, self._tasks.room):
            room = self._tasks.room(self._device, operand, {})
        self._place(node, name, operand, room)

    def _call(self, node: OperatorCall, usual: str) -> None:
        self.names[node] = name = self._taken.unique(node.label or usual)
        types = self.types(node)
        self._dimensions(node.attrs.values())
        if node.op in self._tasks.views:
            return
        if node.op not in self._tasks.tasks:
            known = ", ".join(short(op) for op in self._tasks.tasks)
            raise DeviceError("the device has no instruction for it", where=f"{name} ({node.op})", hint=f"it has {known}")
        with located(f"{name} ({node.op})", name, self._tasks.tasks[node.op]):
            if node in self._caches and self._config.ping_pong(node.prefix):
                what = f"a cache stands in block '{node.prefix}', whose storages are used again"
                raise ModelError(what, where=f"{name} ({node.op})", hint="leave it in block 'hbm_cache'")
            avoid = sorted({part for a in node.args for root in self._lives.roots(a) for part in self._halves_of(root)})
            if node in self.joined:
                self._join(self.joined[node][0], avoid)
                return
            for n, tensor in enumerate(types):
                operand = _operand(tensor, _space(node, tensor))
                room = self._tasks.room(self._device, operand, dict(node.attrs))
                self._place(node, name if n == 0 else f"{name}.{n}", operand, room, avoid)

    def _join(self, join: OperatorCall, avoid: Sequence[int]) -> None:
        """Allocate the join together with the first of its parts."""
        if join not in self._placed:
            (tensor,) = self.types(join)
            operand = _operand(tensor, _space(join, tensor))
            name = self._taken.unique(join.label or f"{short(join.op)}_{self._joins}")
            self._joins += 1
            self._place(join, name, operand, self._tasks.room(self._device, operand, {}), avoid)

    def _halves_of(self, root: Node) -> Iterator[int]:
        return (self._planner.part(key) for key, operand in self._placed.get(root, ()) if operand.space == ONCHIP)

    def _place(self, node: Node, name: str, operand: TaskOperand, room: OnChipRoom, avoid: Sequence[int] = ()) -> None:
        """Allocate memory; a value that does not fit on chip may go to DDR (setting spill)."""
        shapes = self._reserved.get(node, ())
        size = max([room.size, *(self._tasks.room(self._device, replace(operand, shape=s), {}).size for s in shapes)])
        # Indices of an argmax are never on chip, even if the other result is.
        space = operand.space
        block = "runtime" if node.prefix == ONCHIP != space else node.prefix
        life, key = self._lives.of[node], self._keys.unique(name)
        try:
            self._planner.place(key, block, space, size, *life, avoid=avoid, prefer=self._halves.wanted(node))
            if space == ONCHIP:
                self._halves.placed(node, self._planner.part(key))
        except DeviceError:
            if space != ONCHIP or not self._config.spill:
                raise
            space = "ddr"
            self._planner.place(key, "runtime", space, size, *life)
        placed = replace(operand, space=space, surface=room.surface, line=room.line)
        self._placed.setdefault(node, []).append((key, placed))


def _space(node: Node, tensor: AccelTensor) -> str:
    return ONCHIP if node.prefix == ONCHIP and tensor.dtype.dtype == "float16" else tensor.dtype.mapped


def _operand(tensor: AccelTensor, space: str) -> TaskOperand:
    return TaskOperand(tensor.shape, tensor.dtype.dtype, space, 0)


def _joined(order: Sequence[Node], tasks: GraphTasks) -> Iterator[tuple[Node, tuple[OperatorCall, int]]]:
    """Return results that are written directly into a later join: those of calls with instructions, each for one join."""
    taken: set[Node] = set()
    for join in order:
        if not isinstance(join, OperatorCall) or join.op not in tasks.joins:
            continue
        parts = [
            a for a in join.args if isinstance(a, OperatorCall) and a.op in tasks.tasks and isinstance(a.checked_type, AccelTensor)
        ]
        if len(set(parts)) == len(join.args) and not any(a in taken or a.prefix != join.prefix for a in parts):
            taken |= set(parts)
            yield from ((a, (join, i)) for i, a in enumerate(parts))
