"""A night on workers of a cluster: Dask carries the calls, records carry the results."""
