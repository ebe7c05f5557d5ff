from collections import OrderedDict, Counter, defaultdict
d = {1: "x", 2: "y"}
print(d.keys() & {1, 5}, {1, 7} - d.keys(), d.keys() | [9], d.items() & {(1, "x")} == {(1, "x")}, d.keys() <= {1, 2, 3}, d.keys() == {1, 2})
try:
    for k in d:
        if k == 2:
            d[3] = "z"
except RuntimeError as e:
    print("caught", e)
try:
    for k, v in d.items():
        del d[k]
except RuntimeError as e:
    print(e, d)
print(OrderedDict(a=1).keys(), Counter("aab").items(), defaultdict(int, {3: 4}).values())
a, *b = d.values()
print(a, b, "-".join(d.values()), max(d.items()), list(enumerate(d.keys(), 1)), [x for x in d.values() if x != "y"])
def f(*a): return a
print(f(*d.keys()), {**d}, [*d.items()], list(map(str, d.keys())), list(zip(d.keys(), d.values())), sum(d.keys()), any(d.values()))
for i in range(200):
    d[i % 3] = i
print(d, len(d.items()), d.values())
