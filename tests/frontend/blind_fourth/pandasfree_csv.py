"""Tiny analysis of a CSV embedded in the script."""
import csv
import io
from datetime import date
from itertools import groupby
from operator import itemgetter
from statistics import median

import numpy as np

RAW = """day,city,temp,rain
2024-01-01,Oslo,-3.5,0.0
2024-01-02,Oslo,-1.0,2.4
2024-01-03,Oslo,0.5,
2024-01-01,Rome,11.2,0.0
2024-01-02,Rome,12.9,1.1
2024-01-03,Rome,10.4,7.8
"""


def to_float(s, default=np.nan):
    try:
        return float(s)
    except ValueError:
        return default


rows = list(csv.DictReader(io.StringIO(RAW)))
for r in rows:
    r["temp"] = to_float(r["temp"])
    r["rain"] = to_float(r["rain"])
rows.sort(key=itemgetter("city", "day"))
for city, grp in groupby(rows, key=itemgetter("city")):
    grp = list(grp)
    temps = np.array([g["temp"] for g in grp])
    rain = np.array([g["rain"] for g in grp])
    print(f"{city:<6}|{temps.mean():>7.2f}|{np.nanmean(rain):>7.2f}|{median(temps):>6.1f}")
temp = np.array([r["temp"] for r in rows])
z = (temp - temp.mean()) / temp.std()
print(np.round(z, 3).tolist())
print(np.percentile(temp, [25, 50, 75]))

#! F506: statistics.median of NumPy's numbers
