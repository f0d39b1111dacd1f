#include "client/engine/excess.h"

namespace gleaner::engine {
namespace {

constexpr std::int64_t slot_files_max = 10'000;

std::string megabytes(std::int64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

std::string of_memory(const host::KernelLaunch& launch, [[maybe_unused]] const io::TreeUse& use,
                      const host::Launcher& launcher) {
  const std::int64_t allowed = host::kernel_memory_max(launch.memory_bytes, launch.threads);
  const std::string manifest = "the manifest allows " + megabytes(launch.memory_bytes);
  if (launcher.out_of_memory(launch.slot))
    return "the kernel wanted more than " + megabytes(allowed) +
           " of memory: the system ended one of its processes; " + manifest;
#ifndef GLEANER_SANITIZED  // instrumented kernels hold several times what they use
  if (use.memory_bytes > allowed)
    return "the kernel holds " + megabytes(use.memory_bytes) + " of memory in " +
           std::to_string(use.processes) + " processes; " + manifest;
#endif
  return {};
}

std::string of_disk(const host::KernelLaunch& launch, const host::DescriptorUse& held,
                    const host::Machine& machine) {
  const host::DirectoryUsage usage = machine.usage(launch.slot_directory, slot_files_max);
  if (usage.hidden) return "the kernel made directories that cannot be read, or very deep ones";
  if (held.removed_mappings) return "the kernel maps files that it has removed, and hides how large they are";
  if (usage.bytes + held.removed_bytes <= launch.disk_bytes && usage.files < slot_files_max) return {};
  return "the kernel wrote " + std::to_string(usage.bytes) + " bytes in " + std::to_string(usage.files) +
         " files" +
         (held.removed_bytes > 0
              ? ", and holds " + std::to_string(held.removed_bytes) + " of files that it removed"
              : "") +
         "; the manifest allows " + std::to_string(launch.disk_bytes) + " bytes in fewer than " +
         std::to_string(slot_files_max) + " files";
}

}  // namespace

std::string excess(const host::KernelLaunch& launch, const io::TreeUse& use, io::TreeHandle tree,
                   const host::Machine& machine, const host::Launcher& launcher) {
  if (std::string memory = of_memory(launch, use, launcher); !memory.empty()) return memory;
  if (use.threads >= host::kernel_tasks_max(launch.threads))
    return "the kernel started too many processes or threads: " + std::to_string(use.threads) + "; " +
           std::to_string(host::kernel_tasks_max(launch.threads)) + " are not allowed";
  const host::DescriptorUse held = machine.descriptors(tree, launch.slot_directory);
  if (held.pipes > host::kernel_pipes_max)
    return "the kernel holds " + std::to_string(held.pipes) + " pipes; " +
           std::to_string(host::kernel_pipes_max) + " are allowed";
  return of_disk(launch, held, machine);
}

}  // namespace gleaner::engine
