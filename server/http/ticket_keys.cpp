#include "server/http/ticket_keys.h"

#include <openssl/rand.h>

#include <utility>

#include "shared/base/check.h"
#include "shared/base/words.h"
#include "shared/io/secret_file.h"

namespace gleaner::http {
namespace {

constexpr std::string_view title = "gleaner ticket keys 1\n";
constexpr std::int64_t file_bytes_max = 1024;  // two lines of some 180 characters

Bytes random_bytes(std::size_t count) {
  Bytes bytes(count, '\0');
  CHECK_TRUE(RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) == 1);
  return bytes;
}

std::string line_of(const TicketKeys::Key& key) {
  return std::to_string(to_microseconds(key.made_at)) + " " + to_hex(key.name) + " " +
         to_hex(key.cipher_secret) + " " + to_hex(key.digest_secret) + "\n";
}

std::optional<TicketKeys::Key> key_of(std::string_view line) {
  Words words(line);
  TicketKeys::Key key;
  const auto microseconds = words.number();
  if (!microseconds) return std::nullopt;
  key.made_at = from_microseconds(*microseconds);
  for (const auto& [part, bytes] :
       {std::pair{&key.name, TicketKeys::name_bytes}, std::pair{&key.cipher_secret, TicketKeys::secret_bytes},
        std::pair{&key.digest_secret, TicketKeys::secret_bytes}}) {
    auto raw = from_hex(words.next());
    if (!raw || raw->size() != bytes) return std::nullopt;
    *part = std::move(*raw);
  }
  if (!words.ended()) return std::nullopt;
  return key;
}

// A clock that was set back makes no key live longer.
bool younger(const TicketKeys::Key& key, Duration age, Timestamp now) {
  return key.made_at <= now && now - key.made_at < age;
}

}  // namespace

TicketKeys::TicketKeys(io::Files& files, io::Path file, const Clock& clock,
                       std::function<void(const std::string&)> log)
    : files_(files), file_(std::move(file)), clock_(clock), log_(std::move(log)) {
  if (!files_.exists(file_)) return;
  if (const Status loaded = load(); !loaded.ok()) {
    keys_ = {};
    log_("the keys of TLS sessions are made anew, clients shake hands once more: " + loaded.error().message);
  }
}

Status TicketKeys::load() {
  TRY_ASSIGN(const Bytes text, io::read_secret_file(files_, file_, file_bytes_max));
  const Error damaged{ErrorKind::invalid, file_.string() + " is damaged"};
  std::string_view rest = text;
  if (!rest.starts_with(title)) return damaged;
  rest.remove_prefix(title.size());
  for (std::size_t i = 0; !rest.empty(); ++i) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos || i == keys_.size()) return damaged;
    keys_[i] = key_of(rest.substr(0, end));
    if (!keys_[i]) return damaged;
    rest.remove_prefix(end + 1);
  }
  return {};
}

void TicketKeys::renew(Timestamp now) {
  if (keys_[0] && younger(*keys_[0], period, now)) return;
  keys_[1] = std::exchange(
      keys_[0], Key{random_bytes(name_bytes), random_bytes(secret_bytes), random_bytes(secret_bytes), now});
  save();
}

void TicketKeys::save() {
  std::string text(title);
  for (const auto& key : keys_)
    if (key) text += line_of(*key);
  if (const Status saved = files_.write(file_, text, io::Mode::secret); !saved.ok())
    log_("the keys of TLS sessions are not stored, after a restart clients shake hands once more: " +
         saved.error().message);
}

TicketKeys::Key TicketKeys::sealing() {
  const std::lock_guard lock(mutex_);
  renew(clock_.now());
  return *keys_[0];
}

std::optional<TicketKeys::Opening> TicketKeys::opening(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const Timestamp now = clock_.now();
  renew(now);
  for (const auto& key : keys_)
    if (key && key->name == name && younger(*key, 2 * period, now)) return Opening{*key, &key == &keys_[0]};
  return std::nullopt;
}

}  // namespace gleaner::http
