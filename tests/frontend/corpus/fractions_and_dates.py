from fractions import Fraction
from decimal import Decimal, ROUND_HALF_UP
import datetime as dt
from datetime import date, timedelta, datetime
import hashlib, struct, zlib, base64, csv, io
import numpy as np

a, b = Fraction(1, 3), Fraction("0.25")
print(a + b, a * 2, 2 - a, a / b, a ** 2, float(a) > 0.3, a < b, max(a, b), sum([a, b, a]), Fraction(0.5), repr(a), a.numerator, -a, abs(-b), Fraction(3.14159).limit_denominator(100))
print([str(Fraction(1, n)) for n in range(1, 5)], sorted([a, b, Fraction(1, 2)]), {a: "third"}[Fraction(2, 6)], round(a, 2), int(Fraction(7, 2)), a == Fraction(2, 6), a != b, f"{float(b):.2f}", isinstance(a, Fraction), bool(Fraction(0)))
def egyptian(f):
    out = []
    while f > 0:
        d = -(-f.denominator // f.numerator)
        out.append(d); f -= Fraction(1, d)
    return out
print(egyptian(Fraction(7, 15)))
x = Decimal("1.10") + Decimal("2.20"); print(x, x * 3, Decimal("2.675").quantize(Decimal("0.01")), Decimal(2).sqrt(), x > 3, f"{x:.1f}", float(x))
d = date(2024, 2, 28) + timedelta(days=2); print(d, d.weekday(), d.strftime("%d %b %Y"), (date(2024, 12, 25) - d).days, d.year, d < date(2025, 1, 1), d.isoformat(), d.replace(month=7), [d + timedelta(weeks=w) for w in range(2)])
t = datetime(2024, 1, 31, 23, 59, 30) + timedelta(seconds=45); print(t, t.hour, t.date(), (t - datetime(2024, 1, 1)).total_seconds(), datetime.strptime("03/04/2021", "%d/%m/%Y"), isinstance(t, date), dt.timedelta(hours=25))
h = hashlib.sha256(b"fleet"); h.update(b"!"); print(h.hexdigest()[:16], hashlib.md5("x".encode()).hexdigest(), h.name)
p = struct.pack("<Ihf", 1, -2, 0.5); print(p.hex(), struct.unpack("<Ihf", p), struct.calcsize("<Ihf"), zlib.crc32(b"abc"), base64.b64encode(b"hello").decode(), int.from_bytes(b"\x01\x02", "big"))
rows = list(csv.reader(io.StringIO("a,b\n1,2\n3,4\n"))); print(rows, [int(r["b"]) for r in csv.DictReader(io.StringIO("a,b\n1,2\n3,4\n"))])
print(np.mean([float(Fraction(1, k)) for k in range(1, 5)]), [[Fraction(i, j) for i in (1, 2)] for j in (2, 3)])
try:
    Fraction(1, 0)
except ZeroDivisionError as e:
    print("zero:", e)
try:
    date(2023, 2, 30)
except ValueError as e:
    print(e)
