// CUDA's words for a C++ compiler: kernels run on this processor, work item after work item. Items that wait for each other are
// contexts that take turns: in ascending order in even groups, in descending order in odd ones, so that a barrier too few is seen.
#pragma once
#include <ucontext.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ static

struct Dimensions {
  int x;
};
static Dimensions blockIdx, blockDim, threadIdx;

template <class To, class From>
static To same_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "sizes differ");
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}
static int __float_as_int(float x) { return same_bits<int>(x); }
static float __int_as_float(int x) { return same_bits<float>(x); }
static long long __double_as_longlong(double x) { return same_bits<long long>(x); }
static double __longlong_as_double(long long x) { return same_bits<double>(x); }
static int atomicMin(int *place, int value) {
  const int before = *place;
  *place = value < before ? value : before;
  return before;
}

static ucontext_t scheduler, *running;
static const std::function<void()> *body;
static void __syncthreads() { swapcontext(running, &scheduler); }
static bool __syncthreads_or(bool said) {
  static bool found;
  found = found || said;
  __syncthreads();
  const bool all = found;
  __syncthreads();
  found = false;
  __syncthreads();
  return all;
}
static void begin() { (*body)(); }

// Fragments of 16 x 16 elements, of which each of the 32 items of a warp holds eight, here and there, as on a tensor core. What a
// group's items do together all of its warps do equally often, so all wait for each other.
constexpr int fragment = 16, warp = 32, held = fragment * fragment / warp;
static int spot(int n) { return (threadIdx.x % warp * held + n) * 37 % (fragment * fragment); }
static float from_half(unsigned short bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float size = exponent == 31 ? (fraction ? NAN : INFINITY)
                     : exponent     ? std::ldexp(1024.0f + fraction, exponent - 25)
                                    : std::ldexp((float)fraction, -24);
  return bits >> 15 ? -size : size;
}
static float from_bfloat16(unsigned short bits) { return __int_as_float((int)((unsigned)bits << 16)); }

template <float (*value)(unsigned short)>
struct Fragment {
  short x[held];
};
typedef Fragment<from_half> Fragment_f16;
typedef Fragment<from_bfloat16> Fragment_bf16;
struct Sums {
  float x[held];
};
static void aligned(const void *at, int pitch, int size) {  // as the instructions ask
  if ((size_t)at % 32 || pitch * size % 16) std::abort();
}
static void __syncwarp() { __syncthreads(); }
static void clear(Sums &s) {
  for (float &x : s.x) x = 0;
}
static void store_sums(float *at, const Sums &s, int pitch) {
  aligned(at, pitch, sizeof *at);
  for (int n = 0; n < held; ++n) at[spot(n) / fragment * pitch + spot(n) % fragment] = s.x[n];
}
template <class F>
static void load_left(F &f, const short *at, int pitch) {
  aligned(at, pitch, sizeof *at);
  for (int n = 0; n < held; ++n) f.x[n] = at[spot(n) / fragment * pitch + spot(n) % fragment];
}
template <class F>
static void load_right(F &f, const short *at, int pitch) {
  load_left(f, at, pitch);
}
template <float (*value)(unsigned short)>
static void multiply(Sums &s, const Fragment<value> &a, const Fragment<value> &b) {
  static float left[64][fragment * fragment], right[64][fragment * fragment];
  const int own = threadIdx.x / warp;
  for (int n = 0; n < held; ++n) {
    left[own][spot(n)] = value(a.x[n]);
    right[own][spot(n)] = value(b.x[n]);
  }
  __syncwarp();
  for (int n = 0; n < held; ++n) {
    const int row = spot(n) / fragment, column = spot(n) % fragment;
    for (int k = 0; k < fragment; ++k) s.x[n] += left[own][row * fragment + k] * right[own][k * fragment + column];
  }
  __syncwarp();
}

static void run(int groups, int local, bool waits, const std::function<void()> &item) {
  blockDim.x = local;
  body = &item;
  constexpr size_t stack = 1 << 15;
  std::vector<ucontext_t> contexts(waits ? local : 0);
  std::unique_ptr<char[]> stacks(new char[stack * contexts.size() + 1]);
  for (blockIdx.x = 0; blockIdx.x < groups; ++blockIdx.x) {
    if (!waits) {
      for (threadIdx.x = 0; threadIdx.x < local; ++threadIdx.x) item();
      continue;
    }
    std::vector<ucontext_t *> left;
    std::vector<bool> done(local, false);
    for (int i = 0; i < local; ++i) {
      getcontext(&contexts[i]);
      contexts[i].uc_stack.ss_sp = stacks.get() + stack * i;
      contexts[i].uc_stack.ss_size = stack;
      contexts[i].uc_link = nullptr;
      makecontext(&contexts[i], [] {
        begin();
        running = nullptr;  // this item has ended
        setcontext(&scheduler);
      }, 0);
    }
    for (int open = local; open;) {
      for (int n = 0; n < local; ++n) {
        const int i = blockIdx.x % 2 ? local - 1 - n : n;
        if (done[i]) continue;
        threadIdx.x = i;
        running = &contexts[i];
        swapcontext(&scheduler, running);
        if (!running) {
          done[i] = true;
          --open;
        }
      }
    }
  }
}
