def keep(v, into=[]):
    into.append(v)
    return into

keep(1)
print(keep(2), keep(3, []))
n = 5
def g(m=n):
    return m
n = 6
print(g(), n)
