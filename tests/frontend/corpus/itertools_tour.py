import numpy as np
from itertools import product, permutations, combinations, groupby, accumulate, chain, zip_longest, cycle, count, takewhile, starmap, repeat
from functools import reduce, partial
from operator import itemgetter, mul, add
print(list(combinations(range(4), 2)), len(list(permutations("abc"))))
print([(k, len(list(g))) for k, g in groupby("aaabbc")])
print(list(accumulate([1, 2, 3, 4], mul)), reduce(add, range(5)))
print(list(chain.from_iterable([[1], [2, 3]])), list(zip_longest([1, 2], [3], fillvalue=0)))
c = cycle("ab")
print([next(c) for _ in range(3)], list(takewhile(lambda v: v < 12, count(3, 4))))
print(list(starmap(pow, [(2, 3), (3, 2)])), sorted([("b", 2), ("a", 3)], key=itemgetter(1), reverse=True))
grid = np.array(list(product([0, 1], repeat=3)))
print((grid @ [4, 2, 1]), partial(np.full, fill_value=2)((2,)))
