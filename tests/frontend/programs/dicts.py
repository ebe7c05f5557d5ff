d = {"a": 1, "b": [1, 2]}
d["c"] = 3
d.update({"a": 10})
d.setdefault("z", 0)
print(d, d.get("q"), d.get("q", 5), d.pop("z"), "a" in d, len(d))
for k, v in d.items():
    print(k, v)
print(list(d), list(d.keys()), list(d.values()), dict(x=1, **d), {**d, "b": 0}, dict([("m", 1)]), d | {"n": 2})
del d["a"]
print(d, {(1, 2): "t"}[1, 2])
