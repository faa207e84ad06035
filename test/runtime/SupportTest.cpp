//===- SupportTest.cpp - Arrays, state files, the training loop
//---------------------------------===//
#include "TestPlan.h"
#include "core/AtomicFile.h"
#include "core/Json.h"
#include "core/MappedFile.h"
#include "core/Safetensors.h"
#include "gpucc_rt/TrainLoop.h"
#include "support/Zip.h"

#include <clocale>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

using namespace gpucc::rt;
using namespace gpucc::rt::test;
namespace fs = std::filesystem;

namespace {
#define ASSERT_FINE(EXPRESSION)                                                                    \
  do {                                                                                             \
    gpucc_rt::Status fineStatus = (EXPRESSION);                                                    \
    ASSERT_FALSE(fineStatus) << fineStatus.message();                                              \
  } while (false)

std::string freshFolder(const char *name) {
  std::string folder = ::testing::TempDir() + "/" + name;
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

std::string readText(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <typename T>
gpucc_rt::Array makeArray(const char *name, gpucc_rt_dtype dtype, Shape shape,
                          const std::vector<T> &values) {
  gpucc_rt::Array array = {name, dtype, std::move(shape), {}};
  array.bytes.resize(values.size() * sizeof(T));
  if (!values.empty())
    std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

TEST(Arrays, SurviveTheFile) {
  std::string path = freshFolder("arrays") + "/a.npz";
  std::vector<gpucc_rt::Array> arrays = {
      makeArray<float>("x", GPUCC_RT_F32, {2, 3}, {1, 2, 3, 4, 5, 6}),
      makeArray<int64_t>("scalar", GPUCC_RT_I64, {}, {-7}),
      makeArray<uint8_t>("flags", GPUCC_RT_I1, {3}, {1, 0, 1}),
      makeArray<float>("empty", GPUCC_RT_F32, {0, 4}, {})};
  ASSERT_FINE(gpucc_rt::writeArrays(path, arrays));
  std::vector<gpucc_rt::Array> back;
  ASSERT_FINE(gpucc_rt::readArrays(path, back));
  ASSERT_EQ(back.size(), arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    EXPECT_EQ(back[i].name, arrays[i].name);
    EXPECT_EQ(back[i].dtype, arrays[i].dtype);
    EXPECT_EQ(back[i].shape, arrays[i].shape);
    EXPECT_EQ(back[i].bytes, arrays[i].bytes);
  }
  std::string bytes = readText(path);
  ASSERT_FINE(gpucc_rt::writeArrays(path, arrays));
  EXPECT_EQ(readText(path), bytes);
}

TEST(Arrays, DamagedFilesAreErrors) {
  std::string folder = freshFolder("damaged");
  std::vector<gpucc_rt::Array> arrays = {makeArray<float>("x", GPUCC_RT_F32, {4}, {1, 2, 3, 4})};
  ASSERT_FINE(gpucc_rt::writeArrays(folder + "/a.npz", arrays));
  std::string bytes = readText(folder + "/a.npz");
  for (size_t length = 0; length < bytes.size(); ++length) {
    std::vector<ZipMember> members;
    EXPECT_TRUE(readZip(std::string_view(bytes).substr(0, length), members)) << length;
  }
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) { // no crash, whatever it says
    std::string damaged = bytes;
    damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
    std::vector<ZipMember> members;
    (void)readZip(damaged, members);
    for (const ZipMember &member : members) {
      gpucc_rt::Array array;
      (void)gpucc_rt::readNpy(member.bytes.data(), member.bytes.size(), array);
    }
  }
}

TEST(Arrays, ConversionsKeepMeaning) {
  gpucc_rt::Array array = makeArray<int64_t>("t", GPUCC_RT_I64, {2}, {5, 1ll << 40});
  EXPECT_TRUE(gpucc_rt::convert(array, GPUCC_RT_I32)) << "2^40 is no i32";
  array = makeArray<double>("d", GPUCC_RT_F64, {1}, {0.5});
  ASSERT_FINE(gpucc_rt::convert(array, GPUCC_RT_F16));
  EXPECT_EQ(static_cast<uint8_t>(array.bytes[1]), 0x38);
  EXPECT_TRUE(gpucc_rt::convert(array, GPUCC_RT_I32)) << "floats are no integers";
}

TEST(Json, ReadsWhatItShould) {
  Json value;
  ASSERT_OK(parseJson(R"({"a": [1, -2.5e3, true, null], "b": "x\u00e9\n\ud83d\ude00"})", value));
  EXPECT_EQ(value.find("a")->items[1].number, -2500);
  EXPECT_EQ(value.find("a")->items[0].integer, 1);
  EXPECT_TRUE(value.find("a")->items[2].boolean);
  EXPECT_EQ(value.find("b")->string, "x\xC3\xA9\n\xF0\x9F\x98\x80");
  for (const char *bad : {"", "{", "[1,]", "{\"a\" 1}", "\"\\u12\"", "\"\\ud800x\"", "1 2", "tru"})
    EXPECT_TRUE(parseJson(bad, value)) << bad;
  EXPECT_TRUE(parseJson(std::string(100000, '['), value));
}

/// A program that embeds the runtime has a locale with a decimal comma.
TEST(Json, NumbersDoNotDependOnTheLocale) {
  std::string folder = freshFolder("locale");
  std::string make = "localedef -i de_DE -f ISO-8859-1 " + folder + "/de_DE >/dev/null 2>&1";
  const char *before = std::getenv("LOCPATH");
  std::string kept = before ? before : "";
  bool made = std::system(make.c_str()) == 0;
  setenv("LOCPATH", folder.c_str(), 1);
  bool comma = made && std::setlocale(LC_NUMERIC, "de_DE") && *std::localeconv()->decimal_point == ',';
  Json value;
  Status status = parseJson("[0.5]", value);
  std::string line = gpucc_rt::formatStep({3, {{"loss", 0.1}, {"lr", 1e-30}}});
  std::setlocale(LC_NUMERIC, "C");
  before ? setenv("LOCPATH", kept.c_str(), 1) : unsetenv("LOCPATH");
  if (!comma)
    GTEST_SKIP() << "localedef cannot make de_DE here";
  ASSERT_OK(std::move(status));
  EXPECT_EQ(value.items[0].number, 0.5);
  EXPECT_EQ(line, R"({"step":3,"loss":0.1,"lr":1e-30})");
}

TEST(Zip, WhatItsFieldsDoNotHoldIsAnError) {
  std::vector<char> file;
  EXPECT_ERROR(makeZip(std::vector<ZipMember>(65536), file), "65536 arrays");
  file.clear();
  EXPECT_ERROR(makeZip({{std::string(65536, 'n'), {}}}, file), "a name of 65536 bytes");
}

TEST(AtomicFile, TwoWritersDoNotDisturbEachOther) {
  std::string folder = freshFolder("writers"), path = folder + "/f";
  {
    AtomicFile first, second, abandoned;
    ASSERT_OK(first.open(path));
    ASSERT_OK(first.write("first", 5));
    ASSERT_OK(second.open(path));
    ASSERT_OK(abandoned.open(path));
    ASSERT_OK(second.write("2", 1));
    ASSERT_OK(first.commit());
    EXPECT_EQ(readText(path), "first");
    ASSERT_OK(second.commit());
    EXPECT_EQ(readText(path), "2");
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1)
      << "a temporary file is left";
}

TEST(MappedFile, ANamedPipeIsAnErrorAndDoesNotWait) {
  std::string path = freshFolder("pipe") + "/p";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  MappedFile file;
  EXPECT_ERROR(file.open(path, "weights"), "is not a file");
}

TEST(State, LoadsUnderAnyLayout) {
  // A saved tensor "qkv" [2, 6]: pieces "q" (columns 0..1), "kv" (columns 2..5); "kv" sharded over
  // two ranks by rows.
  auto build = [](bool sharded) {
    TestPlan p(sharded ? std::vector<std::pair<std::string, uint32_t>>{{"tp", 2}}
                       : std::vector<std::pair<std::string, uint32_t>>{});
    uint32_t q = p.buffer(0, 0, 16), kv = p.buffer(0, 256, 32), copy = p.buffer(0, 512, 8);
    p.tensor("q", Role::parameter, DType::f32, {2, 2}, q);
    TensorViewT &view = p.tensor("kv", Role::parameter, DType::f32, {2, 4}, kv);
    if (sharded)
      TestPlan::slice(view, 0, value(0, {Term(0, 1)}), 1);
    for (int i = 0; i < 2; ++i) {
      p.plan.tensors[i]->source_name = "qkv";
      p.plan.tensors[i]->source_shape = {2, 6};
      p.plan.tensors[i]->source_base = {0, i ? 2 : 0};
    }
    p.tensor("q.bf16", Role::parameter, DType::bf16, {2, 2}, copy);
    p.plan.tensors[2]->derived_from = 0;
    return p.file();
  };
  std::string path = freshFolder("state") + "/s.safetensors";
  float q[4] = {0, 1, 6, 7}, kv[8] = {2, 3, 4, 5, 8, 9, 10, 11};
  for (bool sharded : {true, false}) { // saved by two ranks, loaded by one
    std::vector<char> bytes = build(sharded);
    gpucc_rt::Plan plan;
    gpucc_rt::RankGroup group;
    ASSERT_FINE(gpucc_rt::Plan::fromMemory(bytes.data(), bytes.size(), ".", plan));
    ASSERT_FINE(group.open(plan, {}));
    if (sharded) {
      gpucc_rt::Array whole = {"qkv", GPUCC_RT_F32, {2, 6}, std::vector<char>(48)};
      for (int i = 0; i < 12; ++i)
        reinterpret_cast<float *>(whole.bytes.data())[i] = static_cast<float>(i);
      ASSERT_FINE(group.writeArray(whole)); // by the name it is saved under
      float part[8];
      ASSERT_FINE(group.read("q", part, sizeof(q)));
      EXPECT_EQ(std::memcmp(part, q, sizeof(q)), 0);
      ASSERT_FINE(group.read("kv", part, sizeof(kv)));
      EXPECT_EQ(std::memcmp(part, kv, sizeof(kv)), 0);
      gpucc_rt::Array back;
      ASSERT_FINE(group.readArray("qkv", back));
      EXPECT_EQ(back.shape, whole.shape);
      EXPECT_EQ(back.bytes, whole.bytes);
      whole.shape = {6, 2};
      EXPECT_TRUE(group.writeArray(whole)) << "another shape was accepted";
      ASSERT_FINE(group.saveState(path, "{\"step\":\"3\"}"));
      SafetensorsReader file;
      ASSERT_OK(file.open(path));
      ASSERT_EQ(file.entries().size(), 1u);
      EXPECT_EQ(file.entries()[0].name, "qkv");
      EXPECT_EQ(file.metadata().at("step"), "3");
      const auto *data = reinterpret_cast<const float *>(file.data(file.entries()[0]));
      for (int i = 0; i < 12; ++i)
        EXPECT_EQ(data[i], i);
    } else {
      ASSERT_FINE(group.loadState(path));
      float back[8];
      ASSERT_FINE(group.read("kv", back, sizeof(back)));
      EXPECT_EQ(std::memcmp(back, kv, sizeof(kv)), 0);
      uint16_t derived[4];
      ASSERT_FINE(group.read("q.bf16", derived, sizeof(derived)));
      EXPECT_EQ(bf16ToFloat(derived[3]), 7.f);
    }
  }
}

TEST(State, DamageIsSeen) {
  std::string path = freshFolder("damaged-state") + "/s.safetensors";
  std::vector<SafetensorsEntry> entries = {{"a", DType::f32, {3}}, {"b", DType::i8, {2, 2}}};
  ASSERT_OK(writeSafetensors(path, entries, {{"step", "1"}}, [](const auto &entry, char *buffer) {
    std::memset(buffer, 7, entry.bytes());
    return Status();
  }));
  SafetensorsReader fine;
  ASSERT_OK(fine.open(path));
  EXPECT_OK(fine.checkData(path));
  std::string bytes = readText(path);
  for (size_t at = 0; at < bytes.size(); ++at) { // one byte changed anywhere, or the file cut there
    for (bool cut : {false, true}) {
      std::string damaged = cut ? bytes.substr(0, at) : bytes;
      if (!cut)
        damaged[at] ^= 4;
      std::ofstream(path, std::ios::binary) << damaged;
      SafetensorsReader file;
      Status status = file.open(path);
      if (!status)
        status = file.checkData(path);
      if (cut || at >= bytes.size() - 16)
        EXPECT_TRUE(status) << at;
    }
  }
}

struct Training {
  gpucc_rt::Plan plan;
  gpucc_rt::RankGroup group;
  std::vector<gpucc_rt::Array> data;

  explicit Training(TestPlan p, int samples = 5) {
    std::vector<char> bytes = p.file();
    EXPECT_FALSE(gpucc_rt::Plan::fromMemory(bytes.data(), bytes.size(), ".", plan));
    EXPECT_FALSE(group.open(plan, {}));
    std::vector<float> x(static_cast<size_t>(samples) * 4);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = std::sin(static_cast<float>(i));
    data.push_back(makeArray("x", GPUCC_RT_F32, {samples, 4}, x));
  }
  gpucc_rt::Status train(uint64_t steps, const std::string &folder, const std::string &resume = "",
                         uint64_t every = 0) {
    gpucc_rt::TrainOptions options;
    options.data = &data;
    options.steps = steps;
    options.saveFolder = folder;
    options.saveEvery = every;
    options.resumeFolder = resume;
    gpucc_rt::TrainResult result;
    return gpucc_rt::train(group, options, result);
  }
};

TEST(TrainLoop, TakesSamplesInOrderAndRoundAgain) {
  Training t(sgdPlan());
  std::string folder = freshFolder("order");
  ASSERT_FINE(t.train(3, folder)); // samples 0 1, 2 3, 4 0
  std::vector<float> w(4);
  ASSERT_FINE(t.group.read("w", w.data(), 16));
  for (int j = 0; j < 4; ++j) {
    float expected = static_cast<float>(j + 1);
    for (auto [a, b] : {std::pair(0, 1), std::pair(2, 3), std::pair(4, 0)})
      expected -= 0.1f * (std::sin(a * 4.f + j) + std::sin(b * 4.f + j));
    EXPECT_NEAR(w[j], expected, 1e-5);
  }
  std::string log = readText(folder + "/log.jsonl");
  EXPECT_EQ(log.substr(0, log.find('\n')),
            R"({"step":1,"loss":10,"lr":0.100000001,"grad_norm":null})");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 3);
}

TEST(TrainLoop, ResumesBitEqualOnAnyNumberOfRanks) {
  std::string whole = freshFolder("whole"), parts = freshFolder("parts");
  ASSERT_FINE(Training(sgdPlan()).train(9, whole));
  ASSERT_FINE(Training(sgdPlan()).train(4, parts, "", 2));
  // As a kill in step 6 leaves it: two lines more than the state, the second cut off.
  std::ofstream(parts + "/log.jsonl", std::ios::app) << "{\"step\":5,\"loss\":1}\n{\"step\":6,\"lo";
  ASSERT_FINE(Training(sgdPlanDp2()).train(7, parts, parts, 3));
  ASSERT_FINE(Training(sgdPlan()).train(9, parts, parts));
  EXPECT_EQ(readText(whole + "/state.safetensors"), readText(parts + "/state.safetensors"));
  std::string log = readText(parts + "/log.jsonl");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 9);
}

TEST(TrainLoop, WrongDataIsExplained) {
  Training t(sgdPlan());
  t.data[0].shape = {4, 5};
  std::string folder = freshFolder("wrong");
  EXPECT_NE(
      t.train(1, folder).message().find("'x' is f32 [4, 5]; the plan takes f32 [2, 4] per step"),
      std::string::npos);
  t.data[0].name = "y";
  EXPECT_NE(t.train(1, folder).message().find("no array 'x' for the plan's input 'x'; it has y"),
            std::string::npos);
  EXPECT_NE(Training(sgdPlan()).train(1, folder, "/nonexistent").message().find("no such folder"),
            std::string::npos);
}
} // namespace
