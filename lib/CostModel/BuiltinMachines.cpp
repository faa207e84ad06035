//===- BuiltinMachines.cpp - three 8-device nodes -------------------------===//
//
// Peaks, memory and link rates are datasheet numbers. Efficiencies and latencies come from
// published measurements: NCCL all-reduce bus bandwidths (vTrain's tables for A100 and V100,
// nccl-tests issues for H100), NCCL 2.30 tuning constants (ring base 8.4 us, NVLink hop 3.4 us,
// network hop 14 us), and a fit of matrix rates to published training runs.
//
//===----------------------------------------------------------------------===//
#include "gpucc/CostModel/Machine.h"

namespace gpucc::cost {

namespace {

const char *const h100 = R"(name: h100-8
device:
  kind: h100-sxm5-80gb
  memory: 80 GB
  memory-bandwidth: 3350 GB/s
  multiprocessors: 132
  launch: 3 us
  context: 4 GB
  peak: {f64: 67 TFLOP/s, f32: 67 TFLOP/s, tf32: 494.5 TFLOP/s, f16: 989 TFLOP/s, bf16: 989 TFLOP/s, f8E4M3: 1979 TFLOP/s, f8E5M2: 1979 TFLOP/s}
  alu: 67 TFLOP/s
  special: 4.2 TFLOP/s
  efficiency: {matrix: 0.64, memory: 0.75}
node: {devices: 8}
nodes: 1
links:
  intra: {kind: nvlink4-nvswitch, bandwidth: 450 GB/s, latency: 8.4 us, hop: 3.4 us, efficiency: 0.82}
  inter: {kind: ndr400-per-device, bandwidth: 50 GB/s, latency: 14 us, hop: 14 us, efficiency: 0.9}
sources:
  - NVIDIA H100 SXM5 datasheet (dense peaks, HBM3 3.35 TB/s, NVLink 450 GB/s per direction)
  - NCCL 2.30 tuning constants and nccl-tests issues 290, 309 (ring bus bandwidth about 370 GB/s)
)";

const char *const a100 = R"(name: a100-80gb-8
device:
  kind: a100-sxm4-80gb
  memory: 80 GB
  memory-bandwidth: 2039 GB/s
  multiprocessors: 108
  launch: 3 us
  context: 4 GB
  peak: {f64: 19.5 TFLOP/s, f32: 19.5 TFLOP/s, tf32: 156 TFLOP/s, f16: 312 TFLOP/s, bf16: 312 TFLOP/s}
  alu: 19.5 TFLOP/s
  special: 2.4 TFLOP/s
  efficiency: {matrix: 0.785, memory: 0.75}
node: {devices: 8}
nodes: 1
links:
  intra: {kind: nvlink3-nvswitch, bandwidth: 300 GB/s, latency: 8.4 us, hop: 3.4 us, efficiency: 0.765}
  inter: {kind: hdr200-per-device, bandwidth: 25 GB/s, latency: 14 us, hop: 14 us, efficiency: 0.9}
sources:
  - NVIDIA A100 SXM4 80 GB datasheet
  - vTrain NCCL tables (229 GB/s bus bandwidth at 1 GB on 8 devices), VIA-Research/vTrain
)";

const char *const v100 = R"(name: v100-8
device:
  kind: v100-sxm2-32gb
  memory: 32 GB
  memory-bandwidth: 900 GB/s
  multiprocessors: 80
  launch: 3.5 us
  context: 1.5 GB
  peak: {f64: 7.8 TFLOP/s, f32: 15.7 TFLOP/s, f16: 125 TFLOP/s}
  alu: 15.7 TFLOP/s
  special: 2 TFLOP/s
  efficiency: {matrix: 0.8, memory: 0.75}
node: {devices: 8}
nodes: 1
links:
  intra: {kind: nvlink2, bandwidth: 150 GB/s, latency: 8.4 us, hop: 3.4 us, efficiency: 0.9}
  inter: {kind: edr100-shared, bandwidth: 12.5 GB/s, latency: 14 us, hop: 14 us, efficiency: 0.9}
sources:
  - NVIDIA V100 SXM2 datasheet (6 NVLink2 links of 25 GB/s per direction)
  - vTrain NCCL tables (134.5 GB/s bus bandwidth at 1 GB on 8 devices)
)";

} // namespace

const std::map<std::string, std::string> &builtinMachines() {
  static const std::map<std::string, std::string> machines = {
      {"h100-8", h100}, {"a100-80gb-8", a100}, {"v100-8", v100}};
  return machines;
}

} // namespace gpucc::cost
