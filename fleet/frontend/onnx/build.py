"""Collects the program: operations in one block, weights as arguments, every operation with its node's identity."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from fleet.core.unique import Taken
from fleet.frontend.onnx.array import OnnxArray
from fleet.frontend.onnx.chain import OnnxChain
from fleet.frontend.onnx.graph import OnnxNode
from fleet.frontend.onnx.limits import MAX_FOLDED, MAX_LETTERS, MAX_OPERATIONS
from fleet.frontend.onnx.narrow import carried, narrow_of
from fleet.frontend.onnx.problems import NeedsInputs, refuse
from fleet.ir import dialect as d
from fleet.ir.arguments import append_argument, erase_arguments
from fleet.ir.build import make
from fleet.ir.constants import constant
from fleet.ir.dead import drop_dead
from fleet.ir.dialect import OPERATIONS, BinaryOp, ConstantOp, FleetOp, MatmulOp, kind_of
from fleet.ir.program import Argument, Program
from fleet.ir.room import check_results
from fleet.ir.shapes import InferenceError
from fleet.ir.types import element_type, tensor_type
from fleet.transforms.simplify.canonicalise import canonicalise
from fleet.transforms.simplify.numbers import COMPUTED, folded

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*\Z")
_MAX_BOUND = 1 << 12
"""Elements of an input of integers or truth values that may decide shapes; more are data."""
_MAX_FLOATS = 32
"""Elements of an input of floats that may decide shapes: factors and regions of a Resize."""
_FOLDED = (COMPUTED - {d.VarOp}) | {d.CumsumOp, d.ArgmaxOp, d.ArgminOp, d.GatherOp, d.PadOp}
"""Operations on known arrays that are computed while the model is read: shapes, indices and other small arrays."""


class Build:
    """One program in the making.

    Attributes:
        where: the file, for messages. bound: values of inputs that decide shapes, by name.
        given: values of all inputs, which decide branches alone; None if the program is made for all sizes
            (`fleet.frontend.onnx.dynamic`).
        words: numbers of texts (`fleet.frontend.onnx.texts`).
        choices: what was chosen by values or sizes that are known: (node, choice).
        said: lines for the user, once the program is made.
    """

    def __init__(
        self,
        where: str,
        bound: Mapping[str, np.ndarray],
        given: Mapping[str, np.ndarray] | None,
        words: Mapping[str, int] | None = None,
    ) -> None:
        self.where = where
        self.bound = bound
        self.given = given or {}
        self.words = dict(words or {})
        self._letters = 0
        self.general = given is None
        self.choices: list[tuple[str, object]] = []
        self._said: dict[str, str] = {}
        self.block = Block()
        self.arguments: list[Argument] = []
        self.weights: dict[str, np.ndarray] = {}
        self._place: OnnxNode | None = None
        self._constants: dict[tuple[str, Attribute], SSAValue] = {}
        self._taken = Taken()
        self._named = Taken()
        self._fresh: list[FleetOp] = []
        self._held: dict[SSAValue, Any] = {}
        self._count = 0

    # ---- arguments

    def input(self, argument: Argument) -> OnnxArray:
        """An input of the program."""
        value = append_argument(self.block, tensor_type(argument.shape, argument.dtype))
        self.arguments.append(argument)
        self._named.add(argument.name)
        _hint(value, argument.name)
        return OnnxArray(self, None, value)

    def known(self, array: np.ndarray, name: str | None = None) -> OnnxArray:
        """An array that is known now; it becomes a weight, or a constant, where a value of the program is needed."""
        return OnnxArray(self, carried(array), None, name, narrow_of(array.dtype))

    def spell(self, texts: np.ndarray) -> np.ndarray:
        """Numbers of texts, new ones for those that had none. Raises ModelError for too many letters of new ones."""
        flat: list[str] = texts.reshape(-1).tolist()
        for text in flat:
            if text not in self.words:
                self.words[text] = len(self.words)
                self._letters += len(text)
        if self._letters > MAX_LETTERS:
            self.refuse(f"the texts that are made have more than {MAX_LETTERS} letters")
        return np.array([self.words[text] for text in flat], np.int64).reshape(texts.shape)

    def value(self, array: OnnxArray) -> SSAValue:
        """The value of the program behind an array."""
        if array.ssa is None:
            assert array.known is not None
            array.ssa = self._weight(array.known, array.name)
        return array.ssa

    def kept(self, array: np.ndarray, name: str) -> OnnxArray:
        """As `known`, but never folded into what is computed of it: the program has it as a weight."""
        return OnnxArray(self, None, self.value(self.known(array, name)))

    def _weight(self, array: np.ndarray, name: str | None) -> SSAValue:
        flat = array.reshape(-1)
        uniform = name is None and flat.size and (flat.size == 1 or flat.tobytes() == flat[:1].tobytes() * flat.size)
        if uniform or (not array.shape and np.isfinite(array)):  # a single number is one, under whatever name it stands
            return self._constant(flat[0].item(), tensor_type(array.shape, array.dtype))
        base = name or f"{self._base()}.constant"
        unique = self._named.unique(base)
        value = append_argument(self.block, tensor_type(array.shape, array.dtype))
        self.arguments.append(Argument(unique, array.shape, array.dtype, "weight"))
        self.weights[unique] = np.asarray(array, order="C")
        _hint(value, unique)
        return value

    def _constant(self, number: bool | int | float, type_: Attribute) -> SSAValue:
        key = (repr(number), type_)
        if key not in self._constants:
            try:
                op = constant(number, type_)
            except InferenceError as error:
                self.refuse(str(error))
            self._constants[key] = self._append(op)
        return self._constants[key]

    # ---- operations

    def emit(self, name: str, operands: Sequence[OnnxArray], **attributes: object) -> OnnxArray:
        """One operation; computed now where all of its operands are known and small. Raises ModelError at the node."""
        if all(a.known is not None for a in operands) and not (self.general and _of_a_table(name, operands)):
            known = [a.known for a in operands if a.known is not None]
            found = folded(name, known, attributes, _FOLDED, MAX_FOLDED)
            if found is not None:
                return self.known(found)
        try:
            op = make(name, self._operands(name, operands), **attributes)
        except InferenceError as error:
            self.refuse(str(error))
        return OnnxArray(self, None, self._append(op))

    def _operands(self, name: str, operands: Sequence[OnnxArray]) -> list[SSAValue]:
        """Single numbers beside arrays become constants, as in a NumPy source."""
        scalars = name in _ELEMENTWISE and any(a.known is None or a.shape for a in operands)
        if name == "where" and not operands[1].shape and not operands[2].shape:
            scalars = False  # two Python numbers would have the dtypes of Python
        values: list[SSAValue] = []
        for a in operands:
            if scalars and a.known is not None and a.shape == () and a.name is None:
                values.append(self._constant(a.known.item(), element_type(a.dtype)))
            else:
                values.append(self.value(a))
        return values

    def _append(self, op: FleetOp) -> SSAValue:
        self._count += 1
        if self._count > MAX_OPERATIONS:
            self.refuse(f"the program has more than {MAX_OPERATIONS} operations")
        self.block.add_op(op)
        self._fresh.append(op)
        return op.results[0]

    def chose(self, choice: object) -> None:
        """Notes what the present node chose by a size or a value, which other sizes may choose otherwise."""
        self.choices.append((self._place.where if self._place is not None else self.where, choice))

    # ---- identity

    def at(self, node: OnnxNode | None) -> None:
        """What is emitted from now on belongs to this node."""
        self._place = node

    def finish(self, node: OnnxNode, outputs: Sequence[object]) -> None:
        """Gives the node's operations their identity: the one that makes an output carries the node's name."""
        makers: dict[Operation, str] = {}
        for name, value in zip(node.outputs, outputs, strict=False):
            if isinstance(value, OnnxArray) and value.ssa is not None and isinstance(value.ssa.owner, FleetOp):
                makers.setdefault(value.ssa.owner, name)
        for op in self._fresh:
            variable = makers.get(op)
            kind = kind_of(op)
            if isinstance(op, ConstantOp):
                wanted, variable = "constant", None
            else:
                wanted = self._base() if variable is not None else f"{self._base()}.{kind}"
            op.describe(id=self._taken.unique(wanted), var=variable, at=node.where)
            if variable is not None:
                _hint(op.results[0], _plain(variable))
        self._fresh = []

    def _base(self) -> str:
        return _plain(self._place.label) if self._place is not None else "model"

    # ---- what is wrong

    def refuse(self, what: str, hint: str | None = None) -> NoReturn:
        """Raises ModelError at the present node."""
        refuse(self._place.where if self._place is not None else self.where, what, hint)

    def values_of(self, array: OnnxArray, what: str) -> np.ndarray:
        """What an array holds. Raises NeedsInputs where only inputs decide it, ModelError where it is computed of more."""
        if array.known is not None:
            return array.known
        names = self._roots(self.value(array))
        if names is None:
            hint = "leave the node out with --from and --to, or bind the input that decides it with --known"
            self.refuse(f"a shape depends on data: {what} must be known before the model runs", hint)
        raise NeedsInputs(names)

    def values_or_none(self, array: OnnxArray, what: str) -> np.ndarray | None:
        """What an array holds; None if it is computed of data. Raises NeedsInputs where only small inputs decide it."""
        if array.known is None and self._roots(self.value(array)) is None:
            return None
        return self.values_of(array, what)

    def decided(self, condition: OnnxArray, what: str) -> tuple[bool, str]:
        """What a condition is for the inputs that are given, and the words for those that lead to it ("known" if none do).

        what: what is wrong if it cannot be computed while the model is read, which is a ModelError. Raises NeedsInputs where
        small inputs alone decide it.
        """
        if condition.known is None and (names := self._roots(self.value(condition))) is not None:
            raise NeedsInputs(names)
        values, words = self.computed(condition, what)
        return bool(values.reshape(-1)[0]), words

    def computed(self, array: OnnxArray, what: str) -> tuple[np.ndarray, str]:
        """What an array holds for the inputs that are given, and the words for what leads to it.

        what: what is wrong if that cannot be computed while the model is read, which is a ModelError.
        """
        if array.known is not None:
            return array.known, "known"
        value = self.value(array)
        arguments = list(zip(self.block.args, self.arguments, strict=True))
        values = {v: self.given.get(a.name, self.weights.get(a.name)) for v, a in arguments}
        chain = OnnxChain(value, {v: a.name for v, a in arguments if a.kind == "input"}, {**values, **self._held})
        try:
            found = np.asarray(chain.compute(self._held))
        except (NotImplementedError, KeyError, ArithmeticError, ValueError, LookupError, TypeError):
            hint = "leave it out with --from and --to, or say the inputs that decide it with --known"
            self.refuse(f"{what}: {chain.words()}", hint)
        return found, chain.words()

    def say(self, words: str, more: str = "") -> None:
        """Notes a line about the present node for the user: `words`, and `more` as it is when they are first said of it.

        A node in a loop is read once a round.
        """
        where = self._place.where if self._place is not None else self.where
        self._said.setdefault(f"{where}: {words}", more)

    @property
    def said(self) -> list[str]:
        """The lines of `say`."""
        return [line + more for line, more in self._said.items()]

    def holds(self, condition: OnnxArray, message: str) -> None:
        """Ends a run in which the condition (one truth value) does not hold, with this message about the present node."""
        where = self._place.where if self._place is not None else self.where
        if condition.known is None:
            self.emit("check", [condition.reshape()], message=f"{where}: {message}")

    def _roots(self, value: SSAValue) -> frozenset[str] | None:
        """The inputs that alone decide a value; None if one of them is too large to be a shape."""
        found: set[str] = set()
        seen: set[SSAValue] = set()
        left = [value]
        while left:
            v = left.pop()
            if v in seen:
                continue
            seen.add(v)
            if isinstance(v, BlockArgument):
                argument = self.arguments[v.index]
                if argument.kind == "input":
                    limit = _MAX_FLOATS if argument.dtype.kind == "f" else _MAX_BOUND
                    if len(argument.shape) > 1 + (argument.dtype.kind != "f") or math.prod(argument.shape) > limit:
                        return None
                    found.add(argument.name)
            elif isinstance(v.owner, Operation):
                left += v.owner.operands
        return frozenset(found) or None

    # ---- the end

    def program(self, name: str, outputs: Mapping[str, OnnxArray], symbols: Mapping[str, int]) -> Program:
        """The program that returns these arrays."""
        values = [self.value(a) for a in outputs.values()]
        for op in self._fresh:
            op.describe(id=self._taken.unique("constant"), at=self.where)
        self.block.add_op(ReturnOp(*values))
        drop_dead(self.block)
        self._drop_unused()
        types = ([v.type for v in self.block.args], [v.type for v in values])
        module = ModuleOp([FuncOp("model", types, Region(self.block))])
        arguments = tuple(self.arguments)
        program = Program(module, arguments, self.weights, tuple(outputs), "", name, symbols, bound=self.bound, words=self.words)
        return check_results(canonicalise(program))

    def _drop_unused(self) -> None:
        pairs = list(zip(self.arguments, self.block.args, strict=True))
        unused = {argument.name: value for argument, value in pairs if argument.kind == "weight" and not value.uses}
        erase_arguments(self.block, unused.values())
        self.arguments = [argument for argument in self.arguments if argument.name not in unused]
        for name in unused:
            del self.weights[name]


_ELEMENTWISE = {"where", *(name for name, op in OPERATIONS.items() if issubclass(op, BinaryOp) and op is not MatmulOp)}


def _of_a_table(name: str, operands: Sequence[OnnxArray]) -> bool:
    """Whether a part of a weight is taken: of how many rows, another size may say otherwise."""
    table = operands[0]
    return name in ("slice", "gather") and table.name is not None and table.known is not None and table.known.dtype.kind == "f"


def _plain(name: str) -> str:
    """A name as reports and files can have it; of the names that TensorFlow Lite joins ("a;b;c") the first."""
    found = re.sub(r"[^A-Za-z0-9_.]+", ".", name.partition(";")[0]).strip(".")
    return found if _PLAIN.match(found) else f"n{found}"


def _hint(value: SSAValue, name: str) -> None:
    value.name_hint = name if _PLAIN.match(name) else None
