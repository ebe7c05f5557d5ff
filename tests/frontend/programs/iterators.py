it = iter([1, 2, 3])
print(next(it), list(it), next(it, "end"))
z = zip([1, 2], [3, 4, 5])
print(list(z), list(z))
g = (i * i for i in range(4))
print(sum(g), sum(g))
print(any(v > 2 for v in [1, 2, 3]), all([1, 0]), list(enumerate("ab")), dict(zip("ab", [1, 2])), list(zip(*[(1, 2), (3, 4)])))
def take(n, values):
    found = []
    for v in values:
        if len(found) == n:
            break
        found.append(v)
    return found
m = map(lambda v: v + 1, range(10))
print(take(2, m), list(m)[:2])
