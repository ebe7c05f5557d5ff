import numpy as np
def winner(b):
    lines = list(b) + list(b.T) + [b.diagonal(), np.fliplr(b).diagonal()]
    for l in lines:
        if abs(l.sum()) == 3: return int(np.sign(l[0]))
    return 0
b = np.zeros((3, 3), int)
for k, (i, j) in enumerate([(0,0),(1,1),(0,1),(2,2),(0,2)]):
    b[i, j] = 1 if k % 2 == 0 else -1
    if winner(b): break
print(b, winner(b))
