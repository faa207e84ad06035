// The kernels of ../kernels.c for a CUDA device: one thread per program. Arguments have 8 bytes
// each.
#ifndef EXTRA
#define EXTRA 0
#endif
extern "C" __global__ void axpb(const float *x, float *y, double a, double b) {
  for (int i = blockIdx.x * 4; i < blockIdx.x * 4 + 4; ++i)
    y[i] = (float)(a * x[i] + b + EXTRA);
}
extern "C" __global__ void sgd(float *w, const float *g, float *loss, double rate) {
  float sum = 0;
  for (int i = 0; i < 4; ++i) {
    sum += w[i];
    w[i] -= (float)rate * g[i];
  }
  loss[0] = sum;
}
extern "C" __global__ void store_i64(long long *out, long long value) { out[0] = value; }
extern "C" __global__ void column_sums(const float *x, float *g) {
  for (int j = 0; j < 4; ++j)
    g[j] = x[j] + x[4 + j];
}
extern "C" __global__ void increment(long long *counter) { counter[0] += 1; }
extern "C" __global__ void accumulate(const float *v, float *out) { out[0] += v[0]; }
