//===- Runtime.cpp - Plans in Python
//------------------------------------------------------------===//
//
// gpucc._runtime: thin objects over RankGroup. numpy arrays go in and out without a copy on the
// Python side; errors of the runtime become RuntimeError (ValueError for the caller's mistakes).
// The package's __init__.py adds the documentation.
//
//   plan = Plan("model.plan"); group = Ranks(plan); y = group.run({"x": x})["y"]
//
//===--------------------------------------------------------------------------------------------===//
#include "gpucc_rt/RankGroup.h"

#include <cstring>
#include <mutex>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <stdexcept>

namespace nb = nanobind;
using gpucc_rt::Array;
using gpucc_rt::Status;
using Input = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Output = nb::ndarray<nb::numpy>;

namespace {
void check(Status status) {
  if (!status)
    return;
  std::string message = status.message();
  if (status.code() == GPUCC_RT_INVALID_ARGUMENT)
    throw nb::value_error(message.c_str());
  throw std::runtime_error(message);
}

/// (DLPack code, bits) of each element type that numpy knows.
struct TypeName {
  gpucc_rt_dtype dtype;
  nb::dlpack::dtype_code code;
  uint8_t bits;
};
using Code = nb::dlpack::dtype_code;
const TypeName types[] = {{GPUCC_RT_F64, Code::Float, 64},  {GPUCC_RT_F32, Code::Float, 32},
                          {GPUCC_RT_F16, Code::Float, 16},  {GPUCC_RT_I64, Code::Int, 64},
                          {GPUCC_RT_I32, Code::Int, 32},    {GPUCC_RT_I16, Code::Int, 16},
                          {GPUCC_RT_I8, Code::Int, 8},      {GPUCC_RT_U64, Code::UInt, 64},
                          {GPUCC_RT_U32, Code::UInt, 32},   {GPUCC_RT_U16, Code::UInt, 16},
                          {GPUCC_RT_U8, Code::UInt, 8},     {GPUCC_RT_I1, Code::Bool, 8},
                          {GPUCC_RT_BF16, Code::Bfloat, 16}};

/// What NumPy and others give as an array; the caller's mistake by name.
Input toInput(const std::string &name, nb::handle value) {
  Input input;
  if (nb::try_cast(value, input))
    return input;
  PyErr_Clear(); // NumPy may have raised one of its own
  std::string type = nb::cast<std::string>(value.type().attr("__name__"));
  if (nb::hasattr(value, "dtype"))
    type += " of " + nb::cast<std::string>(value.attr("dtype").attr("name"));
  throw nb::type_error(("'" + name + "' is of type " + type +
                        "; an array of numbers in C order is needed, as numpy.ascontiguousarray "
                        "makes it")
                           .c_str());
}

Array fromPython(const std::string &name, const Input &input) {
  Array array;
  array.name = name;
  bool known = false;
  for (const TypeName &type : types)
    if (static_cast<uint8_t>(type.code) == input.dtype().code && type.bits == input.dtype().bits)
      array.dtype = type.dtype, known = true;
  if (!known)
    throw nb::value_error(
        ("array '" + name + "' has an element type that plans do not have").c_str());
  for (size_t d = 0; d < input.ndim(); ++d)
    array.shape.push_back(static_cast<int64_t>(input.shape(d)));
  const char *data = static_cast<const char *>(input.data());
  array.bytes.assign(data, data + input.nbytes());
  return array;
}

/// numpy has no bf16: such values come as float32.
Output toPython(Array array) {
  if (array.dtype == GPUCC_RT_BF16)
    check(gpucc_rt::convert(array, GPUCC_RT_F32));
  nb::dlpack::dtype type = {};
  for (const TypeName &entry : types)
    if (entry.dtype == array.dtype)
      type = {static_cast<uint8_t>(entry.code), entry.bits, 1};
  if (type.bits == 0)
    throw std::runtime_error("'" + array.name + "' has an element type that numpy does not have");
  auto *owned = new Array(std::move(array));
  nb::capsule owner(owned, [](void *p) noexcept { delete static_cast<Array *>(p); });
  std::vector<size_t> shape(owned->shape.begin(), owned->shape.end());
  return Output(owned->bytes.data(), shape.size(), shape.data(), owner, nullptr, type);
}

/// (name, role, dtype, dims): dims are numbers or symbol names.
nb::list tensors(const gpucc_rt::Plan &plan) {
  static const char *const roles[] = {"input",     "label",   "output",
                                      "parameter", "moment",  "master",
                                      "statistic", "counter", "gradient_accumulator",
                                      "metric",    "tap",     "count"};
  nb::list result;
  for (uint32_t t = 0; t < plan.info().tensors; ++t) {
    gpucc_rt_tensor_info info = plan.tensor(t);
    nb::list dims;
    for (uint32_t d = 0; d < info.rank; ++d) {
      if (info.dims[d] < 0)
        dims.append(nb::str(info.symbols[d]));
      else
        dims.append(info.dims[d]);
    }
    result.append(nb::make_tuple(info.name, roles[info.role], gpucc_rt::dtypeName(info.dtype),
                                 nb::tuple(dims)));
  }
  return result;
}

class Ranks {
public:
  Ranks(const gpucc_rt::Plan &plan, const std::string &driver, int64_t threads) {
    if (threads < 0 || threads > maxThreads)
      throw nb::value_error(("threads is " + std::to_string(threads) +
                             "; allowed are 1 to 4096, or 0 for all cores")
                                .c_str());
    gpucc_rt::GroupOptions options;
    options.driver = driver;
    options.threads = static_cast<uint32_t>(threads);
    nb::gil_scoped_release release;
    check(group.open(plan, options));
  }

  nb::dict run(const nb::dict &inputs) {
    auto turn = enter();
    std::vector<Array> arrays;
    for (auto [key, value] : inputs) {
      std::string name;
      if (!nb::try_cast(key, name))
        throw nb::type_error("the inputs of run are arrays by name; a name is a str");
      arrays.push_back(fromPython(name, toInput(name, value)));
    }
    {
      nb::gil_scoped_release release;
      check(group.useProfileFor(arrays));
      for (const Array &array : arrays)
        check(group.writeArray(array));
      check(group.run());
    }
    nb::dict outputs;
    for (uint32_t t = 0; t < group.plan().info().tensors; ++t) {
      gpucc_rt_tensor_info info = group.plan().tensor(t);
      if (info.role == GPUCC_RT_OUTPUT || info.role == GPUCC_RT_METRIC)
        outputs[info.name] = readNow(info.name);
    }
    return outputs;
  }

  Output read(const std::string &name) {
    auto turn = enter();
    return readNow(name);
  }
  void write(const std::string &name, const nb::object &value) {
    auto turn = enter();
    check(group.writeArray(fromPython(name, toInput(name, value))));
  }
  void saveState(const std::string &path) {
    auto turn = enter();
    check(group.saveState(path, ""));
  }
  void loadState(const std::string &path) {
    auto turn = enter();
    check(group.loadState(path));
  }
  std::string warnings() const { return group.warnings(); }

private:
  static constexpr int64_t maxThreads = 4096; // as gpucc-run

  /// One thread at a time, for all of a run with its inputs and outputs. Others go on with Python
  /// while one waits for its turn.
  std::unique_lock<std::mutex> enter() {
    nb::gil_scoped_release release;
    return std::unique_lock(mutex);
  }
  Output readNow(const std::string &name) {
    Array array;
    check(group.readArray(name, array));
    return toPython(std::move(array));
  }
  gpucc_rt::RankGroup group;
  std::mutex mutex;
};

gpucc_rt::Plan openPlan(const std::string &path) {
  gpucc_rt::Plan plan;
  check(gpucc_rt::Plan::open(path, plan));
  return plan;
}
} // namespace

NB_MODULE(_runtime, module) {
  nb::class_<gpucc_rt::Plan>(module, "Plan")
      .def_static("open", &openPlan)
      .def_prop_ro("ranks", [](const gpucc_rt::Plan &p) { return p.info().ranks; })
      .def_prop_ro("target", [](const gpucc_rt::Plan &p) { return p.info().target; })
      .def_prop_ro("training", [](const gpucc_rt::Plan &p) { return p.info().training != 0; })
      .def_prop_ro("explanation", [](const gpucc_rt::Plan &p) { return p.info().explanation; })
      .def_prop_ro("tensors", &tensors);
  nb::class_<Ranks>(module, "Ranks")
      .def(nb::init<const gpucc_rt::Plan &, const std::string &, int64_t>(),
           nb::keep_alive<1, 2>())
      .def("run", &Ranks::run)
      .def("read", &Ranks::read)
      .def("write", &Ranks::write)
      .def("save_state", &Ranks::saveState)
      .def("load_state", &Ranks::loadState)
      .def_prop_ro("warnings", &Ranks::warnings);
  module.def("version", [] { return gpucc_rt_version(); });
}
