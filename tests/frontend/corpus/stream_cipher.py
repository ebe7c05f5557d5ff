import numpy as np
SBOX = np.arange(256, dtype=np.uint8)
key = b"secret key"
j = 0
for i in range(256):
    j = (j + int(SBOX[i]) + key[i % len(key)]) & 0xFF
    SBOX[i], SBOX[j] = SBOX[j], SBOX[i]
def stream(n):
    s = SBOX.copy(); i = j = 0
    out = bytearray()
    for _ in range(n):
        i = (i + 1) % 256; j = (j + int(s[i])) % 256
        s[[i, j]] = s[[j, i]]
        out.append(int(s[(int(s[i]) + int(s[j])) % 256]))
    return bytes(out)
msg = "attack at dawn".encode()
ct = bytes(a ^ b for a, b in zip(msg, stream(len(msg))))
print(ct.hex(), bytes(np.frombuffer(ct, np.uint8) ^ np.frombuffer(stream(len(ct)), np.uint8)).decode())
def fnv1a(data):
    h = 0xcbf29ce484222325
    for b in data:
        h = ((h ^ b) * 0x100000001b3) % (1 << 64)
    return h
print(hex(fnv1a(b"hello")), pow(7, 560, 561), pow(3, -1, 11), divmod(-7, 3), (123456789 ** 5) % 1000007, int("ff", 16), bin(10), (255).to_bytes(2, "big"), int.from_bytes(b"\x01\x00", "little"), (10).bit_length())
lfsr = 0xACE1; bits = []
for _ in range(16):
    bit = ((lfsr >> 0) ^ (lfsr >> 2) ^ (lfsr >> 3) ^ (lfsr >> 5)) & 1
    lfsr = (lfsr >> 1) | (bit << 15); bits.append(bit)
print(bits, hex(lfsr), np.packbits(bits), np.unpackbits(np.array([5], np.uint8)))
state = np.uint32(1); seq = []
with np.errstate(over="ignore"):
    for _ in range(4):
        state = np.uint32(state * np.uint32(1664525) + np.uint32(1013904223)); seq.append(int(state))
print(seq)
