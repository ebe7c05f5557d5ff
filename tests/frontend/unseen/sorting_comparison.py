import time

import numpy as np


def merge_sort(a):
    if len(a) <= 1:
        return a
    mid = len(a) // 2
    left, right = merge_sort(a[:mid]), merge_sort(a[mid:])
    out, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            out.append(left[i])
            i += 1
        else:
            out.append(right[j])
            j += 1
    out.extend(left[i:])
    out.extend(right[j:])
    return out


def insertion_sort(a):
    a = list(a)
    for i in range(1, len(a)):
        key = a[i]
        j = i - 1
        while j >= 0 and a[j] > key:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = key
    return a


def shell_sort(a):
    a = a.copy()
    gap = len(a) // 2
    while gap:
        for i in range(gap, len(a)):
            tmp = a[i]
            j = i
            while j >= gap and a[j - gap] > tmp:
                a[j] = a[j - gap]
                j -= gap
            a[j] = tmp
        gap //= 2
    return a


np.random.seed(10)
data = np.random.randint(0, 100, 16)
reference = sorted(data.tolist())
for sorter in (merge_sort, insertion_sort, shell_sort):
    start = time.perf_counter()
    result = sorter(data.tolist())
    elapsed = time.perf_counter() - start
    print(f"{sorter.__name__:15s}", "ok" if result == reference else "WRONG", elapsed >= 0)
print(reference)
