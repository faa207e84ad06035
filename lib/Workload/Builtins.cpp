//===- Builtins.cpp - models under plain names ----------------------------===//
//
// Sizes are those of the public model cards, configuration files and papers of the published runs.
// The columns are those of almost every transformer; what else a model needs follows as YAML.
//
//===----------------------------------------------------------------------===//
#include "gpucc/Workload/Workload.h"

namespace gpucc::workload {

namespace {

struct Row {
  const char *name, *family;
  int64_t layers, hidden, vocab, sequence, heads, kvHeads, headDim, ffn; ///< 0: left out
  const char *more;
};

const char *const deepseekLatent =
    "latent: {query-rank: 1536, kv-rank: 512, nope-dim: 128, rope-dim: 64, value-dim: 128}\n";

const Row rows[] = {
    {"gpt-2", "gpt", 12, 768, 50257, 1024, 12, 0, 0, 3072, ""},
    {"gpt-2-medium", "gpt", 24, 1024, 50257, 1024, 16, 0, 0, 4096, ""},
    {"gpt-2-large", "gpt", 36, 1280, 50257, 1024, 20, 0, 0, 5120, ""},
    {"gpt-2-xl", "gpt", 48, 1600, 50257, 1024, 25, 0, 0, 6400, ""},
    // Megatron-LM, SC'21, Table 1
    {"gpt-1.7b", "gpt", 24, 2304, 51200, 2048, 24, 0, 0, 9216, ""},
    {"gpt-3.6b", "gpt", 30, 3072, 51200, 2048, 32, 0, 0, 12288, ""},
    {"gpt-7.5b", "gpt", 36, 4096, 51200, 2048, 32, 0, 0, 16384, ""},
    {"gpt-18.4b", "gpt", 40, 6144, 51200, 2048, 48, 0, 0, 24576, ""},
    {"gpt-39.1b", "gpt", 48, 8192, 51200, 2048, 64, 0, 0, 32768, ""},
    {"gpt-76.1b", "gpt", 60, 10240, 51200, 2048, 80, 0, 0, 40960, ""},
    {"gpt-145.6b", "gpt", 80, 12288, 51200, 2048, 96, 0, 0, 49152, ""},
    {"gpt-310.1b", "gpt", 96, 16384, 51200, 2048, 128, 0, 0, 65536, ""},
    {"gpt-529.6b", "gpt", 105, 20480, 51200, 2048, 128, 0, 0, 81920, ""},
    {"gpt-1008b", "gpt", 128, 25600, 51200, 2048, 160, 0, 0, 102400, ""},
    {"gpt-3-175b", "gpt", 96, 12288, 51200, 2048, 96, 0, 0, 49152, ""},
    {"gpt-22b", "gpt", 48, 6144, 51200, 2048, 64, 0, 0, 24576, ""},
    // Megatron-Core on H100
    {"gpt-7.1b-mcore", "gpt", 30, 4096, 131072, 4096, 32, 0, 0, 16384, "dropout: false\n"},
    {"gpt-70b-mcore", "gpt", 84, 8192, 131072, 4096, 64, 0, 0, 32768, "dropout: false\n"},
    {"gpt-177b-mcore", "gpt", 96, 12288, 131072, 4096, 96, 0, 0, 49152, "dropout: false\n"},
    {"gpt-462b-mcore", "gpt", 112, 18432, 131072, 4096, 144, 0, 0, 73728, "dropout: false\n"},
    {"bloom-176b", "bloom", 70, 14336, 250880, 2048, 112, 0, 0, 57344, ""},
    {"mpt-7b", "gpt", 32, 4096, 50368, 2048, 32, 0, 0, 16384,
     "biases: false\npositions: alibi\ndropout: false\n"
     "attention: {qkv-biases: false, out-bias: false}\n"},
    {"mpt-30b", "gpt", 48, 7168, 50368, 2048, 56, 0, 0, 28672,
     "biases: false\npositions: alibi\ndropout: false\n"
     "attention: {qkv-biases: false, out-bias: false}\n"},
    {"llama-2-7b", "llama", 32, 4096, 32000, 4096, 32, 0, 0, 11008, ""},
    {"llama-2-13b", "llama", 40, 5120, 32000, 4096, 40, 0, 0, 13824, ""},
    {"llama-2-70b", "llama", 80, 8192, 32000, 4096, 64, 8, 0, 28672, ""},
    {"llama-3-8b", "llama", 32, 4096, 128256, 8192, 32, 8, 0, 14336, ""},
    {"llama-3-70b", "llama", 80, 8192, 128256, 8192, 64, 8, 0, 28672, ""},
    {"llama-3-405b", "llama", 126, 16384, 128256, 8192, 128, 8, 0, 53248, ""},
    {"internlm-7b", "llama", 32, 4096, 103168, 2048, 32, 0, 0, 11008, ""},
    {"internlm-20b", "llama", 60, 5120, 103168, 2048, 40, 0, 0, 13824, ""},
    {"nemotron-8b", "gpt", 32, 4096, 256000, 4096, 32, 0, 0, 16384,
     "biases: false\npositions: rope\ndropout: false\ntied: false\n"
     "attention: {qkv-biases: false, out-bias: false}\n"},
    {"mistral-7b", "mistral", 32, 4096, 32000, 8192, 32, 8, 0, 14336,
     "attention: {window: 4096}\n"},
    {"qwen2.5-7b", "qwen2", 28, 3584, 152064, 4096, 28, 4, 0, 18944, ""},
    {"qwen2.5-32b", "qwen2", 64, 5120, 152064, 4096, 40, 8, 0, 27648, ""},
    {"qwen3-30b-a3b", "qwen3", 48, 2048, 151936, 4096, 32, 4, 128, 0,
     "moe: {experts: 128, top-k: 8, hidden: 768}\n"},
    {"qwen3-235b-a22b", "qwen3", 94, 4096, 151936, 4096, 64, 4, 128, 0,
     "moe: {experts: 128, top-k: 8, hidden: 1536}\n"},
    {"gemma-2-9b", "gemma2", 42, 3584, 256000, 8192, 16, 8, 256, 14336,
     "attention: {window: 4096, window-period: 2}\n"},
    {"gemma-2-27b", "gemma2", 46, 4608, 256000, 8192, 32, 16, 128, 36864,
     "attention: {window: 4096, window-period: 2}\n"},
    {"mixtral-8x7b", "mistral", 32, 4096, 32000, 4096, 32, 8, 0, 0,
     "moe: {experts: 8, top-k: 2, hidden: 14336}\n"},
    {"mixtral-8x22b", "mistral", 56, 6144, 32000, 4096, 48, 8, 0, 0,
     "moe: {experts: 8, top-k: 2, hidden: 16384}\n"},
    {"gpt-oss-20b", "gpt-oss", 24, 2880, 201088, 4096, 64, 8, 64, 0,
     "attention: {window: 128, window-period: 2}\nmoe: {experts: 32, top-k: 4, hidden: 2880}\n"},
    {"gpt-oss-120b", "gpt-oss", 36, 2880, 201088, 4096, 64, 8, 64, 0,
     "attention: {window: 128, window-period: 2}\nmoe: {experts: 128, top-k: 4, hidden: 2880}\n"},
    {"deepseek-v2", "deepseek", 60, 5120, 102400, 4096, 128, 0, 0, 12288,
     "moe: {experts: 160, top-k: 6, shared: 2, hidden: 1536, dense-layers: 1, groups: 8, "
     "top-groups: 3}\n"},
    {"deepseek-v3", "deepseek", 61, 7168, 129280, 4096, 128, 0, 0, 18432,
     "moe: {experts: 256, top-k: 8, shared: 1, hidden: 2048, dense-layers: 3, groups: 8, "
     "top-groups: 4, "
     "correction-bias: true}\npredict-ahead: 1\n"},
    {"kimi-k2", "deepseek", 61, 7168, 163840, 4096, 64, 0, 0, 18432,
     "moe: {experts: 384, top-k: 8, shared: 1, hidden: 2048, dense-layers: 1, "
     "correction-bias: true}\n"},
};

/// `more` may begin with its own attention section: its keys join the ones of the columns.
std::string textOf(const Row &row) {
  std::string more = row.more, attention = "heads: " + std::to_string(row.heads);
  if (row.kvHeads)
    attention += ", kv-heads: " + std::to_string(row.kvHeads);
  if (row.headDim)
    attention += ", head-dim: " + std::to_string(row.headDim);
  const std::string mark = "attention: {";
  if (size_t at = more.find(mark); at != std::string::npos) {
    size_t close = more.find("}\n", at);
    attention += ", " + more.substr(at + mark.size(), close - at - mark.size());
    more.erase(at, close + 2 - at);
  }
  if (std::string(row.family) == "deepseek")
    more += deepseekLatent;
  auto line = [](const char *key, int64_t value) {
    return std::string(key) + ": " + std::to_string(value) + "\n";
  };
  return "name: " + std::string(row.name) + "\nfamily: " + row.family + "\n" +
         line("layers", row.layers) + line("hidden", row.hidden) + line("vocab", row.vocab) +
         line("sequence", row.sequence) + "attention: {" + attention + "}\n" +
         (row.ffn ? "mlp: {hidden: " + std::to_string(row.ffn) + "}\n" : "") + more;
}

} // namespace

const std::map<std::string, std::string> &builtinWorkloads() {
  static const std::map<std::string, std::string> texts = [] {
    std::map<std::string, std::string> all;
    for (const Row &row : rows)
      all[row.name] = textOf(row);
    return all;
  }();
  return texts;
}

} // namespace gpucc::workload
