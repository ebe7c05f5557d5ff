import numpy as np


def energy(img):
    gx = np.abs(np.roll(img, -1, axis=1) - np.roll(img, 1, axis=1))
    gy = np.abs(np.roll(img, -1, axis=0) - np.roll(img, 1, axis=0))
    return gx + gy


def find_seam(e):
    h, w = e.shape
    cost = e.copy()
    back = np.zeros((h, w), dtype=int)
    for i in range(1, h):
        left = np.r_[np.inf, cost[i - 1, :-1]]
        right = np.r_[cost[i - 1, 1:], np.inf]
        options = np.stack([left, cost[i - 1], right])
        k = options.argmin(axis=0)
        back[i] = k - 1
        cost[i] += options[k, np.arange(w)]
    seam = np.empty(h, dtype=int)
    seam[-1] = cost[-1].argmin()
    for i in range(h - 2, -1, -1):
        seam[i] = seam[i + 1] + back[i + 1, seam[i + 1]]
    return seam, cost[-1].min()


def remove_seam(img, seam):
    mask = np.ones(img.shape, dtype=bool)
    mask[np.arange(len(img)), seam] = False
    return img[mask].reshape(len(img), -1)


rng = np.random.default_rng(6)
img = np.zeros((8, 12))
img[:, 3:5] = 5
img += rng.integers(0, 3, img.shape)
total = []
for step in range(4):
    seam, c = find_seam(energy(img))
    total.append(float(c))
    img = remove_seam(img, seam)
    print(step, img.shape, seam.tolist(), c)
print("energies", total, "monotone", total == sorted(total))
print(img.astype(np.uint8)[::3])
