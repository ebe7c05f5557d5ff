import numpy as np

text = "ATTACKATDAWN"
key = "LEMON"


def encode(s):
    return np.array([ord(ch) - ord("A") for ch in s])


def decode(a):
    return "".join(chr(int(v) + ord("A")) for v in a)


k = np.resize(encode(key), len(text))
cipher = (encode(text) + k) % 26
print(decode(cipher))
plain = (cipher - k) % 26
print(decode(plain))
assert decode(plain) == text
shift = {chr(65 + i): chr(65 + (i + 3) % 26) for i in range(26)}
print("".join(shift[c] for c in text))
