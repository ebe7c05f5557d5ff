"""`python tests/llm/families/make_reference.py`: writes models.json and logits.npz beside itself, with torch and transformers.

For every family: the config.json that transformers writes, names and shapes of the tensors that it stores, and the logits that its
own code computes (float32, eager attention) from weights of `helpers_drawn`. Written with torch 2.13 and transformers 5.24.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from helpers_drawn import drawn

HERE = Path(__file__).parent
TOKENS = [5, 9, 31, 7, 5, 9, 31, 7, 5, 9, 2, 150, 77, 3, 64]
BASE: dict[str, Any] = {
    "hidden_size": 128,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 192,
    "vocab_size": 160,
    "max_position_embeddings": 256,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("Llama", {}),
    "llama-biases": ("Llama", {"attention_bias": True, "mlp_bias": True, "head_dim": 64}),
    "llama31": (
        "Llama",
        {
            "rope_parameters": {
                "rope_type": "llama3",
                "rope_theta": 5e5,
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 64,
            },
            "tie_word_embeddings": True,
        },
    ),
    "llama-linear": ("Llama", {"rope_parameters": {"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}}),
    "llama-dynamic": ("Llama", {"rope_parameters": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 4.0}}),
    "qwen2": ("Qwen2", {}),
    "qwen2-yarn": (
        "Qwen2",
        {"rope_parameters": {"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0, "original_max_position_embeddings": 64}},
    ),
    "qwen3": ("Qwen3", {"head_dim": 64}),
    "mistral": ("Mistral", {"sliding_window": 64}),
    "ministral": (
        "Ministral",
        {"head_dim": 32, "sliding_window": 64, "layer_types": ["full_attention", "sliding_attention", "full_attention"]},
    ),
    "smollm3": ("SmolLM3", {"no_rope_layers": [1, 0, 1]}),
    "olmo": ("Olmo", {"clip_qkv": None}),
    "olmo2": ("Olmo2", {}),
    "olmo3": ("Olmo3", {"sliding_window": 64, "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}),
    "granite": (
        "Granite",
        {
            "embedding_multiplier": 6.0,
            "attention_multiplier": 0.05,
            "residual_multiplier": 0.4,
            "logits_scaling": 3.0,
            "tie_word_embeddings": True,
        },
    ),
    "gemma": ("Gemma", {"head_dim": 64}),
    "gemma2": (
        "Gemma2",
        {
            "head_dim": 64,
            "query_pre_attn_scalar": 48,
            "attn_logit_softcapping": None,
            "final_logit_softcapping": None,
            "sliding_window": 64,
        },
    ),
    "gemma2-soft": ("Gemma2", {"head_dim": 64, "sliding_window": 64}),
    "gemma3_text": (
        "Gemma3Text",
        {
            "head_dim": 64,
            "query_pre_attn_scalar": 48,
            "sliding_window": 64,
            "layer_types": ["sliding_attention", "sliding_attention", "full_attention"],
            "rope_parameters": {
                "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
                "full_attention": {"rope_type": "linear", "rope_theta": 1e6, "factor": 8.0},
            },
        },
    ),
    "phi": ("Phi", {"partial_rotary_factor": 0.5}),
    "phi3": ("Phi3", {"sliding_window": 64}),
    "phi3-long": (
        "Phi3",
        {
            "max_position_embeddings": 256,
            "original_max_position_embeddings": 64,
            "rope_parameters": {
                "rope_type": "longrope",
                "rope_theta": 1e4,
                "short_factor": [1.0 + 0.1 * i for i in range(16)],
                "long_factor": [2.0 + 0.1 * i for i in range(16)],
                "original_max_position_embeddings": 64,
            },
        },
    ),
    "gpt_neox": ("GPTNeoX", {"rotary_pct": 0.25, "num_key_value_heads": None}),
    "gpt_neox-serial": (
        "GPTNeoX",
        {"rotary_pct": 0.5, "use_parallel_residual": False, "num_key_value_heads": None, "hidden_act": "gelu"},
    ),
    "gptj": ("GPTJ", {"n_embd": 128, "n_layer": 3, "n_head": 4, "n_positions": 256, "rotary_dim": 16, "n_inner": 192}),
    "gpt2": ("GPT2", {"n_embd": 128, "n_layer": 3, "n_head": 4, "n_positions": 256, "n_inner": None}),
    "gpt_bigcode": (
        "GPTBigCode",
        {"n_embd": 128, "n_layer": 3, "n_head": 4, "n_positions": 256, "n_inner": None, "multi_query": True},
    ),
    "gpt_neo": (
        "GPTNeo",
        {
            "hidden_size": 128,
            "num_hidden_layers": 2,
            "num_layers": 2,
            "num_heads": 4,
            "attention_types": [[["global", "local"], 1]],
            "window_size": 64,
            "intermediate_size": None,
        },
    ),
    "stablelm": ("StableLm", {"partial_rotary_factor": 0.25, "use_qkv_bias": True}),
    "starcoder2": ("Starcoder2", {"sliding_window": 64}),
    "opt": ("OPT", {"ffn_dim": 192, "word_embed_proj_dim": 128}),
    "falcon": (
        "Falcon",
        {
            "multi_query": True,
            "parallel_attn": True,
            "new_decoder_architecture": False,
            "alibi": False,
            "bias": False,
            "ffn_hidden_size": 192,
            "num_kv_heads": None,
        },
    ),
    "falcon-40b": (
        "Falcon",
        {
            "new_decoder_architecture": True,
            "num_kv_heads": 2,
            "parallel_attn": True,
            "alibi": False,
            "bias": False,
            "ffn_hidden_size": 192,
        },
    ),
    "cohere": ("Cohere", {"logit_scale": 0.5}),
    "cohere-qk": ("Cohere", {"logit_scale": 0.5, "use_qk_norm": True}),
    "cohere2": (
        "Cohere2",
        {"logit_scale": 0.5, "sliding_window": 64, "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]},
    ),
    "glm": ("Glm", {"head_dim": 32, "attention_bias": True}),
    "glm4": ("Glm4", {"head_dim": 32, "attention_bias": True}),
    "helium": ("Helium", {"head_dim": 32}),
    "ernie4_5": ("Ernie4_5", {"head_dim": 32}),
    "seed_oss": ("SeedOss", {"head_dim": 32}),
    "exaone4": ("Exaone4", {"sliding_window": 64, "layer_types": ["sliding_attention", "full_attention", "full_attention"]}),
    "hunyuan": ("HunYuanDenseV1", {"head_dim": 32}),
    "mixtral": ("Mixtral", {"num_local_experts": 4}),
    "bloom": ("Bloom", {"n_layer": 2, "n_head": 4}),
    "arcee": ("Arcee", {"head_dim": 32}),
    "nemotron": ("Nemotron", {}),
}


def main() -> None:
    """Write both files."""
    import torch
    import transformers
    from safetensors import safe_open
    from safetensors.numpy import save_file

    models: dict[str, Any] = {}
    logits: dict[str, np.ndarray] = {}
    for name, (kind, changes) in CASES.items():
        config = getattr(transformers, f"{kind}Config")(**{**BASE, **changes})
        config._attn_implementation = "eager"
        cls = {"GPT2": "GPT2LMHeadModel", "Gemma3Text": "Gemma3ForCausalLM"}.get(kind, f"{kind}ForCausalLM")
        model = getattr(transformers, cls)(config).eval().float()
        with tempfile.TemporaryDirectory() as folder, torch.no_grad():
            model.save_pretrained(folder)
            path = Path(folder) / "model.safetensors"
            with safe_open(path, "np") as file:
                shapes = {key: file.get_slice(key).get_shape() for key in file}
            save_file({key: drawn(key, tuple(shape)) for key, shape in shapes.items()}, path, {"format": "pt"})
            model = type(model).from_pretrained(folder, attn_implementation="eager").eval().float()
            content = json.loads((Path(folder) / "config.json").read_text())
            logits[name] = model(torch.tensor([TOKENS])).logits[0].numpy()[-5:]
        models[name] = {"config": content, "shapes": shapes}
        print(name, content["model_type"], float(logits[name].std()))
    (HERE / "models.json").write_text(json.dumps({"tokens": TOKENS, "models": models}, indent=None, separators=(",", ":")) + "\n")
    np.savez_compressed(HERE / "logits.npz", **logits)


if __name__ == "__main__":
    main()
