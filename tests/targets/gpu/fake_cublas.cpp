// cuBLAS's C interface, as far as fleet calls it, on this processor: sums in ascending order, in float32 or float64.
#include <cmath>
#include <cstdint>
#include <cstring>

namespace {
const int N = 0, T = 1, R_32F = 0, R_64F = 1, R_16F = 2, COMPUTE_32F = 68, COMPUTE_64F = 70;
const int NOT_INITIALIZED = 1, INVALID_VALUE = 7;
int handles, calls;

double half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                      : exponent     ? std::ldexp(1024.0 + fraction, exponent - 25)
                                     : std::ldexp((double)fraction, -24);
  return bits >> 15 ? -size : size;
}

uint16_t nearest_half(float x) {  // to the even one between two
  uint32_t bits;
  std::memcpy(&bits, &x, 4);
  const uint16_t sign = bits >> 16 & 0x8000;
  const float size = std::fabs(x);
  if (x != x) return sign | 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  int exponent;
  std::frexp(size, &exponent);
  const int least = exponent - 11 < -24 ? -24 : exponent - 11;
  const float whole = std::nearbyint(std::ldexp(size, -least));
  return sign | (uint16_t)(least == -24 ? (int)whole : ((least + 24) << 10) + (int)whole);
}

double at(const void *from, int type, long long place) {
  return type == R_16F ? half(((const uint16_t *)from)[place]) : type == R_32F ? ((const float *)from)[place] : ((const double *)from)[place];
}
}  // namespace

extern "C" {
int cublasCreate_v2(void **handle) {
  *handle = &handles;
  ++handles;
  return 0;
}
int cublasDestroy_v2(void *) {
  --handles;
  return 0;
}
int cublasSetStream_v2(void *handle, void *) { return handle == &handles ? 0 : NOT_INITIALIZED; }
int fake_calls() { return calls; }

int cublasGemmStridedBatchedEx(void *handle, int turn_a, int turn_b, int m, int n, int k, const void *alpha, const void *A, int type_a,
                               int lda, long long step_a, const void *B, int type_b, int ldb, long long step_b, const void *beta,
                               void *C, int type_c, int ldc, long long step_c, int count, int compute, int algorithm) {
  if (handle != &handles) return NOT_INITIALIZED;
  const bool wide = compute == COMPUTE_64F;
  const double one = wide ? *(const double *)alpha : *(const float *)alpha, zero = wide ? *(const double *)beta : *(const float *)beta;
  const bool bad = type_a != type_b || type_b != type_c || wide != (type_c == R_64F) || (!wide && compute != COMPUTE_32F) ||
                   turn_a > T || turn_b > T || lda < (turn_a == N ? m : k) || ldb < (turn_b == N ? k : n) || ldc < m || m < 1 ||
                   n < 1 || k < 1 || count < 1 || one != 1 || zero != 0 || algorithm != -1;
  if (bad) return INVALID_VALUE;
  ++calls;
  for (int c = 0; c < count; ++c) {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        double sum = 0;
        for (int d = 0; d < k; ++d) {
          const double x = at(A, type_a, c * step_a + (turn_a == N ? i + (long long)d * lda : d + (long long)i * lda));
          const double y = at(B, type_b, c * step_b + (turn_b == N ? d + (long long)j * ldb : j + (long long)d * ldb));
          sum = wide ? sum + x * y : (float)((float)sum + (float)x * (float)y);
        }
        const long long place = c * step_c + i + (long long)j * ldc;
        if (type_c == R_16F) ((uint16_t *)C)[place] = nearest_half((float)sum);
        else if (type_c == R_32F) ((float *)C)[place] = (float)sum;
        else ((double *)C)[place] = sum;
      }
    }
  }
  return 0;
}
}
