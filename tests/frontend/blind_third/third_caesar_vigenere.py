import string

import numpy as np

ALPHA = string.ascii_uppercase


def caesar(text, shift):
    table = str.maketrans(ALPHA, ALPHA[shift:] + ALPHA[:shift])
    return text.upper().translate(table)


def vigenere(text, key, decrypt=False):
    out = []
    j = 0
    for ch in text.upper():
        if ch.isalpha():
            k = ord(key[j % len(key)].upper()) - 65
            out.append(chr((ord(ch) - 65 + (-k if decrypt else k)) % 26 + 65))
            j += 1
        else:
            out.append(ch)
    return "".join(out)


def letter_hist(text):
    codes = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    codes = codes[(codes >= 65) & (codes <= 90)] - 65
    return np.bincount(codes, minlength=26)


msg = "Attack at dawn, retreat at dusk"
enc = caesar(msg, 3)
print(enc)
print(caesar(enc, 23))
v = vigenere(msg, "Lemon")
print(v, vigenere(v, "Lemon", decrypt=True), sep="\n")
h = letter_hist(enc)
print(ALPHA[int(h.argmax())], h.sum(), [ALPHA[i] for i in np.flatnonzero(h >= 3)])
