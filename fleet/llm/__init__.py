"""Language models: shapes, weights and tokenizers read from files, quantisation, perplexity, and generation.

`config` and `weights` define the names that all other modules use; `gguf` and `safetensors` read files; `reference` is a forward
pass in NumPy. It shares nothing with the IR, so it can check results of the IR.
"""
