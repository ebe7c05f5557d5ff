import io

import numpy as np

DATA = """# station, temp, humidity
1, 21.5, 40
2, 19.0, 55
1, 22.1, 42
3, 17.3, 71
2, 18.4, 58
"""

table = np.genfromtxt(io.StringIO(DATA), delimiter=",", comments="#")
print(table.shape, table.dtype)
station = table[:, 0].astype(int)
for s in np.unique(station):
    rows = table[station == s]
    print(f"station {s}: n={len(rows)} temp={rows[:, 1].mean():.2f} humidity={rows[:, 2].max():.0f}")

ids, temp = np.loadtxt(io.StringIO(DATA), delimiter=",", usecols=(0, 1), unpack=True)
print(ids, temp)
out = io.StringIO()
np.savetxt(out, table[:2], fmt="%.1f", delimiter=";")
print(out.getvalue(), end="")
