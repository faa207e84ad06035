//===- Gather.cpp - One tensor from the sessions of all ranks
//-----------------------------------===//
//
// Every rank puts its box into the global array. Replicas do not matter for plain values (equal
// bytes), but partial sums must count each part once: of the ranks that differ only in axes which
// neither slice nor sum the tensor, the first contributes.
//
//   gradient [4] partial over dp=2, replicated over tp=2: ranks (0,0) and (1,0) are added, (0,1)
//   and (1,1) skipped
//
// A gradient that is partial over stages (of a weight that two stages use) is added up over them.
//
//===--------------------------------------------------------------------------------------------===//
#include "session/Session.h"

#include "plan/Profiles.h"

#include <cstring>

using namespace gpucc::rt;

static bool contributes(const Session &session, const plan::TensorView &view) {
  const RankContext &rank = session.rankContext();
  std::vector<bool> used(rank.coordinates.size(), false);
  if (view.partial_axes())
    for (uint32_t axis : *view.partial_axes())
      used[axis] = true;
  if (view.slices())
    for (const plan::DimSlice *slice : *view.slices())
      if (slice->start()->terms())
        for (const plan::Term *term : *slice->start()->terms())
          used[term->axis()] = used[term->axis()] || term->stride() != 0;
  for (size_t a = 0; a < used.size(); ++a)
    if (!used[a] && rank.coordinates[a] != 0)
      return false;
  return true;
}

Status gpucc::rt::gather(const std::vector<Session *> &sessions, const std::string &name,
                         void *data, uint64_t bytes) {
  if (sessions.empty())
    return GPUCC_RT_FAIL(Code::invalidArgument, "no sessions to read '", name, "' from");
  uint32_t tensor = 0;
  GPUCC_RT_TRY(findTensor(sessions[0]->planImage().index(), name, tensor));
  auto *global = static_cast<char *>(data);
  int stage = -1; // the first stage that has it; a copy on another stage (tied weights) is equal
  for (Session *session : sessions) {
    LocalView view;
    if (session->find(name, view))
      continue;
    GPUCC_RT_TRY(session->wait());
    if (view.tensor->varying_dim() >= 0)
      return session->read(name, data, bytes); // such plans have one rank
    if (view.globalBytes != bytes)
      return GPUCC_RT_FAIL(Code::invalidArgument, "'", name, "' has ", view.globalBytes,
                           " bytes; given were ", bytes);
    if (stage < 0) {
      stage = static_cast<int>(session->rankContext().stage);
      std::memset(global, 0, bytes);
    }
    bool partial = view.view->partial_axes() && view.view->partial_axes()->size() > 0;
    bool acrossStages = view.view->partial_stages();
    if ((acrossStages || stage == static_cast<int>(session->rankContext().stage)) &&
        contributes(*session, *view.view))
      GPUCC_RT_TRY(session->readPart(view, global, /*add=*/partial || acrossStages));
  }
  if (stage < 0)
    return GPUCC_RT_FAIL(Code::invalidArgument, "no given rank has a part of '", name, "'");
  return {};
}
