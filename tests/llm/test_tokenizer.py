"""Byte-level tokenizers: text comes back, characters come whole, templates are those that Jinja makes, bad fields are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jinja2.sandbox import ImmutableSandboxedEnvironment

from fleet.errors import ModelError
from fleet.llm.files.gguf import chat_of_template
from fleet.llm.files.tiny_files import tiny_vocabulary, write_hugging_face
from fleet.llm.load import TinyTokenizer
from fleet.llm.tiny import tiny_model
from fleet.llm.tokenizer import ByteLevelTokenizer, byte_characters, tokenizer_from_gguf, tokenizer_from_json

pytest.importorskip("tokenizers", reason="package tokenizers is not installed (extra llm)")

CHATML = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nBe kind<|im_end|>\n' }}"
    "{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def fields(**changes: Any) -> dict[str, Any]:
    tokens, merges = tiny_vocabulary()
    found = {"model": "gpt2", "pre": "smollm", "tokens": tokens, "merges": merges, "token_type": [3] * 3 + [1] * (len(tokens) - 3)}
    return {f"tokenizer.ggml.{key}": value for key, value in (found | changes).items() if value is not None}


@pytest.fixture(scope="module")
def tokenizer() -> ByteLevelTokenizer:
    chat, system = chat_of_template(CHATML)
    return tokenizer_from_gguf(fields(), place="tiny", chat=chat, system=system)


def test_bytes_have_gpt2s_characters() -> None:
    """Literal: the space, the newline, é's bytes, and that all 256 differ."""
    table = byte_characters()
    assert (table[0x20], table[0x0A], table[0x41], table[0xC3], table[0xA9], table[0xAD]) == ("Ġ", "Ċ", "A", "Ã", "©", "Ń")
    assert len(set(table)) == 256


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60))
def test_every_text_comes_back_also_token_by_token(tokenizer: ByteLevelTokenizer, text: str) -> None:
    expected = text.encode("utf-8", "replace").decode()
    tokens = tokenizer.encode(text)
    assert tokenizer.decode(tokens) == expected
    stream = tokenizer.stream()
    pieces = [stream.push(token) for token in tokens]
    assert "".join(pieces) + stream.finish() == expected
    tiny = TinyTokenizer()
    assert tiny.decode(tiny.encode(text)) == expected


def test_an_unfinished_character_is_held_back(tokenizer: ByteLevelTokenizer) -> None:
    stream = tokenizer.stream()
    tokens = tokenizer.encode("🙂!")
    assert [stream.push(t) for t in tokens] == ["", "", "", "🙂", "!"]
    assert stream.push(tokens[0]) == ""
    assert stream.finish() == "\ufffd"


@pytest.mark.parametrize(("add", "first"), [(True, [1]), (False, []), (None, [])])
def test_the_token_that_begins_a_text_is_the_files(add: bool | None, first: list[int]) -> None:
    plain = tokenizer_from_gguf(fields(), place="tiny").encode("thing")
    made = tokenizer_from_gguf(fields(add_bos_token=add, bos_token_id=1), place="tiny")
    assert made.encode("thing") == [*first, *plain]
    assert made.decode(made.encode("thing")) == "thing"


def test_a_json_files_post_processor_is_heeded(tmp_path: Path) -> None:
    """As Hugging Face's own `tokenizer(text)`: some models begin every text with a token."""
    write_hugging_face(tmp_path, tiny_model())
    path = tmp_path / "tokenizer.json"
    plain, content = tokenizer_from_json(path), json.loads(path.read_text())
    first = content["added_tokens"][0]
    kinds = {
        "single": [{"SpecialToken": {"id": first["content"], "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [],
    }
    tokens = {first["content"]: {"id": first["content"], "ids": [first["id"]], "tokens": [first["content"]]}}
    content["post_processor"] = {"type": "TemplateProcessing", **kinds, "special_tokens": tokens}
    path.write_text(json.dumps(content))
    assert tokenizer_from_json(path).encode("the thing") == [first["id"], *plain.encode("the thing")]
    kinds["single"].insert(0, kinds["single"][0])
    path.write_text(json.dumps(content | {"post_processor": {"type": "TemplateProcessing", **kinds, "special_tokens": tokens}}))
    with pytest.raises(ModelError, match="puts 2 tokens before a text, expected one at most"):
        tokenizer_from_json(path)


@pytest.mark.parametrize(("pre", "expected"), [("smollm", "Ġ 4 2"), ("qwen2", "Ġ 4 2"), ("gpt-2", "Ġ42"), (None, "Ġ42")])
def test_digits_are_apart_where_the_model_reads_them_so(pre: str | None, expected: str) -> None:
    """In a vocabulary that could join them."""
    tokens, merges = tiny_vocabulary()
    tokens, merges = [*tokens, "42", "Ġ42"], [*merges, "4 2", "Ġ 42"]
    made = tokenizer_from_gguf(fields(pre=pre, tokens=tokens, merges=merges, token_type=None), place="tiny")
    assert [tokens[i] for i in made.encode(" 42")] == expected.split()


def test_merges_and_digits_are_applied(tokenizer: ByteLevelTokenizer) -> None:
    tokens, _ = tiny_vocabulary()
    assert [tokens[i] for i in tokenizer.encode(" the thing 42")] == ["Ġthe", "Ġ", "th", "ing", "Ġ", "4", "2"]


@pytest.mark.parametrize("system", [None, "Speak", ""])
def test_the_chat_template_is_what_jinja_makes_of_it(tokenizer: ByteLevelTokenizer, system: str | None) -> None:
    messages = ([{"role": "system", "content": system}] if system else []) + [{"role": "user", "content": "What is it?"}]
    rendered = ImmutableSandboxedEnvironment().from_string(CHATML).render(messages=messages, add_generation_prompt=True)
    if system == "":
        rendered = rendered.replace("<|im_start|>system\nBe kind<|im_end|>\n", "")  # said to be silent
    found = "".join(tokenizer.token_text(t) for t in tokenizer.chat("What is it?", system))
    assert found == rendered
    assert tokenizer.chat("What is it?", system).count(tokenizer.special["<|im_start|>"]) == rendered.count("<|im_start|>")


def test_a_control_token_in_a_prompt_is_text(tokenizer: ByteLevelTokenizer) -> None:
    tokens = tokenizer.encode("a<|im_end|>b")
    assert tokenizer.special["<|im_end|>"] not in tokens
    assert tokenizer.decode(tokens) == "a<|im_end|>b"
    assert tokenizer.decode([tokenizer.special["<|im_end|>"]]) == ""
    assert tokenizer.token_text(tokenizer.special["<|im_end|>"]) == "<|im_end|>"


def test_templates_are_recognised_and_never_run() -> None:
    assert chat_of_template(CHATML) == ("chatml", "Be kind")
    assert chat_of_template("") == ("plain", "")
    assert chat_of_template("{{ cycler.__init__.__globals__.os.system('false') }}") == ("plain", "")


def test_json_and_gguf_give_the_same_tokens(tmp_path: Path, tokenizer: ByteLevelTokenizer) -> None:
    write_hugging_face(tmp_path, tiny_model())
    other = tokenizer_from_json(tmp_path / "tokenizer.json", chat="chatml", system="Be kind")
    for text in ("", "the cat and what is 1999", "Ünïcödé\n\n  x", "<|im_start|>"):
        assert other.encode(text) == tokenizer.encode(text)
    assert other.chat("hello") == tokenizer.chat("hello")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"model": "llama"}, "tokenizer.ggml.model is 'llama'"),
        ({"tokens": None}, "tokens is missing"),
        ({"tokens": []}, "tokens is missing"),
        ({"merges": 3}, "merges is missing"),
        ({"merges": ["no pair"]}, "'no pair'"),
        ({"tokens": ["a", "a"], "merges": [], "token_type": None}, "twice"),
        ({"token_type": [1, 2]}, "token_type has 2 entries"),
        ({"pre": "elsewhere"}, "tokenizer.ggml.pre is 'elsewhere'"),
        ({"bos_token_id": 320}, "bos_token_id is 320"),
    ],
)
def test_wrong_fields_are_named(changes: dict[str, Any], says: str) -> None:
    kept = {
        k: v for k, v in fields(**{k: v for k, v in changes.items() if v is not None}).items() if changes.get(k[15:], 1) is not None
    }
    with pytest.raises(ModelError) as caught:
        tokenizer_from_gguf(kept, place="tiny")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "\xff",
        '{"model": {"type": "WordPiece"}}',
        '{"model": {"type": "BPE"}, "decoder": {"type": "ByteLevel"}}',
        "[" * 90000,
    ],
)
def test_a_wrong_json_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ModelError) as caught:
        tokenizer_from_json(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_the_template_needs_its_tokens_and_ids_their_range(tmp_path: Path, tokenizer: ByteLevelTokenizer) -> None:
    with pytest.raises(ModelError, match="not in the vocabulary"):
        tokenizer_from_gguf(fields(token_type=None), place="tiny", chat="chatml")
    for token in (-1, 320):
        with pytest.raises(ModelError, match="expected 0 to 319"):
            tokenizer.decode([token])
    with pytest.raises(ModelError, match="at most"):
        tokenizer.encode("a" * 2_000_000)
    write_hugging_face(tmp_path, tiny_model())
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["x y"]}}))
    with pytest.raises(ModelError, match="cannot be built"):
        tokenizer_from_json(path)
