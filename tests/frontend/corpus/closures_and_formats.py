import numpy as np
def make_counter(start=0, *, step=1):
    n = start
    def inc(by=None):
        nonlocal n
        n += step if by is None else by
        return n
    inc.reset = lambda: None
    return inc
c = make_counter(10, step=5)
c(); print(c(), c(by=-1))
total = 0
def add(x):
    global total
    total += x
    return total
print([add(i) for i in range(4)], total)
def timer(label):
    def deco(f):
        def wrapper(*a, **k):
            wrapper.calls += 1
            return f(*a, **k)
        wrapper.calls = 0
        wrapper.label = label
        wrapper.__name__ = f.__name__
        return wrapper
    return deco
@timer("sq")
def sq(x, *rest, scale=1, **kw): return np.square(x) * scale + sum(rest) + len(kw)
print(sq(np.arange(3), 1, 2, scale=2, a=1), sq(2), sq.calls, sq.label, sq.__name__)
fs = [lambda x, k=k: x ** k for k in range(4)]
print([f(3) for f in fs])
def apply(f, n, x): return x if n == 0 else apply(f, n - 1, f(x))
print(apply(lambda v: v / 2 + 1, 10, 0.0))
a, *b, (d, e) = 1, 2, 3, (4, 5)
print(a, b, d, e, *b, sep="|")
x = [[0] * 3 for _ in range(2)]; x[0][1] = 5; print(x, x[::-1], sorted(x, reverse=True))
print({k: v for k, v in zip("abc", range(3)) if v}, {i % 3 for i in range(10)}, [*range(3), *"ab"], {**{"a": 1}, "b": 2})
print(any(v > 2 for v in b), all([]), max([3, 1], default=0), min("hello"), sum([[1], [2]], []), list(map(str, range(3))), list(filter(None, [0, 1, "", "a"])))
print("%s %5.2f %-5d| %05d %x %e" % ("a", 3.14159, 42, 7, 255, 12345.678), "{:>8}|{:^8}|{:<8}|{:,}|{:+.1e}|{!r}".format("a", "b", "c", 1234567, 0.00012, "q"))
print(f"{3.14159:.2f} {255:#x} {255:08b} {1e6:,.0f} {'x':*^7} {0.256:.1%} {np.float32(1.5)!r} {np.pi=:.3f}")
print("a,b,,c".split(","), " x ".strip(), "abc".replace("b", "-"), "Hello World".swapcase(), "abc".find("c"), "a-b-c".rsplit("-", 1), "x".join("abc"), "abc".startswith(("a", "z")), "title case".title(), "%d%%" % 5, "abc"[::-1], "tab\tx".expandtabs(4), "ab" * 2, "z" in "xyz", ord("a"), chr(98), "é".encode(), b"ab".hex())
