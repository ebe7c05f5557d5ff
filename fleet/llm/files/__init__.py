"""Reads, writes and fetches files of language models: GGUF, safetensors and Hugging Face folders."""
