#include "shared/crypto/act_chain.h"

#include <algorithm>
#include <charconv>

#include "shared/base/limits.h"
#include "shared/crypto/keys.h"

namespace gleaner::crypto {
namespace {

void append(std::string& bytes, const std::string& member) {
  bytes += std::to_string(member.size()) + ":" + member + "\n";
}

Error broken(std::int64_t number, const std::string& why) {
  return {ErrorKind::untrusted, "act " + std::to_string(number) + " of the audit log does not fit: " + why};
}

}  // namespace

std::string digest_of(const protocol::Act& act) {
  std::string bytes = "gleaner-act-1\n";
  append(bytes, std::to_string(act.number));
  append(bytes, std::to_string(to_microseconds(act.at)));
  for (const std::string* member :
       {&act.actor, &act.role, &act.action, &act.object, &act.summary, &act.previous})
    append(bytes, *member);
  return sha256_hex(bytes);
}

protocol::ChainPlace chain_start() {
  return {0, std::string(64, '0')};
}

std::string place_text(const protocol::ChainPlace& place) {
  return std::to_string(place.number) + ":" + place.digest;
}

std::optional<protocol::ChainPlace> parse_place(std::string_view text) {
  protocol::ChainPlace place;
  const auto colon = std::min(text.find(':'), text.size());
  const auto parsed = std::from_chars(text.data(), text.data() + colon, place.number);
  if (colon < text.size()) place.digest = text.substr(colon + 1);
  const bool hex = place.digest.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + colon || place.number < 0 || !hex ||
      place.digest.size() != 64)
    return std::nullopt;
  return place;
}

Status ActChain::add(const protocol::Act& act) {
  const std::int64_t expected = place_.number + 1;
  if (act.number != expected)
    return broken(expected, "the next one there is number " + std::to_string(act.number) +
                                ": acts were taken out, or moved");
  if (act.previous != place_.digest)
    return broken(expected, "act " + std::to_string(place_.number) +
                                " is not what it was when this one was added: one of the two was changed");
  place_ = {act.number, digest_of(act)};
  return {};
}

Status ActChain::end(const protocol::ChainPlace& head) const {
  if (place_.number < head.number)
    return broken(place_.number + 1, "it is missing, and so are all up to " + std::to_string(head.number));
  if (place_.number > head.number || place_.digest != head.digest)
    return broken(place_.number, "it is not what the server last wrote: it was changed or added by hand");
  if (start_.number > 0 && place_.number - start_.number < limits::acts_kept)
    return Error{ErrorKind::untrusted,
                 "the audit log was cut: it begins with act " + std::to_string(start_.number + 1) +
                     ", and a server drops none of the newest " + std::to_string(limits::acts_kept)};
  return {};
}

}  // namespace gleaner::crypto
