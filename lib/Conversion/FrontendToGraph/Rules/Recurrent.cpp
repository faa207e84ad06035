//===- Recurrent.cpp - RNN, GRU, LSTM -------------------------------------===//
//
// Unrolled over the (static) sequence. X [S,B,I], W [D,G*H,I], R [D,G*H,H],
// B [D,2*G*H]; D directions, G gates. Y [S,D,B,H]; layout 1 puts B first.
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Node.h"

using namespace mlir;
using namespace gpucc::frontend_to_graph;
using namespace gpucc::graph;

static constexpr int64_t maxSteps = 1024;

namespace {
struct Cell {
  Node &n;
  GraphBuilder &g;
  int64_t hidden, gates;
  SmallVector<std::string> activations;
  Value w, r, bw, br; ///< of one direction: [G*H,I], [G*H,H], [G*H] (or null)

  Value activate(unsigned i, Value x) {
    StringRef name = activations[i];
    if (name == "sigmoid")
      return g.unary(UnaryKind::Logistic, x);
    if (name == "tanh")
      return g.unary(UnaryKind::Tanh, x);
    if (name == "relu")
      return g.unary(UnaryKind::Relu, x);
    g.error("activation '" + name + "' of a recurrent layer is not one of Sigmoid, Tanh, Relu");
    return x;
  }
  /// x · m^T + bias
  Value project(Value x, Value m, Value bias) {
    Value y = g.contract(x, m, {}, {}, {1}, {1});
    return bias && !g.failed() ? g.add(y, bias) : y;
  }
  Value gate(Value all, int64_t i) { return g.slice(all, 1, i * hidden, hidden); }
};

/// Everything a layer reads, checked.
struct Layer {
  int64_t steps, batch, input, hidden, directions;
  bool reverse = false, batchFirst = false;
};
} // namespace

static std::optional<Layer> layerOf(Node &n, int64_t gates) {
  Layer l{};
  l.batchFirst = n.getInt("layout", 0) != 0;
  StringRef direction = n.getString("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional") {
    (void)n.invalid("direction is '" + direction +
                    "'; forward, reverse and bidirectional are allowed");
    return std::nullopt;
  }
  l.reverse = direction == "reverse";
  l.directions = direction == "bidirectional" ? 2 : 1;
  if (n.rank(0) != 3 || n.rank(1) != 3 || n.rank(2) != 3) {
    (void)n.invalid("X, W and R must have rank 3");
    return std::nullopt;
  }
  Dims x = shapeOf(n[0]), w = shapeOf(n[1]), r = shapeOf(n[2]);
  l.steps = x[l.batchFirst ? 1 : 0];
  l.batch = x[l.batchFirst ? 0 : 1];
  l.input = x[2];
  l.hidden = r[2];
  if (w[0] != l.directions || r[0] != l.directions || w[1] != gates * l.hidden || r[1] != w[1] ||
      w[2] != l.input) {
    (void)n.invalid("W must be [directions, " + llvm::Twine(gates) +
                    " * hidden, inputs] and R [directions, the same, hidden]");
    return std::nullopt;
  }
  for (auto [operand, rank] : {std::pair<unsigned, int64_t>{3, 2}, {5, 3}, {6, 3}, {7, 2}})
    if (n.has(operand) && n.rank(operand) != rank) {
      (void)n.invalid("operand " + llvm::Twine(operand) + " has " + llvm::Twine(n.rank(operand)) +
                      " dimensions; B and P have 2, initial states 3");
      return std::nullopt;
    }
  if (l.steps > maxSteps || l.steps < 1) {
    (void)n.unsupported("sequences of " + llvm::Twine(l.steps) + " steps (1 to 1024 are unrolled)");
    return std::nullopt;
  }
  if (n.has(4) && shapeOf(n[4]) != Dims{l.batch}) {
    (void)n.invalid("sequence_lens must have one length per sequence");
    return std::nullopt;
  }
  if (n.hasAttr("clip") || n.getInt("input_forget", 0) != 0 || n.hasAttr("activation_alpha")) {
    (void)n.unsupported("clip, input_forget or activation_alpha");
    return std::nullopt;
  }
  return l;
}

/// Row d of a [D, ...] tensor.
static Value row(GraphBuilder &g, Value x, int64_t d) {
  Dims shape = shapeOf(x);
  Value piece = g.slice(x, 0, d, 1);
  shape.erase(shape.begin());
  return g.failed() ? piece : g.reshape(piece, shape);
}

static Cell cellOf(Node &n, const Layer &l, int64_t gates, int64_t d,
                   ArrayRef<StringRef> defaults) {
  Cell c{n, n.g, l.hidden, gates, {}, {}, {}, {}, {}};
  auto names = dyn_cast_or_null<ArrayAttr>(n.attr("activations"));
  for (auto [i, name] : llvm::enumerate(defaults)) {
    size_t at = d * defaults.size() + i;
    bool given = names && at < names.size() && isa<StringAttr>(names[at]);
    c.activations.push_back(given ? cast<StringAttr>(names[at]).getValue().lower() : name.str());
  }
  c.w = row(n.g, n[1], d);
  c.r = row(n.g, n[2], d);
  if (n.has(3)) {
    Value b = row(n.g, n[3], d);
    c.bw = n.g.slice(b, 0, 0, gates * l.hidden);
    c.br = n.g.slice(b, 0, gates * l.hidden, gates * l.hidden);
  }
  return c;
}

/// The first state of direction d: operand i, or zero. With layout 1 it comes as [B,D,H].
static Value firstState(Node &n, const Layer &l, unsigned i, int64_t d) {
  if (!n.has(i))
    return n.g.splat(RankedTensorType::get({l.batch, l.hidden}, elementOf(n[0])), 0);
  Value all = l.batchFirst && n.rank(i) == 3 ? n.g.transpose(n[i], {1, 0, 2}) : n[i];
  return row(n.g, all, d);
}

/// Which sequences of the batch still run at step t, as [B,1]; null when all do.
static Value runningAt(Node &n, const Layer &l, int64_t t) {
  if (!n.has(4))
    return {};
  Value lengths = n.g.reshape(n[4], {l.batch, 1});
  return n.g.compare(CompareKind::Gt, lengths, n.g.splatLike(lengths, double(t)));
}

/// One direction: `advance(cell, x, states)` overwrites the states, of which the first is given
/// out.
template <typename Advance>
static LogicalResult run(Node &n, int64_t gates, ArrayRef<StringRef> defaults, unsigned states,
                         Advance advance) {
  auto layer = layerOf(n, gates);
  if (!layer)
    return failure();
  GraphBuilder &g = n.g;
  Value x = layer->batchFirst ? g.transpose(n[0], {1, 0, 2}) : n[0];
  SmallVector<SmallVector<Value>> outputs(layer->directions);
  SmallVector<SmallVector<Value>> last(states);
  for (int64_t d = 0; d < layer->directions; ++d) {
    Cell cell = cellOf(n, *layer, gates, d, defaults);
    SmallVector<Value> state;
    for (unsigned s = 0; s < states; ++s)
      state.push_back(firstState(n, *layer, s == 0 ? 5 : 6, d));
    bool backwards = layer->reverse || d == 1;
    outputs[d].resize(layer->steps);
    for (int64_t t = 0; t < layer->steps && !g.failed(); ++t) {
      int64_t at = backwards ? layer->steps - 1 - t : t;
      SmallVector<Value> before(state);
      advance(cell, row(g, x, at), state);
      outputs[d][at] = state[0];
      // A sequence that is over keeps its state and gives zeros; backwards it has not begun.
      if (Value running = runningAt(n, *layer, at); running && !g.failed()) {
        for (unsigned s = 0; s < states; ++s)
          state[s] = g.select(running, state[s], before[s]);
        outputs[d][at] = g.select(running, outputs[d][at], g.splatLike(state[0], 0));
      }
    }
    if (g.failed())
      return failure();
    for (unsigned s = 0; s < states; ++s)
      last[s].push_back(g.insertDims(state[s], {0}));
  }
  SmallVector<Value> rounds;
  for (int64_t t = 0; t < layer->steps; ++t) {
    SmallVector<Value> both;
    for (auto &output : outputs)
      both.push_back(g.insertDims(output[t], {0}));
    rounds.push_back(g.insertDims(g.concat(both, 0), {0}));
  }
  SmallVector<Value> results{g.concat(rounds, 0)};
  for (auto &state : last)
    results.push_back(g.concat(state, 0));
  if (g.failed())
    return failure();
  if (layer->batchFirst) {
    results[0] = g.transpose(results[0], {2, 0, 1, 3});
    for (size_t s = 1; s < results.size(); ++s)
      results[s] = g.transpose(results[s], {1, 0, 2});
  }
  return n.yield(results);
}

/// h = f(x W^T + h R^T + b)
static LogicalResult rnn(Node &n) {
  return run(n, 1, {"tanh"}, 1, [](Cell &c, Value x, SmallVector<Value> &state) {
    state[0] = c.activate(0, c.g.add(c.project(x, c.w, c.bw), c.project(state[0], c.r, c.br)));
  });
}

/// Gates z, r, h; the reset gate acts before or after the product with R.
static LogicalResult gru(Node &n) {
  bool after = n.getInt("linear_before_reset", 0) != 0;
  return run(n, 3, {"sigmoid", "tanh"}, 1, [after](Cell &c, Value x, SmallVector<Value> &state) {
    GraphBuilder &g = c.g;
    Value h = state[0], a = c.project(x, c.w, c.bw), b = c.project(h, c.r, c.br);
    if (g.failed())
      return;
    Value z = c.activate(0, g.add(c.gate(a, 0), c.gate(b, 0)));
    Value r = c.activate(0, g.add(c.gate(a, 1), c.gate(b, 1)));
    Value inner;
    if (after) {
      inner = g.mul(r, c.gate(b, 2));
    } else {
      Value rh = g.slice(c.r, 0, 2 * c.hidden, c.hidden);
      Value bias = c.br ? g.slice(c.br, 0, 2 * c.hidden, c.hidden) : Value();
      inner = c.project(g.mul(r, h), rh, bias);
    }
    Value fresh = c.activate(1, g.add(c.gate(a, 2), inner));
    Value keep = g.sub(g.splatLike(z, 1), z);
    state[0] = g.add(g.mul(keep, fresh), g.mul(z, h));
  });
}

/// Gates i, o, f, c with optional peepholes P [D,3H] (i, o, f).
static LogicalResult lstm(Node &n) {
  int64_t direction = 0;
  Value current;
  return run(n, 4, {"sigmoid", "tanh", "tanh"}, 2,
             [&](Cell &c, Value x, SmallVector<Value> &state) {
               GraphBuilder &g = c.g;
               if (current && current != c.w)
                 ++direction;
               current = c.w;
               Value all = g.add(c.project(x, c.w, c.bw), c.project(state[0], c.r, c.br));
               if (g.failed())
                 return;
               auto peep = [&](Value gate, int64_t i, Value from) {
                 if (!n.has(7))
                   return gate;
                 Value p = g.slice(row(g, n[7], direction), 0, i * c.hidden, c.hidden);
                 return g.add(gate, g.mul(from, p));
               };
               Value in = c.activate(0, peep(c.gate(all, 0), 0, state[1]));
               Value forget = c.activate(0, peep(c.gate(all, 2), 2, state[1]));
               Value fresh = c.activate(1, c.gate(all, 3));
               Value cell = g.add(g.mul(forget, state[1]), g.mul(in, fresh));
               Value out = c.activate(0, peep(c.gate(all, 1), 1, cell));
               state[0] = g.mul(out, c.activate(2, cell));
               state[1] = cell;
             });
}

ArrayRef<Entry> gpucc::frontend_to_graph::recurrentRules() {
  static const Entry rules[] = {
      {"RNN", 7, latest, 3, rnn},
      {"GRU", 7, latest, 3, gru},
      {"LSTM", 7, latest, 3, lstm},
  };
  return rules;
}
