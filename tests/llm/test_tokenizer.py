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
from fleet.llm.chat import TEMPLATES, chat_of_template
from fleet.llm.files.tiny_files import tiny_vocabulary, write_hugging_face
from fleet.llm.load import TinyTokenizer
from fleet.llm.pre_tokenizers import PRE_TOKENIZERS
from fleet.llm.tiny import tiny_model
from fleet.llm.tokenizer import BpeTokenizer, byte_characters, tokenizer_from_gguf, tokenizer_from_json

tokenizers: Any = pytest.importorskip("tokenizers", reason="package tokenizers is not installed (extra llm)")

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
def tokenizer() -> BpeTokenizer:
    chat, system = chat_of_template(CHATML)
    return tokenizer_from_gguf(fields(), place="tiny", chat=chat, system=system)


def test_bytes_have_gpt2s_characters() -> None:
    """Literal: the space, the newline, é's bytes, and that all 256 differ."""
    table = byte_characters()
    assert (table[0x20], table[0x0A], table[0x41], table[0xC3], table[0xA9], table[0xAD]) == ("Ġ", "Ċ", "A", "Ã", "©", "Ń")
    assert len(set(table)) == 256


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=60))
def test_every_text_comes_back_also_token_by_token(tokenizer: BpeTokenizer, text: str) -> None:
    expected = text.encode("utf-8", "replace").decode()
    tokens = tokenizer.encode(text)
    assert tokenizer.decode(tokens) == expected
    stream = tokenizer.stream()
    pieces = [stream.push(token) for token in tokens]
    assert "".join(pieces) + stream.finish() == expected
    tiny = TinyTokenizer()
    assert tiny.decode(tiny.encode(text)) == expected


def test_an_unfinished_character_is_held_back(tokenizer: BpeTokenizer) -> None:
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


@pytest.mark.parametrize(("pre", "expected"), [("smollm", "Ġ 4 2"), ("qwen2", "Ġ 4 2"), ("gpt-2", "Ġ42"), (None, "Ġ 42")])
def test_digits_are_apart_where_the_model_reads_them_so(pre: str | None, expected: str) -> None:
    """In a vocabulary that could join them."""
    tokens, merges = tiny_vocabulary()
    tokens, merges = [*tokens, "42", "Ġ42"], [*merges, "4 2", "Ġ 42"]
    made = tokenizer_from_gguf(fields(pre=pre, tokens=tokens, merges=merges, token_type=None), place="tiny")
    assert [tokens[i] for i in made.encode(" 42")] == expected.split()


TEXT = "Hello HelloWorld's I'LL 1234567 x12\n\n  don't ... cafe\u0301 \u4e2d\u6587abc"
WORDS = {
    "default": "Hello| HelloWorld|'|s| I|'|LL| |123|456|7| x|12|\n\n | don|'|t| |...| cafe|\u0301| \u4e2d\u6587abc",
    "gpt-2": "Hello| HelloWorld|'s| I|'|LL| 1234567| x|12|\n\n | don|'t| ...| cafe|\u0301| \u4e2d\u6587abc",
    "smollm": "Hello| HelloWorld|'s| I|'|LL| |1|2|3|4|5|6|7| x|1|2|\n\n | don|'t| ...| cafe|\u0301| \u4e2d\u6587abc",
    "falcon": "Hello| HelloWorld|'|s| I|'|LL| |123|456|7| x|12|\n\n | don|'|t| |...| cafe|\u0301| \u4e2d\u6587abc",
    "qwen2": "Hello| HelloWorld|'s| I|'LL| |1|2|3|4|5|6|7| x|1|2|\n\n| | don|'t| ...| cafe|\u0301| \u4e2d\u6587abc",
    "qwen35": "Hello| HelloWorld|'s| I|'LL| |1|2|3|4|5|6|7| x|1|2|\n\n| | don|'t| ...| cafe\u0301| \u4e2d\u6587abc",
    "llama-bpe": "Hello| HelloWorld|'s| I|'LL| |123|456|7| x|12|\n\n| | don|'t| ...| cafe|\u0301| \u4e2d\u6587abc",
    "gpt-4o": "Hello| Hello|World's| I'LL| |123|456|7| x|12|\n\n| | don't| ...| cafe\u0301| \u4e2d\u6587abc",
    "tekken": "Hello| Hello|World|'s| I|'LL| |1|2|3|4|5|6|7| x|1|2|\n\n| | don|'t| ...| cafe\u0301| \u4e2d\u6587abc",
    "deepseek-v3": "Hello| HelloWorld|'s| I|'LL| |123|456|7| x|12|\n\n| | don|'t| ...| cafe\u0301| |\u4e2d\u6587|abc",
    "deepseek-coder": "Hello| HelloWorld|'|s| I|'|LL| |1|2|3|4|5|6|7| x|1|2|\n|\n| | don|'|t| ...| cafe|\u0301| |\u4e2d\u6587|abc",
    "superbpe": "Hello HelloWorld's I'LL |1|234|567| x|12|\n\n  don't ... cafe\u0301 \u4e2d\u6587abc",
}
SAME = {
    "gpt-2": "olmo exaone4 phi-2", "smollm": "starcoder command-r minerva-7b", "qwen2": "deepseek-r1-qwen megrez hunyuan",
    "llama-bpe": "chatglm-bpe glm4 smaug-bpe", "gpt-4o": "llama4", "deepseek-v3": "hunyuan-dense",
}  # fmt: skip


@pytest.mark.parametrize("pre", WORDS)
def test_texts_are_split_as_the_models_split_them(pre: str) -> None:
    splits = tokenizers.pre_tokenizers
    words = splits.Sequence([splits.Split(tokenizers.Regex(e), "isolated") for e in PRE_TOKENIZERS[pre].splits])
    assert [word for word, _ in words.pre_tokenize_str(TEXT)] == WORDS[pre].split("|")
    for name in SAME.get(pre, "").split():
        assert PRE_TOKENIZERS[name].splits == PRE_TOKENIZERS[pre].splits


def test_llama3_takes_whole_words_and_begins_with_a_token() -> None:
    """A token that no merges make is taken where it is a word, and the first token comes before a text unless the file says no."""
    tokens, merges = tiny_vocabulary()
    tokens = [*tokens, "Ġxyz"]
    for pre, more, expected in (
        ("llama-bpe", {}, [0, len(tokens) - 1]),
        ("llama-bpe", {"add_bos_token": False}, [len(tokens) - 1]),
        ("qwen2", {}, [tokens.index(c) for c in ("Ġ", "x", "y", "z")]),
    ):
        made = tokenizer_from_gguf(
            fields(pre=pre, tokens=tokens, merges=merges, token_type=None, bos_token_id=0, **more), place="tiny"
        )
        assert made.encode(" xyz") == expected


def test_merges_and_digits_are_applied(tokenizer: BpeTokenizer) -> None:
    tokens, _ = tiny_vocabulary()
    assert [tokens[i] for i in tokenizer.encode(" the thing 42")] == ["Ġthe", "Ġ", "th", "ing", "Ġ", "4", "2"]


@pytest.mark.parametrize("system", [None, "Speak", ""])
def test_the_chat_template_is_what_jinja_makes_of_it(tokenizer: BpeTokenizer, system: str | None) -> None:
    messages = ([{"role": "system", "content": system}] if system else []) + [{"role": "user", "content": "What is it?"}]
    rendered = ImmutableSandboxedEnvironment().from_string(CHATML).render(messages=messages, add_generation_prompt=True)
    if system == "":
        rendered = rendered.replace("<|im_start|>system\nBe kind<|im_end|>\n", "")  # said to be silent
    found = "".join(tokenizer.token_text(t) for t in tokenizer.chat("What is it?", system))
    assert found == rendered
    assert tokenizer.chat("What is it?", system).count(tokenizer.special["<|im_start|>"]) == rendered.count("<|im_start|>")


def test_a_control_token_in_a_prompt_is_text(tokenizer: BpeTokenizer) -> None:
    tokens = tokenizer.encode("a<|im_end|>b")
    assert tokenizer.special["<|im_end|>"] not in tokens
    assert tokenizer.decode(tokens) == "a<|im_end|>b"
    assert tokenizer.decode([tokenizer.special["<|im_end|>"]]) == ""
    assert tokenizer.token_text(tokenizer.special["<|im_end|>"]) == "<|im_end|>"


def test_templates_are_recognised_and_never_run() -> None:
    assert chat_of_template(CHATML) == ("chatml", "Be kind")
    assert chat_of_template("") == ("plain", "")
    assert chat_of_template("{{ cycler.__init__.__globals__.os.system('false') }}") == ("plain", "")


def test_json_and_gguf_give_the_same_tokens(tmp_path: Path, tokenizer: BpeTokenizer) -> None:
    write_hugging_face(tmp_path, tiny_model())
    other = tokenizer_from_json(tmp_path / "tokenizer.json", chat="chatml", system="Be kind")
    for text in ("", "the cat and what is 1999", "Ünïcödé\n\n  x", "<|im_start|>"):
        assert other.encode(text) == tokenizer.encode(text)
    assert other.chat("hello") == tokenizer.chat("hello")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"model": "bert"}, "tokenizer.ggml.model is 'bert', expected 'gpt2' (byte-level BPE) or 'llama' (SentencePiece)"),
        ({"model": "llama"}, "tokenizer.ggml.scores has 0 numbers, expected 320"),
        ({"tokens": None}, "tokens is missing"),
        ({"tokens": []}, "tokens is missing"),
        ({"merges": 3}, "merges is missing"),
        ({"merges": ["no pair"]}, "'no pair'"),
        ({"tokens": ["a", "a"], "merges": [], "token_type": None}, "twice"),
        ({"token_type": [1, 2]}, "token_type has 2 entries"),
        ({"pre": "elsewhere"}, "tokenizer.ggml.pre is 'elsewhere', expected one of the"),
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


def test_a_template_whose_tokens_the_vocabulary_lacks_is_left_out() -> None:
    tokenizer = tokenizer_from_gguf(fields(), place="tiny", chat="llama3")
    assert "the vocabulary has no <|begin_of_text|> and <|end_header_id|>" in tokenizer.note
    assert tokenizer.chat("abc", "a system") == tokenizer.encode("abc")


def test_a_template_takes_tokens_that_the_file_does_not_call_control_tokens() -> None:
    plain, marked = (tokenizer_from_gguf(fields(**f), place="tiny", chat="chatml") for f in ({"token_type": None}, {}))
    assert not plain.note
    assert plain.chat("abc") == marked.chat("abc")


def test_ids_have_their_range(tmp_path: Path, tokenizer: BpeTokenizer) -> None:
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


# ---- SentencePiece

PIECES = [
    "<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *"\u2581abcdehlotwr", "he", "ll", "lo", "\u2581he", "llo",
    "\u2581w", "or", "th", "\u2581t", "\u2581the", "\u2581hello",
]  # fmt: skip


def piece_fields(**changes: Any) -> dict[str, Any]:
    """As llama.cpp writes them: a score a token, the earlier learned the higher."""
    kinds = [2, 3, 3, *[6] * 256, *[1] * (len(PIECES) - 259)]
    scores = [0.0 if kind != 1 else -float(i) for i, kind in enumerate(kinds)]
    found = {"model": "llama", "tokens": PIECES, "scores": scores, "token_type": kinds, "bos_token_id": 1} | changes
    return {f"tokenizer.ggml.{key}": value for key, value in found.items()}


def pieces_as_json(leading: bool) -> dict[str, Any]:
    """As transformers writes them for such a vocabulary: merges in the order of the joined token's score."""
    vocabulary = {token: i for i, token in enumerate(PIECES)}
    merges = [
        [token[:at], token[at:]]
        for token in PIECES[259:]
        for at in sorted(range(1, len(token)), key=lambda at: (vocabulary.get(token[:at], 0), vocabulary.get(token[at:], 0)))
        if token[:at] in vocabulary and token[at:] in vocabulary
    ]
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
    back = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
    strip = [{"type": "Strip", "content": " ", "start": 1, "stop": 0}] if leading else []
    prepend = [{"type": "Prepend", "prepend": "\u2581"}] if leading else []
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    model = {"type": "BPE", "vocab": vocabulary, "merges": merges, "unk_token": "<unk>", "byte_fallback": True, "fuse_unk": True}
    return {
        "version": "1.0",
        "added_tokens": [{"id": i, "content": PIECES[i], **flags} for i in range(3)],
        "normalizer": {"type": "Sequence", "normalizers": [*prepend, replace]},
        "decoder": {"type": "Sequence", "decoders": [back, {"type": "ByteFallback"}, {"type": "Fuse"}, *strip]},
        "model": model,
    }


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.one_of(st.text(max_size=30), st.text("abcdehlotwr ", max_size=40)), leading=st.booleans())
def test_pieces_come_back_and_are_those_of_the_package(tmp_path: Path, text: str, leading: bool) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(pieces_as_json(leading)))
    found = tokenizer_from_json(path)
    other = tokenizer_from_gguf(piece_fields(add_space_prefix=leading), place="tiny")
    expected = text.encode("utf-8", "replace").decode()
    assert found.decode(found.encode(text)) == expected
    assert other.decode(other.encode(text)) == expected
    assert other.encode(text) == [1, *found.encode(text)]  # a GGUF file says which token begins a text


def test_pieces_are_merged_by_their_scores() -> None:
    """Literal: "hello" with a space in front is one token; bytes stand for what the vocabulary does not have."""
    made = tokenizer_from_gguf(piece_fields(), place="tiny")
    assert [made.token_text(t) for t in made.encode("hello the")] == ["<s>", " hello", " the"]
    assert [made.token_text(t) for t in made.encode("wé")][1:] == [" w", "\ufffd", "\ufffd"]
    stream = made.stream()
    assert "".join(stream.push(t) for t in made.encode("wé")) == " wé"
    assert made.decode(made.encode("wé")) == "wé"
    assert made.decode([made.special["</s>"]]) == ""


LLAMA3 = (
    "{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<|start_header_id|>' + message['role'] "
    "+ '<|end_header_id|>\n\n'+ message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + "
    "content %}{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}"
    "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
)
GEMMA = (
    "{{ bos_token }}{% for message in messages %}{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}"
    "{% set role = message['role'] %}{% endif %}{{ '<start_of_turn>' + role + '\n' + message['content'] | trim + '<end_of_turn>"
    "\n' }}{% endfor %}{% if add_generation_prompt %}{{'<start_of_turn>model\n'}}{% endif %}"
)


@pytest.mark.parametrize(("name", "template", "bos"), [("llama3", LLAMA3, "<|begin_of_text|>"), ("gemma", GEMMA, "<bos>")])
@pytest.mark.parametrize("system", ["", "Be kind"])
def test_published_templates_are_written_as_jinja_writes_them(name: str, template: str, bos: str, system: str) -> None:
    assert chat_of_template(template) == (name, "")
    known = TEMPLATES[name]
    messages = [{"role": "user", "content": " What is it?\n"}]
    if system and known.system:
        messages.insert(0, {"role": "system", "content": system})
    elif system:
        messages = [{"role": "user", "content": f"{system}\n\n What is it?\n"}]
    made = ImmutableSandboxedEnvironment().from_string(template)
    expected = made.render(messages=messages, add_generation_prompt=True, bos_token=bos)
    assert "".join(known.written(" What is it?\n", system)) == expected
