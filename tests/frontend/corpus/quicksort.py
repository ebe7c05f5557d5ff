import numpy as np
def quicksort(a, lo, hi):
    if lo < hi:
        p = a[hi]; i = lo
        for j in range(lo, hi):
            if a[j] < p:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[hi] = a[hi], a[i]
        quicksort(a, lo, i - 1)
        quicksort(a, i + 1, hi)
a = np.array([5, 2, 9, 1, 7, 3])
quicksort(a, 0, len(a) - 1)
print(a)
