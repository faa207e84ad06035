//===- Models.h - planning problems built by hand for tests -----*- C++ -*-===//
//
// A tiny tape: every forward op also emits its backward ops when `backward()` is called, as the
// differentiation pass would. Used to make a 2-layer model that can be enumerated and a
// GPT-2-medium-sized one.
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_TEST_PLANNER_MODELS_H
#define GPUCC_TEST_PLANNER_MODELS_H

#include "gpucc/Planner/Plan.h"
#include <functional>
#include <map>

namespace gpucc::planner::test {

inline cost::Machine machineNamed(const std::string &name) {
  return std::get<cost::Machine>(cost::loadMachine(name));
}

class ModelBuilder {
public:
  using Dims = ShardingRule::Tensor;
  PlanProblem p;
  DType type = DType::BF16;
  int segment = 0;

  int tensor(const std::string &name, std::vector<int64_t> shape, int batchDim = -1,
             int sequenceDim = -1) {
    p.tensors.push_back({name, shape, type, batchDim, sequenceDim, false, 0, 0});
    return static_cast<int>(p.tensors.size()) - 1;
  }

  /// A trainable weight: bf16 copy, f32 gradient, f32 master and two moments.
  int weight(const std::string &name, std::vector<int64_t> shape) {
    int t = tensor(name, shape);
    double count = p.tensors[t].bytes() / 2;
    p.tensors[t].isState = true;
    p.tensors[t].gradientBytes = 4 * count;
    p.tensors[t].optimizerBytes = 12 * count;
    weightSegment[t] = segment;
    return t;
  }

  int like(const std::string &name, int t) {
    PlanTensor copy = p.tensors[t];
    copy.name = name;
    copy.isState = false;
    copy.gradientBytes = copy.optimizerBytes = 0;
    p.tensors.push_back(copy);
    return static_cast<int>(p.tensors.size()) - 1;
  }

  /// One op; facts follow from shapes: `matrix` marks contractions, else `perElement` operations.
  int op(const std::string &name, Phase phase, std::vector<int> operands, int result,
         std::vector<Factor> factors, std::vector<Dims> operandDims, Dims resultDims, bool matrix,
         double perElement = 1, bool cheap = false) {
    PlanOp o;
    o.name = name;
    o.phase = phase;
    o.segment = segment;
    o.operands = operands;
    o.results = {result};
    o.rule = {factors, operandDims, {resultDims}, {}, {}};
    o.cheap = cheap;
    for (int t : operands)
      o.facts.bytesRead += p.tensors[t].bytes();
    o.facts.bytesWritten = p.tensors[result].bytes();
    o.facts.matrixType = type;
    if (matrix) {
      double volume = 1;
      o.facts.m = o.facts.n = o.facts.k = o.facts.batch = 1;
      for (int f = 0; f < static_cast<int>(factors.size()); ++f) {
        volume *= static_cast<double>(factors[f].size);
        bool a = carries(operandDims[0], f), b = carries(operandDims[1], f);
        int64_t &extent = factors[f].kind == FactorKind::Reduce ? o.facts.k
                          : a && b                              ? o.facts.batch
                          : a                                   ? o.facts.m
                                                                : o.facts.n;
        extent *= factors[f].size;
      }
      o.facts.matrixFlops = 2 * volume;
    } else {
      o.facts.aluFlops = perElement * p.tensors[result].bytes() / 2;
    }
    p.ops.push_back(o);
    return result;
  }

  static bool carries(const Dims &dims, int factor) {
    for (const auto &dim : dims)
      for (int f : dim)
        if (f == factor)
          return true;
    return false;
  }

  // y[b..,n] = x[b..,k] W[k,n]; the leading dimensions of x are free.
  int matmul(const std::string &name, int x, int w) {
    std::vector<int64_t> xs = p.tensors[x].shape, ws = p.tensors[w].shape;
    int lead = static_cast<int>(xs.size()) - 1, k = lead, n = lead + 1;
    std::vector<Factor> forward;
    Dims xd, yd;
    for (int i = 0; i < lead; ++i) {
      forward.push_back({xs[i], FactorKind::Parallel});
      xd.push_back({i});
      yd.push_back({i});
    }
    xd.push_back({k});
    yd.push_back({n});
    Dims wd{{k}, {n}};
    std::vector<Factor> f = forward;
    f.push_back({ws[0], FactorKind::Reduce});
    f.push_back({ws[1], FactorKind::Parallel});
    std::vector<int64_t> ys = xs;
    ys.back() = ws[1];
    int y = tensor(name, ys, p.tensors[x].batchDim, p.tensors[x].sequenceDim);
    op(name, Phase::Forward, {x, w}, y, f, {xd, wd}, yd, true);
    tape.push_back([=, this] {
      int dy = grad[y];
      std::vector<Factor> g = forward;
      g.push_back({ws[0], FactorKind::Parallel});
      g.push_back({ws[1], FactorKind::Reduce});
      if (wantsGrad(x))
        give(x, op(name + ".dx", Phase::Backward, {dy, w}, like(name + ".dx", x), g, {yd, wd}, xd,
                   true));
      std::vector<Factor> h = forward;
      for (Factor &factor : h)
        factor.kind = FactorKind::Reduce;
      h.push_back({ws[0], FactorKind::Parallel});
      h.push_back({ws[1], FactorKind::Parallel});
      give(w, op(name + ".dw", Phase::Backward, {x, dy}, like(name + ".dw", w), h, {xd, yd}, wd,
                 true));
    });
    return y;
  }

  // Batched product of the last two dimensions: [.., m, k] x [.., n, k] (or [.., k, n]) -> [.., m,
  // n].
  int contract(const std::string &name, int a, int b, bool transposed) {
    std::vector<int64_t> as = p.tensors[a].shape, bs = p.tensors[b].shape;
    int lead = static_cast<int>(as.size()) - 2, m = lead, k = lead + 1, n = lead + 2;
    std::vector<Factor> shared;
    Dims heads;
    for (int i = 0; i < lead; ++i) {
      shared.push_back({as[i], FactorKind::Parallel});
      heads.push_back({i});
    }
    int64_t sizeN = transposed ? bs[lead] : bs[lead + 1];
    auto dims = [&](int u, int v) {
      Dims d = heads;
      d.push_back({u});
      d.push_back({v});
      return d;
    };
    auto factors = [=](int reduced) {
      std::vector<Factor> f = shared;
      for (auto [which, size] :
           {std::pair<int, int64_t>{m, as[lead]}, {k, as[lead + 1]}, {n, sizeN}})
        f.push_back({size, which == reduced ? FactorKind::Reduce : FactorKind::Parallel});
      return f;
    };
    Dims ad = dims(m, k), bd = transposed ? dims(n, k) : dims(k, n), cd = dims(m, n);
    std::vector<int64_t> cs = as;
    cs.back() = sizeN;
    int c = tensor(name, cs, p.tensors[a].batchDim, p.tensors[a].sequenceDim);
    op(name, Phase::Forward, {a, b}, c, factors(k), {ad, bd}, cd, true, 1, true);
    tape.push_back([=, this] {
      int dc = grad[c];
      give(a, op(name + ".da", Phase::Backward, {dc, b}, like(name + ".da", a), factors(n),
                 {cd, bd}, ad, true));
      give(b, op(name + ".db", Phase::Backward, {a, dc}, like(name + ".db", b), factors(m),
                 {ad, cd}, bd, true));
    });
    return c;
  }

  /// Same shape in and out. `whole`: the last dimension is needed whole (softmax, normalization).
  int pointwise(const std::string &name, std::vector<int> inputs, bool whole = false,
                bool keepsInput = true, bool cheap = false, double perElement = 4) {
    int x = inputs[0], y = like(name, x);
    auto [factors, dims] = identity(x, whole);
    op(name, Phase::Forward, inputs, y, factors, std::vector<Dims>(inputs.size(), dims), dims,
       false, perElement, cheap);
    if (!keepsInput)
      p.ops.back().rule.linearTogether.assign(inputs.size(), true);
    tape.push_back([=, this, factors = factors, dims = dims] {
      for (int input : inputs) {
        if (!wantsGrad(input))
          continue;
        std::vector<int> reads{grad[y]};
        if (keepsInput)
          reads.push_back(input);
        if (!keepsInput && inputs.size() > 1) {
          give(input, grad[y]); // an addition passes its gradient on
          continue;
        }
        give(input, op(name + ".dx", Phase::Backward, reads, like(name + ".dx", input), factors,
                       std::vector<Dims>(reads.size(), dims), dims, false, perElement));
      }
    });
    return y;
  }

  /// Scale or bias along the last dimension.
  int vectorOp(const std::string &name, int x, int w, bool normalizes) {
    int y = like(name, x);
    auto [factors, dims] = identity(x, normalizes);
    Dims wd{{static_cast<int>(dims.size()) - 1}};
    op(name, Phase::Forward, {x, w}, y, factors, {dims, wd}, dims, false, normalizes ? 8 : 1);
    tape.push_back([=, this, factors = factors, dims = dims] {
      int dy = grad[y];
      if (normalizes)
        give(x, op(name + ".dx", Phase::Backward, {dy, x, w}, like(name + ".dx", x), factors,
                   {dims, dims, wd}, dims, false, 12));
      else
        give(x, dy);
      std::vector<Factor> reduced = factors;
      for (size_t i = 0; i + 1 < reduced.size(); ++i)
        reduced[i].kind = FactorKind::Reduce;
      reduced.back().kind = FactorKind::Parallel;
      give(w, op(name + ".dw", Phase::Backward, {dy, x}, like(name + ".dw", w), reduced,
                 {dims, dims}, wd, false, 1));
    });
    return y;
  }

  /// [b,s,heads*d] <-> [b,heads,s,d]
  int heads(const std::string &name, int x, int64_t count, bool split) {
    std::vector<int64_t> s = p.tensors[x].shape;
    int64_t b = s[0], seq = split ? s[1] : s[2], d = split ? s[2] / count : s[3];
    Dims flat{{0}, {1}, {2, 3}}, apart{{0}, {2}, {1}, {3}};
    std::vector<Factor> factors{{b}, {seq}, {count}, {d}};
    int y =
        split ? tensor(name, {b, count, seq, d}, 0, 2) : tensor(name, {b, seq, count * d}, 0, 1);
    op(name, Phase::Forward, {x}, y, factors, {split ? flat : apart}, split ? apart : flat, false,
       0);
    tape.push_back([=, this] {
      give(x, op(name + ".dx", Phase::Backward, {grad[y]}, like(name + ".dx", x), factors,
                 {split ? apart : flat}, split ? flat : apart, false, 0));
    });
    return y;
  }

  int embedding(const std::string &name, int ids, int table) {
    std::vector<int64_t> s = p.tensors[ids].shape, t = p.tensors[table].shape;
    int y = tensor(name, {s[0], s[1], t[1]}, 0, 1);
    std::vector<Factor> factors{{s[0]}, {s[1]}, {t[1]}, {t[0], FactorKind::Replicated}};
    op(name, Phase::Forward, {ids, table}, y, factors, {{{0}, {1}}, {{3}, {2}}}, {{0}, {1}, {2}},
       false, 0);
    tape.push_back([=, this] {
      std::vector<Factor> g = factors;
      g[0].kind = g[1].kind = FactorKind::Reduce;
      give(table, op(name + ".dw", Phase::Backward, {ids, grad[y]}, like(name + ".dw", table), g,
                     {{{0}, {1}}, {{0}, {1}, {2}}}, {{3}, {2}}, false, 1));
    });
    return y;
  }

  /// Emits the gradient of the loss, all backward ops and the updates.
  void backward(int y) {
    auto [factors, dims] = identity(y, true);
    grad[y] =
        op("loss.dx", Phase::Backward, {y}, like("loss.dx", y), factors, {dims}, dims, false, 8);
    for (size_t i = tape.size(); i-- > 0;) {
      segment = tapeSegment(i);
      tape[i]();
    }
    for (auto [w, g] : std::map<int, int>(grad.begin(), grad.end())) {
      if (!p.tensors[w].isState)
        continue;
      segment = weightSegment[w];
      auto [f, d] = identity(w, false);
      op(p.tensors[w].name + ".update", Phase::Update, {w, g}, like(p.tensors[w].name + ".new", w),
         f, {d, d}, d, false, 12);
      p.ops.back().facts.bytesRead += p.tensors[w].optimizerBytes;
      p.ops.back().facts.bytesWritten += p.tensors[w].optimizerBytes;
      p.ops.back().newStateOf = {w};
    }
    p.numSegments = 1;
    for (const PlanOp &o : p.ops)
      p.numSegments = std::max(p.numSegments, o.segment + 1);
  }

  std::map<int, int> grad;

private:
  /// Segment of the forward op that pushed tape entry i (one entry per forward op).
  int tapeSegment(size_t i) const {
    size_t seen = 0;
    for (const PlanOp &o : p.ops)
      if (o.phase == Phase::Forward && seen++ == i)
        return o.segment;
    return 0;
  }

  std::pair<std::vector<Factor>, Dims> identity(int x, bool whole) const {
    std::vector<Factor> factors;
    Dims dims;
    const std::vector<int64_t> &s = p.tensors[x].shape;
    for (int i = 0; i < static_cast<int>(s.size()); ++i) {
      bool last = i + 1 == static_cast<int>(s.size());
      factors.push_back({s[i], last && whole ? FactorKind::Replicated : FactorKind::Parallel});
      dims.push_back({i});
    }
    return {factors, dims};
  }

  bool wantsGrad(int t) const {
    if (p.tensors[t].isState)
      return true;
    for (const PlanOp &o : p.ops)
      for (int r : o.results)
        if (r == t)
          return true;
    return false;
  }

  void give(int t, int g) {
    auto it = grad.find(t);
    if (it == grad.end()) {
      grad[t] = g;
      return;
    }
    auto [factors, dims] = identity(t, false);
    it->second = op(p.tensors[t].name + ".add", Phase::Backward, {it->second, g},
                    like(p.tensors[t].name + ".add", t), factors, {dims, dims}, dims, false, 1);
    p.ops.back().rule.linearTogether = {true, true};
  }

  std::vector<std::function<void()>> tape;
  std::map<int, int> weightSegment;
};

/// `layers` times y = x W (one matrix product per layer), loss, SGD-like update.
inline PlanProblem linearModel(int layers, int64_t batch, int64_t width) {
  ModelBuilder b;
  b.p.machine = machineNamed("a100-80gb-8");
  b.p.batch = batch;
  int x = b.tensor("x", {batch, width}, 0);
  for (int i = 0; i < layers; ++i) {
    b.segment = i;
    x = b.matmul("layer" + std::to_string(i), x, b.weight("w" + std::to_string(i), {width, width}));
  }
  b.backward(x);
  return b.p;
}

struct GptSize {
  int layers = 24;
  int64_t hidden = 1024, heads = 16, sequence = 1024, vocabulary = 50304, batch = 32;
};

/// A GPT-2-style training step with unfused attention (medium by default).
inline PlanProblem gpt(const GptSize &size, const std::string &machine) {
  ModelBuilder b;
  b.p.machine = machineNamed(machine);
  b.p.batch = size.batch;
  int64_t h = size.hidden;
  int ids = b.tensor("ids", {size.batch, size.sequence}, 0, 1);
  int x = b.embedding("embed", ids, b.weight("wte", {size.vocabulary, h}));
  for (int l = 0; l < size.layers; ++l) {
    b.segment = l + 1;
    std::string n = "h" + std::to_string(l) + ".";
    auto linear = [&](const std::string &name, int in, int64_t from, int64_t to) {
      int y = b.matmul(n + name, in, b.weight(n + name + ".w", {from, to}));
      return b.vectorOp(n + name + ".bias", y, b.weight(n + name + ".b", {to}), false);
    };
    int ln = b.vectorOp(n + "ln1", x, b.weight(n + "ln1.g", {h}), true);
    int q = b.heads(n + "q.heads", linear("q", ln, h, h), size.heads, true);
    int k = b.heads(n + "k.heads", linear("k", ln, h, h), size.heads, true);
    int v = b.heads(n + "v.heads", linear("v", ln, h, h), size.heads, true);
    int s = b.contract(n + "scores", q, k, true);
    s = b.pointwise(n + "softmax", {s}, true, true, true, 8);
    s = b.pointwise(n + "dropout", {s}, false, true, true, 2);
    int o = b.heads(n + "merge", b.contract(n + "context", s, v, false), size.heads, false);
    x = b.pointwise(n + "add1", {x, linear("proj", o, h, h)}, false, false);
    ln = b.vectorOp(n + "ln2", x, b.weight(n + "ln2.g", {h}), true);
    int f = b.pointwise(n + "gelu", {linear("fc1", ln, h, 4 * h)}, false, true, true, 12);
    x = b.pointwise(n + "add2", {x, linear("fc2", f, 4 * h, h)}, false, false);
  }
  b.segment = size.layers + 1;
  x = b.vectorOp("lnf", x, b.weight("lnf.g", {h}), true);
  int logits = b.matmul("head", x, b.weight("wout", {h, size.vocabulary}));
  b.backward(logits);
  return b.p;
}

} // namespace gpucc::planner::test
#endif
