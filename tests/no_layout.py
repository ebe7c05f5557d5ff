"""The layout of a set that lays nothing out."""

from __future__ import annotations

from fleet.sdk import Layout


class NoLayout(Layout):
    """Every method fails."""

    def size(self, shape, dtype):
        raise NotImplementedError

    def pack(self, array):
        raise NotImplementedError

    def unpack(self, data, shape, dtype):
        raise NotImplementedError
