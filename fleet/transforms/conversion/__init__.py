"""Programs out of graphs, and graphs out of programs."""
