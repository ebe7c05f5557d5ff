"""A register-less VM and an assembler; match statements over tuples, dicts and classes."""
import numpy as np
import sys
from dataclasses import dataclass


@dataclass
class Push:
    value: float


@dataclass
class Op:
    name: str
    __match_args__ = ("name",)


@dataclass
class Jump:
    target: str
    cond: bool = False


def assemble(text):
    prog, labels = [], {}
    for line in text.splitlines():
        line, _, _comment = line.partition("#")
        match line.split():
            case []:
                continue
            case [label] if label.endswith(":"):
                labels[label[:-1]] = len(prog)
            case ["push", num]:
                prog.append(Push(float(num)))
            case ["jmp" | "jnz" as j, target]:
                prog.append(Jump(target, j == "jnz"))
            case [op]:
                prog.append(Op(op))
            case [op, *rest]:
                raise SyntaxError(f"cannot assemble {op!r} with {rest}")
    return prog, labels


def run(prog, labels, limit=1000):
    stack, pc, n = [], 0, 0
    while pc < len(prog):
        n += 1
        if n > limit:
            raise RuntimeError("step limit")
        ins = prog[pc]
        pc += 1
        match ins:
            case Push(v):
                stack.append(v)
            case Op("add" | "mul" | "sub" | "div" as name):
                b, a = stack.pop(), stack.pop()
                stack.append({"add": a + b, "mul": a * b, "sub": a - b, "div": a / b if b else np.nan}[name])
            case Op("dup"):
                stack.append(stack[-1])
            case Op("swap"):
                stack[-1], stack[-2] = stack[-2], stack[-1]
            case Op("rot"):
                stack.append(stack.pop(-3))
            case Op(name="print"):
                print("out:", stack[-1])
            case Jump(target, True):
                if stack[-1]:
                    pc = labels[target]
            case Jump(target):
                pc = labels[target]
            case _:
                raise NotImplementedError(ins)
    return stack, n


FACT = """
push 1       # accumulator
push 6
loop:
  dup
  rot
  mul
  swap
  push 1
  sub
  jnz loop
swap
print
"""
prog, labels = assemble(FACT)
stack, n = run(prog, labels)
print(stack, n, labels)


def describe(x):
    match x:
        case None: return "nothing"
        case np.ndarray(shape=(n,)): return f"vector {n}"
        case np.ndarray(ndim=d): return f"{d}-d array"
        case bool(): return "bool"
        case int(n) | float(n) if n < 0: return f"negative {n}"
        case 0 | 0.0: return "zero"
        case int(): return f"int {x}"
        case str() as s: return f"text of {len(s)}"
        case {"type": "circle", "r": r, **rest}: return f"circle {np.pi * r**2:.2f} {rest}"
        case {}: return "a dict"
        case (a, b): return f"pair {a},{b}"
        case [a, *mid, z]: return f"{a}..{len(mid)}..{z}"
        case _: return "other"


for v in (None, True, -3, 0, 7, -2.5, "abc", {"type": "circle", "r": 2, "c": "red"}, {"q": 1}, (1, 2), [1, 2, 3, 4], np.zeros(3), np.zeros((2, 2)), {1}):
    print(describe(v))
try:
    assemble("frob 1 2")
except SyntaxError as e:
    print("SyntaxError:", e.msg)
try:
    run(*assemble("x:\njmp x"))
except RuntimeError as e:
    print(e)
