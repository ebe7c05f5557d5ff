"""What an ONNX file may ask for, so that a hostile one is refused in bounded time and memory."""

from __future__ import annotations

MAX_FILE = 1 << 31
"""Bytes of the model's own file: protobuf's limit. Weights may lie beside it."""

MAX_NODES = 100_000
"""Nodes, those of subgraphs and functions included."""

MAX_OPERATIONS = 100_000
"""Operations of the program that is made."""

MAX_DEPTH = 16
"""Subgraphs in subgraphs, and functions that call functions."""

MAX_UNROLLED = 4096
"""Rounds of a Loop or Scan."""

MAX_FOLDED = 1 << 16
"""Elements of an array that is computed while the model is read; larger ones are computed when it runs."""

MAX_MADE = 1 << 26
"""Elements of an array of indices, weights or truth values that an operator's translation makes."""

MAX_STEPS = 40_000
"""Nodes of bodies and functions that are followed, each counted every time."""

MAX_PARTS = 4096
"""Parts of a Split, elements of a sequence."""

MAX_LETTERS = 1 << 22
"""Letters of the texts that are made while the model is read."""

MAX_NAME = 4096
"""Characters of a name."""

OLDEST_OPSET = 11
