# match(image: float64[16, 16], template: float64[4, 4])
import numpy as np


def match(image, template):
    th, tw = template.shape
    H, W = image.shape[0] - th + 1, image.shape[1] - tw + 1
    t = template - template.mean()
    scores = np.zeros((H, W))
    for i in range(H):
        for j in range(W):
            patch = image[i : i + th, j : j + tw]
            p = patch - patch.mean()
            scores[i, j] = (p * t).sum() / np.sqrt((p**2).sum() * (t**2).sum())
    y, x = np.unravel_index(np.argmax(scores), scores.shape)
    return scores, y, x
