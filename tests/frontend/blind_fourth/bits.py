"""CRC, Hamming codes, bit tricks, cellular automaton."""
import struct
import numpy as np


def crc32_table():
    table = []
    for i in range(256):
        c = i
        for _ in range(8):
            c = (c >> 1) ^ 0xEDB88320 if c & 1 else c >> 1
        table.append(c)
    return np.array(table, dtype=np.uint32)


TABLE = crc32_table()


def crc32(data: bytes) -> int:
    c = 0xFFFFFFFF
    for byte in data:
        c = int(TABLE[(c ^ byte) & 0xFF]) ^ (c >> 8)
    return c ^ 0xFFFFFFFF


G = np.array([[1, 0, 0, 0, 1, 1, 0], [0, 1, 0, 0, 1, 0, 1], [0, 0, 1, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1, 1]], dtype=np.uint8)
H = np.hstack([G[:, 4:].T, np.eye(3, dtype=np.uint8)])


def encode(bits):
    return bits @ G % 2


def decode(code):
    s = code @ H.T % 2
    for row, syn in enumerate(s):
        if syn.any():
            pos = np.flatnonzero((H.T == syn).all(axis=1))[0]
            code[row, pos] ^= 1
    return code[:, :4]


msg = b"hello fleet"
print(hex(crc32(msg)), f"{crc32(b'123456789'):08X}")
bits = np.unpackbits(np.frombuffer(msg, dtype=np.uint8)).reshape(-1, 4)
code = encode(bits)
noisy = code.copy()
noisy[::3, 2] ^= 1
back = np.packbits(decode(noisy).ravel()).tobytes()
print(back, back == msg)
rule = 110
lut = np.array([(rule >> i) & 1 for i in range(8)], np.uint8)
row = np.zeros(31, np.uint8)
row[-2] = 1
for _ in range(8):
    print("".join(".#"[v] for v in row))
    row = lut[(np.roll(row, 1) << 2) | (row << 1) | np.roll(row, -1)]
print(struct.pack("<If", 7, 1.5).hex(), struct.unpack("<h", b"\xff\x7f"))
print(bin(0b1011 ^ 0x6), (255).bit_length(), int("0x1f", 16), ~5 & 0xF, -7 // 2, -7 % 3, divmod(-7, 2))
print(np.int8(127) + np.int8(1) if False else np.array([127], np.int8) + np.int8(1))
print(np.uint8(200) >> 3, np.left_shift(np.uint16(1), 15), np.bitwise_count(np.array([7, 255], np.uint8)))
