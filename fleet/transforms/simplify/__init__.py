"""Passes that make a program smaller or plainer and keep every bit: canonicalise, fold, CSE, DCE, inline, shapes."""
