"""The disassembly that `--emit bytecode` prints."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.errors import ModelError
from fleet.targets.bytecode.module import ByteCodeModule
from fleet.targets.bytecode.opcodes import OpCode, TypeCode

__all__ = ["disassemble"]

_SLOT = (OpCode.iload, OpCode.istore, OpCode.fload, OpCode.fstore, OpCode.aload, OpCode.astore)


def disassemble(module: ByteCodeModule) -> str:
    """One line an instruction: offset, opcode, operands, and behind `;` the constant or the operation's id.

    Raises ModelError for code that is not well formed.
    """
    head = [f"; target {module.target}, {module.variable_size} slots, {len(module.consts)} constants"]
    head += [f"; slot {i}: {a.kind} {a.name} {a.dtype}{list(a.shape)}" for i, a in enumerate(module.arguments)]
    tail = [f"; output {o.name}: slot {o.slot} ({o.type})" for o in module.outputs]
    try:
        body = list(_lines(module))
    except (ValueError, IndexError) as error:
        raise ModelError(f"bytecode that is not well formed: {error}") from error
    return "\n".join([*head, *body, *tail]) + "\n"


def _lines(module: ByteCodeModule) -> Iterator[str]:
    code, position, invoked = module.code, 0, 0
    while position < len(code):
        start, op = position, OpCode(code[position])
        position += 1
        text, comment = op.name, ""
        if op is OpCode.ldc:
            kind = TypeCode(code[position])
            if kind is TypeCode.tensor:
                rank = code[position + 1]
                shape = "x".join(str(d) for d in code[position + 2 : position + 2 + rank]) or "rank 0"
                index = code[position + 3 + rank]
                text += f" tensor {shape} {TypeCode(code[position + 2 + rank]).name} #{index}"
                position += rank + 4
            else:
                index = code[position + 1]
                text += f" {kind.name} #{index}"
                position += 2
            comment = repr(module.consts[index])
        elif op is OpCode.invokestatic:
            index = code[position]
            position += 1
            text += f" #{index}"
            name = f"{module.invokes[invoked]}: " if invoked < len(module.invokes) else ""
            invoked += 1
            comment = f"{name}{module.consts[index]}"
        elif op in _SLOT:
            text += f" {code[position]}"
            position += 1
        yield f"{start:6}  {text}" + (f"{'':{max(1, 26 - len(text))}}; {comment}" if comment else "")
