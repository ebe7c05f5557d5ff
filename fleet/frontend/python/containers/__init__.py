"""Tuples, lists, dicts, sets, `collections`, `heapq`, `itertools`, and iteration."""
