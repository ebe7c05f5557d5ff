"""One co-simulation: what was asked for, the engines side by side, each comparison, and the result that is stored."""
