"""Faults in what turns text into tokens and logits into the next one."""

from __future__ import annotations

from planting import Edit, by_test

SAMPLING = "tests/llm/test_sampling.py"

FAULTS = (
    by_test(
        "token-nan",
        "sampling: the greedy choice takes a NaN for the largest logit",
        SAMPLING,
        "test_a_nan_is_never_chosen",
        Edit("fleet/llm/sampling.py", "int(np.argmax(_known(logits)))", "int(np.argmax(logits))"),
        nightly=True,
    ),
    by_test(
        "token-without-probability",
        "sampling: the end of the interval draws a token that has no probability",
        SAMPLING,
        "test_a_token_without_probability_is_never_drawn",
        Edit("fleet/llm/sampling.py", 'side="right"', 'side="left"'),
        nightly=True,
    ),
    by_test(
        "token-digits",
        "tokenizer: digits are joined although the model reads them one by one",
        "tests/llm/test_tokenizer.py",
        "test_digits_are_apart_where_the_model_reads_them_so",
        Edit("fleet/llm/pre_tokenizers.py", r'PreTokenizer((r"\p{N}", _GPT2))', r'PreTokenizer((r"\p{N}+", _GPT2))'),
        nightly=True,
    ),
    by_test(
        "token-bos",
        "tokenizer: the token that begins a text is left out although the file asks for it",
        "tests/llm/test_tokenizer.py",
        "test_the_token_that_begins_a_text_is_the_files",
        Edit("fleet/llm/tokenizer.py", "first = bos if add_bos is True or (starts and add_bos is None) else None", "first = None"),
        nightly=True,
    ),
    by_test(
        "token-bos-json",
        "tokenizer: a tokenizer.json's token before every text is left out",
        "tests/llm/test_tokenizer.py",
        "test_a_json_files_post_processor_is_heeded",
        Edit("fleet/llm/tokenizer.py", "bos = before[0] if before else None", "bos = None"),
        nightly=True,
    ),
)
