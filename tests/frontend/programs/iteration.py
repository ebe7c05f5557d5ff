import itertools
from itertools import accumulate, chain, combinations, islice, permutations, product

import numpy as np

pts = np.array(list(itertools.product(range(3), repeat=2)))
print(pts.sum(), [a * b for a, b in product([1, 2], (3, 4))])
print(list(permutations([1, 2, 3], 2)), list(combinations("abc", 2)))
print(list(chain([1], (2, 3), range(2))), list(chain.from_iterable([[1], [2, 3]])))
print(list(accumulate([1, 2, 3])), list(accumulate([2, 3, 4], lambda a, b: a * b, initial=1)))
print(list(islice(itertools.count(3, 2), 4)), list(itertools.zip_longest([1, 2], [3], fillvalue=0)))
print(list(itertools.repeat(7, 3)), list(islice(itertools.cycle([1, 2]), 5)), list(itertools.pairwise([1, 4, 9])))
best = max(itertools.starmap(lambda a, b: a - b, [(5, 2), (9, 1)]))
x = np.array([1.256, 2.5, 3.5])
total = sum(r.sum() for r in accumulate([x, x * 2], np.add))
print(best, round(x[0], 2), round(x[1]), round(x[2]), round(x.mean(), ndigits=1), round(float(total), 3))
print([ord(c) for c in "az"], "".join(chr(97 + i) for i in range(4)))
