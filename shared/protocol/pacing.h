// How clients pace their requests for work: what both sides must agree on. A client waits as long as the
// server says (retry_after_seconds), and longer each time while a project keeps having nothing to give; the
// server counts on its return by then, and reserves nothing for it afterwards.
#pragma once

namespace gleaner::protocol {

// Every further empty reply in a row multiplies the wait that the server named by this: a client whose
// project has no work comes to rest within some twenty requests, and one that was unlucky once hardly waits
// longer.
inline constexpr double rest_growth = 1.15;
// Seconds, at most, by growth: new work is found within a minute, and ten thousand resting hosts cost the
// server fewer than two hundred requests a second. A server may name a longer wait itself.
inline constexpr double rest_max = 60;
// Seconds: a server whose project has work that others hold names shorter waits, which do not grow.
inline constexpr double rest_min = 4;

// Clients spread every wait by up to this part of it, so that hosts told to wait at the same moment do not
// return at the same moment.
inline constexpr double wait_spread = 0.1;
// When a client that was told to wait so many seconds is back at the latest.
[[nodiscard]] constexpr double latest_return(double wait) {
  return (1 + wait_spread) * wait;
}

}  // namespace gleaner::protocol
