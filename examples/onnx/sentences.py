"""Which sentences mean the same: MiniLM (3 layers, paraphrase-MiniLM-L3-v2) on fleet's engines, beside onnxruntime.

    fleet models fetch minilm
    python examples/onnx/sentences.py [--engines vm,riscv,onnxruntime] [--vocab vocab.txt] ["a sentence" ...]

A sentence becomes tokens by BERT's rules, the model gives 384 numbers a token, their mean over the sentence's tokens is its meaning
(mean pooling, as the model's authors do it), and the cosine of two such means says how close the sentences are.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from engines import TOLERANCE, difference, fetched, run

from fleet.errors import FleetError, ModelError

SENTENCES = (
    "The cat sits outside.",
    "A man is playing guitar.",
    "I love pasta!",
    "The new movie is awesome.",
    "The cat plays in the garden.",
    "A woman watches TV.",
    "The new movie is so great!",
    "Do you like pizza?",
    "The weather is nice and sunny today.",
)
"""Those of the Sentence Transformers documentation, and one with a word ("and") that words.txt does not have."""


STATES = "onnx::Shape_422"
"""The output that holds the last layer's states, [sentences, tokens, 384]."""


def vocabulary(path: Path | None = None) -> dict[str, int]:
    """Word -> id. path: a vocab.txt with one word a line, or words and ids as in words.txt (the default)."""
    found: dict[str, int] = {}
    for line in (path or Path(__file__).parent / "words.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            continue
        word, _, number = line.strip().partition(" ")
        found[word] = int(number) if number else len(found)
    return found


def tokens(sentences: Sequence[str], words: dict[str, int]) -> dict[str, np.ndarray]:
    """The model's inputs, int64 [sentences, longest]: ids, filled with 0, and 1 where there is a token."""
    from tokenizers import BertWordPieceTokenizer

    encoded = BertWordPieceTokenizer(words, lowercase=True).encode_batch(list(sentences))
    longest = max(len(e.ids) for e in encoded)
    made = np.zeros((2, len(encoded), longest), np.int64)
    for row, e in enumerate(encoded):
        made[:, row, : len(e.ids)] = e.ids, e.attention_mask
    return {"input_ids": made[0], "attention_mask": made[1]}


def similarities(states: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Cosines [sentences, sentences] of the mean states [sentences, tokens, 384] of each sentence's own tokens."""
    weights = mask[:, :, None].astype(np.float64)
    means = (states * weights).sum(axis=1) / weights.sum(axis=1)
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    return means @ means.T


Named = dict[str, np.ndarray]


def compare(sentences: Sequence[str], engines: Sequence[str], vocab: Path | None = None) -> tuple[Named, Named]:
    """The states by engine, and each one's table of similarities. Raises ModelError where the model is not here."""
    path = fetched("minilm")
    inputs = tokens(sentences, vocabulary(vocab))
    states = run(path, STATES, inputs, engines)
    return states, {name: similarities(found, inputs["attention_mask"]) for name, found in states.items()}


def closest(table: np.ndarray) -> list[int]:
    """For each sentence the one that is nearest to it."""
    return [int(i) for i in np.argmax(table - 2 * np.eye(len(table)), axis=1)]


def main(arguments: Sequence[str] | None = None) -> int:
    """The table; 0 where all engines agree within TOLERANCE and on every sentence's nearest, else 1."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("sentences", nargs="*")
    parser.add_argument("--engines", default="vm,riscv,onnxruntime")
    parser.add_argument("--vocab", type=Path)
    chosen = parser.parse_args(arguments)
    sentences = chosen.sentences or SENTENCES
    if len(sentences) < 2:
        raise ModelError("one sentence has none to be compared with", where="sentences", hint="give two or more")
    states, tables = compare(sentences, chosen.engines.split(","), chosen.vocab)
    golden = tables["vm"]
    for row, near in enumerate(closest(golden)):
        print(f"{sentences[row]:40} {golden[row, near]:.4f}  {sentences[near]}")
    agreed = True
    for name, table in tables.items():
        off = difference(states, name)
        same = closest(table) == closest(golden)
        agreed &= off <= TOLERANCE and same
        drift = np.abs(table - golden).max()
        print(f"{name:12} states {off:.1e} off vm, similarities {drift:.1e}, nearest the same: {same}")
    return 0 if agreed else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except FleetError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
