def f(a, b=2, *rest, c, d=4, **more):
    return a, b, rest, c, d, more

print(f(1, c=3), f(1, 2, 3, 4, c=5, e=6), f(*[1, 2], **{"c": 3, "d": 9, "k": 0}))

def outer(n):
    def inner(m):
        return n + m
    return inner(10) + (lambda z: z * n)(2)

print(outer(3))
square = lambda v: v * v
print(list(map(square, range(4))), list(filter(lambda v: v % 2, range(6))))
