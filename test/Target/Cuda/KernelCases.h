//===- KernelCases.h - kernels that both targets must agree on ------------*- C++ -*-===//
//
// Rows, columns, transposes, windows, scans, small floats, functions: one text per shape.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TEST_TARGET_CUDA_KERNELCASES_H
#define GPUCC_TEST_TARGET_CUDA_KERNELCASES_H

#include <cstring>
#include <ostream>
#include <string>
#include <vector>

namespace gpucc::test {

struct Case {
  const char *name;
  std::string text;
};
inline void PrintTo(const Case &c, std::ostream *os) { *os << c.name; }

inline std::string with(std::string text, std::vector<std::pair<const char *, int>> values) {
  for (auto [from, to] : values)
    for (size_t at; (at = text.find(from)) != std::string::npos;)
      text.replace(at, strlen(from), std::to_string(to));
  return text;
}

inline std::string softmax(int rows, int columns) {
  return with(R"(
    kernel.func @softmax(%x: memref<$Rx$Cxf32> {kernel.name = "logits"}, %y: memref<$Rx$Cxf32>) {
      kernel.program (%r) in ($R) {
        %t, %m = kernel.loop (%c) in ($C) -> (keep tensor<$Cxf32>, maxnum f32) {
          %0 = kernel.load %x[%r, %c] : memref<$Rx$Cxf32>
          kernel.yield %0, %0 : f32, f32
        }
        %e, %s = kernel.loop (%c) in ($C) -> (keep tensor<$Cxf32>, add f32) {
          %0 = kernel.load %t[%c] : tensor<$Cxf32>
          %1 = arith.subf %0, %m : f32
          %2 = math.exp %1 : f32
          kernel.yield %2, %2 : f32, f32
        }
        kernel.loop (%c) in ($C) {
          %0 = kernel.load %e[%c] : tensor<$Cxf32>
          %1 = arith.divf %0, %s : f32
          kernel.store %1, %y[%r, %c] : memref<$Rx$Cxf32>
        }
      }
    })",
              {{"$R", rows}, {"$C", columns}});
}

inline std::string layerNorm(int rows, int columns, const char *type) {
  std::string text = with(R"(
    kernel.func @layernorm(%x: memref<$Rx$CxT>, %g: memref<$Cxf32>, %b: memref<$Cxf32>, %y: memref<$Rx$CxT>) {
      %n = arith.constant 0.01 : f32
      %eps = arith.constant 1.0e-05 : f32
      kernel.program (%r) in ($R) {
        %t, %s = kernel.loop (%c) in ($C) -> (keep tensor<$Cxf32>, add f32) {
          %0 = kernel.load %x[%r, %c] : memref<$Rx$CxT>
          WIDEN
          kernel.yield %1, %1 : f32, f32
        }
        %mean = arith.mulf %s, %n : f32
        %v = kernel.loop (%c) in ($C) -> (add f32) {
          %0 = kernel.load %t[%c] : tensor<$Cxf32>
          %1 = arith.subf %0, %mean : f32
          %2 = arith.mulf %1, %1 : f32
          kernel.yield %2 : f32
        }
        %var = arith.mulf %v, %n : f32
        %ve = arith.addf %var, %eps : f32
        %rstd = math.rsqrt %ve : f32
        kernel.loop (%c) in ($C) {
          %0 = kernel.load %t[%c] : tensor<$Cxf32>
          %1 = kernel.load %g[%c] : memref<$Cxf32>
          %2 = kernel.load %b[%c] : memref<$Cxf32>
          %3 = arith.subf %0, %mean : f32
          %4 = arith.mulf %3, %rstd : f32
          %5 = arith.mulf %4, %1 : f32
          %6 = arith.addf %5, %2 : f32
          NARROW
          kernel.store %7, %y[%r, %c] : memref<$Rx$CxT>
        }
      }
    })",
                          {{"$R", rows}, {"$C", columns}});
  bool isSmall = std::string(type) != "f32";
  auto replace = [&](const char *from, std::string to) {
    for (size_t at; (at = text.find(from)) != std::string::npos;)
      text.replace(at, strlen(from), to);
  };
  replace("WIDEN", isSmall ? std::string("%1 = arith.extf %0 : ") + type + " to f32"
                           : "%1 = arith.addf %0, %0 : f32");
  replace("NARROW", isSmall ? std::string("%7 = arith.truncf %6 : f32 to ") + type
                            : "%7 = arith.negf %6 : f32");
  replace("xT>", std::string("x") + type + ">");
  return text;
}

inline std::string pointwise(int rows, int columns, const char *body, const char *type = "f32") {
  std::string text = with(R"(
    kernel.func @pointwise(%x: memref<$Rx$CxT>, %b: memref<$CxT>, %y: memref<$Rx$CxT>) {
      kernel.program (%r) in ($R) {
        kernel.loop (%c) in ($C) {
          %0 = kernel.load %x[%r, %c] : memref<$Rx$CxT>
          %1 = kernel.load %b[%c] : memref<$CxT>
          BODY
          kernel.store %z, %y[%r, %c] : memref<$Rx$CxT>
        }
      }
    })",
                          {{"$R", rows}, {"$C", columns}});
  auto replace = [&](const char *from, std::string to) {
    for (size_t at; (at = text.find(from)) != std::string::npos;)
      text.replace(at, strlen(from), to);
  };
  replace("BODY", body);
  replace("xT>", std::string("x") + type + ">");
  return text;
}

inline std::string transpose(int rows, int columns) {
  return with(R"(
    kernel.func @transpose(%x: memref<$Rx$Cxf32>, %y: memref<$Cx$Rxf32>) {
      kernel.program (%bi, %bj) in ($P, $Q) {
        %t = kernel.loop (%i, %j) in (32, 32) -> (keep tensor<32x32xf32>) {
          %0 = kernel.load %x[%bi * 32 + %i, %bj * 32 + %j] : memref<$Rx$Cxf32>
          kernel.yield %0 : f32
        }
        kernel.loop (%j, %i) in (32, 32) {
          %0 = kernel.load %t[%i, %j] : tensor<32x32xf32>
          kernel.store %0, %y[%bj * 32 + %j, %bi * 32 + %i] : memref<$Cx$Rxf32>
        }
      }
    })",
              {{"$P", rows / 32}, {"$Q", columns / 32}, {"$R", rows}, {"$C", columns}});
}

inline std::string columnSum(int rows, int columns, int tile) {
  return with(R"(
    kernel.func @columns(%x: memref<$Rx$Cxf32>, %y: memref<$Cxf32>, %z: memref<$Rx$Cxf32>) {
      kernel.program (%p) in ($P) {
        %s = kernel.loop (%r, %c) in ($R, $T) -> (add tensor<$Txf32>) {
          %0 = kernel.load %x[%r, %p * $T + %c] : memref<$Rx$Cxf32>
          %1 = arith.mulf %0, %0 : f32
          kernel.store %1, %z[%r, %p * $T + %c] : memref<$Rx$Cxf32>
          kernel.yield %1 : f32
        }
        kernel.loop (%c) in ($T) {
          %0 = kernel.load %s[%c] : tensor<$Txf32>
          kernel.store %0, %y[%p * $T + %c] : memref<$Cxf32>
        }
      }
    })",
              {{"$P", columns / tile}, {"$T", tile}, {"$R", rows}, {"$C", columns}});
}

inline const char *const gelu = R"(
  %2 = arith.addf %0, %1 : f32
  %h = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %q = arith.constant 0.70710678118654752 : f32
  %3 = arith.mulf %2, %q : f32
  %4 = math.erf %3 : f32
  %5 = arith.addf %4, %one : f32
  %6 = arith.mulf %2, %h : f32
  %z = arith.mulf %6, %5 : f32)";
inline const char *const manyFunctions = R"(
  %2 = math.tanh %0 : f32
  %3 = math.log %1 : f32
  %4 = math.sin %0 : f32
  %5 = math.cos %1 : f32
  %6 = math.powf %1, %0 : f32
  %7 = math.atan %0 : f32
  %8 = math.expm1 %0 : f32
  %9 = math.sqrt %1 : f32
  %10 = arith.maximumf %2, %3 : f32
  %11 = arith.addf %4, %5 : f32
  %12 = arith.remf %0, %1 : f32
  %13 = arith.addf %10, %11 : f32
  %14 = arith.addf %13, %6 : f32
  %15 = arith.addf %14, %7 : f32
  %16 = arith.addf %15, %8 : f32
  %17 = arith.addf %16, %12 : f32
  %18 = math.roundeven %0 : f32
  %19 = math.floor %1 : f32
  %20 = arith.addf %18, %19 : f32
  %21 = arith.addf %17, %9 : f32
  %z = arith.addf %21, %20 : f32)";
inline const char *const small = R"(
  %2 = arith.mulf %0, %1 : bf16
  %3 = arith.addf %2, %1 : bf16
  %z = math.tanh %3 : bf16)";
inline const char *const half = R"(
  %2 = arith.mulf %0, %1 : f16
  %z = arith.subf %2, %0 : f16)";

/// Windows, indices, guards, look-ups, integers: one kernel each.
inline const char *const pool = R"(
  kernel.func @pool(%x: memref<2x9x9xf32>, %y: memref<2x5x5xf32>) {
    %inf = arith.constant 0xFF800000 : f32
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %nine = arith.constant 9 : index
    kernel.program (%n) in (2) {
      kernel.loop (%i, %j) in (5, 5) {
        %m = kernel.loop (%a, %b) in (3, 3) -> (max f32) {
          %i2 = arith.muli %i, %two : index
          %i3 = arith.addi %i2, %a : index
          %h = arith.subi %i3, %one : index
          %j2 = arith.muli %j, %two : index
          %j3 = arith.addi %j2, %b : index
          %w = arith.subi %j3, %one : index
          %inH = arith.cmpi ult, %h, %nine : index
          %inW = arith.cmpi ult, %w, %nine : index
          %in = arith.andi %inH, %inW : i1
          %0 = kernel.load %x[%n, %i * 2 + %a - 1, %j * 2 + %b - 1] if %in else %inf : memref<2x9x9xf32>
          kernel.yield %0 : f32
        }
        kernel.store %m, %y[%n, %i, %j] : memref<2x5x5xf32>
      }
    }
  })";
inline const char *const scan = R"(
  kernel.func @scan(%x: memref<30x10xf32>, %y: memref<30x10xf32>) {
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1 : index
    kernel.program () in () {
      kernel.loop (%c) in (10) {
        kernel.loop (%n) in (30) {
          %rest = arith.cmpi uge, %n, %one : index
          %before = kernel.load %y[%n - 1, %c] if %rest else %zero : memref<30x10xf32>
          %0 = kernel.load %x[%n, %c] : memref<30x10xf32>
          %1 = arith.addf %before, %0 : f32
          kernel.store %1, %y[%n, %c] : memref<30x10xf32>
        }
      }
    }
  })";
inline const char *const batchSums = R"(
  kernel.func @sums(%x: memref<5x3x7x9xf32>, %s: memref<3xf32>, %m: memref<3xf32>, %i: memref<3xi1>) {
    %limit = arith.constant 2.9 : f32
    kernel.program (%c) in (3) {
      %s0, %m0, %any = kernel.loop (%n, %i0, %j) in (5, 7, 9) -> (add f32, min f32, or i1) {
        %0 = kernel.load %x[%n, %c, %i0, %j] : memref<5x3x7x9xf32>
        %1 = arith.cmpf ogt, %0, %limit : f32
        kernel.yield %0, %0, %1 : f32, f32, i1
      }
      kernel.store %s0, %s[%c] : memref<3xf32>
      kernel.store %m0, %m[%c] : memref<3xf32>
      kernel.store %any, %i[%c] : memref<3xi1>
    }
  })";
inline const char *const twoRows = R"(
  kernel.func @two(%x: memref<6x1500xf32>, %w: memref<6x20xf32>, %y: memref<6xf32>) {
    kernel.program (%r) in (6) {
      %a = kernel.loop (%c) in (1500) -> (add f32) {
        %0 = kernel.load %x[%r, %c] : memref<6x1500xf32>
        kernel.yield %0 : f32
      }
      %b = kernel.loop (%c) in (20) -> (add f32) {
        %0 = kernel.load %w[%r, %c] : memref<6x20xf32>
        %1 = arith.mulf %0, %a : f32
        kernel.yield %1 : f32
      }
      kernel.store %b, %y[%r] : memref<6xf32>
    }
  })";
inline const char *const attentionLoops = R"(
  #m = affine_map<(b, h, s, d) -> (b, h, s, d)>
  kernel.func @attention(%q: memref<1x2x5x8xf64>, %k: memref<1x2x7x8xf64>, %v: memref<1x2x7x6xf64>, %y: memref<1x2x5x6xf64>) {
    kernel.attention %q, %k, %v extents [1, 2, 2, 5, 7, 8, 6] maps #m, #m, #m scale 0.3 causal
        : memref<1x2x5x8xf64>, memref<1x2x7x8xf64>, memref<1x2x7x6xf64> epilogue {
    ^bb0(%acc: f64, %b: index, %h: index, %s: index, %e: index):
      kernel.store %acc, %y[%b, %h, %s, %e] : memref<1x2x5x6xf64>
    }
  })";
inline const char *const integerContract = R"(
  kernel.func @i8(%x: memref<5x9xi8>, %w: memref<9x11xi8>, %y: memref<5x11xi32>) {
    kernel.contract %x, %w extents [1, 5, 11, 9] maps affine_map<(b, i, k) -> (i, k)>,
        affine_map<(b, k, j) -> (k, j)> : memref<5x9xi8>, memref<9x11xi8> epilogue {
    ^bb0(%acc: i32, %b: index, %i: index, %j: index):
      kernel.store %acc, %y[%i, %j] : memref<5x11xi32>
    }
  })";

/// Every function that f64 kernels leave to the library must be declared on the device.
inline const char *const doubleFunctions = R"(
  %2 = arith.remf %0, %1 : f64
  %3 = math.exp %2 : f64
  %4 = math.log %3 : f64
  %5 = math.log1p %3 : f64
  %6 = math.expm1 %2 : f64
  %7 = math.tanh %0 : f64
  %8 = math.erf %1 : f64
  %9 = arith.mulf %7, %7 : f64
  %10 = arith.mulf %7, %8 : f64
  %11 = math.powf %3, %1 : f64
  %12 = math.sinh %1 : f64
  %13 = math.cosh %1 : f64
  %14 = math.atan %1 : f64
  %15 = math.asin %9 : f64
  %16 = math.acos %10 : f64
  %17 = math.asinh %0 : f64
  %18 = math.acosh %13 : f64
  %19 = math.atanh %9 : f64
  %20 = math.copysign %4, %0 : f64
  %21 = math.floor %1 : f64
  %22 = math.sqrt %3 : f64
  %23 = arith.maximumf %5, %6 : f64
  %24 = arith.minimumf %7, %8 : f64
  %a = arith.addf %11, %12 : f64
  %b0 = arith.addf %14, %15 : f64
  %c0 = arith.addf %16, %17 : f64
  %d = arith.addf %18, %19 : f64
  %e = arith.addf %20, %21 : f64
  %f = arith.addf %22, %23 : f64
  %g = arith.addf %24, %a : f64
  %h = arith.addf %b0, %c0 : f64
  %i = arith.addf %d, %e : f64
  %j = arith.addf %f, %g : f64
  %k = arith.addf %h, %i : f64
  %z = arith.addf %j, %k : f64)";

inline std::vector<Case> cases() {
  return {{"softmax_8x1000", softmax(8, 1000)},
          {"softmax_5x37", softmax(5, 37)},
          {"softmax_3x1025", softmax(3, 1025)},
          {"softmax_2x5000", softmax(2, 5000)},
          {"softmax_33x7", softmax(33, 7)},
          {"softmax_4x256", softmax(4, 256)},
          {"layernorm_4x768", layerNorm(4, 768, "f32")},
          {"layernorm_7x100", layerNorm(7, 100, "f32")},
          {"layernorm_4x256_bf16", layerNorm(4, 256, "bf16")},
          {"layernorm_3x99_f16", layerNorm(3, 99, "f16")},
          {"gelu_16x256", pointwise(16, 256, gelu)},
          {"gelu_5x33", pointwise(5, 33, gelu)},
          {"functions", pointwise(7, 100, manyFunctions)},
          {"bf16", pointwise(9, 72, small, "bf16")},
          {"f64", pointwise(5, 31, doubleFunctions, "f64")},
          {"f16", pointwise(9, 70, half, "f16")},
          {"transpose_64x96", transpose(64, 96)},
          {"columns_100x64", columnSum(100, 64, 32)},
          {"columns_5x40", columnSum(5, 40, 40)},
          {"columns_70x96", columnSum(70, 96, 96)},
          {"columns_33x3", columnSum(33, 3, 3)},
          {"pool", pool},
          {"scan", scan},
          {"batch_sums", batchSums},
          {"two_rows", twoRows},
          {"attention_f64", attentionLoops},
          {"contract_i8", integerContract}};
}

} // namespace gpucc::test

#endif // GPUCC_TEST_TARGET_CUDA_KERNELCASES_H
