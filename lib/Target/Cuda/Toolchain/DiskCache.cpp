//===- DiskCache.cpp - SHA-256 and atomic files ---------------------------===//

#include "lib/Target/Cuda/Toolchain/DiskCache.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

using namespace gpucc::cuda;

namespace {
/// FIPS 180-4.
class Sha256 {
public:
  void add(std::string_view bytes) {
    for (char c : bytes) {
      block[fill++] = static_cast<uint8_t>(c);
      if (fill == 64)
        compress();
    }
    total += bytes.size();
  }
  std::string finish() {
    const uint64_t bits = total * 8;
    add(std::string_view("\x80", 1));
    while (fill != 56)
      add(std::string_view("\0", 1));
    for (int i = 7; i >= 0; --i)
      block[fill++] = static_cast<uint8_t>(bits >> (8 * i));
    compress();
    std::string hex;
    for (uint32_t word : h) {
      char text[9];
      snprintf(text, sizeof(text), "%08x", word);
      hex += text;
    }
    return hex;
  }

private:
  void compress() {
    static constexpr std::array<uint32_t, 64> k = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
        0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
        0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
        0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
        0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
        0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
        0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
        0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
        0xc67178f2};
    std::array<uint32_t, 64> w;
    for (int i = 0; i < 16; ++i)
      w[i] = uint32_t(block[4 * i]) << 24 | uint32_t(block[4 * i + 1]) << 16 |
             uint32_t(block[4 * i + 2]) << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; ++i) {
      const uint32_t a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[i - 7] +
             (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
    }
    std::array<uint32_t, 8> s = h;
    for (int i = 0; i < 64; ++i) {
      const uint32_t e = s[4], a = s[0];
      const uint32_t t1 = s[7] + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                          ((e & s[5]) ^ (~e & s[6])) + k[i] + w[i];
      const uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) +
                          ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
      s = {t1 + t2, s[0], s[1], s[2], s[3] + t1, s[4], s[5], s[6]};
    }
    for (int i = 0; i < 8; ++i)
      h[i] += s[i];
    fill = 0;
  }
  std::array<uint32_t, 8> h = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> block{};
  size_t fill = 0;
  uint64_t total = 0;
};
} // namespace

std::string gpucc::cuda::sha256(const std::vector<std::string_view> &parts) {
  Sha256 hash;
  for (std::string_view part : parts) {
    hash.add(std::to_string(part.size()) + ":");
    hash.add(part);
  }
  return hash.finish();
}

std::optional<std::string> gpucc::cuda::readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

bool gpucc::cuda::writeFileAtomically(const std::string &path, std::string_view bytes) {
  static std::atomic<unsigned> counter{0};
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const std::string temporary =
      path + "." + std::to_string(getpid()) + "." + std::to_string(counter++) + ".tmp";
  std::ofstream out(temporary, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) { // a full disk: what there is of it would stay
    std::filesystem::remove(temporary, ignored);
    return false;
  }
  std::filesystem::rename(temporary, path, ignored);
  if (ignored)
    std::filesystem::remove(temporary, ignored);
  return std::filesystem::exists(path, ignored);
}

std::string DiskCache::pathOf(const std::string &key) const {
  return folder + "/" + key.substr(0, 2) + "/" + key + ".bin";
}

std::optional<std::string> DiskCache::get(const std::string &key) const {
  if (folder.empty())
    return std::nullopt;
  std::optional<std::string> file = readFile(pathOf(key));
  if (!file || file->size() < 64)
    return std::nullopt;
  std::string_view payload = std::string_view(*file).substr(64);
  if (std::string_view(*file).substr(0, 64) != sha256({payload}))
    return std::nullopt;
  return file->substr(64);
}

bool DiskCache::put(const std::string &key, std::string_view bytes) const {
  return !folder.empty() && writeFileAtomically(pathOf(key), sha256({bytes}) + std::string(bytes));
}
