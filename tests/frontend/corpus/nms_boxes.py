# detect(boxes: float32[20, 4], scores: float32[20], classes: int64[20] index)
#! F510: a slice up to a number of boxes that the run decides
import numpy as np


def box_iou(a, b):
    lt = np.maximum(a[:, None, :2], b[None, :, :2])
    rb = np.minimum(a[:, None, 2:], b[None, :, 2:])
    wh = np.clip(rb - lt, 0, None)
    inter = wh[..., 0] * wh[..., 1]
    area = lambda t: (t[:, 2] - t[:, 0]) * (t[:, 3] - t[:, 1])
    return inter / (area(a)[:, None] + area(b) - inter + np.float32(1e-9))


def xywh2xyxy(x):
    y = np.copy(x)
    y[:, 0] = x[:, 0] - x[:, 2] / 2
    y[:, 1] = x[:, 1] - x[:, 3] / 2
    y[:, 2] = x[:, 0] + x[:, 2] / 2
    y[:, 3] = x[:, 1] + x[:, 3] / 2
    return y


def detect(boxes, scores, classes, iou_thr=0.3):
    boxes = np.abs(boxes) + np.float32(0.1)
    xyxy = xywh2xyxy(boxes)
    xyxy = xyxy + (classes % 3).astype(np.float32)[:, None] * 100
    iou = box_iou(xyxy, xyxy)
    order = np.argsort(-scores, kind="stable")
    keep = np.ones(len(boxes), dtype=bool)
    for pos, i in enumerate(order):
        if not keep[i]:
            continue
        later = order[pos + 1:]
        keep[later[iou[i, later] > iou_thr]] = False
    kept = order[keep[order]]
    out = np.zeros((10, 6), np.float32)
    n = min(len(kept), 10)
    out[:n, :4] = xyxy[kept[:n]]
    out[:n, 4] = scores[kept[:n]]
    out[:n, 5] = classes[kept[:n]]
    return out, keep.sum()
