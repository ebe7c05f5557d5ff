import re

TOKEN = re.compile(r"\s*(?:(\d+\.?\d*)|(.))")


class Parser:
    def __init__(self, text):
        self.tokens = [(float(num) if num else op) for num, op in TOKEN.findall(text)]
        self.pos = 0

    def peek(self):
        return self.tokens[self.pos] if self.pos < len(self.tokens) else None

    def take(self):
        tok = self.peek()
        self.pos += 1
        return tok

    def expr(self):
        value = self.term()
        while self.peek() in ("+", "-"):
            if self.take() == "+":
                value += self.term()
            else:
                value -= self.term()
        return value

    def term(self):
        value = self.factor()
        while self.peek() in ("*", "/"):
            op = self.take()
            rhs = self.factor()
            value = value * rhs if op == "*" else value / rhs
        return value

    def factor(self):
        tok = self.take()
        if tok == "(":
            v = self.expr()
            if self.take() != ")":
                raise SyntaxError("expected )")
            return v
        if tok == "-":
            return -self.factor()
        if isinstance(tok, float):
            return tok
        raise SyntaxError(f"unexpected {tok!r}")


for text in ["1 + 2 * 3", "(1+2)*3", "-4 / (2 - 2.5)", "2 * (3", "7 / 0"]:
    try:
        print(f"{text:15s} = {Parser(text).expr():g}")
    except (SyntaxError, ZeroDivisionError) as err:
        print(f"{text:15s} ! {type(err).__name__}: {err}")
