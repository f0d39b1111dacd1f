#include "client/settings/preference_texts.h"

#include "shared/base/check.h"
#include "shared/base/limits.h"

namespace gleaner::settings {
namespace {

const std::vector<DescribedPreference>& table() {
  using enum PreferenceKind;
  constexpr double kilobytes_max = 100'000'000, megabytes_max = 100'000'000;
  static const std::vector<DescribedPreference> all{
      {"preset",
       "When",
       "Defaults",
       "Defaults for everything not set below. only-when-idle: nothing while somebody uses this computer. "
       "quiet: "
       "later, half of each core, cooler. balanced: a quarter of one core beside you, everything else when "
       "idle. "
       "everything: always. lab: for rooms of computers.",
       choice,
       0,
       0,
       {"only-when-idle", "quiet", "balanced", "everything", "lab"},
       {"gentle", "dedicated"}},
      {"run",
       "When",
       "Compute",
       "when-idle: only while nobody uses this computer; always: also while somebody does; never.",
       choice,
       0,
       0,
       {"when-idle", "always", "never"}},
      {"idle_minutes", "When", "Idle after (minutes)",
       "Minutes without keyboard or mouse input before this computer counts as idle.", number, 0.01, 1440},
      {"pause_minutes_min", "When", "Shortest pause (minutes)",
       "The shortest pause, so that computing does not start and stop all the time.", number, 0, 60},
      {"when_watching", "When", "Compute while a full-screen window is open",
       "Compute while a window fills the screen, or a program keeps the session awake?", flag},
      {"load_max", "When", "Pause when others are busy",
       "Pause when other programs use more than this share of all cores (with when-idle); 1: never.", share,
       0.05, 1},
      {"load_grace_seconds", "When", "Grace for short peaks (seconds)",
       "Other programs may use more than that for this many seconds before computing pauses.", number, 0,
       3600},
      {"hours", "When", "Hours",
       "Compute only at these hours, for example [\"mon-fri 18:00-08:00\", \"sat,sun\"]; empty: at any hour.",
       hours},
      {"expensive_hours", "When", "Expensive hours",
       "Never compute at these hours, written like hours: for when electricity is expensive.", hours},
      {"levels", "How much", "Levels",
       "How much kernels may use in each situation, for example [\"used 1 core 25% 60C\", \"night 50% "
       "1200rpm\", "
       "\"battery off\"]. Situations: used, idle, night, battery; limits: off, cores, a share of each core, "
       "the highest temperature and fan speed. Without a level, nothing is computed while the computer is "
       "used or on "
       "battery "
       "power.",
       levels},
      {"night_hours", "How much", "Night",
       "When it is night for the levels, written like hours; empty: never.", hours},
      {"cpu_share", "How much", "CPU per core",
       "The share of each core that kernels may use: more than 0, at most 1.", share, 0.01, 1},
      {"watts_per_core", "How much", "Watts per core",
       "The extra power that a core draws while it computes; 0: unknown. Projects see it, and prefer the "
       "computer that needs less energy among equally fast ones.",
       number, 0, limits::watts_max},
      {"cores", "How much", "Cores", "How many cores kernels may use; 0: all.", count, 0, 4096},
      {"core_kind",
       "How much",
       "Kind of cores",
       "On which cores kernels run: any; one thread of each physical core; or performance or efficiency "
       "cores "
       "only, where this computer has both.",
       choice,
       0,
       0,
       {"any", "physical", "performance", "efficiency"}},
      {"memory_share", "How much", "Memory limit",
       "The share of this computer's memory that all kernels together may use.", share, 0.01, 1},
      {"give_back_minutes", "How much", "Give memory back after (minutes)",
       "A kernel ends and frees its memory after a pause of this many minutes.", number, 0, 1440},
      {"on_battery", "When", "On battery", "Compute on battery power?", flag},
      {"battery_percent_min", "When", "Least charge (%)",
       "On battery power, pause below this charge of the battery, in percent, and while the computer saves "
       "energy.",
       number, 0, 100},
      {"temperature_max", "How much", "Highest temperature (°C)",
       "Pause at this processor temperature, in degrees Celsius; compute less from 3 degrees below it.",
       number, 30, 110},
      {"fan_rpm_max", "How much", "Highest fan speed (rpm)",
       "Pause when a fan of this computer reaches this speed, in revolutions per minute; compute less from a "
       "tenth below it; 0: no limit.",
       count, 0, 40'000},
      {"applications", "Projects", "Only these applications",
       "Run only these applications, for example [\"raytrace\"]; empty: all that the projects have.", names},
      {"project_shares", "Projects", "Shares of the projects",
       "How much of this computer each project gets beside the others, for example [\"NAME=3\", \"KEY=0\"]; "
       "default 1; 0: no new work.",
       names},
      {"projects_suspended", "Projects", "Suspended projects",
       "Projects, by name or key, for which nothing is computed; finished results are still delivered.",
       names},
      {"exclusive", "When", "Pause while these programs run",
       "Pause while one of these programs runs, for example [\"steam\"].", names},
      {"outside_signal",
       "When",
       "Outside signal",
       "A program (its path), or an http address of this computer, that says whether to compute: its first "
       "line is yes, no or a share like 40%, then a reason; empty: none. Use it for electricity prices or "
       "home automation.",
       text,
       0,
       0,
       {},
       {},
       true},
      {"outside_minutes", "When", "Check the signal every (minutes)",
       "How often the client checks the outside signal, in minutes.", number, 0.1, 1440},
      {"on_metered", "Network and disk", "On a metered network", "Download and upload on a metered network?",
       flag},
      {"network_hours", "Network and disk", "Network hours",
       "Download and upload only at these hours, written like hours; empty: at any hour.", hours},
      {"relay_patience_hours", "Network and disk", "Patience with a relay (hours)",
       "This computer joins the project directly when its relay has not answered for this many hours, if its "
       "join code says where; finished results are kept.",
       number, 0.0001, 8760},
      {"notifications",
       "Projects",
       "Notifications",
       "Show a desktop notification, once and at most one a day, when this computer was revoked, is held "
       "back "
       "after failures, or has not reached its project, delivered its results or had work for a week.",
       choice,
       0,
       0,
       {"on", "off"}},
      {"download_kilobytes", "Network and disk", "Fastest download (kB/s)",
       "The fastest download, in kB (1,000 bytes) per second; 0: no limit.", count, 0, kilobytes_max},
      {"upload_kilobytes", "Network and disk", "Fastest upload (kB/s)",
       "The fastest upload, in kB (1,000 bytes) per second; 0: no limit.", count, 0, kilobytes_max},
      {"traffic_megabytes_day", "Network and disk", "Traffic per day (MiB)",
       "Most traffic per day, both directions together, in MiB (1,048,576 bytes); 0: no limit.", count, 0,
       megabytes_max},
      {"traffic_megabytes_month", "Network and disk", "Traffic per month (MiB)",
       "Most traffic per month, both directions together, in MiB (1,048,576 bytes); 0: no limit.", count, 0,
       megabytes_max},
      {"disk_megabytes", "Network and disk", "Download cache (MiB)",
       "The size of the download cache, in MiB (1,048,576 bytes).", count, 1, megabytes_max},
      {"disk_free_megabytes", "Network and disk", "Disk space left free (MiB)",
       "Disk space to leave free, in MiB (1,048,576 bytes): with less, no new work is fetched.", count, 0,
       megabytes_max},
      {"sandbox",
       "Projects",
       "Sandbox",
       "on; or, where bubblewrap cannot be used, \"weak: I accept that kernels see names, sizes and times of "
       "my files\"; or, to run kernels without a sandbox, \"off: I accept that kernels run with my rights\".",
       text,
       0,
       0,
       {},
       {},
       true}};
  return all;
}

}  // namespace

const char* name_of(PreferenceKind kind) {
  constexpr const char* names[] = {"flag",  "share", "number", "count", "choice",
                                   "hours", "names", "text",   "levels"};
  return names[static_cast<int>(kind)];
}

const std::vector<DescribedPreference>& described_preferences() {
  return table();
}

const DescribedPreference& described(const std::string& key) {
  for (const DescribedPreference& one : table())
    if (key == one.key) return one;
  CHECK_TRUE(false);
  return table().front();
}

}  // namespace gleaner::settings
