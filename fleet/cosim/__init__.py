"""One co-simulation: the request, the engines side by side, each comparison, and the stored result."""
