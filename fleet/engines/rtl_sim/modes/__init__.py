"""Build modes of simulations, and the profiles of fast ones."""
