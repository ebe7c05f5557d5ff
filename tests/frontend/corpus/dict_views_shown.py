d = {"a": 1, "b": 2}
print(d.keys(), d.values(), d.items())
k = d.keys()
d["c"] = 3
print(list(k), len(k), "c" in k, sorted(d.values()), max(d.values()), sum(d.values()))
for n, (key, v) in enumerate(d.items()):
    print(n, key, v)
print(sorted(set(d.keys()) - {"a"}), d.keys() - {"a"} == {"b", "c"}, d.keys() == {"a": 0, "b": 0, "c": 0}.keys(), [*d.values()], dict(d.items()) == d)
print(("a", 1) in d.items(), tuple(d), next(iter(d.values())), list(reversed(d.keys())), isinstance(d.keys(), tuple), bool(d.items()), str(d.values()))
ks, vs = zip(*d.items())
print(ks, vs)
