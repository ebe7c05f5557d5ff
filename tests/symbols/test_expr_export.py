"""Python and C++ text of expressions has their value."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from random_expressions import VARIABLES, bindings, expression, value

from fleet.symbols.expr import Expr, ExprError, If, Var, ceil_div, log2, maximum, post_order
from fleet.symbols.expr_bounds import bounds
from fleet.symbols.expr_export import compile_python, cpp_function, python_function
from fleet.symbols.expr_parse import parse_python

token = Var("token", 2048)
NAMES = [v.name for v in VARIABLES]


def test_python_text_of_random_expressions() -> None:
    rng = random.Random(7)
    compared = 0
    for _ in range(600):
        e = expression(rng, rng.randint(0, 12))
        code = compile(e.to_python(), "e", "eval")
        whole = compile_python([e, e + 1])
        for _ in range(4):
            bound = bindings(rng)
            expected = value(e, bound)
            if expected is not None:
                assert eval(code, dict(bound)) == expected
                assert whole(bound) == [expected, expected + 1]
                compared += 1
    assert compared > 1000


def test_python_text_is_read_back() -> None:
    rng = random.Random(9)
    variables = {v.name: v for v in VARIABLES}
    for _ in range(600):
        e = expression(rng, rng.randint(0, 12))
        again = parse_python(e.to_python(), variables)
        assert again.to_python() == e.to_python()
        assert again.simplify() is e.simplify()


@pytest.mark.parametrize(
    "text",
    ["", "a +", "nothing", "a ** 2", "a.b", "f(a)", "a < 2", "int(a < 2 < 3)", "1.5", "True", "'a'", "a\0", "(" * 300 + ")" * 300],
)
def test_text_that_is_no_expression(text: str) -> None:
    with pytest.raises(ExprError, match="is no"):
        parse_python(text, {"a": VARIABLES[0]})


def test_cpp_text_of_random_expressions(tmp_path: Path) -> None:
    """Hundreds of expressions in one program, of `int` parameters, under the undefined-behaviour sanitiser."""
    rng = random.Random(8)
    functions, rows = list[str](), list[tuple[str, int]]()
    refused = 0
    while len(functions) < 500:
        e = expression(rng, rng.randint(1, 12))
        if any(not -(1 << 63) <= end < 1 << 63 for part in post_order((e,)) for end in bounds(part)):
            with pytest.raises(ExprError, match="does not fit 64 bits"):
                e.to_cpp()
            refused += 1
            continue
        text = e.to_cpp()
        n = len(functions)
        declared = ", ".join(f"int {name}" for name in NAMES)
        unused = " ".join(f"(void){name};" for name in NAMES)
        functions.append(
            f"static int64_t f{n}({declared}) {{ {unused} return {text}; }}\n" + cpp_function(f"g{n}", [e, e.simplify()], NAMES)
        )
        for _ in range(4):
            bound = bindings(rng)
            expected = value(e, bound)
            if expected is not None:
                rows.append((f"{n}({', '.join(str(bound[name]) for name in NAMES)}", expected))
    assert refused < 200
    assert len(rows) > 1000
    _run(tmp_path, functions, rows)


CHECK = """#include <cstdint>
#include <cstdio>
static int bad = 0;
static void check(int row, int64_t a, int64_t b) {
  if (a != b) { std::printf("row %d: %lld, expected %lld\\n", row, (long long)a, (long long)b); bad = 1; }
}
"""


def _run(folder: Path, functions: list[str], rows: list[tuple[str, int]]) -> None:
    calls: list[str] = []
    for i, (call, v) in enumerate(rows):
        calls.append(f"  check({i}, f{call}), {v}LL); g{call}, out);")
        calls.append(f"  check({i}, out[0], {v}LL); check({i}, out[1], {v}LL);")
    source = folder / "all.cpp"
    main = ["int main() {", "  int64_t out[2];", *calls, '  std::puts("done");', "  return bad;", "}", ""]
    source.write_text(CHECK + "\n".join([*functions, *main]))
    flags = ["-std=c++17", "-O0", "-fsanitize=undefined", "-fno-sanitize-recover=all"]
    subprocess.run(["g++", *flags, "-o", str(folder / "all"), str(source)], check=True, capture_output=True, text=True, timeout=300)
    out = subprocess.run([str(folder / "all")], check=False, capture_output=True, text=True, timeout=60)
    assert out.stdout == "done\n", f"{out.stdout[:500]}{out.stderr[:500]}"


def test_texts() -> None:
    assert (token * 64).to_cpp() == "int64_t(token) * 64"
    assert (Var("runtime0") + 8589934592).to_cpp(wide=["runtime0"]) == "runtime0 + 8589934592"
    assert (ceil_div(token, 32) * 2048).to_cpp(["token"]) == "(token + 31) / 32 * 2048"
    assert If(token < 2, 3, token).to_python() == "3 if int(token < 2) else token"
    assert str(If(token < 2, 3, log2(token))) == "3 if token < 2 else log2(token)"
    assert (token - (token - 1)).to_python() == "token - (token - 1)"
    assert (-(token + 1) * 2).to_python() == "-(token + 1) * 2"


def test_what_does_not_fit_64_bits_is_refused() -> None:
    wide = Var("n", 1 << 40)
    with pytest.raises(ExprError, match="does not fit 64 bits"):
        (wide * wide).to_cpp()
    with pytest.raises(ExprError, match="does not fit 64 bits"):
        cpp_function("f", [wide * wide // wide])
    assert (wide * wide).to_python() == "n * n"


def test_deep_and_shared_expressions_export_as_functions(tmp_path: Path) -> None:
    deep: Expr = token
    for i in range(5000):
        deep = maximum(deep // 3, i % 7) * 5 % 1000 + (i & 3)
    with pytest.raises(ExprError, match="export it as a function"):
        deep.to_python()
    space: dict[str, object] = {}
    exec(python_function("f", [deep]), space)
    expected = deep.evaluate(token=77)
    assert eval("f(77)", space) == [expected]
    source = tmp_path / "deep.cpp"
    source.write_text("#include <cstdint>\n#include <cstdio>\n" + cpp_function("f", [deep])
                      + 'int main() { int64_t out[1]; f(77, out); std::printf("%lld", (long long)out[0]); }\n')  # fmt: skip
    subprocess.run(["g++", "-std=c++17", "-O0", "-o", str(tmp_path / "deep"), str(source)], check=True, timeout=300)
    assert subprocess.run([str(tmp_path / "deep")], capture_output=True, text=True, check=True).stdout == str(expected)


def test_a_function_keeps_guarded_parts_inside_their_branch() -> None:
    part = 100 // token
    e = If(token, part + part * part, 0) + If(token < 1, 1, part)
    assert compile_python([e])({"token": 0}) == [1]
    assert compile_python([e])({"token": 3}) == [33 + 33 * 33 + 33]
