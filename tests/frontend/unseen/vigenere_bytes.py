import string

import numpy as np

ALPHABET = string.ascii_uppercase


def encode(text):
    return np.array([ALPHABET.index(c) for c in text.upper() if c in ALPHABET])


def decode(codes):
    return "".join(ALPHABET[i] for i in codes)


def vigenere(text, key, sign=1):
    codes, k = encode(text), encode(key)
    return decode((codes + sign * np.resize(k, codes.size)) % 26)


secret = vigenere("Attack at dawn!", "LEMON")
print(secret, vigenere(secret, "LEMON", -1))
counts = np.bincount(encode("the quick brown fox jumps over the lazy dog"), minlength=26)
top = np.argsort(-counts, kind="stable")[:4]
print({ALPHABET[i]: int(counts[i]) for i in top})
assert (counts > 0).all(), "not a pangram"
entropy = -sum(c / counts.sum() * np.log2(c / counts.sum()) for c in counts if c)
print(f"entropy {entropy:.4f} bits")
print(string.capwords("matrix of shifts:"), np.array([(i + np.arange(4)) % 4 for i in range(4)]).tolist())
