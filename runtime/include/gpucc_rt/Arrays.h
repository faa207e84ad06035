//===- Arrays.h - Named arrays and .npz / .npy files
//--------------------------------------------===//
//
// What gpucc-run and gpucc exchange with numpy:
//
//   x = np.load("in.npz")["x"]   is   Array{"x", GPUCC_RT_F32, {4, 784}, bytes}
//
// Of the library gpucc_rt_support.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_ARRAYS_H
#define GPUCC_RT_ARRAYS_H

#include "gpucc_rt/gpucc_rt.hpp"

namespace gpucc_rt {

/// A row-major array.
struct Array {
  std::string name;
  gpucc_rt_dtype dtype = GPUCC_RT_F32;
  std::vector<int64_t> shape;
  std::vector<char> bytes;
};

const char *dtypeName(gpucc_rt_dtype dtype);
uint64_t dtypeBytes(gpucc_rt_dtype dtype, uint64_t elements);
/// "f32 [4, 784]"
std::string describe(gpucc_rt_dtype dtype, const std::vector<int64_t> &shape);

/// All arrays of a .npz (stored or deflated members), or the one of a .npy, named as the file is.
Status readArrays(const std::string &path, std::vector<Array> &arrays);
Status readNpy(const void *bytes, uint64_t size, Array &array);

/// A .npz with stored members, the same bytes for the same arrays. numpy has no bf16: it is written
/// as f32.
Status writeArrays(const std::string &path, const std::vector<Array> &arrays);

/// To another element type (integers to integers, numbers to floats); an error when that could lose
/// the meaning.
Status convert(Array &array, gpucc_rt_dtype dtype);

const Array *findArray(const std::vector<Array> &arrays, const std::string &name);

/// Inputs and labels of a plan under a profile: floats uniform in [-1, 1), integers 0 or 1. The
/// same seed gives the same values.
Status randomInputs(const Plan &plan, uint32_t profile, uint64_t seed, std::vector<Array> &arrays);

} // namespace gpucc_rt

#endif // GPUCC_RT_ARRAYS_H
