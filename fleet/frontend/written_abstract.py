"""The abstract classes of `collections.abc`, written in what the front end reads, as in `fleet.frontend.written_classes`.

A class of the user's file that inherits from one of them gets its methods. A `Sequence` is iterated over by `__getitem__`.
"""

# pyright: basic
# ruff: noqa: D101, D102, PLW1641 -- the originals' documentation says what the methods do

from __future__ import annotations

from abc import abstractmethod


class Hashable:
    @abstractmethod
    def __hash__(self):
        return 0


class Iterable:
    @abstractmethod
    def __iter__(self):
        return iter(())


class Iterator(Iterable):
    @abstractmethod
    def __next__(self):
        raise StopIteration

    def __iter__(self):
        return self


class Reversible(Iterable):
    @abstractmethod
    def __reversed__(self):
        return iter(())


class Sized:
    @abstractmethod
    def __len__(self):
        return 0


class Container:
    @abstractmethod
    def __contains__(self, x):
        return False


class Collection(Sized, Iterable, Container):
    pass


class Callable:
    @abstractmethod
    def __call__(self, *args, **kwds):
        return False


class Sequence:
    @abstractmethod
    def __getitem__(self, index):
        raise IndexError

    @abstractmethod
    def __len__(self):
        return 0

    def __reversed__(self):
        return (self[i] for i in reversed(range(len(self))))

    def index(self, value, start=0, stop=None):
        if start is not None and start < 0:
            start = max(len(self) + start, 0)
        if stop is not None and stop < 0:
            stop += len(self)
        i = start
        while stop is None or i < stop:
            try:
                v = self[i]
            except IndexError:
                break
            if v is value or v == value:
                return i
            i += 1
        raise ValueError

    def count(self, value):
        return sum(1 for v in self if v is value or v == value)


class MutableSequence(Sequence):
    @abstractmethod
    def __setitem__(self, index, value):
        raise IndexError

    @abstractmethod
    def __delitem__(self, index):
        raise IndexError

    @abstractmethod
    def insert(self, index, value):
        raise IndexError

    def append(self, value):
        self.insert(len(self), value)

    def clear(self):
        while len(self) > 0:
            self.pop()

    def reverse(self):
        n = len(self)
        for i in range(n // 2):
            self[i], self[n - i - 1] = self[n - i - 1], self[i]

    def extend(self, values):
        for v in list(values) if values is self else values:
            self.append(v)

    def pop(self, index=-1):
        v = self[index]
        del self[index]
        return v

    def remove(self, value):
        del self[self.index(value)]

    def __iadd__(self, values):
        self.extend(values)
        return self


class Set(Collection):
    def __le__(self, other):
        if not isinstance(other, (Set, set, frozenset)):
            return NotImplemented
        return len(self) <= len(other) and all(elem in other for elem in self)

    def __lt__(self, other):
        if not isinstance(other, (Set, set, frozenset)):
            return NotImplemented
        return len(self) < len(other) and self.__le__(other)

    def __ge__(self, other):
        if not isinstance(other, (Set, set, frozenset)):
            return NotImplemented
        return len(self) >= len(other) and all(elem in self for elem in other)

    def __gt__(self, other):
        if not isinstance(other, (Set, set, frozenset)):
            return NotImplemented
        return len(self) > len(other) and self.__ge__(other)

    def __eq__(self, other):
        if not isinstance(other, (Set, set, frozenset)):
            return NotImplemented
        return len(self) == len(other) and self.__le__(other)

    @classmethod
    def _from_iterable(cls, it):
        return cls(it)  # pyright: ignore[reportCallIssue]

    def __and__(self, other):
        return self._from_iterable(value for value in other if value in self)

    def __rand__(self, other):
        return self._from_iterable(value for value in other if value in self)

    def isdisjoint(self, other):
        return all(value not in self for value in other)

    def __or__(self, other):
        return self._from_iterable(e for s in (self, other) for e in s)

    def __ror__(self, other):
        return self._from_iterable(e for s in (self, other) for e in s)

    def __sub__(self, other):
        return self._from_iterable(value for value in self if value not in other)

    def __rsub__(self, other):
        return self._from_iterable(value for value in other if value not in self)

    def __xor__(self, other):
        return (self - other) | (other - self)

    def __rxor__(self, other):
        return (self - other) | (other - self)


class MutableSet(Set):
    @abstractmethod
    def add(self, value):
        raise NotImplementedError

    @abstractmethod
    def discard(self, value):
        raise NotImplementedError

    def remove(self, value):
        if value not in self:
            raise KeyError(value)
        self.discard(value)

    def pop(self):
        for value in self:
            self.discard(value)
            return value
        raise KeyError

    def clear(self):
        for value in list(self):
            self.discard(value)

    def __ior__(self, it):
        for value in it:
            self.add(value)
        return self

    def __iand__(self, it):
        for value in list(self):
            if value not in it:
                self.discard(value)
        return self

    def __isub__(self, it):
        for value in list(it):
            self.discard(value)
        return self


class KeysView(Set):
    def __init__(self, mapping):
        self._mapping = mapping

    def __len__(self):
        return len(self._mapping)

    def __repr__(self):
        return f"KeysView({self._mapping!r})"

    @classmethod
    def _from_iterable(cls, it):
        return set(it)

    def __contains__(self, key):
        return key in self._mapping

    def __iter__(self):
        return iter(self._mapping)


class ItemsView(Set):
    def __init__(self, mapping):
        self._mapping = mapping

    def __len__(self):
        return len(self._mapping)

    def __repr__(self):
        return f"ItemsView({self._mapping!r})"

    @classmethod
    def _from_iterable(cls, it):
        return set(it)

    def __contains__(self, item):
        key, value = item
        try:
            v = self._mapping[key]
        except KeyError:
            return False
        return v is value or v == value

    def __iter__(self):
        return ((key, self._mapping[key]) for key in self._mapping)


class ValuesView(Collection):
    def __init__(self, mapping):
        self._mapping = mapping

    def __len__(self):
        return len(self._mapping)

    def __repr__(self):
        return f"ValuesView({self._mapping!r})"

    def __contains__(self, value):
        return any(v is value or v == value for v in self)

    def __iter__(self):
        return (self._mapping[key] for key in self._mapping)


class Mapping:
    @abstractmethod
    def __getitem__(self, key):
        raise KeyError

    @abstractmethod
    def __len__(self):
        return 0

    @abstractmethod
    def __iter__(self):
        return iter(())

    def get(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key):
        try:
            self[key]
        except KeyError:
            return False
        return True

    def keys(self):
        return KeysView(self)

    def items(self):
        return ItemsView(self)

    def values(self):
        return ValuesView(self)

    def __eq__(self, other):
        if not isinstance(other, (Mapping, dict)):
            return NotImplemented
        return dict(self.items()) == dict(other.items())


class MutableMapping(Mapping):
    @abstractmethod
    def __setitem__(self, key, value):
        raise KeyError

    @abstractmethod
    def __delitem__(self, key):
        raise KeyError

    def pop(self, key, *default):
        try:
            value = self[key]
        except KeyError:
            if not default:
                raise
            return default[0]
        del self[key]
        return value

    def popitem(self):
        for key in self:
            value = self[key]
            del self[key]
            return key, value
        raise KeyError

    def clear(self):
        while len(self) > 0:
            self.popitem()

    def update(self, other=(), /, **kwds):
        if hasattr(other, "keys"):
            for key in other.keys():  # noqa: SIM118 -- it may have no __iter__
                self[key] = other[key]
        else:
            for key, value in other:
                self[key] = value
        for key, value in kwds.items():
            self[key] = value

    def setdefault(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            self[key] = default
        return default
