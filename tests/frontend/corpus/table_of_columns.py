#! F206: the dtype of an array's text
import numpy as np
class Table:
    def __init__(self, **cols):
        self._c = {k: np.asarray(v) for k, v in cols.items()}
        assert len({len(v) for v in self._c.values()}) == 1
    def __getattr__(self, name):
        try:
            return self.__dict__["_c"][name]
        except KeyError:
            raise AttributeError(name) from None
    def __getitem__(self, key):
        if isinstance(key, str): return self._c[key]
        if isinstance(key, (list, tuple)): return Table(**{k: self._c[k] for k in key})
        return Table(**{k: v[key] for k, v in self._c.items()})
    def __len__(self): return len(next(iter(self._c.values())))
    def groupby(self, by, **aggs):
        keys = np.unique(self._c[by])
        out = {by: keys}
        for name, (col, fn) in aggs.items():
            out[name] = np.array([fn(self._c[col][self._c[by] == k]) for k in keys])
        return Table(**out)
    def sort(self, by, desc=False):
        o = np.argsort(self._c[by], kind="stable")
        return self[o[::-1] if desc else o]
    def __str__(self):
        w = {k: max(len(k), *(len(f"{x:.2f}" if x.dtype.kind == "f" else str(x)) for x in v)) for k, v in self._c.items()}
        lines = ["  ".join(k.rjust(w[k]) for k in self._c)]
        for i in range(len(self)):
            lines.append("  ".join((f"{v[i]:.2f}" if v.dtype.kind == "f" else str(v[i])).rjust(w[k]) for k, v in self._c.items()))
        return "\n".join(lines)
t = Table(city=["A", "B", "A", "C", "B", "A"], sales=[3.5, 2.0, 7.25, 1.0, 9.0, 4.0], n=[1, 2, 3, 4, 5, 6])
print(t.groupby("city", total=("sales", np.sum), mean=("sales", np.mean), k=("n", len)).sort("total", desc=True))
print(t[t.sales > 3][["city", "n"]])
print(len(t), t.n.sum(), hasattr(t, "zzz"))
