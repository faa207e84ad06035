//===- SmiXml.cpp - nvidia-smi -q -x --------------------------------------===//
//
// nvidia_smi_log > gpu (id = bus id) > product_name, pci > pci_gpu_link_info, fb_memory_usage,
// max_clocks. It says nothing of paths between GPUs: `nvidia-smi topo -m` does.
//
//===----------------------------------------------------------------------===//
#include "Importers.h"
#include <cstring>

namespace gpucc::cost::topology {

/// The number that a text begins with ("16x", "1980 MHz", "81559 MiB"); `otherwise` for "N/A" or an
/// absent element.
static double leading(Importer &in, pugi::xml_node node, double otherwise) {
  if (!node || std::strcmp(node.child_value(), "N/A") == 0 ||
      std::strcmp(node.child_value(), "[N/A]") == 0 ||
      std::strcmp(node.child_value(), "Requested functionality has been deprecated") == 0)
    return otherwise;
  char *end = nullptr;
  double value = std::strtod(node.child_value(), &end);
  if (end == node.child_value() || !(value >= 0 && value < 1e12)) {
    in.fail(node, std::string(node.name()) + ": found '" + node.child_value() +
                      "', allowed a number with a unit or N/A; save the output again");
    return otherwise;
  }
  return value;
}

void readSmiLog(Importer &in, pugi::xml_node log) {
  in.result.format = "nvidia-smi -q -x";
  for (pugi::xml_node gpu : log.children("gpu")) {
    Endpoint e;
    e.name = "GPU" + std::to_string(in.result.gpus.size());
    e.busId = gpu.attribute("id").value();
    e.model = gpu.child("product_name").child_value();
    if (e.model.empty())
      in.fail(gpu, "gpu.product_name: found nothing, allowed the product's name; save the output "
                   "of nvidia-smi -q -x");
    pugi::xml_node link = gpu.child("pci").child("pci_gpu_link_info");
    pugi::xml_node generation = link.child("pcie_gen"), width = link.child("link_widths");
    e.generation = static_cast<int>(leading(in, generation.child("current_link_gen"), 0));
    e.mostGeneration = static_cast<int>(leading(in, generation.child("max_link_gen"), 0));
    e.width = static_cast<int>(leading(in, width.child("current_link_width"), 0));
    e.mostWidth = static_cast<int>(leading(in, width.child("max_link_width"), 0));
    e.memoryBytes = leading(in, gpu.child("fb_memory_usage").child("total"), 0) * 1048576.0;
    e.clockMhz = static_cast<int>(leading(in, gpu.child("max_clocks").child("sm_clock"), 0));
    if (double set = leading(in, gpu.child("applications_clocks").child("graphics_clock"), 0);
        set > 0)
      e.clockMhz = static_cast<int>(set);
    in.result.gpus.push_back(e);
  }
}

} // namespace gpucc::cost::topology
