"""Run a night on the workers of a cluster: Dask carries the calls, records carry the results."""
