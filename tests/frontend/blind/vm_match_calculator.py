"""A stack machine and an expression parser that work on arrays."""
from dataclasses import dataclass

import numpy as np


@dataclass
class Num:
    value: float


@dataclass
class Var:
    name: str


@dataclass
class Bin:
    op: str
    left: object
    right: object


def tokenize(s):
    out, i = [], 0
    while i < len(s):
        c = s[i]
        if c.isspace():
            i += 1
        elif c.isdigit() or c == ".":
            j = i
            while j < len(s) and (s[j].isdigit() or s[j] == "."):
                j += 1
            out.append(s[i:j])
            i = j
        elif c.isalpha():
            out.append(c)
            i += 1
        else:
            out.append(c)
            i += 1
    return out


PREC = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}


def parse(tokens, level=0):
    tok = tokens.pop(0)
    if tok == "(":
        left = parse(tokens)
        assert tokens.pop(0) == ")"
    elif tok[0].isdigit():
        left = Num(float(tok))
    else:
        left = Var(tok)
    while tokens and tokens[0] != ")" and PREC[tokens[0]] > level:
        op = tokens.pop(0)
        left = Bin(op, left, parse(tokens, PREC[op]))
    return left


def evaluate(node, env):
    match node:
        case Num(value=v):
            return v
        case Var(name):
            return env[name]
        case Bin("+", l, r):
            return evaluate(l, env) + evaluate(r, env)
        case Bin("-", l, r):
            return evaluate(l, env) - evaluate(r, env)
        case Bin("*", l, r):
            return evaluate(l, env) * evaluate(r, env)
        case Bin("/", l, r):
            return evaluate(l, env) / evaluate(r, env)
        case Bin("^", l, Num(2.0)):
            v = evaluate(l, env)
            return v * v
        case _:
            raise TypeError(node)


env = {"x": np.array([1.0, 2.0, 3.0]), "y": np.array([0.5, 0.25, 4.0])}
for text in ("1 + 2 * 3", "(x + y) * 2", "x ^ 2 - y / x", "x*y - (3.5 - x)"):
    tree = parse(tokenize(text))
    print(f"{text:<18} = {evaluate(tree, env)}")
print(parse(tokenize("a+2*b")))
try:
    evaluate(parse(tokenize("x ^ 3")), env)
except TypeError as e:
    print("unsupported", e)
