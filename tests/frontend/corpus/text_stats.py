import numpy as np
s = "hello numpy world"
codes = np.array([ord(c) for c in s])
letters = codes[(codes >= 97) & (codes <= 122)]
freq = np.bincount(letters - 97, minlength=26)
top = np.argsort(-freq, kind="stable")[:3]
print([chr(97 + i) for i in top], freq[top])
