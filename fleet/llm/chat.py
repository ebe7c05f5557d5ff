"""Chat templates that are recognised in a file's Jinja text, which is never executed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class ChatTemplate:
    """How a question is written.

    Attributes:
        marks: texts that identify this template: a file's template contains all of them.
        controls: pieces that are one token.
        start: pieces in front of everything.
        turn: pieces of a message, with placeholders {role} and {content}.
        answer: pieces in front of the answer.
        system: whether a system message is a separate message; else it precedes the user's, with an empty line between.
        stripped: whether blanks around a message are removed.
        default: finds the default system message in a file's template.
    """

    marks: tuple[str, ...]
    controls: frozenset[str]
    start: tuple[str, ...]
    turn: tuple[str, ...]
    answer: tuple[str, ...]
    system: bool = True
    stripped: bool = False
    default: re.Pattern[str] | None = None

    def written(self, prompt: str, system: str) -> Iterator[str]:
        """Yield the pieces of a question, up to where the answer begins."""
        yield from self.start
        messages = [("user", prompt)]
        if system and self.system:
            messages.insert(0, ("system", system))
        elif system:
            messages = [("user", f"{system}\n\n{prompt}")]
        for role, content in messages:
            text = content.strip() if self.stripped else content
            for piece in self.turn:
                yield piece if piece in self.controls else piece.replace("{role}", role).replace("{content}", text)
        yield from self.answer


TEMPLATES = {
    "chatml": ChatTemplate(
        ("<|im_start|>", "<|im_end|>"), frozenset({"<|im_start|>", "<|im_end|>"}), (),
        ("<|im_start|>", "{role}\n{content}", "<|im_end|>", "\n"), ("<|im_start|>", "assistant\n"),
        default=re.compile(r"<\|im_start\|>system\n(.{0,400}?)<\|im_end\|>"),
    ),
    "llama3": ChatTemplate(
        ("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"),
        frozenset({"<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"}), ("<|begin_of_text|>",),
        ("<|start_header_id|>", "{role}", "<|end_header_id|>", "\n\n{content}", "<|eot_id|>"),
        ("<|start_header_id|>", "assistant", "<|end_header_id|>", "\n\n"), stripped=True,
    ),
    "gemma": ChatTemplate(
        ("<start_of_turn>", "<end_of_turn>"), frozenset({"<bos>", "<start_of_turn>", "<end_of_turn>"}), ("<bos>",),
        ("<start_of_turn>", "{role}\n{content}", "<end_of_turn>", "\n"), ("<start_of_turn>", "model\n"), system=False,
        stripped=True,
    ),
}  # fmt: skip
"""Name -> template."""


def chat_of_template(template: str) -> tuple[str, str]:
    """Return (chat, system) of `ModelConfig` for a Jinja template; its name is "plain" if it is another one."""
    for name, known in TEMPLATES.items():
        if all(mark in template for mark in known.marks):
            found = known.default.search(template.replace("\\n", "\n")) if known.default else None
            return name, found[1] if found else ""
    return "plain", ""
