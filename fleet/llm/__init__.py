"""Language models: their shapes, weights and tokenizers out of files, quantisation, perplexity, and generation.

`config` and `weights` fix the names that everything else uses; `gguf` and `safetensors` read files; `reference` is a forward
pass in NumPy that shares nothing with the IR, so that it can judge what does.
"""
