import numpy as np

dtype = np.dtype([("name", "U12"), ("mag", "f8"), ("dist", "f8"), ("spectral", "U2")])
stars = np.array([
    ("Sirius", -1.46, 8.6, "A1"),
    ("Canopus", -0.74, 310.0, "A9"),
    ("Arcturus", -0.05, 36.7, "K0"),
    ("Vega", 0.03, 25.0, "A0"),
    ("Rigel", 0.13, 860.0, "B8"),
    ("Betelgeuse", 0.5, 548.0, "M1"),
], dtype=dtype)

absolute = stars["mag"] - 5 * (np.log10(stars["dist"] / 3.2616) - 1)
order = np.argsort(absolute)
print(f"{'name':<12} {'m':>6} {'M':>7} {'ly':>6}")
for i in order:
    s = stars[i]
    print(f"{s['name']:<12} {s['mag']:6.2f} {absolute[i]:7.2f} {s['dist']:6.1f}")
near = stars[stars["dist"] < 50]
print("near:", list(near["name"]), near.shape)
by_dist = np.sort(stars, order="dist")
print(by_dist["name"].tolist())
print("fields", stars.dtype.names, "total", len(stars))
stars["mag"][0] += 0.01
stars[1]["dist"] = 309.0
print(stars[:2])
print("mean magnitude %.3f" % stars["mag"].mean(), stars["spectral"] == "A1")
classes = {}
for row in stars:
    classes.setdefault(row["spectral"][0], []).append(str(row["name"]))
print(classes)
