#! F506: a table with names, BytesIO, temporary folders
import io, json, os, tempfile
import numpy as np
buf = io.StringIO("1,2,3\n4,5,6\n7,8,9\n")
a = np.loadtxt(buf, delimiter=",")
print(a.sum(axis=0))
b = np.genfromtxt(io.StringIO("x y\n1 2\n3 nan"), names=True)
print(b["x"], np.nansum(b["y"]))
s = json.dumps({"mean": float(a.mean()), "shape": a.shape, "ok": True, "none": None}, sort_keys=True)
print(s, json.loads(s)["shape"])
out = io.StringIO()
np.savetxt(out, a[:2], fmt="%.1f", delimiter=";")
print(out.getvalue(), end="")
f = io.BytesIO()
np.save(f, a); f.seek(0)
print(np.array_equal(np.load(f), a))
with tempfile.TemporaryDirectory() as d:
    p = os.path.join(d, "x.npz")
    np.savez(p, a=a, b=np.arange(3))
    with np.load(p) as z:
        print(sorted(z.files), z["b"].sum())
