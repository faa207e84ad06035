//===- HostImageTest.cpp - loops, maps and reductions on the CPU ----------===//
#include "HostFixture.h"

#include <algorithm>

using namespace gpucc::test;

namespace {

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// Puts the number of columns in the place of C.
std::string withColumns(const std::string &text, int columns) {
  std::string c = std::to_string(columns);
  return replaced(replaced(replaced(text, "xCx", "x" + c + "x"), "<Cx", "<" + c + "x"), "(C)",
                  "(" + c + ")");
}

TEST(HostImage, PointwiseWithBroadcast) {
  const char *text = R"(
    kernel.func @k(%x: memref<5xCxf32>, %g: memref<Cxf32>, %s: memref<5xf32>, %y: memref<5xCxf32>) {
      kernel.program (%r) in (5) {
        kernel.loop (%c) in (C) {
          %0 = kernel.load %x[%r, %c] : memref<5xCxf32>
          %1 = kernel.load %g[%c] : memref<Cxf32>
          %2 = kernel.load %s[%r] : memref<5xf32>
          %3 = arith.mulf %0, %1 : f32
          %4 = arith.addf %3, %2 : f32
          kernel.store %4, %y[%r, %c] : memref<5xCxf32>
        }
      }
    })";
  for (int c : {1, 3, 7, 8, 9, 16, 31, 64, 100})
    for (const std::string &level : levels()) {
      Kernels k(withColumns(text, c), level);
      auto x = randomFloats(5 * c, 1), g = randomFloats(c, 2), s = randomFloats(5, 3);
      auto y = guarded(5 * c);
      k.run("k", {x.data(), g.data(), s.data(), y.data()});
      for (int r = 0; r < 5; ++r)
        for (int i = 0; i < c; ++i) {
          float product = x[r * c + i] * g[i];
          ASSERT_EQ(y[r * c + i], product + s[r]) << c << " " << level;
        }
      expectGuard(y, 5 * c);
    }
}

// Bits: the sum follows the fixed tree of the extent, on every level.
TEST(HostImage, RowSumFollowsTheTree) {
  const char *text = R"(
    kernel.func @k(%x: memref<3xCxf32>, %s: memref<3xf32>, %m: memref<3xf32>, %y: memref<3xCxf32>) {
      kernel.program (%r) in (3) {
        %t, %sum, %max = kernel.loop (%c) in (C) -> (keep tensor<Cxf32>, add f32, max f32) {
          %0 = kernel.load %x[%r, %c] : memref<3xCxf32>
          kernel.yield %0, %0, %0 : f32, f32, f32
        }
        kernel.loop (%c) in (C) {
          %0 = kernel.load %t[%c] : tensor<Cxf32>
          %1 = arith.subf %0, %max : f32
          kernel.store %1, %y[%r, %c] : memref<3xCxf32>
        }
        kernel.store %sum, %s[%r] : memref<3xf32>
        kernel.store %max, %m[%r] : memref<3xf32>
      }
    })";
  for (int c : {1,   5,   16,  31,  32,   33,   49,   64,   100,  127, 128,
                129, 255, 256, 300, 1000, 1024, 1025, 2047, 3000, 5000})
    for (const std::string &level : levels()) {
      Kernels k(withColumns(text, c), level);
      auto x = randomFloats(3 * c, c);
      auto s = guarded(3), m = guarded(3), y = guarded(3 * c);
      k.run("k", {x.data(), s.data(), m.data(), y.data()});
      for (int r = 0; r < 3; ++r) {
        std::vector<float> row(x.begin() + r * c, x.begin() + (r + 1) * c);
        float sum = fixedTree(row, -0.0f, rowWidth(c), [](float a, float b) { return a + b; });
        float max = *std::max_element(row.begin(), row.end());
        ASSERT_EQ(s[r], sum) << c << " " << level;
        ASSERT_EQ(m[r], max) << c << " " << level;
        for (int i = 0; i < c; ++i)
          ASSERT_EQ(y[r * c + i], row[i] - max);
      }
      expectGuard(s, 3), expectGuard(y, 3 * c);
    }
}

TEST(HostImage, ColumnSumFollowsTheTree) {
  const char *text = R"(
    kernel.func @k(%x: memref<RxCxf32>, %y: memref<Cxf32>) {
      kernel.program () in () {
        %s = kernel.loop (%r, %c) in (R, C) -> (add tensor<Cxf32>) {
          %0 = kernel.load %x[%r, %c] : memref<RxCxf32>
          kernel.yield %0 : f32
        }
        kernel.loop (%c) in (C) {
          %0 = kernel.load %s[%c] : tensor<Cxf32>
          kernel.store %0, %y[%c] : memref<Cxf32>
        }
      }
    })";
  for (auto [r, c] : {std::pair(1, 8), {7, 5}, {32, 16}, {33, 32}, {100, 40}, {1000, 3}})
    for (const std::string &level : levels()) {
      std::string t = replaced(text, "RxC", std::to_string(r) + "x" + std::to_string(c));
      t = withColumns(t, c);
      t = replaced(t, "(R, C)", "(" + std::to_string(r) + ", " + std::to_string(c) + ")");
      Kernels k(t, level);
      auto x = randomFloats(r * c, r + c);
      auto y = guarded(c);
      k.run("k", {x.data(), y.data()});
      for (int i = 0; i < c; ++i) {
        std::vector<float> column;
        for (int j = 0; j < r; ++j)
          column.push_back(x[j * c + i]);
        ASSERT_EQ(y[i], fixedTree(column, -0.0f, 32, [](float a, float b) { return a + b; }))
            << r << "x" << c << " " << level;
      }
      expectGuard(y, c);
    }
}

TEST(HostImage, TransposeGatherAndPad) {
  Kernels k(R"(
    kernel.func @transpose(%x: memref<20x13xf32>, %y: memref<13x20xf32>) {
      kernel.program (%j) in (13) {
        kernel.loop (%i) in (20) {
          %0 = kernel.load %x[%i, %j] : memref<20x13xf32>
          kernel.store %0, %y[%j, %i] : memref<13x20xf32>
        }
      }
    }
    kernel.func @scattered(%x: memref<20x13xf32>, %y: memref<13x20xf32>) {
      kernel.program (%i) in (20) {
        kernel.loop (%j) in (13) {
          %0 = kernel.load %x[%i, %j] : memref<20x13xf32>
          kernel.store %0, %y[%j, %i] : memref<13x20xf32>
        }
      }
    }
    kernel.func @embed(%table: memref<50x12xf32>, %ids: memref<7xi64>, %y: memref<7x12xf32>) {
      kernel.program () in () {
        kernel.loop (%i, %j) in (7, 12) {
          %id = kernel.load %ids[%i] : memref<7xi64>
          %at = arith.index_cast %id : i64 to index
          %0 = kernel.load %table[%at, %j] : memref<50x12xf32>
          kernel.store %0, %y[%i, %j] : memref<7x12xf32>
        }
      }
    }
    kernel.func @pick(%x: memref<7x12xf32>, %ids: memref<7xi32>, %y: memref<7xf32>) {
      kernel.program () in () {
        kernel.loop (%i) in (7) {
          %id = kernel.load %ids[%i] : memref<7xi32>
          %at = arith.index_cast %id : i32 to index
          %0 = kernel.load %x[%i, %at] : memref<7x12xf32>
          kernel.store %0, %y[%i] : memref<7xf32>
        }
      }
    }
    kernel.func @pad(%x: memref<5x6xf32>, %y: memref<9x11xf32>) {
      %v = arith.constant 7.5 : f32
      %two = arith.constant 2 : index
      %three = arith.constant 3 : index
      %rows = arith.constant 5 : index
      %cols = arith.constant 6 : index
      kernel.program (%i) in (9) {
        %r = arith.subi %i, %two : index
        %inRow = arith.cmpi ult, %r, %rows : index
        kernel.loop (%j) in (11) {
          %c = arith.subi %j, %three : index
          %inColumn = arith.cmpi ult, %c, %cols : index
          %in = arith.andi %inRow, %inColumn : i1
          %0 = kernel.load %x[%i - 2, %j - 3] if %in else %v : memref<5x6xf32>
          kernel.store %0, %y[%i, %j] : memref<9x11xf32>
        }
      }
    })",
            levels().back());
  auto x = randomFloats(260, 1);
  auto y = guarded(260);
  for (const char *name : {"transpose", "scattered"}) {
    std::fill(y.begin(), y.begin() + 260, 0.0f);
    k.run(name, {x.data(), y.data()});
    for (int i = 0; i < 20; ++i)
      for (int j = 0; j < 13; ++j)
        ASSERT_EQ(y[j * 20 + i], x[i * 13 + j]) << name;
    expectGuard(y, 260);
  }
  auto table = randomFloats(600, 2);
  std::vector<int64_t> ids{3, 49, 0, 7, 7, 21, 30};
  k.run("embed", {table.data(), ids.data(), y.data()});
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 12; ++j)
      ASSERT_EQ(y[i * 12 + j], table[ids[i] * 12 + j]);
  std::vector<int32_t> columns{3, 11, 0, 7, 7, 1, 5};
  k.run("pick", {table.data(), columns.data(), y.data()});
  for (int i = 0; i < 7; ++i)
    ASSERT_EQ(y[i], table[i * 12 + columns[i]]);
  k.run("pad", {x.data(), y.data()});
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 11; ++j) {
      bool in = i >= 2 && i < 7 && j >= 3 && j < 9;
      ASSERT_EQ(y[i * 11 + j], in ? x[(i - 2) * 6 + j - 3] : 7.5f) << i << " " << j;
    }
}

TEST(HostImage, PoolScanAndScatter) {
  Kernels k(R"(
    kernel.func @pool(%x: memref<2x9x9xf32>, %y: memref<2x4x4xf32>) {
      kernel.program (%n) in (2) {
        kernel.loop (%i, %j) in (4, 4) {
          %m = kernel.loop (%a, %b) in (3, 3) -> (max f32) {
            %0 = kernel.load %x[%n, %i * 2 + %a, %j * 2 + %b] : memref<2x9x9xf32>
            kernel.yield %0 : f32
          }
          kernel.store %m, %y[%n, %i, %j] : memref<2x4x4xf32>
        }
      }
    }
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
    }
    kernel.func @scatter(%ids: memref<30xi64>, %x: memref<30x10xf32>, %y: memref<5x10xf32>) {
      %zero = arith.constant 0.0 : f32
      kernel.program () in () {
        kernel.loop (%c) in (10) {
          kernel.loop (%v) in (5) { kernel.store %zero, %y[%v, %c] : memref<5x10xf32> }
          kernel.loop (%n) in (30) {
            %id = kernel.load %ids[%n] : memref<30xi64>
            %at = arith.index_cast %id : i64 to index
            %old = kernel.load %y[%at, %c] : memref<5x10xf32>
            %0 = kernel.load %x[%n, %c] : memref<30x10xf32>
            %1 = arith.addf %old, %0 : f32
            kernel.store %1, %y[%at, %c] : memref<5x10xf32>
          }
        }
      }
    })",
            levels().back());
  auto x = randomFloats(300, 5);
  auto y = guarded(300);
  k.run("pool", {x.data(), y.data()});
  for (int n = 0; n < 2; ++n)
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        float m = -1e30f;
        for (int a = 0; a < 3; ++a)
          for (int b = 0; b < 3; ++b)
            m = std::max(m, x[n * 81 + (i * 2 + a) * 9 + j * 2 + b]);
        ASSERT_EQ(y[n * 16 + i * 4 + j], m);
      }
  k.run("scan", {x.data(), y.data()});
  for (int c = 0; c < 10; ++c) {
    float sum = 0;
    for (int n = 0; n < 30; ++n) {
      sum += x[n * 10 + c];
      ASSERT_EQ(y[n * 10 + c], sum);
    }
  }
  std::vector<int64_t> ids(30);
  for (int n = 0; n < 30; ++n)
    ids[n] = n * n % 5;
  k.run("scatter", {ids.data(), x.data(), y.data()});
  std::vector<float> expected(50, 0.0f);
  for (int n = 0; n < 30; ++n)
    for (int c = 0; c < 10; ++c)
      expected[ids[n] * 10 + c] += x[n * 10 + c];
  for (int i = 0; i < 50; ++i)
    ASSERT_EQ(y[i], expected[i]);
}

TEST(HostImage, IntegersAndBooleans) {
  for (const std::string &level : levels()) {
    Kernels k(R"(
      kernel.func @k(%x: memref<4x37xi32>, %b: memref<4x37xi1>, %sum: memref<4xi64>, %any: memref<4xi1>,
                     %all: memref<4xi1>, %n: memref<4x37xi1>, %u: memref<4x37xi8>) {
        %three = arith.constant 3 : i32
        kernel.program (%r) in (4) {
          %s, %o, %a, %t = kernel.loop (%c) in (37) -> (add i64, or i1, and i1, keep tensor<37xi1>) {
            %0 = kernel.load %x[%r, %c] : memref<4x37xi32>
            %1 = kernel.load %b[%r, %c] : memref<4x37xi1>
            %2 = arith.extsi %0 : i32 to i64
            %3 = arith.remsi %0, %three : i32
            %4 = arith.trunci %3 : i32 to i8
            kernel.store %4, %u[%r, %c] : memref<4x37xi8>
            kernel.yield %2, %1, %1, %1 : i64, i1, i1, i1
          }
          %true = arith.constant true
          kernel.loop (%c) in (37) {
            %0 = kernel.load %t[%c] : tensor<37xi1>
            %1 = arith.xori %0, %true : i1
            kernel.store %1, %n[%r, %c] : memref<4x37xi1>
          }
          kernel.store %s, %sum[%r] : memref<4xi64>
          kernel.store %o, %any[%r] : memref<4xi1>
          kernel.store %a, %all[%r] : memref<4xi1>
        }
      })",
              level);
    std::vector<int32_t> x(148);
    std::vector<uint8_t> b(148), any(4), all(4), n(148);
    std::vector<int8_t> u(148);
    std::vector<int64_t> sum(4);
    for (int i = 0; i < 148; ++i) {
      x[i] = (i * 7919) % 1000 - 500;
      b[i] = i / 37 == 0 ? 0 : i / 37 == 1 ? 1 : i % 5 == 0;
    }
    k.run("k", {x.data(), b.data(), sum.data(), any.data(), all.data(), n.data(), u.data()});
    for (int r = 0; r < 4; ++r) {
      int64_t s = 0;
      for (int c = 0; c < 37; ++c) {
        s += x[r * 37 + c];
        ASSERT_EQ(n[r * 37 + c], !b[r * 37 + c]);
        ASSERT_EQ(u[r * 37 + c], x[r * 37 + c] % 3);
      }
      ASSERT_EQ(sum[r], s);
      ASSERT_EQ(any[r], r != 0);
      ASSERT_EQ(all[r], r == 1);
    }
  }
}

// A reduction over several dimensions: joined where memory is contiguous, gathered where not; the
// same bits either way.
TEST(HostImage, SeveralDimensions) {
  for (const std::string &level : levels()) {
    Kernels k(R"(
      kernel.func @joined(%x: memref<3x7x9xf32>, %y: memref<3xf32>) {
        kernel.program (%c) in (3) {
          %s = kernel.loop (%i, %j) in (7, 9) -> (add f32) {
            %0 = kernel.load %x[%c, %i, %j] : memref<3x7x9xf32>
            kernel.yield %0 : f32
          }
          kernel.store %s, %y[%c] : memref<3xf32>
        }
      }
      kernel.func @batch(%x: memref<5x3x7x9xf32>, %y: memref<3xf32>) {
        kernel.program (%c) in (3) {
          %s = kernel.loop (%n, %i, %j) in (5, 7, 9) -> (add f32) {
            %0 = kernel.load %x[%n, %c, %i, %j] : memref<5x3x7x9xf32>
            kernel.yield %0 : f32
          }
          kernel.store %s, %y[%c] : memref<3xf32>
        }
      })",
              level);
    auto x = randomFloats(5 * 3 * 63, 9);
    auto y = guarded(3);
    auto add = [](float a, float b) { return a + b; };
    k.run("joined", {x.data(), y.data()});
    for (int c = 0; c < 3; ++c)
      ASSERT_EQ(y[c], fixedTree(std::vector<float>(x.begin() + c * 63, x.begin() + (c + 1) * 63),
                                -0.0f, 64, add));
    k.run("batch", {x.data(), y.data()});
    for (int c = 0; c < 3; ++c) {
      std::vector<float> all;
      for (int n = 0; n < 5; ++n)
        all.insert(all.end(), x.begin() + (n * 3 + c) * 63, x.begin() + (n * 3 + c + 1) * 63);
      ASSERT_EQ(y[c], fixedTree(all, -0.0f, 512, add)) << level;
    }
    expectGuard(y, 3);
  }
}

// Two elements per byte, the first in the low half; an odd number of them in odd rows.
TEST(HostImage, PackedNibbles) {
  Kernels k(R"(
    kernel.func @read(%x: memref<3x7xi4>, %s: memref<3x7xi32>, %u: memref<3x7xf32>) {
      kernel.program (%r) in (3) {
        kernel.loop (%c) in (7) {
          %0 = kernel.load %x[%r, %c] : memref<3x7xi4>
          %1 = arith.extsi %0 : i4 to i32
          %2 = arith.uitofp %0 : i4 to f32
          kernel.store %1, %s[%r, %c] : memref<3x7xi32>
          kernel.store %2, %u[%r, %c] : memref<3x7xf32>
        }
      }
    }
    kernel.func @write(%x: memref<3x7xi32>, %y: memref<3x7xi4>) {
      kernel.program (%r) in (3) {
        kernel.loop (%c) in (7) {
          %0 = kernel.load %x[%r, %c] : memref<3x7xi32>
          %1 = arith.trunci %0 : i32 to i4
          kernel.store %1, %y[%r, %c] : memref<3x7xi4>
        }
      }
    })",
            levels().back());
  std::vector<uint8_t> packed(11), written(12, 0xcc);
  std::vector<int32_t> s(21);
  std::vector<float> u(21);
  for (int i = 0; i < 11; ++i)
    packed[i] = i * 57 + 3;
  packed[10] &= 15;
  k.run("read", {packed.data(), s.data(), u.data()});
  for (int i = 0; i < 21; ++i) {
    int nibble = packed[i / 2] >> (i % 2 * 4) & 15;
    ASSERT_EQ(u[i], nibble) << i;
    ASSERT_EQ(s[i], nibble < 8 ? nibble : nibble - 16) << i;
  }
  k.run("write", {s.data(), written.data()});
  for (int i = 0; i < 10; ++i)
    ASSERT_EQ(written[i], packed[i]) << i;
  ASSERT_EQ(written[10] & 15, packed[10]);
  ASSERT_EQ(written[11], 0xcc);
}

TEST(HostImage, SameTextSameBytes) {
  const char *text = R"(
    kernel.func @k(%x: memref<64xf32>, %y: memref<64xf32>) {
      kernel.program () in () {
        kernel.loop (%c) in (64) {
          %0 = kernel.load %x[%c] : memref<64xf32>
          %1 = math.exp %0 : f32
          kernel.store %1, %y[%c] : memref<64xf32>
        }
      }
    })";
  Kernels first(text), second(text);
  EXPECT_EQ(first.image.bytes, second.image.bytes);
}

} // namespace
