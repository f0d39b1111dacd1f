#include "shared/io/loopback_peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

namespace gleaner::io {
namespace {

constexpr int looks = 3;  // the table is read in pieces while it changes: an entry may be missed once
constexpr unsigned established = 1;

// As /proc/net/tcp writes an end.
std::string written(const sockaddr_in& end) {
  char text[16];
  std::snprintf(text, sizeof text, "%08X:%04X", end.sin_addr.s_addr, unsigned{ntohs(end.sin_port)});
  return text;
}

// "sl local remote state queues timer retransmits uid timeout inode ...". A connection that its process has
// closed has no inode, and user 0.
std::optional<unsigned> user_in(const std::string& line, const std::string& ends) {
  const auto found = line.find(ends);
  if (found == std::string::npos) return std::nullopt;
  std::istringstream rest(line.substr(found + ends.size()));
  std::string queues, timer, retransmits, timeout;
  unsigned state = 0, user = 0;
  unsigned long inode = 0;
  rest >> std::hex >> state >> std::dec >> queues >> timer >> retransmits >> user >> timeout >> inode;
  if (!rest || state != established || inode == 0) return std::nullopt;
  return user;
}

}  // namespace

bool peer_is_of_own_user(std::intptr_t connection) {
  const int socket = static_cast<int>(connection);
  sockaddr_in ours{}, theirs{};
  socklen_t our_size = sizeof ours, their_size = sizeof theirs;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&ours), &our_size) != 0 ||
      ::getpeername(socket, reinterpret_cast<sockaddr*>(&theirs), &their_size) != 0 ||
      ours.sin_family != AF_INET || theirs.sin_family != AF_INET)
    return false;
  const std::string ends = " " + written(theirs) + " " + written(ours) + " ";
  for (int look = 0; look < looks; ++look) {
    std::ifstream table("/proc/net/tcp");
    for (std::string line; std::getline(table, line);)
      if (const auto user = user_in(line, ends)) return *user == ::geteuid();
  }
  return false;
}

}  // namespace gleaner::io
