"""Statements about the language: conditions, loops, calls, tuples and dicts, Python numbers, and aliases."""

from __future__ import annotations

from fleet.verify.programs.parts.hand import Hand, KnownExpression


def language(h: Hand, v: str, part: KnownExpression) -> list[str]:
    """Draw control flow, calls and containers around the array."""
    n, r = h.number(part), h.integer(1, 4)
    return h.one(
        (
            [f"p, *q = {v}.shape or (1,)", f"{v} = {v} * p + len(q)"],
            [f"p = 0 < {v}.ndim <= 2 < {r}", f"{v} = {v} + p"],
            [f"{v} = {v} + {n} if 1 <= {v}.ndim < {r} else {v} * {n}"],
            [f"{v} = {v} + {n} if {v}.ndim > {r} else {v} * 2"],
            ["k = 0", "while True:", "    k += 1", f"    if k > {r} or not {v}.ndim:", "        break", f"    {v} = {v} + k"],
            [f"for p, q in zip({v}.shape, range(3)):", f"    {v} = {v} + q * p"],
            [f"for p in reversed(range({r})):", f"    {v} = {v} * {n} + p"],
            [f"for p in range({r}):", f"    if p == {h.integer(0, 4)}:", "        break", "else:", f"    {v} = {v} + {n}"],
            [f"for p in ({n}, {h.number(part)}):", f"    {v} = {v} + p"],
            [
                f"if not {v}.ndim:",
                f"    {v} = {v} + 1",
                f"elif {v}.ndim == 2 or {v}.size > 7:",
                f"    {v} = {v}.sum(axis=-1)",
                "else:",
                f"    {v} = {v} * {n}",
            ],
            [f"p = [{v} * i for i in range({r + 1}) if i % 2 == 0]", f"{v} = p[-1]"],
            [f"p = {{'a': {v}, 'b': {n}}}", f"{v} = p['a'] + p['b']"],
            [f"p = q = {v} + 1", f"{v} = p * 2 - q * {n}"],
            [f"p = ({v}, {n})", f"{v} = p[0] + p[1]"],
            [f"p, q = {v}, {v} + 1", "p, q = q, p", f"{v} = p * 2 + q"],
            [f"{v} = helper(k={h.integer(0, 5)}, v={v})"],
            [f"{v} = helper(*({v}, {r}))"],
            [f"f = lambda p, q=2: p + q * {r}", f"{v} = f({v})"],
            [f"if any(p > {r} for p in {v}.shape) or all(p < {r} for p in {v}.shape):", f"    {v} = {v} + {n}"],
            [f"if {v}.ndim in (0, {r}):", f"    {v} = {v} + {n}"],
            [f"if {v}.shape == {part.shape} and {v}.dtype == np.{part.dtype.name}:", f"    {v} = {v} + {n}"],
            [f"p = np.ones({v}.shape[:1] + (2,))[..., 0].sum()", f"{v} = {v} + p"],
        )
    )


def functions(h: Hand, v: str, part: KnownExpression) -> list[str]:
    """Draw a function with parameters of all kinds, and a call with arguments by position, by name, or omitted."""
    parameters, body, given, named = ["p"], ["p"], [v], []
    if h.chance(0.2):
        parameters.append("/")
    for name in ("q", "r")[: h.integer(0, 3)]:
        late = "=" in parameters[-1] or h.chance(0.6)
        parameters.append(f"{name}={h.number(part)}" if late else name)
        body.append(name)
        if late and (named or h.chance(0.3)):
            continue
        if named or len(given) < len(body) - 1 or h.chance(0.3):
            named.append(f"{name}={h.number(part)}")
        else:
            given.append(h.number(part))
    if h.chance(0.6):
        parameters.append(h.one(("*s", "*")))
        if parameters[-1] == "*s":
            body.append("len(s)")
            if len(given) == len(body) - 1:
                given += [h.number(part)] * h.integer(0, 3)
        for name in ("t", "u")[: h.integer(parameters[-1] == "*", 3)]:
            late = h.chance(0.5)
            parameters.append(f"{name}={h.number(part)}" if late else name)
            body.append(name)
            if not late or h.chance(0.5):
                named.append(f"{name}={h.number(part)}")
    if h.chance(0.2):
        parameters.append("**z")
        body.append("len(z)")
        named += ["y=1"] * h.chance(0.6)
    value = f" {h.one('+-*')} ".join(body)
    call = f"f{v}({', '.join([*given, *[str(n) for n in h.rng.permutation(named)]])})"
    if h.chance(0.3) and not any("=" in p and "*" in p for p in parameters):
        return [f"f{v} = lambda {', '.join(parameters)}: {value}", f"{v} = {call}"]
    inner = h.one(
        (
            [f"    return {value}"],
            ["    if p.ndim > 1:", f"        return {value}", "    return p"],
            [f"    o = {value}", f"    o = o + {h.number(part)}", "    return o"],
            ["    def g():", f"        return {value}", "    return g()"],
        )
    )
    return [f"def f{v}({', '.join(parameters)}):", *inner, f"{v} = {call}"]


def numbers(h: Hand, v: str, _part: KnownExpression) -> list[str]:
    """Draw arithmetic of Python numbers beside the array."""
    a, b, c = (str(h.integer(-9, 10)) for _ in range(3))
    wide = h.one(("2**31", "-(2**31)", "2**31 - 1", "-(2**31) - 1", "2**32 - 1", "-(2**32)", "2**40", "2**63 - 1", "2**53 + 1"))
    real = round(float(h.rng.standard_normal() * 3), 2)
    number = h.one(
        (
            *(f"({a} {o} {b})" for o in ("+", "-", "*", "//", "%", "/", "&", "|", "^")),
            *(f"({real} {o} {b})" for o in ("+", "-", "*", "//", "%", "/", "**")),
            *(f"({a} {o} {b})" for o in ("<", "<=", ">", ">=", "==", "!=")),
            *(f"{f}({a}, {b}, {c})" for f in ("min", "max")),
            *(f"({abs(int(a))} {o} {abs(int(b))})" for o in ("<<", ">>", "**")),
            *(wide, f"({wide} + {a})", f"abs({a})", f"(-({a}))", f"(~({a}))", f"round({real})", f"int({real})", f"float({a})"),
            *(f"bool({a})", f"divmod({a}, {b})[{h.integer(0, 2)}]", f"sum(({a}, {b}))", f"pow({a}, 2)", f"(not {a})"),
            *(f"({a} and {b})", f"({a} or {real})", f"len([{a}, {b}])", f"({real} if {a} < {b} else {c})", f"round({real}, 1)"),
        )
    )
    return [f"p = {number}", f"{v} = {v} {h.one(('+', '-', '*', '/', '<', '==', '//', '%', '>='))} p"]


def copies(h: Hand, v: str, part: KnownExpression) -> list[str]:
    """Draw a change of a copy: the original must keep its values."""
    made = h.one(
        ("{v}.flatten()", "{v}.copy()", "np.array({v})", "np.copy({v})", "{v} + 0", "{v}.repeat(1)", "np.tile({v}, 1)", "+{v}",
         "{v}.astype({v}.dtype)", "np.concatenate([{v}, {v}])", "np.sort({v}, kind='stable')", "np.where({v} > 0, {v}, {v})",
         "{v}[[0]]", "{v}.T.copy()")
    ).format(v=v)  # fmt: skip
    n = h.number(part)
    change = h.one((f"w{v} += {n}", f"w{v}[...] = {n}", f"w{v}[:1] = {n}", f"w{v} *= {n}", f"{v} += {n}", f"{v}[...] = {n}"))
    return [f"w{v} = {made}", change]
