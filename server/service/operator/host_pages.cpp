#include "server/service/operator/host_pages.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "server/service/operator/describe.h"

namespace gleaner::service {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool matches(const storage::HostRow& row, const HostQuery& query) {
  if (query.state && row.state != *query.state) return false;
  if (query.relay != HostId{} && row.relay != query.relay) return false;
  if (!query.tag.empty() && std::find(row.tags.begin(), row.tags.end(), query.tag) == row.tags.end())
    return false;
  if (query.text.empty()) return true;
  const auto has = [&](const std::string& text) { return lower(text).find(query.text) != std::string::npos; };
  return has(row.name) || has(row.client_version) || has(row.platform) ||
         std::any_of(row.tags.begin(), row.tags.end(), has);
}

// A page as it fills.
class Filling {
 public:
  Filling(const Transaction& tx, const HostQuery& query) : tx_(tx), query_(query) {
    page_.now = tx.now;
    page_.total = static_cast<std::int64_t>(tx.model.hosts.size());
  }
  // False: no more of them.
  [[nodiscard]] bool look_at(const Host& host) {
    if (looked_++ == limits::hosts_filtered_max || page_.hosts.size() == limits::hosts_per_page_max)
      return false;
    page_.next = host.row.id;
    if (matches(host.row, query_)) page_.hosts.push_back(describe(tx_.model, host, tx_.now));
    return true;
  }
  [[nodiscard]] protocol::HostPage done(bool looked_at_all) {
    if (looked_at_all) page_.next = {};
    return std::move(page_);
  }

 private:
  const Transaction& tx_;
  const HostQuery& query_;
  protocol::HostPage page_;
  int looked_ = 0;
};

protocol::HostPage page_by_number(const Transaction& tx, const HostQuery& query) {
  Filling page(tx, query);
  auto host = tx.model.hosts.upper_bound(query.after);
  while (host != tx.model.hosts.end() && page.look_at(host->second)) ++host;
  return page.done(host == tx.model.hosts.end());
}

protocol::HostPage page_by_delivered(const Transaction& tx, const HostQuery& query,
                                     const std::vector<HostId>& order) {
  Filling page(tx, query);
  auto each = order.begin();
  if (query.after != HostId{}) each = std::find(order.begin(), order.end(), query.after);
  if (query.after != HostId{} && each != order.end()) ++each;
  for (; each != order.end(); ++each) {
    const auto host = tx.model.hosts.find(*each);
    if (host != tx.model.hosts.end() && !page.look_at(host->second)) break;
  }
  return page.done(each == order.end());
}

}  // namespace

void HostPages::page(HostQuery query, Done<protocol::HostPage> done) {
  query.text = lower(query.text);
  if (auto present = standings()) {
    return kernel_.decide<protocol::HostPage>(
        [query = std::move(query), present = std::move(present)](const Transaction& tx,
                                                                 Result<protocol::HostPage>& page) -> Status {
          auto filled = query.order == HostOrder::number ? page_by_number(tx, query)
                                                         : page_by_delivered(tx, query, present->hosts);
          filled.cost_accepted = present->cost;
          page = std::move(filled);
          return {};
        },
        std::move(done));
  }
  kernel_.decide<std::vector<Delivered>>(
      [](const Transaction& tx, Result<std::vector<Delivered>>& all) -> Status {
        std::vector<Delivered> hosts;
        hosts.reserve(tx.model.hosts.size());
        for (const auto& [id, host] : tx.model.hosts) hosts.push_back({id, host.row.cost_accepted});
        all = std::move(hosts);
        return {};
      },
      [this, query = std::move(query), done = std::move(done)](Result<std::vector<Delivered>> all) {
        if (!all.ok()) return done(all.error());
        keep_sorted(std::move(all).value());
        page(query, done);
      });
}

std::shared_ptr<const HostPages::Standings> HostPages::standings() {
  const std::lock_guard lock(mutex_);
  const bool young = standings_ && kernel_.clock().steady() - sorted_at_ < standings_age_max;
  return young ? standings_ : nullptr;
}

// On the pool: the writer has better things to do.
void HostPages::keep_sorted(std::vector<Delivered> hosts) {
  std::sort(hosts.begin(), hosts.end(), [](const Delivered& a, const Delivered& b) {
    return a.cost != b.cost ? a.cost > b.cost : a.host < b.host;
  });
  Standings sorted;
  sorted.hosts.reserve(hosts.size());
  for (const Delivered& each : hosts) {
    sorted.hosts.push_back(each.host);
    sorted.cost += each.cost;
  }
  const std::lock_guard lock(mutex_);
  standings_ = std::make_shared<const Standings>(std::move(sorted));
  sorted_at_ = kernel_.clock().steady();
}

}  // namespace gleaner::service
