"""Files of language models: GGUF, safetensors and Hugging Face folders, read, written and fetched."""
