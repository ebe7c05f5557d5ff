import numpy as np


def rotate(img, degrees):
    h, w = img.shape
    th = np.deg2rad(degrees)
    cy, cx = (h - 1) / 2, (w - 1) / 2
    yy, xx = np.mgrid[0:h, 0:w]
    xs = np.cos(th) * (xx - cx) + np.sin(th) * (yy - cy) + cx
    ys = -np.sin(th) * (xx - cx) + np.cos(th) * (yy - cy) + cy
    x0 = np.floor(xs).astype(int)
    y0 = np.floor(ys).astype(int)
    fx, fy = xs - x0, ys - y0
    ok = (x0 >= 0) & (x0 < w - 1) & (y0 >= 0) & (y0 < h - 1)
    x0c, y0c = np.clip(x0, 0, w - 2), np.clip(y0, 0, h - 2)
    out = (img[y0c, x0c] * (1 - fx) * (1 - fy) + img[y0c, x0c + 1] * fx * (1 - fy)
           + img[y0c + 1, x0c] * (1 - fx) * fy + img[y0c + 1, x0c + 1] * fx * fy)
    return np.where(ok, out, 0.0)


img = np.add.outer(np.arange(9.0), np.arange(9.0) ** 2) % 17
for deg in (0, 15, 90):
    r = rotate(img, deg)
    print(f"{deg:3d} deg: mean {r.mean():.4f} max {r.max():.4f} nonzero {np.count_nonzero(r)}")
gy, gx = np.gradient(img)
print(np.round(np.hypot(gx, gy)[4], 3))
gamma = (255 * (img / img.max()) ** (1 / 2.2)).round().astype(np.uint8)
print(gamma[0], gamma.dtype, np.histogram(gamma, bins=4, range=(0, 256))[0])
