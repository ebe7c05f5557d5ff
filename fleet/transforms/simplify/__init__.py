"""Passes that simplify a program and keep every bit: canonicalise, fold, CSE, DCE, inline, shapes; types of a graph."""
