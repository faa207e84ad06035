//===- Options.cpp - what a user asks the compiler for --------------------===//
#include "gpucc/Pipelines/Options.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <set>
#include <sstream>

using namespace gpucc;

static std::vector<std::string> split(const std::string &text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    parts.push_back(part);
  return parts;
}

std::optional<TargetSpec> TargetSpec::parse(const std::string &text, std::string &error) {
  TargetSpec target;
  size_t colon = text.find(':');
  std::string kind = text.substr(0, colon);
  std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (kind == "host") {
    if (!rest.empty() && rest != "x86-64-v3" && rest != "x86-64-v4") {
      error =
          "target 'host:" + rest + "': the CPU level is x86-64-v3 (AVX2) or x86-64-v4 (AVX-512)";
      return std::nullopt;
    }
    target.cpuLevel = rest;
    return target;
  }
  static const std::vector<std::string> known = {"sm_75", "sm_80",  "sm_86",   "sm_87",  "sm_89",
                                                 "sm_90", "sm_90a", "sm_100a", "sm_120", "simt"};
  if (kind == "cuda" && colon != std::string::npos && rest.empty()) {
    error = "target 'cuda:' names no architecture; one or more are allowed: write cuda:sm_90a, or "
            "cuda for the default";
    return std::nullopt;
  }
  if (kind == "cuda") {
    target.cuda = true;
    target.archs = rest.empty() ? std::vector<std::string>{"sm_90a"} : split(rest, ',');
    for (const std::string &arch : target.archs)
      if (std::find(known.begin(), known.end(), arch) == known.end()) {
        error = "target 'cuda:" + rest + "': architecture '" + arch + "' is none of";
        for (const std::string &k : known)
          error += " " + k;
        error += "; choose one or more of them, as cuda:sm_80,sm_90a";
        return std::nullopt;
      }
    for (size_t i = 0; i < target.archs.size(); ++i)
      if (std::find(target.archs.begin() + i + 1, target.archs.end(), target.archs[i]) !=
          target.archs.end()) {
        error = "target 'cuda:" + rest + "' names '" + target.archs[i] +
                "' twice; each architecture is allowed once: "
                "remove one";
        return std::nullopt;
      }
    return target;
  }
  error = "target '" + text +
          "' is none of: host, host:x86-64-v3, host:x86-64-v4, cuda:ARCH[,ARCH...] "
          "(as cuda:sm_80,sm_90a)";
  return std::nullopt;
}

std::string TargetSpec::dump() const {
  if (!cuda)
    return cpuLevel.empty() ? "host" : "host:" + cpuLevel;
  std::string text = "cuda:";
  for (const std::string &arch : archs)
    text += (text.back() == ':' ? "" : ",") + arch;
  return text;
}

std::optional<Pins> Pins::parse(const std::string &text, std::string &error) {
  Pins pins;
  std::set<std::string> seen;
  for (const std::string &part : split(text, ',')) {
    size_t equals = part.find('=');
    std::string key = part.substr(0, equals);
    if (!seen.insert(key).second) {
      error =
          "pin '" + part + "': " + key + " was fixed already; each pin is allowed once: remove one";
      return std::nullopt;
    }
    std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
    auto number = [&](std::optional<int64_t> &out, int64_t least, int64_t most) {
      char *end = nullptr;
      long long n = std::strtoll(value.c_str(), &end, 10);
      if (value.empty() || *end || n < least || n > most) {
        error = "pin '" + part + "': " + key + " takes a number from " + std::to_string(least) +
                " to " + std::to_string(most) + ": choose one of them";
        return false;
      }
      out = n;
      return true;
    };
    constexpr int64_t many = 1 << 20;
    bool ok = true;
    if (key == "dp")
      ok = number(pins.dp, 1, many);
    else if (key == "tp")
      ok = number(pins.tp, 1, many);
    else if (key == "pp")
      ok = number(pins.pp, 1, many);
    else if (key == "zero")
      ok = number(pins.zero, 0, 1);
    else if (key == "micro-batches")
      ok = number(pins.microBatches, 1, many);
    else if (key == "sp" && (value == "on" || value == "off"))
      pins.sequence = value == "on";
    else if (key == "schedule" && (value == "gpipe" || value == "1f1b"))
      pins.schedule = value;
    else {
      error = "pin '" + part +
              "' is none of: dp=N, tp=N, pp=N, sp=on|off, zero=0|1, "
              "schedule=gpipe|1f1b, micro-batches=N; choose from these (cp, ep, micro-batch, recompute and "
              "the other keys of layout.yaml are pins of gpucc plan and gpucc simulate)";
      return std::nullopt;
    }
    if (!ok)
      return std::nullopt;
  }
  return pins;
}

std::string Pins::dump() const {
  std::string text;
  auto add = [&](const char *key, const std::string &value) {
    text += (text.empty() ? "" : ",") + std::string(key) + "=" + value;
  };
  if (dp)
    add("dp", std::to_string(*dp));
  if (tp)
    add("tp", std::to_string(*tp));
  if (sequence)
    add("sp", *sequence ? "on" : "off");
  if (pp)
    add("pp", std::to_string(*pp));
  if (zero)
    add("zero", std::to_string(*zero));
  if (schedule)
    add("schedule", *schedule);
  if (microBatches)
    add("micro-batches", std::to_string(*microBatches));
  return text;
}

std::string TrainSpec::check() const {
  struct Number {
    const char *option;
    double value;
    const char *remedy;
  };
  const Number numbers[] = {
      {"--lr", learningRate, "give e.g. --lr 1e-3"},
      {"--momentum", momentum, "give e.g. --momentum 0.9"},
      {"--weight-decay", weightDecay, "give e.g. --weight-decay 0.01"},
      {"--clip-norm", clipNorm, "give e.g. --clip-norm 1, or 0 for no clipping"}};
  for (const Number &n : numbers)
    if (!std::isfinite(n.value) || n.value < 0) {
      std::ostringstream text;
      text << n.option << ": found " << n.value
           << "; a finite number of at least 0 is allowed: " << n.remedy;
      return text.str();
    }
  for (const std::string prefix : {"output:", "output-sum:"})
    if (loss == prefix)
      return "--loss: found '" + loss + "'; " + prefix +
             "NAME is allowed: write the name of a model output after " + prefix;
  bool named = loss.rfind("output:", 0) == 0 || loss.rfind("output-sum:", 0) == 0;
  if (!named && loss != "cross-entropy" && loss != "mse")
    return "--loss: found '" + loss +
           "'; cross-entropy, mse, output:NAME and output-sum:NAME are allowed: choose one of them";
  return "";
}

std::optional<std::map<std::string, int64_t>> gpucc::parseSizes(const std::string &text,
                                                                std::string &error) {
  constexpr long long most = 1LL << 40; // elements of a tensor, so also one of its dimensions
  std::map<std::string, int64_t> sizes;
  for (const std::string &part : split(text, ',')) {
    size_t equals = part.find('=');
    std::string name = part.substr(0, equals),
                digits = equals == std::string::npos ? "" : part.substr(equals + 1);
    if (name.empty() || digits.empty() ||
        digits.find_first_not_of("0123456789") != std::string::npos) {
      error = "'" + text + "' is not of the form NAME=SIZE,NAME=SIZE; write e.g. batch=8,seq=128";
      return std::nullopt;
    }
    errno = 0;
    long long value = std::strtoll(digits.c_str(), nullptr, 10);
    if (errno == ERANGE || value > most) {
      error = "'" + part + "': a dimension has at most 2^40 = " + std::to_string(most) +
              " elements; choose a smaller size";
      return std::nullopt;
    }
    if (!sizes.emplace(name, value).second) {
      error = "'" + text + "' gives " + name +
              " twice; each dimension has one size: remove one, or write two --profile";
      return std::nullopt;
    }
  }
  if (sizes.empty()) {
    error = "'" + text + "' is empty; NAME=SIZE,NAME=SIZE is allowed: write e.g. batch=8,seq=128";
    return std::nullopt;
  }
  return sizes;
}

namespace {
constexpr const char *phaseNames[] = {"frontend", "graph",  "train", "dist",
                                      "fuse",     "kernel", "sched", "plan"};
} // namespace

const char *gpucc::name(Phase phase) { return phaseNames[static_cast<int>(phase)]; }

std::optional<Phase> gpucc::parsePhase(const std::string &text) {
  for (int i = 0; i < 8; ++i)
    if (text == phaseNames[i])
      return static_cast<Phase>(i);
  return std::nullopt;
}
