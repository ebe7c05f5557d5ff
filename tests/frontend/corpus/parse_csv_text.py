import numpy as np

raw = """name,score,age
ann,3.5,21
bob,n/a,34
cid,4.25,28
dee,2.0,x
"""

rows = []
bad = 0
for line in raw.strip().split("\n")[1:]:
    name, score, age = line.split(",")
    try:
        rows.append((float(score), int(age)))
    except ValueError:
        bad += 1
data = np.array(rows)
print(data, data.dtype)
print("bad rows:", bad)
print("mean score %.3f, mean age %.1f" % (data[:, 0].mean(), data[:, 1].mean()))
