/* Kernels as a C programmer writes them for a core without vectors, once straight on and once tiled.
 *
 * Compiled by benchmarks/riscv_clang.py with one KERNEL and with sizes that are known (M, K, N): what clang is best at.
 * exp is a polynomial in double for a float result, without a call, so that no library's quality is measured.
 */

#define INLINE static inline __attribute__((always_inline))

extern const float a[], b[], gain[], shift[];
extern float c[];

INLINE float exponential(float x) {
    /* 2^(x log2 e): the low bits of a large sum are the exponent */
    double y = __builtin_fmax(x, -104.0), magic = 0x1.8p52 + 1023;
    union { double number; long bits; } t, scale;
    t.number = __builtin_fma(y, 0x1.71547652b82fep+0, magic);
    double r = __builtin_fma(y, 0x1.71547652b82fep+0, -(t.number - magic));
    double p = 0.0001545316294512069;
    p = __builtin_fma(p, r, 0.0013390863364671234);
    p = __builtin_fma(p, r, 0.009618082557277852);
    p = __builtin_fma(p, r, 0.05550357114219078);
    p = __builtin_fma(p, r, 0.24022650760568126);
    p = __builtin_fma(p, r, 0.6931471880262288);
    p = __builtin_fma(p, r, 1.0);
    scale.bits = t.bits << 52;
    return (float)(p * scale.number);
}

#if KERNEL == 0 /* matrix product, row by column */
void entry(void) {
    for (long i = 0; i < M; i++)
        for (long j = 0; j < N; j++) {
            float sum = 0;
            for (long k = 0; k < K; k++) sum += a[i * K + k] * b[k * N + j];
            c[i * N + j] = sum;
        }
}
#elif KERNEL == 1 /* matrix product, row by row */
void entry(void) {
    for (long i = 0; i < M; i++)
        for (long k = 0; k < K; k++)
            for (long j = 0; j < N; j++) c[i * N + j] = (k ? c[i * N + j] : 0) + a[i * K + k] * b[k * N + j];
}
#elif KERNEL == 2 /* matrix product, tiles of 4 x 4 in local variables */
void entry(void) {
    for (long i = 0; i < M; i += 4)
        for (long j = 0; j < N; j += 4) {
            float sum[4][4] = {{0}};
            for (long k = 0; k < K; k++)
                for (int y = 0; y < 4; y++)
                    for (int x = 0; x < 4; x++) sum[y][x] += a[(i + y) * K + k] * b[k * N + j + x];
            for (int y = 0; y < 4; y++)
                for (int x = 0; x < 4; x++) c[(i + y) * N + j + x] = sum[y][x];
        }
}
#elif KERNEL == 3 /* matrix product, tiles of 32 x 32 x 32 for a cache */
void entry(void) {
    for (long i = 0; i < M * N; i++) c[i] = 0;
    for (long i = 0; i < M; i += TILE)
        for (long k = 0; k < K; k += TILE)
            for (long j = 0; j < N; j += TILE)
                for (long y = i; y < i + TILE && y < M; y++)
                    for (long z = k; z < k + TILE; z++)
                        for (long x = j; x < j + TILE; x++) c[y * N + x] += a[y * K + z] * b[z * N + x];
}
#elif KERNEL == 4 /* softmax of rows */
void entry(void) {
    for (long i = 0; i < M; i++) {
        const float *x = a + i * N;
        float *y = c + i * N, best = x[0], sum = 0;
        for (long j = 1; j < N; j++) best = __builtin_fmaxf(best, x[j]);
        for (long j = 0; j < N; j++) sum += y[j] = exponential(x[j] - best);
        for (long j = 0; j < N; j++) y[j] /= sum;
    }
}
#elif KERNEL == 5 /* softmax, tiles of 4 columns */
void entry(void) {
    for (long i = 0; i < M; i++) {
        const float *x = a + i * N;
        float *y = c + i * N, best[4], sum[4] = {0};
        for (int t = 0; t < 4; t++) best[t] = x[t];
        for (long j = 4; j < N; j += 4)
            for (int t = 0; t < 4; t++) best[t] = __builtin_fmaxf(best[t], x[j + t]);
        float most = __builtin_fmaxf(__builtin_fmaxf(best[0], best[1]), __builtin_fmaxf(best[2], best[3]));
        for (long j = 0; j < N; j += 4)
            for (int t = 0; t < 4; t++) sum[t] += y[j + t] = exponential(x[j + t] - most);
        float total = sum[0] + sum[1] + sum[2] + sum[3];
        for (long j = 0; j < N; j += 4)
            for (int t = 0; t < 4; t++) y[j + t] /= total;
    }
}
#elif KERNEL == 6 /* layer norm of rows */
void entry(void) {
    for (long i = 0; i < M; i++) {
        const float *x = a + i * N;
        float *y = c + i * N, sum = 0, square = 0;
        for (long j = 0; j < N; j++) sum += x[j];
        float mean = sum / N;
        for (long j = 0; j < N; j++) square += (x[j] - mean) * (x[j] - mean);
        float scale = 1 / __builtin_sqrtf(square / N + 1e-5f);
        for (long j = 0; j < N; j++) y[j] = (x[j] - mean) * scale * gain[j] + shift[j];
    }
}
#elif KERNEL == 7 /* layer norm, tiles of 4 rows */
void entry(void) {
    for (long i = 0; i < M; i += 4) {
        float sum[4] = {0}, square[4] = {0}, mean[4], scale[4];
        for (long j = 0; j < N; j++)
            for (int t = 0; t < 4; t++) sum[t] += a[(i + t) * N + j];
        for (int t = 0; t < 4; t++) mean[t] = sum[t] / N;
        for (long j = 0; j < N; j++)
            for (int t = 0; t < 4; t++) {
                float distance = a[(i + t) * N + j] - mean[t];
                square[t] += distance * distance;
            }
        for (int t = 0; t < 4; t++) scale[t] = 1 / __builtin_sqrtf(square[t] / N + 1e-5f);
        for (long j = 0; j < N; j++) {
            float g = gain[j], s = shift[j];
            for (int t = 0; t < 4; t++) c[(i + t) * N + j] = (a[(i + t) * N + j] - mean[t]) * scale[t] * g + s;
        }
    }
}
#elif KERNEL == 8 || KERNEL == 9 /* GELU as x / (1 + e^-2u); 9: tiles of 4 */
INLINE float gelu(float x) {
    double w = x, y = w * __builtin_fma(w * w, -2 * 0.7978845608028654 * 0.044715, -2 * 0.7978845608028654);
    return x / (1.0f + exponential((float)__builtin_fmin(y, 80.0)));
}
void entry(void) {
#if KERNEL == 8
    for (long i = 0; i < M * N; i++) c[i] = gelu(a[i]);
#else
    for (long i = 0; i < M * N; i += 4) {
        float value[4];
        for (int t = 0; t < 4; t++) value[t] = gelu(a[i + t]);
        for (int t = 0; t < 4; t++) c[i + t] = value[t];
    }
#endif
}
#endif
