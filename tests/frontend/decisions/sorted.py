import numpy as np

def forward(x: "float64[6]", i: "int64[5]"):
    s = sorted(x.tolist())
    t = sorted(list(x), reverse=True)
    order = sorted(range(5), key=lambda k: abs(i[k]) % 3, reverse=True)
    by = sorted(range(5), key=lambda k: abs(i[k]) % 3)
    v = [x[0], x[1], x[2]]
    v.sort(key=lambda a: -a)
    return s[len(s) // 2], t[0], np.array(order), np.array(by), np.array(v)
