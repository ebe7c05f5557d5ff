import numpy as np

data = np.array([1.0, np.nan, 3.0, -999.0, 5.0])
m = np.ma.masked_invalid(data)
m = np.ma.masked_equal(m, -999.0)
print(m.mean(), m.count())
names = np.array(["alpha", "Beta", "gamma"])
print(np.char.upper(names), np.char.str_len(names))
days = np.arange("2024-02-27", "2024-03-02", dtype="datetime64[D]")
print(days, (days[-1] - days[0]).astype(int))
f = np.vectorize(lambda a, b: a if a > b else b)
print(f(np.arange(4), 2))
for idx, v in np.ndenumerate(np.arange(4).reshape(2, 2)):
    print(idx, v)
g = np.frompyfunc(lambda x: x * 2 + 1, 1, 1)
print(g(np.arange(3)).tolist())
print(np.select([data < 0, data > 2], [-1, 1], default=0))
print(np.piecewise(np.linspace(-1, 1, 5), [np.linspace(-1, 1, 5) < 0], [lambda x: -x, lambda x: x**2]))
print(np.nan_to_num(data, nan=0.0).sum(), np.digitize([1, 5, 9], [2, 6]))
H, xe, ye = np.histogram2d([0.1, 0.5, 0.9], [0.2, 0.2, 0.8], bins=2, range=[[0, 1], [0, 1]])
print(H)
print(np.interp([0.5, 1.5], [0, 1, 2], [0, 10, 20]), np.polyfit([0, 1, 2], [1, 3, 5], 1).round(6))
print(np.array_split(np.arange(7), 3), np.tile([1, 2], 2), np.repeat([1, 2], [2, 1]))
print(np.setdiff1d([1, 2, 3], [2]), np.union1d([1], [3]), np.isin([1, 2], [2]), np.intersect1d([1, 2], [2, 3]))

#! F404: dates
