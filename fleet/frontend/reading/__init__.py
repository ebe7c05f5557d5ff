"""One reading of a source: its text and errors, the values of its names, and the evaluator that everything else is built on."""
