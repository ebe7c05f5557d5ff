"""Parts of arrays: slices with static bounds, integers, None, `...`, arrays of integers; and assignment to parts."""
