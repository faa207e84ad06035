//===- Names.cpp - the tables ---------------------------------------------===//
#include "Names.h"
#include "gpucc/Workload/Workload.h"
#include <algorithm>
#include <regex>

namespace gpucc::bench {

namespace {

struct Known {
  const char *pattern, *workload;
};
const Known known[] = {
    {"qwen3.*30b", "qwen3-30b-a3b"},
    {"qwen3.*235b", "qwen3-235b-a22b"},
    {"gpt.?oss.*120b", "gpt-oss-120b"},
    {"gpt.?oss.*20b", "gpt-oss-20b"},
    {"deepseek.?v3", "deepseek-v3"},
    {"deepseek.?v2|ds 236b", "deepseek-v2"},
    {"kimi.?k2", "kimi-k2"},
    {"nemotron-8b", "nemotron-8b"},
    {"mixtral.?8x7b", "mixtral-8x7b"},
    {"mixtral.?8x22b", "mixtral-8x22b"},
    {"gpt2-large", "gpt-2-large"},
    {"internlm-7b", "internlm-7b"},
    {"internlm-20b", "internlm-20b"},
    {"qwen2\\.5.?7b", "qwen2.5-7b"},
    {"qwen2\\.5.?32b", "qwen2.5-32b"},
    {"llama.?2.*7b", "llama-2-7b"},
    {"llama.?2.*13b", "llama-2-13b"},
    {"llama.?2.*70b", "llama-2-70b"},
    {"llama.*3.*405b", "llama-3-405b"},
    {"llama.*3.*70b", "llama-3-70b"},
    {"llama.*3.*8b", "llama-3-8b"},
    {"mpt-", "mpt-7b"},
    {"mistral", "mistral-7b"},
};
const char *const outside = "qwen3.*next|nemotron.*(nano|super|ultra)|nemotron-?h|nemotron "
                            "3|wide-resnet|transgan|gshard|t5|bert|"
                            "27-layer|mla\\+moe";

const Sizes gptSizes[] = {
    {"gpt3-5b", 24, 4096, 32, 51200},    {"gpt3-20b", 44, 6144, 48, 51200},
    {"gpt3-175b", 96, 12288, 96, 51200}, {"nemotron-22b", 40, 6144, 48, 256000},
    {"gpt-1\\.3b", 24, 2048, 32, 50304}, {"opt-30b", 48, 7168, 56, 50272},
};

} // namespace

std::string workloadOf(const std::string &name) {
  for (const Known &k : known)
    if (std::regex_search(name, std::regex(k.pattern)))
      return k.workload;
  // A built-in name, the longest that occurs; GPT sizes are the row's.
  std::string words = name, longest;
  std::replace_if(
      words.begin(), words.end(), [](char c) { return c == '_' || c == ' '; }, '-');
  for (const auto &[builtin, text] : workload::builtinWorkloads())
    if (!builtin.starts_with("gpt") && has(words, builtin) && builtin.size() > longest.size())
      longest = builtin;
  return longest;
}

std::string familyLike(const std::string &name) {
  static const std::regex llama("llama|vicuna|\\byi\\b|baichuan|internlm|qwen|falcon3|olmo|phi-?3");
  return std::regex_search(name, llama) ? "llama-2-7b"
         : has(name, "gemma")           ? "gemma-2-9b"
                                        : "gpt-1.7b";
}

const Sizes *sizesOf(const std::string &name) {
  for (const Sizes &s : gptSizes)
    if (std::regex_search(name, std::regex(s.pattern)))
      return &s;
  return nullptr;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool isOutside(const std::string &name) {
  static const std::regex mixture("moe|-a[0-9.]+b|[0-9]x[0-9]+b"); // whose experts no row states
  return std::regex_search(name, std::regex(outside)) ||
         (std::regex_search(name, mixture) && workloadOf(name).empty());
}

std::string machineOf(const std::string &type) {
  std::string u = type;
  std::transform(u.begin(), u.end(), u.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  u.erase(std::remove(u.begin(), u.end(), ' '), u.end());
  const std::pair<const char *, const char *> names[] = {{"gb300", "gb300-nvl72"},
                                                         {"gb200", "gb200-nvl72"},
                                                         {"gh200", "gh200"},
                                                         {"b300", "b300"},
                                                         {"b200", "b200"},
                                                         {"h200", "h200"},
                                                         {"h800", "h800"},
                                                         {"a800", "a800"},
                                                         {"l40", "l40s"},
                                                         {"l4", "l4"},
                                                         {"t4", "t4"},
                                                         {"4090", "rtx4090"}};
  for (auto [part, name] : names)
    if (has(u, part))
      return name;
  if (has(u, "v100"))
    return has(u, "16gb") || !has(u, "32") ? "v100-16gb" : "v100";
  if (has(u, "h100") && has(u, "pci"))
    return ""; // 350 W, HBM2e: not the SXM part, and not built in
  if (has(u, "h100"))
    return has(u, "96") ? "h100-96gb" : "h100";
  if (has(u, "a100"))
    return has(u, "pci") ? "a100-pcie" : has(u, "40") ? "a100-40gb" : "a100-80gb";
  return "";
}

} // namespace gpucc::bench
