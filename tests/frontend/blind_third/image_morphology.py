import numpy as np

img = np.zeros((12, 16), np.uint8)
img[2:6, 2:6] = 1
img[7:11, 8:14] = 1
img[3, 12] = 1


def dilate(a, k=3):
    p = np.pad(a, k // 2)
    view = np.lib.stride_tricks.sliding_window_view(p, (k, k))
    return view.max(axis=(2, 3))


def erode(a, k=3):
    p = np.pad(a, k // 2, constant_values=1)
    return np.lib.stride_tricks.sliding_window_view(p, (k, k)).min(axis=(-1, -2))


def label(a):
    lab = np.zeros(a.shape, int)
    current = 0
    for i, j in zip(*np.nonzero(a)):
        if lab[i, j]:
            continue
        current += 1
        stack = [(int(i), int(j))]
        while stack:
            r, c = stack.pop()
            if 0 <= r < a.shape[0] and 0 <= c < a.shape[1] and a[r, c] and not lab[r, c]:
                lab[r, c] = current
                stack += [(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)]
    return lab, current


opened = dilate(erode(img))
lab, count = label(img)
print("area", img.sum(), "opened", opened.sum(), "objects", count)
for k in range(1, count + 1):
    ys, xs = np.where(lab == k)
    print(f"#{k}: size={ys.size} centroid=({ys.mean():.1f}, {xs.mean():.1f}) box={ys.min(), xs.min(), ys.max(), xs.max()}")
