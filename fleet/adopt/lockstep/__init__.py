"""An adopted design and its functional model, commit by commit: the model's jobs, the events of a run, where the two part."""
