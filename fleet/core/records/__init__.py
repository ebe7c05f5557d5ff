"""Forms that planners and engines leave in a result and pages read."""
