import numpy as np
a = np.array([5, 12, 255], dtype=np.uint8)
print(np.unpackbits(a[:, None], axis=1))
print(np.packbits([[1,0,1,0,0,0,1,1]]), np.bitwise_xor.reduce(a), a << 1, ~a, np.left_shift(a, 2))
print([f"{v:08b}" for v in a], [hex(v) for v in a], bin(int(a[2])), int("101", 2))
crc = 0xFFFF
for byte in b"123456789":
    crc ^= byte << 8
    for _ in range(8):
        crc = ((crc << 1) ^ 0x1021) & 0xFFFF if crc & 0x8000 else (crc << 1) & 0xFFFF
print(hex(crc))
