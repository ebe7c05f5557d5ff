"""Passes that rewrite products: linear layers, integer products, turned and split products, widened heads."""
