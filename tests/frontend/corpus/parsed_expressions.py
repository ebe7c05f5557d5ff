import re
import numpy as np
class ParseError(SyntaxError): pass
TOKEN = re.compile(r"\s*(?:(\d+\.?\d*)|([a-zA-Z_]\w*)|(.))")
def tokenize(s):
    for num, name, op in TOKEN.findall(s):
        if num: yield "num", float(num)
        elif name: yield "name", name
        elif op.strip(): yield "op", op
    yield "end", None
class Parser:
    PREC = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}
    def __init__(self, text): self.toks = list(tokenize(text)); self.i = 0
    def peek(self): return self.toks[self.i]
    def next(self):
        t = self.toks[self.i]; self.i += 1; return t
    def expr(self, min_prec=0):
        kind, val = self.next()
        if kind == "num": left = ("num", val)
        elif kind == "name":
            if self.peek() == ("op", "("):
                self.next(); args = [self.expr()]
                while self.peek() == ("op", ","): self.next(); args.append(self.expr())
                if self.next() != ("op", ")"): raise ParseError("missing )")
                left = ("call", val, args)
            else: left = ("var", val)
        elif (kind, val) == ("op", "("):
            left = self.expr()
            if self.next() != ("op", ")"): raise ParseError("missing )")
        elif (kind, val) == ("op", "-"): left = ("neg", self.expr(3))
        else: raise ParseError(f"unexpected {val!r}")
        while self.peek()[0] == "op" and (p := self.PREC.get(self.peek()[1], -1)) >= min_prec and p > 0:
            op = self.next()[1]
            left = (op, left, self.expr(p + (op != "^")))
        return left
def ev(node, env):
    match node:
        case ("num", v): return v
        case ("var", n): return env[n]
        case ("neg", a): return -ev(a, env)
        case ("call", f, args): return getattr(np, f)(*(ev(a, env) for a in args))
        case ("+", a, b): return ev(a, env) + ev(b, env)
        case ("-", a, b): return ev(a, env) - ev(b, env)
        case ("*", a, b): return ev(a, env) * ev(b, env)
        case ("/", a, b): return ev(a, env) / ev(b, env)
        case ("^", a, b): return ev(a, env) ** ev(b, env)
def diff(n, x):
    match n:
        case ("num", _): return ("num", 0.0)
        case ("var", v): return ("num", float(v == x))
        case ("+" | "-" as op, a, b): return (op, diff(a, x), diff(b, x))
        case ("*", a, b): return ("+", ("*", diff(a, x), b), ("*", a, diff(b, x)))
        case ("^", a, ("num", k)): return ("*", ("*", ("num", k), ("^", a, ("num", k - 1))), diff(a, x))
        case ("call", "sin", [a]): return ("*", ("call", "cos", [a]), diff(a, x))
        case _: raise NotImplementedError(n[0])
for src in ("1 + 2*3^2", "-(2+x)*sin(y/2)", "2^3^2", "max(x"):
    try:
        tree = Parser(src).expr(); print(src, "=", ev(tree, {"x": 1.5, "y": np.pi}))
    except ParseError as e: print(src, "->", e)
d = diff(Parser("x^3 + 2*x*sin(x)").expr(), "x"); xs = np.linspace(0, 1, 3)
print(np.round([ev(d, {"x": x}) for x in xs], 5), np.allclose(ev(d, {"x": xs}), 3 * xs**2 + 2 * np.sin(xs) + 2 * xs * np.cos(xs)))
