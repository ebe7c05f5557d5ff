"""Passes that rewrite products: linear layers, integer products, transposed and split products, widened heads."""
