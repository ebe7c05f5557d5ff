"""Passes that rewrite products, of programs and of graphs: linear layers, integer products, convolutions, heads of other widths."""
