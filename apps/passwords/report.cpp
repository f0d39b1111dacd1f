#include "apps/passwords/report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

#include "apps/kit/portable_math.h"
#include "apps/kit/svg.h"

namespace gleaner::passwords {
namespace {

constexpr double ln2 = 0x1.62e42fefa39efp-1;
constexpr int band_bits = 8;

double bits_of(double guesses) {
  return kit::portable_log(std::max(guesses, 1.0)) / ln2;
}

std::string decimals(double value, int places) {
  char text[60];
  std::snprintf(text, sizeof text, "%.*f", places, value);
  return text;
}

std::string percent(std::int64_t part, std::int64_t whole) {
  return decimals(whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole), 1) + " %";
}

std::string grouped(std::int64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string duration(double seconds) {
  struct Unit {
    double seconds;
    const char* name;
  };
  if (seconds < 0.001) return "no time";
  for (const Unit unit : {Unit{31557600, "years"}, {86400, "days"}, {3600, "hours"}, {60, "minutes"}}) {
    if (seconds >= 2 * unit.seconds) return decimals(seconds / unit.seconds, 1) + " " + unit.name;
  }
  return decimals(seconds, 3) + " s";
}

// What an attacker has. Rates are orders of magnitude.
struct Attacker {
  const char* name;
  double guesses_per_second;
};
constexpr std::array<Attacker, 3> attackers{
    {{"one processor core", 1e8}, {"one graphics card", 2e10}, {"a rack of a hundred", 2e12}}};

const Hit* hit_of(const Account& account, const Progress& progress) {
  const auto found = progress.first.find(account.digest);
  return found == progress.first.end() ? nullptr : &found->second;
}

std::string strength_bands(const std::vector<Account>& accounts, const Progress& progress) {
  std::array<std::int64_t, 64 / band_bits> bands{};
  for (const Account& account : accounts) {
    if (const Hit* hit = hit_of(account, progress)) {
      const double bits = bits_of(static_cast<double>(hit->position) + 1);
      ++bands.at(std::min<std::size_t>(static_cast<std::size_t>(bits / band_bits), bands.size() - 1));
    }
  }
  std::string text;
  const std::int64_t most = std::max<std::int64_t>(*std::max_element(bands.begin(), bands.end()), 1);
  for (std::size_t i = 0; i < bands.size(); ++i) {
    if (bands[i] == 0) continue;
    char label[60];
    std::snprintf(label, sizeof label, "  %2zu to %2zu bits %9lld  ", i * band_bits, (i + 1) * band_bits,
                  static_cast<long long>(bands[i]));
    text += label + std::string(static_cast<std::size_t>((40 * bands[i] + most - 1) / most), '#') + "\n";
  }
  return text;
}

std::string shared_passwords(const std::vector<Account>& accounts) {
  std::map<std::string_view, std::int64_t> users;
  for (const Account& account : accounts) ++users[account.digest];
  std::int64_t sharing = 0;
  std::int64_t most = 1;
  for (const auto& [digest, count] : users) {
    if (count > 1) sharing += count;
    most = std::max(most, count);
  }
  return "Accounts that share their password with another: " + grouped(sharing) + " (" +
         percent(sharing, static_cast<std::int64_t>(accounts.size())) + "); the most frequent one is used " +
         grouped(most) + (most == 1 ? " time\n" : " times\n");
}

}  // namespace

std::string text_report(const Settings& settings, const std::vector<Account>& accounts,
                        const Progress& progress) {
  const auto all = static_cast<std::int64_t>(accounts.size());
  std::int64_t found = 0;
  double guesses = 0;
  for (const Account& account : accounts) {
    if (const Hit* hit = hit_of(account, progress)) {
      ++found;
      guesses = std::max(guesses, static_cast<double>(hit->position) + 1);
    }
  }
  std::set<std::string_view> digests;
  for (const Account& account : accounts) digests.insert(account.digest);
  const Keyspace& space = settings.keyspace;
  std::string text = "PASSWORD AUDIT\n\n" + grouped(all) + " accounts with " +
                     grouped(static_cast<std::int64_t>(digests.size())) + " different " +
                     std::string(name_of(settings.algorithm)) + " digests\n";
  text += "Candidates: " + std::to_string(space.shortest()) + " to " + std::to_string(space.longest()) +
          " characters out of " + std::to_string(space.alphabet().size()) + ": " + grouped(space.size()) +
          " (" + decimals(bits_of(static_cast<double>(space.size())), 1) + " bits)\n";
  text += std::string("Tested: ") + grouped(progress.tested) + " guesses" +
          (settings.mode == Mode::random ? " at random" : " in order of length") + ", " +
          percent(progress.tested, settings.positions) + " of the plan\n\n";
  text += "FOUND " + grouped(found) + " of " + grouped(all) + " accounts (" + percent(found, all) + ")\n";
  text += shared_passwords(accounts);
  if (found > 0) {
    text += "\nBy strength (the binary logarithm of the guesses before it fell)\n" +
            strength_bands(accounts, progress);
    text += "\nAll that were found fall within " + decimals(guesses, 0) + " guesses:\n";
    for (const Attacker& attacker : attackers) {
      text += std::string("  ") + attacker.name + ", " + decimals(attacker.guesses_per_second / 1e6, 0) +
              " million a second: " + duration(guesses / attacker.guesses_per_second) + "\n";
    }
  }
  text += "\nThe rest outlasted " +
          decimals(bits_of(static_cast<double>(std::max<std::int64_t>(progress.tested, 1))), 1) +
          " bits of guessing of this kind; nothing is said about dictionaries.\n";
  if (!settings.reveal) text += "Passwords are not shown (parameter `reveal`).\n";
  return text;
}

std::string table_report(const Settings& settings, const std::vector<Account>& accounts,
                         const Progress& progress) {
  std::string table = "account\tdigest\tfound\tguesses\tbits";
  table += settings.reveal ? "\tpassword\n" : "\n";
  for (const Account& account : accounts) {
    const Hit* hit = hit_of(account, progress);
    table += account.name + "\t" + to_hex(account.digest) + "\t" + (hit ? "yes" : "no") + "\t";
    if (hit) {
      table += std::to_string(hit->position + 1) + "\t" +
               decimals(bits_of(static_cast<double>(hit->position) + 1), 2);
    } else {
      table += "\t";
    }
    if (settings.reveal) table += "\t" + (hit ? settings.keyspace.plaintext(hit->candidate) : "");
    table += "\n";
  }
  return table;
}

std::string curve_report(const Settings& settings, const std::vector<Account>& accounts,
                         const Progress& progress) {
  std::vector<double> bits;
  for (const Account& account : accounts) {
    if (const Hit* hit = hit_of(account, progress))
      bits.push_back(bits_of(static_cast<double>(hit->position) + 1));
  }
  std::sort(bits.begin(), bits.end());
  const double end = std::max(8.0, bits_of(static_cast<double>(settings.positions)));
  kit::Curve curve{"", {{0, 0}}};
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const double share = 100.0 / static_cast<double>(accounts.size());
    if (i + 1 < bits.size() && bits[i + 1] - bits[i] < end / 2000) continue;  // no finer than the drawing
    curve.points.emplace_back(bits[i], curve.points.back().second);
    curve.points.emplace_back(bits[i], share * static_cast<double>(i + 1));
  }
  curve.points.emplace_back(end, curve.points.back().second);
  kit::Axis x{"guesses", 0, end, {}};
  for (int power = 0; power<end; power += end> 40 ? 8 : 4)
    x.ticks.emplace_back(power, "2^" + std::to_string(power));
  kit::Axis y{"accounts found, %", 0, 100, {}};
  for (int part = 0; part <= 100; part += 20) y.ticks.emplace_back(part, std::to_string(part));
  return kit::draw_chart(std::string(name_of(settings.algorithm)) + " passwords found", x, y, {curve});
}

}  // namespace gleaner::passwords
