"""Inlines calls: a module of several functions becomes the one that is not called, containing the others' bodies."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import SSAValue

from fleet.errors import ModelError
from fleet.ir.dialect import FleetOp, op_id
from fleet.transforms.edit import Edit, text_of
from fleet.transforms.passes import plain

MAX_OPERATIONS = 100_000


def inline_calls(module: ModuleOp) -> None:
    """Inline every `func.call` and remove the called functions.

    Raises ModelError for recursion, a missing function, a call with other types, several functions that are not called, or more
    than `MAX_OPERATIONS` operations.
    """
    functions = {f.sym_name.data: f for f in module.ops if isinstance(f, FuncOp)}
    called = {c.callee.string_value() for f in functions.values() for c in f.walk() if isinstance(c, CallOp)}
    if not called:
        return
    roots = [name for name in functions if name not in called]
    if len(roots) != 1:
        raise ModelError(
            f"{len(roots)} functions that nothing calls ({', '.join(roots) or 'all call each other'})",
            where="inline", hint="a program has one",
        )  # fmt: skip
    _Inliner(functions).expand(functions[roots[0]], (roots[0],))
    for name, function in functions.items():
        if name != roots[0]:
            function.detach()
            function.erase()


class _Inliner:
    def __init__(self, functions: dict[str, FuncOp]) -> None:
        self.functions = functions
        self.count = 0
        self.operations = 0

    def expand(self, function: FuncOp, stack: tuple[str, ...]) -> None:
        """Inline the calls of one function, the callees' calls first."""
        taken = {op_id(op) for op in function.walk() if isinstance(op, FleetOp)}
        for call in [op for op in function.walk() if isinstance(op, CallOp)]:
            name = call.callee.string_value()
            if name in stack:
                raise ModelError(f"function @{name} calls itself ({' -> '.join([*stack, name])})", where="inline")
            callee = self.functions.get(name)
            if callee is None or callee.is_declaration:
                raise ModelError(f"call of @{name}, which the module does not define", where="inline")
            if [a.type for a in callee.args] != [a.type for a in call.operands]:
                raise ModelError(f"call of @{name} with other types than it takes", where="inline")
            self.expand(callee, (*stack, name))
            self._splice(call, callee, taken)

    def _splice(self, call: CallOp, callee: FuncOp, taken: set[str]) -> None:
        self.count += 1
        mapping: dict[SSAValue, SSAValue] = dict(zip(callee.args, call.operands, strict=True))
        block = call.parent_block()
        assert block is not None
        for op in callee.body.block.ops:
            self.operations += 1
            if self.operations > MAX_OPERATIONS:
                raise ModelError(f"more than {MAX_OPERATIONS} operations once calls are inlined", where="inline")
            if isinstance(op, ReturnOp):
                for result, value in zip(call.results, op.operands, strict=True):
                    result.replace_all_uses_with(mapping.get(value, value))
                break
            copy = op.clone(mapping)  # maps the results too
            if isinstance(copy, FleetOp):
                name = op_id(copy)
                if name in taken:
                    name = f"{callee.sym_name.data}{self.count}.{name}"
                taken.add(name)
                copy.describe(id=name, at=text_of(copy, "at"))
                copy.properties.pop("var", None)
            block.insert_op_before(copy, call)
        call.detach()
        call.erase()


def _apply(edit: Edit) -> None:
    inline_calls(edit.module)
    edit.renumber()


PASS = plain("inline", "put the bodies of called functions in place of calls", "bits", _apply, adds_weights=False)
