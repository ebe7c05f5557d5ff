"""Settings, texts, dates, memory and records of NumPy: what CPython prints, by the VM and by the interpreter."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers_corpus import Program, by_python, by_vm

from fleet.errors import SourceError
from fleet.frontend.interpreter import run

LINES = {
    "error handling": """
old = np.seterr(over="ignore", divide="ignore")
print(old, np.geterr())
print(np.uint8(255) + np.uint8(1), np.ones(2) / 0)
print(np.seterr(**old), np.geterr(), np.seterr())
np.seterr("ignore")
with np.errstate(all="warn", over="ignore"):
    print(np.geterr())
print(np.geterr())
np.seterr(all="warn", under="ignore")
@np.errstate(divide="ignore")
def f(x):
    return 1 / x
print(f(np.zeros(1)), np.geterr()["divide"])
""",
    "formatter of a text": """
x = np.array([[1.0, 2.5], [-3.25, 1e10]])
print(np.array2string(x, formatter={"float_kind": lambda v: "%.4f" % v}))
print(np.array2string(x, formatter={"float": "{:8.2e}".format}, separator=", "))
print(np.array2string(np.arange(5), formatter={"int": lambda v: hex(v)}))
print(np.array2string(np.arange(3), formatter={"int_kind": str}))
print(np.array2string(np.array([True, False]), formatter={"bool": lambda b: "yes" if b else "no"}))
print(np.array2string(np.array([1 + 2j]), formatter={"complexfloat": lambda z: f"<{z.real:.1f},{z.imag:.1f}>"}))
print(np.array2string(np.array([1 + 2j]), formatter={"complex_kind": lambda z: f"<{z.imag}>"}))
print(np.array2string(x, formatter={"all": lambda v: f"{v:+.1f}"}), np.array2string(x, formatter={"int": str}, precision=2))
print(np.array2string(np.array(["a", "b"]), formatter={"numpystr": lambda s: s.upper()}))
print(np.array2string(np.array(["a", "b"]), formatter={"str_kind": lambda s: s * 2}))
print(np.array2string(np.array([1, None], dtype=object), formatter={"object": lambda o: f"({o})"}))
print(np.array2string(np.arange(2000.0), formatter={"float": lambda v: f"{v:.0f}"}, threshold=10, edgeitems=2))
def shown(v):
    return f"{v:.1f}"
print(np.array2string(np.linspace(0, 1, 30), formatter={"float_kind": shown}))
""",
    "formatter of print options": """
np.set_printoptions(formatter={"float": lambda x: f"{x:6.2f}"})
a = np.array([1.0, 2.5])
print(a)
print("a:", a, [a], str(a), repr(a), f"{a} {a[0]}", "%s" % a, np.arange(2), np.array(1.5), a[0])
np.set_printoptions(precision=3)
print(a)
with np.printoptions(formatter={"int": lambda i: f"#{i}"}):
    print(np.arange(3))
print(np.arange(3), np.get_printoptions()["precision"], np.get_printoptions()["formatter"])
np.set_printoptions(formatter={"float_kind": "{:.1f}".format}, suppress=True)
print(np.eye(2))
np.set_printoptions(formatter=None)
print(np.eye(2))
""",
    "dates": """
print(np.datetime64("2023-03-01") - np.datetime64("2023-02-01"))
d = np.array(["2023-01-02", "2023-01-05"], dtype="datetime64[D]")
print(d[0], np.diff(d), d.astype("datetime64[M]"), d.dtype, repr(d), repr(d[0]))
print(np.arange('2016-07', '2016-08', dtype='datetime64[D]')[:3])
print(np.datetime64("2024-01-31") + 1, (np.datetime64("2024-03-01") - np.datetime64("2024-02-01")).astype(int))
print(d > np.datetime64("2023-01-03"), d[d > np.datetime64("2023-01-03")], d.min(), d.max(), (d - d[0]).mean(), (d - d[0]).sum(), np.sort(d)[::-1])
if d[0] < d[1]: print("less")
print((d[1] - d[0]) / np.timedelta64(1, "h"), np.timedelta64(90, "m") // np.timedelta64(1, "h"))
print(np.busday_count("2023-01-01", "2023-02-01"), np.is_busday(d), np.busday_offset("2023-01-01", 3, roll="forward"))
print(np.datetime_as_string(d, unit="M"), np.isnat(np.array(["NaT", "2020"], dtype="M8[Y]")))
print(np.arange(np.datetime64("2020-01-01"), np.datetime64("2020-01-04")), np.arange(3) * np.timedelta64(2, "D") + d[0])
y = d.astype("datetime64[Y]").astype(int) + 1970
print(y, y.dtype, d.astype("int64"), np.unique(d.astype("M8[M]")), np.array([1, 2]).astype("m8[s]"))
for x in d: print(x)
print([str(x) for x in d], f"{d[0]}")
t = np.dtype([("date", "datetime64[D]"), ("units", "i4"), ("price", "f8")])
r = np.array([("2024-01-01", 3, 2.5), ("2024-02-01", 4, 1.5)], dtype=t)
print(r["date"], r["date"].astype("M8[M]") == np.datetime64("2024-02"), r[r["date"] > np.datetime64("2024-01-15")]["units"].sum(), r)
w = np.array(["2024-01-01"], dtype="datetime64[D]")
w[0] = "2025-05-05"; w += 1; print(w, w[0] in w, len(w))
print(np.timedelta64(90, 'm'), np.timedelta64(2, 'h') + np.timedelta64(30, 'm'), -np.timedelta64(3, "D"), abs(np.timedelta64(-3, "D")), int(np.timedelta64(5, "D") / np.timedelta64(1, "D")))
print(np.where(d > np.datetime64("2023-01-03"), d, np.datetime64("NaT")), np.concatenate([d, w]), np.issubdtype(d.dtype, np.datetime64))
""",  # noqa: E501
    "byte order and C's names": r"""
big = np.array([1, 258], dtype=">u2"); print(big, big.dtype, big + 1, big.tobytes(), big.byteswap(), big.view("u1"), big.astype(int).sum(), big[1], big.sum(), big.astype("<u2").dtype, np.sum(big), big * 2.0, big.max())
print(np.frombuffer(b"\x00\x01\x00\x02", ">i2"), np.frombuffer(b"\x00\x00\x01\x02", dtype=np.dtype(">i2")).astype(np.int32), np.zeros(2, ">f8"))
h = np.frombuffer(b"\x01\x00\x00\x00\x02\x00", dtype=[("a", "<u4"), ("b", "<u2")]); print(h["a"], h["b"][0], h)
print(np.arange(3).astype(np.ubyte).dtype, np.zeros(1, np.short).dtype, np.intc, np.longlong, np.dtype(np.ulonglong), np.ones(2, np.byte) + np.ushort(3))
""",  # noqa: E501
    "views as records": """
d = np.array([(1, 2.5), (2, 3.5)], dtype=[("a", "i4"), ("b", "f8")])
r = d.view(np.recarray)
print(r.b, r.a.sum(), r[0], r.b[1])
R = np.rec.fromarrays([[1, 2], [2.5, 3.5]], names="a, b")
print(R.a, R[0], R.b * 2)
F = np.array([[1, 2], [0, 3], [1, 2]])
G = F.view(dtype=[("p0", F.dtype), ("p1", F.dtype)])
print(np.unique(G), G.shape, G["p1"].ravel())
F[0, 0] = 7
print(G[0], F[0])
G["p0"][1] = 9
print(F, G)
v = np.ascontiguousarray(F).view(np.dtype((np.void, F.dtype.itemsize * F.shape[1])))
u, idx = np.unique(v, return_index=True)
print(F[np.sort(idx)], u.view(F.dtype).reshape(-1, F.shape[1]), v.dtype)
Z = np.array([("Hello", 2.5, 3)]*2, dtype="U5, f8, i4")
print(np.rec.array(Z).f1, Z.dtype.names)
""",
    "operators of poly1d": """
p = np.poly1d([1.0, 2.0, 3.0])
xs = np.array([0.0, 1.0, 3.0])
print(p / 2, p / xs[2], 2 / p, p / np.poly1d([1.0, 1.0]), p / [1, 1])
print(p**2, (p**0).coeffs, p == np.poly1d([1.0, 2.0, 3.0]), p != p, p[0], p[2], p[5], len(p), (+p).c, p == np.poly1d([1.0]))
ws = np.array([1.0, -2.0, 4.0])
total = np.poly1d(0.0)
for j in range(3):
    part = np.poly1d(ws[j])
    for k in range(3):
        if k != j:
            part *= np.poly1d([1.0, -xs[k]]) / (xs[j] - xs[k])
    total += part
print(total.coeffs, total(xs))
print(np.float64(2) * p, xs + p, 2 * p, 1 - p, [1.0, 2.0] * p)
""",
    "shapes out of iterators": """
arrays = [[1, 2], [3, 4, 5]]
print(np.indices((len(x) for x in arrays), dtype=int).shape, np.tile(np.arange(2), (i for i in (2, 2))))
""",
}


def program(folder: Path, text: str) -> Program:
    path = folder / "line.py"
    path.write_text(f"import numpy as np\n\n{text}\n")
    return Program(path, None, {}, "", "")


@pytest.mark.parametrize("text", LINES.values(), ids=LINES.keys())
def test_what_python_prints(tmp_path: Path, text: str) -> None:
    given = program(tmp_path, text)
    _, expected = by_python(given)
    assert by_vm(given)[1] == expected


@pytest.mark.parametrize("name", ["error handling", "formatter of print options"])
def test_the_interpreter_prints_it_too(tmp_path: Path, name: str) -> None:
    given = program(tmp_path, LINES[name])
    assert run(str(given.path), {}).printed == by_python(given)[1]


RUN = "x = np.random.default_rng(0).random(200000)[:3]\n"
"""Elements that only the run knows."""


@pytest.mark.parametrize(
    ("text", "code", "what"),
    [
        ("np.seterr(all='raise')", "F506", "np.seterr that does other than ignore or warn"),
        ("np.seterr(over='ignore', call=print)", "F506", "np.seterr with `call=`"),
        (RUN + "np.set_printoptions(formatter={'float': str})\nprint(x)", "F404", "printed with a formatter"),
        (RUN + "print(np.array2string(x, formatter={'float': str}))", "F404", "whose elements only the run knows"),
        ("print(np.array2string(np.ones(2), formatter={'float': lambda v: 3}))", "F408", "a formatter gives the number 3"),
        ("print(np.datetime64('today'))", "F507", "another date in every run"),
        (RUN + "print(x * np.timedelta64(1, 'D'))", "F404", "beside text, dates, records"),
        (RUN + "print(np.ma.array(x, mask=[0, 1, 0]))", "F404", "a masked array"),
        ("print(np.arange('1000', '9999', dtype='M8[s]'))", "F603", "elements"),
        ("print(np.array2string(np.ones(2), formatter=str))", "F408", "it is a dict"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, code: str, what: str) -> None:
    with pytest.raises(SourceError) as caught:
        by_vm(program(tmp_path, text))
    assert caught.value.code == code
    assert what in str(caught.value)
