"""Reads an embedded CSV, groups it, prints a report with every kind of format."""
import csv
import io
import json
import statistics
from collections import defaultdict
from operator import itemgetter
from string import Template
from textwrap import dedent, indent
import numpy as np

RAW = """date,city,temp,rain
2024-01-01,Oslo,-3.5,0
2024-01-02,Oslo,-1.0,2.5
2024-01-01,Rome,11.2,0
2024-01-02,Rome,,1.25
2024-01-01,Cairo,19.9,0
2024-01-02,Cairo,21.3,0
"""

rows = list(csv.DictReader(io.StringIO(RAW)))
groups = defaultdict(list)
for r in rows:
    groups[r["city"]].append({k: float(v) if v else np.nan for k, v in r.items() if k in ("temp", "rain")})
table = {c: np.array([[d["temp"], d["rain"]] for d in g]) for c, g in groups.items()}
print(f"{'city':<8}|{'mean':>8}|{'rain':>7}|{'n':^5}")
print(f"{'':-<8}+{'':->8}+{'':->7}+{'':-^5}")
for city, arr in sorted(table.items(), key=lambda kv: -np.nanmean(kv[1][:, 0])):
    m, r = np.nanmean(arr[:, 0]), arr[:, 1].sum()
    print(f"{city:<8}|{m:>8.2f}|{r:>7.2f}|{np.count_nonzero(~np.isnan(arr[:, 0])):^5d}")
vals = [float(r["temp"]) for r in rows if r["temp"]]
print(statistics.mean(vals), round(statistics.stdev(vals), 4), statistics.median(vals))
print("{:e} {:g} {:+.1f} {:08.3f} {:,} {:_} {:x} {:#b} {:%} {!r:>6}".format(12345.678, 1e-7, 3.14159, -2.5, 1234567, 1000000, 255, 5, 0.256, "a"))
print("%5.1f|%-6s|%03d|%x|%e|%s|%%" % (3.14159, "ab", 7, 255, 0.00012, [1, 2]))
width, prec = 10, 3
print(f"{np.pi:{width}.{prec}f}|{np.float32(2.5)!r}|{np.int64(7)}|{vals[0]=}|{len(rows)=:>4}")
print(json.dumps({"a": [1, 2.5, None, True], "b": {"c": "é"}}, sort_keys=True), json.loads('{"x": [1, 2]}')["x"])
print(Template("$who is $n").substitute(who="fleet", n=1), indent(dedent("""\
    one
      two"""), "> "), sep="\n")
arr = np.array([[1.5, -2.25], [1e-10, 12345.678]])
print(arr)
print(np.array2string(arr, precision=2, suppress_small=True, separator=", "))
print(repr(np.arange(3)), repr(np.float32([1, 2])), str(np.array(["a", "b"])), repr(np.array([True])), np.array([]), np.zeros((0, 3)))
with np.printoptions(precision=3, suppress=True, linewidth=40):
    print(np.linspace(0, 1, 12))
print(np.arange(2000), np.array([np.nan, np.inf, -np.inf, 0.0, -0.0]), np.array([1, 1000000]), np.array([1e20, 1.0]))
print(max(rows, key=lambda r: float(r["temp"] or "-inf"))["city"], sorted(map(itemgetter("city"), rows))[:2])
print(" ".join(np.char.upper(["a", "b"])), np.strings.str_len(["abc", "d"]) if hasattr(np, "strings") else [3, 1], "abc".zfill(5), "a-b_c".translate(str.maketrans("-_", "  ")))
print(bin(10)[2:].rjust(8, "0"), int("ff", 16), oct(8), chr(9731), ord("A"), "Hello"[::-1].swapcase(), "x".join("abc"), *"ab", sep="|", end=".\n")
