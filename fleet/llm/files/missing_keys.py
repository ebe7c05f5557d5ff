"""What a key means that a config.json leaves out, by `model_type`.

The defaults of transformers' configuration classes (5.24.0), which write no key that has them; the sizes that a file must state are
left out, and so are keys whose default is null. Tests hold the table against transformers' own
(`tests/llm/families/make_missing_keys.py`). ChatGLM's are of its own code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MISSING_KEYS: Mapping[str, Mapping[str, Any]] = {
    "llama": {
        "hidden_act": "silu", "intermediate_size": 11008, "max_position_embeddings": 2048, "rms_norm_eps": 1e-06,
        "rope_theta": 10000.0, "tie_word_embeddings": False,
    },
    "mistral": {
        "hidden_act": "silu", "intermediate_size": 14336, "max_position_embeddings": 131072, "num_key_value_heads": 8,
        "rms_norm_eps": 1e-06, "rope_theta": 10000.0, "sliding_window": 4096, "tie_word_embeddings": False,
    },
    "ministral": {
        "hidden_act": "silu", "intermediate_size": 14336, "max_position_embeddings": 131072, "num_key_value_heads": 8,
        "rms_norm_eps": 1e-06, "rope_theta": 10000.0, "sliding_window": 4096, "tie_word_embeddings": False,
    },
    "seed_oss": {
        "head_dim": 128, "hidden_act": "silu", "intermediate_size": 27648, "max_position_embeddings": 524288,
        "num_key_value_heads": 8, "rms_norm_eps": 1e-06, "rope_theta": 10000.0, "tie_word_embeddings": False,
    },
    "qwen2": {
        "hidden_act": "silu", "intermediate_size": 22016, "max_position_embeddings": 32768, "max_window_layers": 28,
        "num_key_value_heads": 32, "rms_norm_eps": 1e-06, "rope_theta": 10000.0, "sliding_window": 4096,
        "tie_word_embeddings": False, "use_sliding_window": False,
    },
    "qwen3": {
        "head_dim": 128, "hidden_act": "silu", "intermediate_size": 22016, "max_position_embeddings": 32768,
        "max_window_layers": 28, "num_key_value_heads": 32, "rms_norm_eps": 1e-06, "rope_theta": 10000.0,
        "sliding_window": 4096, "tie_word_embeddings": False, "use_sliding_window": False,
    },
    "smollm3": {
        "hidden_act": "silu", "intermediate_size": 11008, "max_position_embeddings": 32768, "no_rope_layer_interval":
        4, "num_key_value_heads": 4, "rms_norm_eps": 1e-06, "rope_theta": 2000000.0, "tie_word_embeddings": True,
        "use_sliding_window": False,
    },
    "helium": {
        "head_dim": 128, "hidden_act": "silu", "intermediate_size": 7040, "max_position_embeddings": 4096,
        "num_key_value_heads": 20, "rms_norm_eps": 1e-08, "rope_theta": 100000.0, "tie_word_embeddings": False,
    },
    "ernie4_5": {
        "head_dim": 128, "hidden_act": "silu", "intermediate_size": 3072, "max_position_embeddings": 131072,
        "num_key_value_heads": 2, "rms_norm_eps": 1e-05, "rope_theta": 500000.0, "tie_word_embeddings": True,
    },
    "granite": {
        "attention_multiplier": 1.0, "embedding_multiplier": 1.0, "hidden_act": "silu", "intermediate_size": 11008,
        "logits_scaling": 1.0, "max_position_embeddings": 2048, "residual_multiplier": 1.0, "rms_norm_eps": 1e-06,
        "rope_theta": 10000.0, "tie_word_embeddings": False,
    },
    "olmo": {
        "hidden_act": "silu", "intermediate_size": 11008, "max_position_embeddings": 2048, "rope_theta": 10000.0,
        "tie_word_embeddings": False,
    },
    "olmo2": {
        "hidden_act": "silu", "intermediate_size": 11008, "max_position_embeddings": 2048, "rms_norm_eps": 1e-05,
        "rope_theta": 10000.0, "tie_word_embeddings": False,
    },
    "olmo3": {
        "hidden_act": "silu", "intermediate_size": 11008, "max_position_embeddings": 2048, "rms_norm_eps": 1e-05,
        "rope_theta": 500000.0, "sliding_window": 4096, "tie_word_embeddings": False,
    },
    "exaone4": {
        "hidden_act": "silu", "intermediate_size": 16384, "max_position_embeddings": 2048, "num_key_value_heads": 32,
        "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "sliding_window": 4096, "sliding_window_pattern": 4,
        "tie_word_embeddings": False,
    },
    "gemma": {
        "head_dim": 256, "hidden_act": "gelu_pytorch_tanh", "intermediate_size": 24576, "max_position_embeddings":
        8192, "num_key_value_heads": 16, "rms_norm_eps": 1e-06, "rope_theta": 10000.0, "tie_word_embeddings": True,
    },
    "gemma2": {
        "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0, "head_dim": 256, "hidden_activation":
        "gelu_pytorch_tanh", "intermediate_size": 9216, "max_position_embeddings": 8192, "num_key_value_heads": 4,
        "query_pre_attn_scalar": 256, "rms_norm_eps": 1e-06, "rope_theta": 10000.0, "sliding_window": 4096,
        "tie_word_embeddings": True,
    },
    "gemma3_text": {
        "head_dim": 256, "hidden_activation": "gelu_pytorch_tanh", "intermediate_size": 9216,
        "max_position_embeddings": 131072, "num_key_value_heads": 4, "query_pre_attn_scalar": 256, "rms_norm_eps":
        1e-06, "rope_local_base_freq": 10000.0, "rope_theta": 1000000.0, "sliding_window": 4096,
        "sliding_window_pattern": 6, "tie_word_embeddings": True, "use_bidirectional_attention": False,
    },
    "phi": {
        "hidden_act": "gelu_new", "intermediate_size": 8192, "layer_norm_eps": 1e-05, "max_position_embeddings": 2048,
        "partial_rotary_factor": 0.5, "qk_layernorm": False, "rope_theta": 10000.0, "tie_word_embeddings": False,
    },
    "phi3": {
        "hidden_act": "silu", "intermediate_size": 8192, "max_position_embeddings": 4096,
        "original_max_position_embeddings": 4096, "partial_rotary_factor": 1.0, "rms_norm_eps": 1e-05, "rope_theta":
        10000.0, "tie_word_embeddings": False,
    },
    "glm": {
        "head_dim": 128, "hidden_act": "silu", "intermediate_size": 13696, "max_position_embeddings": 131072,
        "num_key_value_heads": 2, "partial_rotary_factor": 0.5, "rms_norm_eps": 1.5625e-07, "rope_theta": 10000.0,
        "tie_word_embeddings": False,
    },
    "glm4": {
        "head_dim": 128, "hidden_act": "silu", "intermediate_size": 13696, "max_position_embeddings": 131072,
        "num_key_value_heads": 2, "partial_rotary_factor": 0.5, "rms_norm_eps": 1.5625e-07, "rope_theta": 10000.0,
        "tie_word_embeddings": False,
    },
    "cohere": {
        "hidden_act": "silu", "intermediate_size": 22528, "layer_norm_eps": 1e-05, "logit_scale": 0.0625,
        "max_position_embeddings": 8192, "rope_theta": 500000.0, "tie_word_embeddings": True, "use_qk_norm": False,
    },
    "cohere2": {
        "hidden_act": "silu", "intermediate_size": 22528, "layer_norm_eps": 1e-05, "logit_scale": 0.0625,
        "max_position_embeddings": 8192, "rope_theta": 10000.0, "sliding_window": 4096, "sliding_window_pattern": 4,
        "tie_word_embeddings": True,
    },
    "stablelm": {
        "hidden_act": "silu", "intermediate_size": 6912, "layer_norm_eps": 1e-05, "max_position_embeddings": 4096,
        "num_key_value_heads": 32, "partial_rotary_factor": 0.25, "qk_layernorm": False, "rope_theta": 10000.0,
        "tie_word_embeddings": False, "use_parallel_residual": False,
    },
    "nemotron": {
        "hidden_act": "relu2", "intermediate_size": 24576, "max_position_embeddings": 4096, "norm_eps": 1e-05,
        "partial_rotary_factor": 0.5, "rope_theta": 10000.0, "tie_word_embeddings": False,
    },
    "arcee": {
        "hidden_act": "relu2", "intermediate_size": 18432, "max_position_embeddings": 4096, "rms_norm_eps": 1e-05,
        "rope_theta": 10000.0, "tie_word_embeddings": False,
    },
    "starcoder2": {
        "hidden_act": "gelu_pytorch_tanh", "intermediate_size": 12288, "max_position_embeddings": 4096,
        "norm_epsilon": 1e-05, "num_key_value_heads": 2, "rope_theta": 10000.0, "tie_word_embeddings": True,
    },
    "gpt2": {
        "activation_function": "gelu_new", "add_cross_attention": False, "layer_norm_epsilon": 1e-05, "n_positions":
        1024, "scale_attn_by_inverse_layer_idx": False, "scale_attn_weights": True, "tie_word_embeddings": True,
    },
    "gpt_bigcode": {
        "activation_function": "gelu_pytorch_tanh", "add_cross_attention": False, "layer_norm_epsilon": 1e-05,
        "multi_query": True, "n_positions": 1024, "scale_attn_weights": True, "tie_word_embeddings": True,
    },
    "gpt_neo": {
        "activation_function": "gelu_new", "attention_types": [[["global", "local"], 12]], "layer_norm_epsilon":
        1e-05, "max_position_embeddings": 2048, "tie_word_embeddings": True, "window_size": 256,
    },
    "gptj": {
        "activation_function": "gelu_new", "layer_norm_epsilon": 1e-05, "n_positions": 2048, "rotary_dim": 64,
        "tie_word_embeddings": False,
    },
    "gpt_neox": {
        "hidden_act": "gelu", "intermediate_size": 24576, "layer_norm_eps": 1e-05, "max_position_embeddings": 2048,
        "rotary_emb_base": 10000.0, "rotary_pct": 0.25, "tie_word_embeddings": False, "use_parallel_residual": True,
    },
    "opt": {
        "_remove_final_layer_norm": False, "activation_function": "relu", "do_layer_norm_before": True, "ffn_dim":
        3072, "layer_norm_elementwise_affine": True, "max_position_embeddings": 2048, "tie_word_embeddings": True,
    },
    "falcon": {
        "activation": "gelu", "alibi": False, "layer_norm_epsilon": 1e-05, "max_position_embeddings": 2048,
        "multi_query": True, "new_decoder_architecture": False, "parallel_attn": True, "rope_theta": 10000.0,
        "tie_word_embeddings": True,
    },
    "chatglm": {"rope_theta": 10000.0, "layernorm_epsilon": 1e-05},
}  # fmt: skip
"""`model_type` -> key -> its default."""
