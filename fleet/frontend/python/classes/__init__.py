"""Classes of the source, their objects, dataclasses and named tuples."""
