# Report of quarterly sales as text tables
import numpy as np

regions = ["North", "South", "East", "West"]
quarters = [f"Q{i}" for i in range(1, 5)]
rng = np.random.default_rng(77)
sales = rng.integers(100, 1000, size=(4, 4)) * 10


def table(header, rows, totals=None, width=9):
    line = "+" + "+".join("-" * (width + 2) for _ in header) + "+"
    out = [line, "| " + " | ".join(h.center(width) for h in header) + " |", line]
    for r in rows:
        out.append("| " + " | ".join(f"{c:>{width},}" if not isinstance(c, str) else c.ljust(width) for c in r) + " |")
    if totals is not None:
        out += [line, "| " + " | ".join(str(c).rjust(width) for c in totals) + " |"]
    return "\n".join(out + [line])


rows = [[name, *map(int, row)] for name, row in zip(regions, sales)]
print(table(["Region", *quarters], rows, ["Total", *sales.sum(axis=0)]))
growth = np.diff(sales, axis=1) / sales[:, :-1] * 100
for name, g in zip(regions, growth):
    print(f"{name:.<10}" + "".join(f"{v:+8.1f}%" for v in g))
share = sales / sales.sum()
print("best region:", regions[sales.sum(axis=1).argmax()], "| best quarter:", quarters[sales.sum(axis=0).argmax()])
r, q = np.unravel_index(np.argmax(sales), sales.shape)
print(f"record: {regions[r]} in {quarters[q]} with {sales[r, q]:_d} ({share[r, q]:.1%})")
print(f"{'mean':>8}: {sales.mean():>12,.2f}\n{'median':>8}: {np.median(sales):>12,.2f}\n{'std':>8}: {sales.std():>12.3e}")
print(f"{sales[0, 0]:#x} {sales[0, 1]:08b} {share.max():g} {1 / 3:.3}")
