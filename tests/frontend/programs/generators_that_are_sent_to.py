def mean():
    total, count, out = 0.0, 0, None
    try:
        while True:
            x = yield out
            total += x
            count += 1
            out = total / count
    finally:
        print("closed after", count)


g = mean()
print(next(g))
print([g.send(v) for v in (1, 2, 6)])
g.close()
h = (i * i for i in range(3))
print(next(h), list(h))
try:
    next(h)
except StopIteration:
    print("at its end")


def inner():
    yield 1
    return 5


def outer():
    found = yield from inner()
    yield found


print(list(outer()))
