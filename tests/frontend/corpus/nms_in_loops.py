# nms(boxes: float64[20, 4], scores: float64[20])
import numpy as np


def iou(a, b):
    tl = np.maximum(a[:, None, :2], b[None, :, :2])
    br = np.minimum(a[:, None, 2:], b[None, :, 2:])
    inter = np.prod(np.clip(br - tl, 0, None), axis=2)
    area = lambda r: np.prod(r[:, 2:] - r[:, :2], axis=1)
    return inter / (area(a)[:, None] + area(b)[None] - inter + 1e-9)


def nms(boxes: "float64[20, 4]", scores: "float64[20]"):
    wh = np.abs(boxes[:, 2:]) + 0.1
    boxes = np.concatenate([boxes[:, :2], boxes[:, :2] + wh], axis=1)
    order = np.argsort(scores)[::-1]
    m = iou(boxes, boxes)
    keep = np.zeros(20, dtype=bool)
    dead = np.zeros(20, dtype=bool)
    for i in order:
        if not dead[i]:
            keep[i] = True
            dead |= m[i] > 0.3
    count = 0
    for k in range(20):
        if keep[k] and scores[k] > 0:
            count += 1
    best = -1.0
    arg = -1
    for k, s in enumerate(scores):
        if s > best:
            best, arg = s, k
    return keep, count, best, arg
