# relax(x: float64[10, 10], mask: bool[10, 10])
import numpy as np


def relax(x, mask):
    """In-place views, masks and fancy writes of all kinds."""
    y = x.copy()
    y[mask] = 0
    y[~mask & (y > 1)] = 1
    y[y < -1] *= 0.5
    top = y[:3]
    top += 10
    diag = np.einsum("ii->i", y)
    diag[...] = -5
    y[::2, 1::2] -= y[1::2, ::2]
    col = y[:, -1]
    col[col > 0] = np.sqrt(col[col > 0])
    y.T[0] += np.arange(10)
    y[[1, 3, 3], [2, 2, 2]] += 100
    rows, cols = np.nonzero(mask)
    k = np.minimum(len(rows), 4)
    y[rows[:4], cols[:4]] = [[7.0], [8.0]][1][0]
    np.putmask(y, y > 50, y / 2)
    np.place(y, np.isclose(y, 8.0), [1.0, 2.0])
    np.copyto(y, -1, where=(y == 2.0))
    z = y.reshape(5, 2, 10)
    z[:, 0] = z[:, 0][:, ::-1]
    y.flat[::11] = 3
    np.fill_diagonal(y[:, ::-1], 4)
    np.put(y, [0, -1], [11, 12])
    y[tuple(np.argwhere(mask)[0])] = -99
    view = y.ravel()
    view[5:15] = view[5:15].cumsum()
    w = np.where(mask, y, np.nan)
    return y, np.nansum(w, axis=0), np.nanmax(np.where(mask, y, -np.inf)), k
