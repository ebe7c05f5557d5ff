import numpy as np


def gaussian_kernel(size=5, sigma=1.0):
    ax = np.linspace(-(size - 1) / 2.0, (size - 1) / 2.0, size)
    gauss = np.exp(-0.5 * np.square(ax) / np.square(sigma))
    kernel = np.outer(gauss, gauss)
    return kernel / np.sum(kernel)


def filter2d(image, kernel):
    k = kernel.shape[0] // 2
    padded = np.pad(image, k, mode="reflect")
    out = np.zeros(image.shape, dtype=np.float64)
    for dy in range(kernel.shape[0]):
        for dx in range(kernel.shape[1]):
            out += kernel[dy, dx] * padded[dy:dy + image.shape[0], dx:dx + image.shape[1]]
    return out


def psnr(a, b):
    mse = np.mean((a.astype(np.float64) - b.astype(np.float64)) ** 2)
    if mse == 0:
        return float("inf")
    return 20 * np.log10(255.0 / np.sqrt(mse))


def main():
    rng = np.random.default_rng(33)
    x = np.linspace(0, 255, 24)
    clean = np.add.outer(x, x[::-1]) / 2
    noisy = np.clip(clean + rng.normal(0, 20, clean.shape), 0, 255).astype(np.uint8)
    kernel = gaussian_kernel(5, 1.2)
    print(kernel.round(3))
    smooth = filter2d(noisy, kernel)
    print("psnr noisy  %.2f" % psnr(clean, noisy))
    print("psnr smooth %.2f" % psnr(clean, smooth))
    sharpen = np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]])
    sharp = filter2d(smooth, sharpen)
    print("range: %d %d" % (sharp.min(), sharp.max()))
    down = clean.reshape(12, 2, 12, 2).mean(axis=(1, 3))
    up = np.repeat(np.repeat(down, 2, axis=0), 2, axis=1)
    print("down/up psnr %.2f" % psnr(clean, up))


if __name__ == "__main__":
    main()
