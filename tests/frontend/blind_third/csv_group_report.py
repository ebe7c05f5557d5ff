import io
from itertools import groupby

DATA = """region,product,units,price
north,apple,10,1.50
south,pear,4,2.25
north,pear,7,2.20
east,apple,,1.40
south,apple,12,1.45
east,fig,9,3.10
"""

rows = []
errors = []
lines = io.StringIO(DATA)
header = next(lines).strip().split(",")
for lineno, line in enumerate(lines, start=2):
    rec = dict(zip(header, line.strip().split(",")))
    try:
        rec["units"] = int(rec["units"])
        rec["price"] = float(rec["price"])
    except ValueError as e:
        errors.append((lineno, str(e)))
        continue
    rows.append(rec)

rows.sort(key=lambda r: (r["region"], -r["units"]))
for region, items in groupby(rows, key=lambda r: r["region"]):
    items = list(items)
    revenue = sum(r["units"] * r["price"] for r in items)
    print(f"{region.capitalize():8s} {revenue:8.2f}  " + "; ".join(f"{r['product']} x{r['units']}" for r in items))
print(errors)
print({p: sum(r["units"] for r in rows if r["product"] == p) for p in sorted({r["product"] for r in rows})})
