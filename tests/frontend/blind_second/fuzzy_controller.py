import numpy as np


def tri(x, a, b, c):
    return np.maximum(np.minimum((x - a) / (b - a + 1e-12), (c - x) / (c - b + 1e-12)), 0)


TEMPS = {"cold": (-10, 0, 15), "mild": (10, 18, 26), "hot": (22, 35, 50)}
SPEEDS = {"low": (0, 20, 40), "medium": (30, 50, 70), "high": (60, 80, 100)}
RULES = [("cold", "low"), ("mild", "medium"), ("hot", "high")]
universe = np.linspace(0, 100, 101)


def infer(temp, *, method="centroid"):
    agg = np.zeros_like(universe)
    fired = {}
    for t_name, s_name in RULES:
        w = float(tri(temp, *TEMPS[t_name]))
        if w > 0:
            fired[t_name] = round(w, 3)
            agg = np.maximum(agg, np.minimum(w, tri(universe, *SPEEDS[s_name])))
    if not agg.any():
        return None, fired
    match method:
        case "centroid":
            out = (universe * agg).sum() / agg.sum()
        case "mom" | "mean":
            out = universe[agg == agg.max()].mean()
        case _:
            raise NotImplementedError(method)
    return out, fired


for temp in (-20, 5, 14, 24, 30):
    speed, fired = infer(temp)
    print(f"{temp:4d} C ->", "off" if speed is None else f"{speed:6.2f} %", fired)
print("mean of maxima", infer(24, method="mom")[0])
try:
    infer(20, method="bisector")
except NotImplementedError as exc:
    print(type(exc).__name__, exc)
surface = np.array([infer(t)[0] or 0.0 for t in range(0, 45, 5)])
print(surface.round(1), np.all(np.diff(surface) >= -1e-9))
