#include "client/settings/preference_texts.h"

#include "shared/base/check.h"

namespace gleaner::settings {
namespace {

constexpr DescribedPreference described[] = {
    {"preset", "Defaults for everything not set below: only-when-idle, gentle, lab or dedicated."},
    {"run", "when-idle: only while nobody uses this computer; always: also while somebody does; never."},
    {"idle_minutes", "Minutes without keyboard or mouse input before this computer counts as idle."},
    {"pause_minutes_min", "The shortest pause, so that computing does not start and stop all the time."},
    {"when_watching", "Compute while a window fills the screen, or a program keeps the session awake?"},
    {"load_max",
     "Pause when other programs use more than this share of all cores (with when-idle); 1: never."},
    {"hours",
     "Compute only at these hours, for example [\"mon-fri 18:00-08:00\", \"sat,sun\"]; empty: at any hour."},
    {"expensive_hours",
     "Never compute at these hours, written like hours: for when electricity is expensive."},
    {"cpu_share", "The share of each core that kernels may use: more than 0, at most 1."},
    {"watts_per_core",
     "The extra power that a core draws while it computes; 0: unknown. Projects are told, and prefer "
     "computers that need less energy where they are as fast."},
    {"cores", "How many cores kernels may use; 0: all."},
    {"memory_share", "The share of this computer's memory that all kernels together may use."},
    {"give_back_minutes", "After a pause of so many minutes a kernel ends and frees its memory."},
    {"on_battery", "Compute on battery power?"},
    {"temperature_max", "Pause at this processor temperature, in degrees Celsius."},
    {"applications",
     "Run only these applications, for example [\"raytrace\"]; empty: all that the projects have."},
    {"project_shares",
     "How much of this computer each project gets beside the others, for example [\"NAME=3\", \"KEY=0\"]; "
     "1 if not set; 0: no new work."},
    {"projects_suspended",
     "Projects, by name or key, for which nothing is computed; finished results are still delivered."},
    {"exclusive", "Pause while one of these programs runs, for example [\"steam\"]."},
    {"on_metered", "Download and upload on a metered network?"},
    {"network_hours", "Download and upload only at these hours, written like hours; empty: at any hour."},
    {"download_kilobytes", "The fastest download, in kilobytes a second; 0: no limit."},
    {"upload_kilobytes", "The fastest upload, in kilobytes a second; 0: no limit."},
    {"disk_megabytes", "The size of the download cache."},
    {"disk_free_megabytes", "Disk space to leave free: with less, no new work is fetched."},
    {"sandbox",
     "on; or, where bubblewrap cannot be used, \"weak: I accept that kernels see names, sizes and times of "
     "my "
     "files\"; or, to run kernels without a sandbox, \"off: I accept that kernels run with my rights\"."}};

}  // namespace

std::span<const DescribedPreference> described_preferences() {
  return described;
}

const char* meaning_of(const std::string& key) {
  for (const DescribedPreference& one : described)
    if (key == one.key) return one.meaning;
  CHECK_TRUE(false);
  return "";
}

}  // namespace gleaner::settings
