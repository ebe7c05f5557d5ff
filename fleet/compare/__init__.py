"""Two traces compared: metrics, derived bounds, verdicts, and the first place at which what must agree does not."""
