"""Hardware that knows an instruction by its constants knows a second one that is like it: the same decisions, the new constants."""

from __future__ import annotations

import re

from fleet.errors import DeviceError
from fleet.isa.scaffold.render import camel

_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
_BLOCK = re.compile(r"\b(begin|end|case[xz]?|endcase)\b|;")


def with_like(text: str, like: str, name: str, where: str) -> str:
    """The SystemVerilog text in which whatever holds for instruction `like` holds for `name`.

    Labels of a case and comparisons take both constants (`Start...`, `Op...`); a branch that itself says a constant, as the opcode
    that it commits, is there twice. Raises DeviceError with file and line for a constant that stands elsewhere.
    """
    found = re.compile(rf"\b(Start|Op){camel(like)}\b")
    new = rf"\g<1>{camel(name)}"
    edits: list[tuple[int, int, str]] = []
    bare = _COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    for match in found.finditer(bare):
        if edits and match.start() < edits[-1][1]:
            continue  # in a branch that is copied
        begin, end = bare.rfind("\n", 0, match.start()) + 1, match.end()
        before, both = bare[begin : match.start()], f"{match[0]}, {match.expand(new)}"
        behind = re.match(r"[\w\s,]*:(?!:)", bare[end:])
        if behind and re.fullmatch(r"[\w\s,]*", before):
            stop = _branch_end(bare, end + behind.end())
            label, branch = bare[begin : end + behind.end()], text[begin:stop]
            if not found.search(bare, end + behind.end(), stop):
                edits.append((match.start(), end, both))
            elif "," not in label:
                edits.append((begin, stop, f"{branch}\n{found.sub(new, branch)}"))
            else:
                raise _underivable(bare, match.start(), where)
        elif equal := re.search(r"(?<![=!])==\s*$", before):
            edits.append((begin + equal.start(), end, f"inside {{{both}}}"))
        elif other := re.search(r"([\w.]+) *!=\s*$", before):
            edits.append((begin + other.start(), end, f"!({other[1]} inside {{{both}}})"))
        else:
            raise _underivable(bare, match.start(), where)
    for start, end, put in reversed(edits):
        text = text[:start] + put + text[end:]
    return text


def _branch_end(bare: str, at: int) -> int:
    """Index behind the statement that begins there."""
    depth = 0
    for token in _BLOCK.finditer(bare, at):
        depth += {"begin": 1, "case": 1, "casez": 1, "casex": 1, "end": -1, "endcase": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return len(bare)


def _underivable(bare: str, at: int, where: str) -> DeviceError:
    line = bare.count("\n", 0, at)
    return DeviceError(
        f"'{bare.splitlines()[line].strip()}': what a second instruction does here cannot be derived", where=f"{where}:{line + 1}",
        hint="write it with the constant in a comparison or as the label of a case, or extend the set: `fleet isa new --extends`",
    )  # fmt: skip
