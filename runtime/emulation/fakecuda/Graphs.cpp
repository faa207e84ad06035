//===- Graphs.cpp - Capture, instantiate, launch, update ------------------===//

#include "Api.h"

#include <algorithm>
#include <functional>

using namespace gpucc::rt::fakecuda;

namespace gpucc::rt::cuda {

FAKE(cuStreamBeginCapture)(Stream stream, int mode) {
  ENTER;
  (void)mode;
  if (!stream)
    return misuse(captureUnsupported, __func__, "the default stream cannot be captured");
  auto &s = *reinterpret_cast<FakeStream *>(stream);
  if (s.capture)
    return misuse(captureUnmatched, __func__, "the stream is capturing already");
  s.capture = new GraphData;
  s.origin = true;
  s.front.clear();
  return success;
}

/// Ends the capture on all streams that joined it; true if each one's work leads into `reached`.
static bool leaveCapture(FakeDevice &here, GraphData *capture, const FakeStream &origin,
                         const std::set<Node *> &reached) {
  bool joined = true;
  for (FakeStream *stream : here.streams) {
    if (stream->capture != capture)
      continue;
    if (stream != &origin)
      joined &= std::all_of(stream->front.begin(), stream->front.end(),
                            [&](Node *node) { return reached.count(node) != 0; });
    stream->capture = nullptr;
    stream->origin = false;
    stream->front.clear();
  }
  return joined;
}

FAKE(cuStreamEndCapture)(Stream stream, Graph *graph) {
  ENTER;
  auto &s = *reinterpret_cast<FakeStream *>(stream);
  *graph = nullptr;
  if (!s.capture || !s.origin)
    return misuse(captureUnmatched, __func__, "the capture did not begin on this stream");
  GraphData *capture = s.capture;
  std::set<Node *> reached;
  std::function<void(Node *)> reach = [&](Node *node) {
    if (reached.insert(node).second)
      for (Node *before : node->after)
        reach(before);
  };
  for (Node *node : s.front)
    reach(node);
  if (!leaveCapture(*here, capture, s, reached)) {
    delete capture;
    return misuse(captureUnjoined, __func__,
                  "a stream that was forked from this one was not joined by an event wait");
  }
  *graph = reinterpret_cast<Graph>(capture);
  return success;
}
FAKE(cuStreamIsCapturing)(Stream stream, int *status) {
  ENTER;
  *status = stream && reinterpret_cast<FakeStream *>(stream)->capture ? captureStatusActive
                                                                      : captureStatusNone;
  return success;
}

static std::shared_ptr<GraphData> copyOf(const GraphData &graph) {
  auto copy = std::make_shared<GraphData>();
  std::map<const Node *, Node *> of;
  for (const std::unique_ptr<Node> &node : graph.nodes) {
    copy->nodes.push_back(std::make_unique<Node>(*node));
    of[node.get()] = copy->nodes.back().get();
  }
  for (const std::unique_ptr<Node> &node : copy->nodes)
    for (Node *&before : node->after)
      before = of[before];
  return copy;
}

FAKE(cuGraphInstantiateWithFlags)(GraphExec *exec, Graph graph, unsigned long long flags) {
  ENTER;
  (void)flags;
  *exec = reinterpret_cast<GraphExec>(
      new FakeGraphExec{here, copyOf(*reinterpret_cast<GraphData *>(graph))});
  return success;
}

/// Same nodes and edges, other parameters.
static bool sameShape(const GraphData &a, const GraphData &b) {
  if (a.nodes.size() != b.nodes.size())
    return false;
  std::map<const Node *, size_t> indexA, indexB;
  for (size_t i = 0; i < a.nodes.size(); ++i) {
    const Node &x = *a.nodes[i], &y = *b.nodes[i];
    indexA[&x] = indexB[&y] = i;
    if (x.kind != y.kind || x.after.size() != y.after.size())
      return false;
    for (size_t k = 0; k < x.after.size(); ++k)
      if (indexA[x.after[k]] != indexB[y.after[k]])
        return false;
  }
  return true;
}
FAKE(cuGraphExecUpdate)(GraphExec exec, Graph graph, GraphUpdateResult *result) {
  ENTER;
  auto &e = *reinterpret_cast<FakeGraphExec *>(exec);
  auto &g = *reinterpret_cast<GraphData *>(graph);
  const bool fits = sameShape(*e.graph, g);
  if (result)
    *result = {fits ? 0 : 2, nullptr, nullptr};
  if (!fits)
    return graphExecUpdateFailure;
  e.graph = copyOf(g); // launches in flight keep the old one
  return success;
}

FAKE(cuGraphLaunch)(GraphExec exec, Stream stream) {
  ENTER;
  FakeStream &s = stream ? *reinterpret_cast<FakeStream *>(stream) : here->defaultStream;
  if (s.capture)
    return misuse(captureUnsupported, __func__, "graphs inside captures are not emulated");
  if (here->stickyError)
    return here->stickyError;
  std::shared_ptr<GraphData> graph = reinterpret_cast<FakeGraphExec *>(exec)->graph;
  std::map<const Node *, OperationPtr> made;
  auto end = std::make_shared<Operation>();
  if (s.last)
    end->after.push_back(s.last);
  for (const std::unique_ptr<Node> &node : graph->nodes) {
    auto operation = std::make_shared<Operation>();
    operation->work = [graph, work = node->work] { return work ? work() : Progress::done; };
    if (s.last)
      operation->after.push_back(s.last);
    for (const Node *before : node->after)
      operation->after.push_back(made[before]);
    here->serialize(operation, node->serial);
    made[node.get()] = operation;
    end->after.push_back(operation);
    here->enroll(operation);
  }
  s.last = end;
  here->enroll(end);
  return success;
}
FAKE(cuGraphDestroy)(Graph graph) {
  ENTER;
  delete reinterpret_cast<GraphData *>(graph);
  return success;
}
FAKE(cuGraphExecDestroy)(GraphExec exec) {
  ENTER;
  delete reinterpret_cast<FakeGraphExec *>(exec);
  return success;
}

} // namespace gpucc::rt::cuda
