import numpy as np


class Value:
    def __init__(self, data, name=""):
        self.data, self.name = data, name

    def __add__(self, other):
        other = other if isinstance(other, Value) else Value(other)
        return Value(self.data + other.data, self.name + "+" + other.name)

    __radd__ = __add__

    def __mul__(self, other):
        if isinstance(other, str):
            return NotImplemented
        return Value(self.data * (other.data if isinstance(other, Value) else other))

    def __rmul__(self, other):
        return self * other

    def __sub__(self, other):
        return self + -other

    def __neg__(self):
        return self * -1

    def __matmul__(self, other):
        return Value(self.data @ other.data)

    def __truediv__(self, other):
        return Value(self.data / other)

    def __pow__(self, n):
        return Value(self.data**n)

    def __repr__(self):
        return f"Value({self.data})"

    def __eq__(self, other):
        return isinstance(other, Value) and self.name == other.name

    def __lt__(self, other):
        return len(self.name) < len(other.name)

    def __contains__(self, item):
        return item in self.name

    def __getitem__(self, item):
        return self.data[item]

    def __setitem__(self, item, value):
        self.data[item] = value

    def __bool__(self):
        return self.name != ""


a, b = Value(np.arange(3.0), "a"), Value(np.ones(3), "bb")
print(a + b, 2 * a, a - b, a @ b, a / 2, a**2, 1 + a, -a)
print(a == b, a != b, a == Value(1, "a"), a < b, a > b, "b" in b, "b" in a, [a, b].index(Value(0, "bb")))
a[1] = 7
a[2] += 1
print(a[1], a[:2], a, bool(a), bool(Value(1)), "yes" if a else "no", not Value(0))
a += b
print(a, a.name, sum([Value(1), Value(2)]).data)
