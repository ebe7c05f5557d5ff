"""A small image pipeline: noise, median filter, threshold, labelling."""
import numpy as np


def make_image(h=24, w=24):
    yy, xx = np.mgrid[:h, :w]
    img = np.full((h, w), 30, dtype=np.uint8)
    for cy, cx, r in [(6, 6, 4), (16, 8, 3), (12, 18, 5)]:
        img[(yy - cy) ** 2 + (xx - cx) ** 2 <= r * r] = 200
    return img


def salt_pepper(img, amount, rng):
    out = img.copy()
    mask = rng.random(img.shape)
    out[mask < amount / 2] = 0
    out[mask > 1 - amount / 2] = 255
    return out


def median3(img):
    padded = np.pad(img, 1, mode="edge")
    stack = [padded[i : i + img.shape[0], j : j + img.shape[1]] for i in range(3) for j in range(3)]
    return np.median(np.stack(stack), axis=0).astype(img.dtype)


def label(binary):
    labels = np.zeros(binary.shape, dtype=int)
    current = 0
    for i, j in np.argwhere(binary):
        if labels[i, j]:
            continue
        current += 1
        stack = [(i, j)]
        while stack:
            y, x = stack.pop()
            if 0 <= y < binary.shape[0] and 0 <= x < binary.shape[1] and binary[y, x] and not labels[y, x]:
                labels[y, x] = current
                stack += [(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)]
    return labels, current


rng = np.random.default_rng(0)
img = make_image()
noisy = salt_pepper(img, 0.1, rng)
clean = median3(noisy)
binary = clean > 128
labels, n = label(binary)
print("PSNR noisy: %.2f dB" % (10 * np.log10(255**2 / np.mean((img.astype(float) - noisy) ** 2))))
print("objects:", n)
for k in range(1, n + 1):
    ys, xs = np.nonzero(labels == k)
    print(f"  {k}: area={ys.size:3d} centroid=({ys.mean():.1f}, {xs.mean():.1f}) box={ys.min()},{xs.min()},{ys.max()},{xs.max()}")
for row in binary[::3]:
    print("".join("#" if v else "." for v in row))
