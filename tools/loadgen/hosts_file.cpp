#include "tools/loadgen/hosts_file.h"

#include <charconv>
#include <string_view>
#include <utility>

namespace gleaner::loadgen {
namespace {

constexpr std::int64_t file_bytes_max = std::int64_t{256} << 20;  // 10^6 hosts take 52 MB
constexpr std::string_view title = "gleaner-hosts 1 ";

Error mistake(const io::Path& path, std::size_t line, const std::string& what) {
  return {ErrorKind::invalid, path.string() + ":" + std::to_string(line) + ": " + what};
}

std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

}  // namespace

Status write_hosts(io::Files& files, const io::Path& path, const std::string& project,
                   const std::vector<EnrolledHost>& hosts) {
  std::string text = std::string(title) + project + "\n";
  for (const auto& host : hosts) {
    text += std::to_string(host.id.value) + " " + host.token;
    if (!host.key.empty()) text += " " + to_base64url(host.key);
    text += '\n';
  }
  return files.write(path, text, io::Mode::secret);
}

Result<std::vector<EnrolledHost>> read_hosts(const io::Files& files, const io::Path& path,
                                             const std::string& project, std::int64_t count) {
  TRY_ASSIGN(const Bytes text, files.read(path, file_bytes_max));
  std::string_view rest = text;
  if (take_line(rest) != std::string(title) + project)
    return mistake(path, 1,
                   "expected \"" + std::string(title) + project +
                       "\": these are no hosts of this project; make them with `gleaner-loadgen enrol`");
  std::vector<EnrolledHost> hosts;
  for (std::size_t number = 2; !rest.empty() && std::cmp_less(hosts.size(), count); ++number) {
    const std::string_view line = take_line(rest);
    EnrolledHost host;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), host.id.value);
    const auto used = static_cast<std::size_t>(end - line.data());
    if (error != std::errc{} || used + 1 >= line.size() || line[used] != ' ')
      return mistake(path, number, "expected a host's number and its token");
    const std::size_t blank = line.find(' ', used + 1);
    host.token = line.substr(used + 1, blank == std::string_view::npos ? blank : blank - used - 1);
    if (blank != std::string_view::npos) {
      const auto key = from_base64url(line.substr(blank + 1));
      if (!key || key->empty()) return mistake(path, number, "its third word is no key");
      host.key = *key;
    }
    hosts.push_back(std::move(host));
  }
  return hosts;
}

}  // namespace gleaner::loadgen
