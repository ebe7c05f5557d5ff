import numpy as np

K = np.array([[6, 24, 1], [13, 16, 10], [20, 17, 15]])
det = int(round(np.linalg.det(K)))
det_inv = pow(det % 26, -1, 26)
adj = np.round(det * np.linalg.inv(K)).astype(int)
K_inv = (det_inv * adj) % 26
msg = "ACT"
v = np.array([ord(c) - 65 for c in msg])
enc = K @ v % 26
dec = K_inv @ enc % 26
print("".join(chr(i + 65) for i in enc), "".join(chr(i + 65) for i in dec))
print((K @ K_inv) % 26)
