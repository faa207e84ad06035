//===- Zip.h - Reading and writing zip archives
//-------------------------------------------------===//
//
// As much of zip as .npz files use: members stored or deflated, zip64 sizes when reading.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GPUCC_RT_SUPPORT_ZIP_H
#define GPUCC_RT_SUPPORT_ZIP_H

#include "core/Status.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace gpucc::rt {

struct ZipMember {
  std::string name;
  std::vector<char> bytes;
};

Status readZip(std::string_view file, std::vector<ZipMember> &members);

/// An archive of stored members, without times. Refuses more than 4 GiB.
Status makeZip(const std::vector<ZipMember> &members, std::vector<char> &file);

} // namespace gpucc::rt

#endif // GPUCC_RT_SUPPORT_ZIP_H
