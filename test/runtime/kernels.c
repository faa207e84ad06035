// Host kernels for hand-built plans, with the ABI void k(void **args, int64_t begin, int64_t end).
#include <stdint.h>

// A second build of this file has another value: two images with the same symbols.
#ifndef EXTRA
#define EXTRA 0
#endif

// y[i] = a * x[i] + b; args: x, y (f32), bits of a and b (f64). One program = 4 elements.
void axpb(void **args, int64_t begin, int64_t end) {
  const float *x = args[0];
  float *y = args[1];
  union {
    void *p;
    double d;
  } a = {args[2]}, b = {args[3]};
  for (int64_t i = begin * 4; i < end * 4; ++i)
    y[i] = (float)(a.d * x[i] + b.d + EXTRA);
}

// w[i] -= rate * g[i], loss[0] = sum of w before; one program. args: w, g, loss, bits of the rate.
void sgd(void **args, int64_t begin, int64_t end) {
  float *w = args[0];
  const float *g = args[1];
  float *loss = args[2];
  union {
    void *p;
    double d;
  } rate = {args[3]};
  float sum = 0;
  for (int i = 0; i < 4; ++i) {
    sum += w[i];
    w[i] -= (float)rate.d * g[i];
  }
  loss[0] = sum;
}

// out[0] = value; args: out (i64), value.
void store_i64(void **args, int64_t begin, int64_t end) { *(int64_t *)args[0] = (int64_t)args[1]; }

// g[j] = sum over 2 rows of x[i][j] (x: 2x4 f32).
void column_sums(void **args, int64_t begin, int64_t end) {
  const float *x = args[0];
  float *g = args[1];
  for (int j = 0; j < 4; ++j)
    g[j] = x[j] + x[4 + j];
}

// counter += 1 (i64).
void increment(void **args, int64_t begin, int64_t end) { *(int64_t *)args[0] += 1; }

// out[0] += v[0] (f32).
void accumulate(void **args, int64_t begin, int64_t end) {
  *(float *)args[1] += *(const float *)args[0];
}
