import numpy as np

people = np.array([("Ann", 31, 1.7), ("Bob", 25, 1.82), ("Cid", 44, 1.65)], dtype=[("name", "U10"), ("age", "i4"), ("height", "f8")])
print(people["age"].mean())
print(people[people["age"] > 30]["name"])
print(np.sort(people, order="height")["name"])
