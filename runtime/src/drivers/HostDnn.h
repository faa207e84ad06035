//===- HostDnn.h - Library calls through oneDNN
//-------------------------------------------------===//
#ifndef GPUCC_RT_DRIVERS_HOSTDNN_H
#define GPUCC_RT_DRIVERS_HOSTDNN_H

#include "drivers/HostProgram.h"
#include "plan/Slices.h"

namespace gpucc::rt {

/// "oneDNN 2.6.3": what packed weights are tagged with, together with the ISA ("avx512_core").
std::string onednnVersion();
std::string onednnIsa();

/// `command` stays empty when oneDNN has no implementation for the call on this CPU.
Status makeDnnCall(const HostContext &context, const plan::LibraryCall &call,
                   std::unique_ptr<HostCommand> &command);

} // namespace gpucc::rt

#endif // GPUCC_RT_DRIVERS_HOSTDNN_H
