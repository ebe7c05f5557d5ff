def forward(u: "float64[8, 9]", v: "float64[9]"):
    u = u.copy()
    v = v.copy()
    for sweep in range(90):
        for i in range(8):
            for j in range(9):
                u[i, j] = 0.25 * (u[i - 1, j] + u[(i + 1) % 8, j] + u[i, j - 1] + u[i, j - 9]) + 0.01 * u[7 - i, 2 * j - j]
                v[j] = v[j] * 0.5 + u[i, -1] - u[-8, j]
        for i in range(7, 0, -1):
            for j in range(1, 9, 3):
                u[i, j], u[i - 1, j - 1] = 0.5 * u[i - 1, j - 1], u[i, j] - v[j - 9]
    return u, v
