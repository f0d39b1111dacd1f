#include "client/engine/excess.h"

#include "shared/base/figures.h"

namespace gleaner::engine {
namespace {

constexpr std::int64_t slot_files_max = 10'000;

std::string of_memory(const host::KernelLaunch& launch, [[maybe_unused]] const io::TreeUse& use,
                      const host::Launcher& launcher) {
  const std::int64_t allowed = host::kernel_memory_max(launch.memory_bytes, launch.threads);
  const std::string manifest = "the manifest allows " + bytes_text(launch.memory_bytes);
  if (launcher.out_of_memory(launch.slot))
    return "the kernel wanted more than " + bytes_text(allowed) +
           " of memory: the system ended one of its processes; " + manifest;
#ifndef GLEANER_SANITIZED  // instrumented kernels hold several times what they use
  if (use.memory_bytes > allowed)
    return "the kernel holds " + bytes_text(use.memory_bytes) + " of memory in " +
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
  return "the kernel wrote " + bytes_text(usage.bytes) + " in " + counted(usage.files, "file") +
         (held.removed_bytes > 0
              ? ", and holds " + bytes_text(held.removed_bytes) + " of files that it removed"
              : "") +
         "; the manifest allows " + bytes_text(launch.disk_bytes) + " in fewer than " +
         count_text(slot_files_max) + " files";
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
