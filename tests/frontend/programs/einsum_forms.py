import numpy as np
a, b = np.arange(6).reshape(2, 3), np.arange(12).reshape(3, 4)
print(np.einsum("ij,jk", a, b), np.einsum("...j->...", a), np.einsum("i,j->ij", a[0], b[0]), np.einsum("ij,ij", a, a), np.einsum("bij,bjk->bik", a[None], b[None]).shape)
