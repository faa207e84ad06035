//===- Sequences.cpp - caches and per-sequence reordering -----------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"

using namespace mlir;
using namespace gpucc;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

/// The linear indices of a [A, B, rest] view: for every element of batch x time the row of
/// `source`, an i64 value of that shape.
static Value rowsOf(GraphBuilder &g, Value x, Value source, int64_t batch, int64_t time) {
  Dims shape = shapeOf(x);
  int64_t rest = elementsOf(ArrayRef<int64_t>(shape).drop_front(2));
  Value flat = g.reshape(x, {batch * time, rest});
  Value picked = g.gather(flat, g.reshape(source, {batch * time}), 0);
  return g.failed() ? picked : g.reshape(picked, shape);
}

/// Reverses the first sequence_lens[b] elements of each sequence: t -> len - 1 - t.
static LogicalResult reverseSequence(Node &n) {
  GraphBuilder &g = n.g;
  int64_t batchAxis = n.getInt("batch_axis", 1), timeAxis = n.getInt("time_axis", 0);
  if (n.rank(0) < 2 || n.rank(1) != 1 || batchAxis + timeAxis != 1 || batchAxis * timeAxis != 0)
    return n.invalid("batch_axis and time_axis must be 0 and 1 of a tensor of rank 2 or more");
  Dims swap;
  for (int64_t d = 0; d < n.rank(0); ++d)
    swap.push_back(d < 2 ? 1 - d : d);
  Value x = batchAxis == 0 ? n[0] : g.transpose(n[0], swap);
  if (g.failed())
    return failure();
  int64_t batch = shapeOf(x)[0], time = shapeOf(x)[1];
  Type index = g.builder.getI64Type();
  Value t = g.iota({batch, time}, 1, index), b = g.iota({batch, time}, 0, index);
  Value length = g.broadcastDims(g.convert(n[1], index), {batch, time}, {0});
  Value mirrored = g.sub(g.binary(BinaryKind::Sub, length, 1), t);
  Value from = g.select(g.compare(CompareKind::Lt, t, length), mirrored, t);
  Value linear = g.add(g.binary(BinaryKind::Mul, b, double(time)), from);
  if (g.failed())
    return failure();
  Value y = rowsOf(g, x, linear, batch, time);
  return n.yield(batchAxis == 0 || g.failed() ? y : g.transpose(y, swap));
}

/// Writes `update` into the cache from position write_indices[batch] on, wrapping when circular.
static LogicalResult tensorScatter(Node &n) {
  GraphBuilder &g = n.g;
  int64_t rank = n.rank(0);
  auto axis = n.dimension(n.getInt("axis", -2), rank);
  if (!axis)
    return failure();
  if (*axis == 0 || n.rank(1) != rank)
    return n.invalid("cache and update must have one rank, and the axis must not be the batch");
  Dims to(1, 0), cache = shapeOf(n[0]), update = shapeOf(n[1]);
  to[0] = 0;
  to.push_back(*axis);
  for (int64_t d = 1; d < rank; ++d)
    if (d != *axis)
      to.push_back(d);
  Dims back(rank);
  for (int64_t d = 0; d < rank; ++d)
    back[to[d]] = d;
  Value data = g.transpose(n[0], to), rows = g.transpose(n[1], to);
  if (g.failed())
    return failure();
  Dims moved = shapeOf(data);
  int64_t batch = cache[0], time = cache[*axis], fresh = update[*axis];
  int64_t rest = elementsOf(ArrayRef<int64_t>(moved).drop_front(2));
  if (elementsOf(update) != batch * fresh * rest)
    return n.invalid("cache and update may differ along the axis only");
  Type index = g.builder.getI64Type();
  Value start =
      n.has(2) ? g.convert(n[2], index) : g.splat(RankedTensorType::get({batch}, index), 0);
  if (rankOf(start) != 1)
    return n.invalid("write_indices must have one number per batch");
  Value at = g.add(g.iota({batch, fresh}, 1, index), g.broadcastDims(start, {batch, fresh}, {0}));
  if (n.getString("mode", "linear") == "circular")
    at = g.binary(BinaryKind::Mod, at, double(time));
  Value linear =
      g.add(g.binary(BinaryKind::Mul, g.iota({batch, fresh}, 0, index), double(time)), at);
  if (g.failed())
    return failure();
  Value flat = g.create<ScatterOp>(
      g.reshape(data, {batch * time, rest}), g.reshape(linear, {batch * fresh}),
      g.reshape(rows, {batch * fresh, rest}), g.builder.getI64IntegerAttr(0), ReductionKindAttr());
  if (g.failed())
    return failure();
  return n.yield(g.transpose(g.reshape(flat, moved), back));
}

/// Frames of windows added up where they overlap: the transpose of im2col, as a scatter.
static LogicalResult colToImage(Node &n) {
  auto image = n.constantInts(1, "image_shape"), block = n.constantInts(2, "block_shape");
  if (!image || !block)
    return failure();
  GraphBuilder &g = n.g;
  size_t spatial = image->size();
  Dims strides = n.getInts("strides").value_or(Dims(spatial, 1));
  Dims dilations = n.getInts("dilations").value_or(Dims(spatial, 1));
  Dims pads = n.getInts("pads").value_or(Dims(2 * spatial, 0)), shape = shapeOf(n[0]);
  if (n.rank(0) != 3 || block->size() != spatial || strides.size() != spatial ||
      dilations.size() != spatial || pads.size() != 2 * spatial || spatial < 1 || spatial > 3)
    return n.invalid("its lists need one entry per spatial dimension");
  Dims windows, padded;
  for (size_t d = 0; d < spatial; ++d) {
    constexpr int64_t most = 1 << 24;
    if (std::max({(*image)[d], (*block)[d], pads[d], pads[d + spatial], dilations[d]}) > most ||
        (*image)[d] < 0 || dilations[d] < 1)
      return n.invalid("a size is negative or above 2^24");
    padded.push_back((*image)[d] + pads[d] + pads[d + spatial]);
    int64_t room = padded[d] - ((*block)[d] - 1) * dilations[d] - 1;
    if ((*block)[d] < 1 || strides[d] < 1 || pads[d] < 0 || pads[d + spatial] < 0 || room < 0)
      return n.invalid("a block does not fit into the image");
    windows.push_back(room / strides[d] + 1);
  }
  int64_t cells = elementsOf(*block), count = elementsOf(windows);
  if (shape[2] != count || shape[1] % cells != 0)
    return n.invalid("the operand does not have one column per window");
  if (cells > 1 << 24 || count > 1 << 24 || cells * count > 1 << 26)
    return n.unsupported("images of more than 2^26 window elements");
  int64_t channels = shape[1] / cells, total = elementsOf(padded);
  // For each (cell, window): the linear position in the padded image.
  HostTensor at(gpucc::DType::I64, {cells * count});
  for (int64_t cell = 0; cell < cells; ++cell)
    for (int64_t w = 0; w < count; ++w) {
      int64_t c = cell, v = w, linear = 0, stride = 1;
      for (size_t d = spatial; d-- > 0;) {
        int64_t p = (v % windows[d]) * strides[d] + (c % (*block)[d]) * dilations[d];
        linear += p * stride;
        stride *= padded[d];
        c /= (*block)[d];
        v /= windows[d];
      }
      at.setInt(cell * count + w, linear);
    }
  Value rows = g.reshape(n[0], {shape[0] * channels, cells * count});
  Value zero = g.splat(RankedTensorType::get({total, shape[0] * channels}, elementOf(n[0])), 0);
  Value sum = g.create<ScatterOp>(
      zero, g.constant(at), g.transpose(rows, {1, 0}), g.builder.getI64IntegerAttr(0),
      ReductionKindAttr::get(g.builder.getContext(), ReductionKind::Sum));
  if (g.failed())
    return failure();
  Dims full{shape[0], channels}, start{0, 0}, sizes{shape[0], channels};
  llvm::append_range(full, padded);
  for (size_t d = 0; d < spatial; ++d) {
    start.push_back(pads[d]);
    sizes.push_back((*image)[d]);
  }
  Value y = g.reshape(g.transpose(sum, {1, 0}), full);
  return n.yield(g.failed() ? y : g.slice(y, start, sizes, Dims(full.size(), 1)));
}

ArrayRef<Entry> gpucc::frontend_to_graph::sequenceRules() {
  static const Entry rules[] = {
      {"ReverseSequence", 10, latest, 2, reverseSequence},
      {"TensorScatter", 24, latest, 2, tensorScatter},
      {"Col2Im", 18, latest, 3, colToImage},
  };
  return rules;
}
