"""The graph of a model as seed 004 writes it: calls of accelerator operators on tensors with dynamic dimensions."""
