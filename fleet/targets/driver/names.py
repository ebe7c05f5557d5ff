"""Unique names, and names that are valid in C++."""

from __future__ import annotations

import re

from fleet.core.unique import Taken

_KEYWORDS = frozenset({
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch", "char",
    "char16_t", "char32_t", "char8_t", "class", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
    "continue", "co_await", "co_return", "co_yield", "decltype", "default", "delete", "do", "double", "dynamic_cast", "else",
    "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "main",
    "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected",
    "public", "register", "reinterpret_cast", "requires", "return", "short", "signed", "sizeof", "static", "static_assert",
    "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid",
    "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while", "xor", "xor_eq", "NULL", "std",
    "uint8_t", "uint16_t", "uint32_t", "uint64_t", "int8_t", "int16_t", "int32_t", "int64_t", "size_t",
})  # fmt: skip


def identifier(name: str) -> str:
    """Return a valid C++ name: other characters become _, keywords and names of the language get a trailing _.

    Names with two underscores, or an underscore and a capital letter, belong to the compiler, so runs of underscores become one.
    """
    clean = re.sub(r"__+", "_", re.sub(r"[^0-9A-Za-z_]", "_", name)) or "_"
    if clean[0].isdigit() or (clean[0] == "_"):
        clean = f"n{clean}"
    return f"{clean}_" if clean in _KEYWORDS else clean


class Names:
    """Names of a C++ file that are in use."""

    def __init__(self, taken: tuple[str, ...] = ()) -> None:
        self._taken = Taken(taken)

    def unique(self, name: str) -> str:
        """Return the name, with a number appended if it is taken."""
        return self._taken.unique(name, "_")

    def unique_identifier(self, name: str) -> str:
        """Return a unique, valid C++ name."""
        return self.unique(identifier(name))
