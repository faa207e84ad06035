//===- Detect.cpp - which format, and lines of mistakes -------------------===//
#include "Importers.h"
#include <algorithm>

namespace gpucc::cost {

using namespace topology;

const char *name(PathKind kind) {
  switch (kind) {
  case PathKind::Self:
    return "X";
  case PathKind::NvLink:
    return "NV";
  case PathKind::Pix:
    return "PIX";
  case PathKind::Pxb:
    return "PXB";
  case PathKind::Phb:
    return "PHB";
  case PathKind::Node:
    return "NODE";
  case PathKind::Sys:
    return "SYS";
  case PathKind::Unknown:
    return "?";
  }
  return "";
}

void topology::Importer::fail(int line, const std::string &what) {
  if (error.empty())
    error = origin + ":" + std::to_string(line) + ": " + what;
}

int topology::Importer::lineOf(ptrdiff_t offset) const {
  if (offset < 0)
    return 1;
  size_t end = std::min(text.size(), static_cast<size_t>(offset));
  return 1 + static_cast<int>(
                 std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(end), '\n'));
}

int topology::Importer::number(pugi::xml_node node, const char *attribute, int otherwise) {
  pugi::xml_attribute a = node.attribute(attribute);
  if (!a)
    return otherwise;
  char *end = nullptr;
  long value = std::strtol(a.value(), &end, 10);
  if (end == a.value() || *end || value < -1 || value > 100000000) {
    fail(node, std::string(node.name()) + "." + attribute + ": found '" + a.value() +
                   "', allowed a whole number; correct the attribute");
    return otherwise;
  }
  return static_cast<int>(value);
}

Path topology::treePath(const TreePlace &a, const TreePlace &b) {
  size_t common = 0;
  while (common < a.way.size() && common < b.way.size() && a.way[common] == b.way[common])
    ++common;
  if (common == 0)
    return {PathKind::Sys};
  // Switches that the way between the two goes through, the common one included.
  bool insideCpu = false;
  for (size_t i = 0; i < common; ++i)
    insideCpu |= a.isCpu[i] != 0;
  if (!insideCpu)
    return {PathKind::Sys};
  if (a.isCpu[common - 1])
    return {PathKind::Phb};
  int switches = 1;
  for (size_t i = common; i < a.way.size(); ++i)
    switches += a.isSwitch[i];
  for (size_t i = common; i < b.way.size(); ++i)
    switches += b.isSwitch[i];
  return {switches <= 1 ? PathKind::Pix : PathKind::Pxb};
}

TopologyOrError parseTopology(const std::string &text, const std::string &origin) {
  Importer in(text, origin);
  size_t begin = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (begin == std::string::npos)
    return origin + ":1: found nothing, allowed the output of nvidia-smi topo -m or -q -x, an NCCL "
                    "topology or graph XML, or lstopo XML; save one of them and name the file";
  if (text[begin] != '<') {
    readMatrix(in);
  } else {
    pugi::xml_document document;
    pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
    if (!parsed)
      return origin + ":" + std::to_string(in.lineOf(parsed.offset)) +
             ": found XML that does not parse (" + parsed.description() +
             "), allowed well-formed XML; save the file again";
    pugi::xml_node root = document.document_element();
    std::string tag = root.name();
    if (tag == "system")
      readNcclSystem(in, root);
    else if (tag == "graphs")
      readNcclGraphs(in, root);
    else if (tag == "nvidia_smi_log")
      readSmiLog(in, root);
    else if (tag == "topology")
      readHwloc(in, root);
    else
      in.fail(root, "found the root <" + tag +
                        ">, allowed <system> or <graphs> (NCCL), <nvidia_smi_log> (nvidia-smi -q "
                        "-x), <topology> (lstopo); save one of these");
  }
  if (!in.error.empty())
    return in.error;
  if (in.result.gpus.empty())
    return origin + ":1: found no GPU in this " + in.result.format +
           ", allowed a file that names at least one; save it on the machine with the GPUs";
  return in.result;
}

} // namespace gpucc::cost
