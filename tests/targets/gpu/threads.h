// CUDA's words for a C++ compiler: kernels run on this processor, work item after work item. Items that wait for each other are
// contexts that take turns: in ascending order in even groups, in descending order in odd ones, so that a barrier too few is seen.
#pragma once
#include <ucontext.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#define __global__
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
