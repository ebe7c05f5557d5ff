"""Textual IR: printing and reading back; for stored models, `--emit ir` and tests."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.ir import Dialect
from xdsl.utils.exceptions import ParseError, VerifyException

from fleet.errors import ModelError
from fleet.ir.dialect import FLEET
from fleet.ir.parsing.text_lines import LineParser


def print_ir(module: ModuleOp) -> str:
    """Return the module in MLIR's syntax (operations of `fleet` in generic form), with a final newline."""
    return str(module) + "\n"  # an f-string would give its repr


_TOKENS = re.compile(r'//[^\n]*|"(?:[^"\\\n\v\f]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"|"')
"""Comments, complete strings, and the quote of a string that does not end on its line."""


def check_strings(text: str, name: str, kind: str = "IR of this project") -> None:
    """Refuse an unterminated string: the parser's lexer would take exponential time to detect it."""
    for token in _TOKENS.finditer(text):
        if token.group() == '"':
            line = text.count("\n", 0, token.start()) + 1
            raise ModelError(f"not {kind} (a string that does not end)", where=f"{name}:{line}")


def parse_ir(text: str, name: str = "<ir>", dialects: Sequence[Dialect] = ()) -> ModuleOp:
    """Parse the output of `print_ir` and verify it. Raises ModelError that names the line, or the faulty operation.

    dialects: dialects besides `fleet`.
    """
    check_strings(text, name)
    context = Context()
    for dialect in (Builtin, Func, FLEET, *dialects):
        context.load_dialect(dialect)
    try:
        module = LineParser(context, text, name).parse_module()
        module.verify()
    except ParseError as error:
        line = text.count("\n", 0, error.span.start) + 1
        raise ModelError(f"not IR of this project ({error.args[-1]})", where=f"{name}:{line}") from error
    except VerifyException as error:
        reason = str(error).strip().splitlines()[-1].strip()
        raise ModelError(f"IR that does not verify: {reason}", where=name) from error
    except Exception as error:  # the parser may raise any exception for text that is not IR
        words = str(error).strip().splitlines() or [""]
        raise ModelError(f"not IR of this project ({type(error).__name__}: {words[-1].strip()})", where=name) from error
    return module
