from collections import deque

deps = {
    "app": ["lib", "ui"],
    "ui": ["gfx", "core"],
    "lib": ["core"],
    "gfx": ["core"],
    "core": [],
    "tests": ["app"],
}


def topo(deps):
    indegree = {k: len(v) for k, v in deps.items()}
    users = {k: [] for k in deps}
    for k, vs in deps.items():
        for v in vs:
            users[v].append(k)
    ready = deque(sorted(k for k, n in indegree.items() if n == 0))
    out = []
    while ready:
        k = ready.popleft()
        out.append(k)
        for u in users[k]:
            indegree[u] -= 1
            if indegree[u] == 0:
                ready.append(u)
    if len(out) != len(deps):
        raise RuntimeError("cycle")
    return out


print(topo(deps))
deps["core"].append("app")
try:
    topo(deps)
except RuntimeError as e:
    print("failed:", e)


def depth(name, _memo={}):
    if name not in _memo:
        _memo[name] = 1 + max((depth(d) for d in deps[name] if d != "app"), default=0)
    return _memo[name]


print({k: depth(k) for k in deps})
