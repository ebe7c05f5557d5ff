"""The disassembly that `--emit bytecode` prints."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.targets.bytecode.instructions import Form, instructions
from fleet.targets.bytecode.module import ByteCodeModule


def disassemble(module: ByteCodeModule) -> str:
    """Return one line per instruction: offset, opcode, operands, and after `;` the constant or the operation's id.

    Raises ModelError if the code is malformed.
    """
    head = [f"; target {module.target}, {module.variable_size} slots, {len(module.consts)} constants"]
    head += [f"; slot {i}: {a.kind} {a.name} {a.dtype}{list(a.shape)}" for i, a in enumerate(module.arguments)]
    tail = [f"; output {o.name}: slot {o.slot} ({o.type})" for o in module.outputs]
    return "\n".join([*head, *_lines(module), *tail]) + "\n"


def _lines(module: ByteCodeModule) -> Iterator[str]:
    names = iter(module.invokes)
    for i in instructions(module.code):
        text, comment = i.op.name, ""
        if i.form is Form.ldc:
            comment = _constant(module, i.constant)
            if i.shape is None or i.element is None:
                text += f" scalar #{i.constant}"
            else:
                text += f" tensor {'x'.join(str(d) for d in i.shape) or 'rank 0'} {i.element.name} #{i.constant}"
        elif i.form is Form.invoke:
            text += f" #{i.constant}"
            name = next(names, None)
            comment = (f"{name}: " if name else "") + _constant(module, i.constant).strip("'\"")
        elif i.form in (Form.jump, Form.branch):
            text += f" {i.target}"
        elif i.end - i.offset > 1:
            text += f" {i.slot}"
        yield f"{i.offset:6}  {text}" + (f"{'':{max(1, 26 - len(text))}}; {comment}" if comment else "")


def _constant(module: ByteCodeModule, index: int) -> str:
    return repr(module.consts[index]) if 0 <= index < len(module.consts) else "no such constant"
