import numpy as np

stars = np.array([("a", 1.5, 3), ("b", -0.5, 4), ("c", 2.0, 5)], dtype=[("name", "U4"), ("mag", float), ("n", int)])
mags = stars["mag"]
stars["mag"][0] += 0.25
stars[1]["n"] = 40
stars["name"][2] = "zeta"
mags[2] = 9
print(stars, mags, mags.sum())
stars["mag"] *= 2
for row in stars:
    row["n"] += 1
print(stars["mag"], mags, stars["n"], mags @ np.ones(3))
copy = stars[stars["n"] > 4]
copy["n"] = 0
stars[0] = ("new", 7.0, 8)
print(stars.tolist(), copy["n"], np.sort(stars, order="mag")["name"])
