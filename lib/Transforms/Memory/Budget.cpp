//===- Budget.cpp - "12GiB", "300MB" or "0.5" -----------------------------===//
#include "gpucc/Transforms/Memory/Budget.h"

#include "llvm/ADT/StringSwitch.h"

using namespace gpucc::memory;

std::optional<Budget> Budget::parse(llvm::StringRef text, std::string &error) {
  auto fail = [&]() -> std::optional<Budget> {
    error =
        ("memory budget '" + text +
         "' is neither bytes (4096, 300MB, 12GiB) nor a ratio greater than 0 and at most 1 (0.5)")
            .str();
    return std::nullopt;
  };
  llvm::StringRef trimmed = text.trim();
  llvm::StringRef number =
      trimmed.take_while([](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  llvm::StringRef unit = trimmed.drop_front(number.size()).trim();
  double value = 0;
  if (number.empty() || number.getAsDouble(value))
    return fail();
  double factor = llvm::StringSwitch<double>(unit)
                      .Cases({"", "B"}, 1)
                      .Case("kB", 1e3)
                      .Case("MB", 1e6)
                      .Case("GB", 1e9)
                      .Case("TB", 1e12)
                      .Case("KiB", 1024.0)
                      .Case("MiB", 1048576.0)
                      .Case("GiB", 1073741824.0)
                      .Case("TiB", 1099511627776.0)
                      .Default(0);
  Budget budget;
  if (unit.empty() && number.contains('.')) {
    budget.ratio = value;
    return value > 0 && value <= 1 ? std::optional(budget) : fail();
  }
  if (factor == 0 || value * factor > 9e18)
    return fail();
  budget.bytes = static_cast<int64_t>(value * factor);
  return budget;
}
