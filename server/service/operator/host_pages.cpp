#include "server/service/operator/host_pages.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "server/service/operator/describe.h"
#include "server/service/operator/fleet_now.h"
#include "shared/base/capability.h"

namespace gleaner::service {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool matches(const Model& model, const Host& host, const HostQuery& query) {
  const storage::HostRow& row = host.row;
  if (query.state && row.state != *query.state) return false;
  if (query.on_hold && row.on_hold.empty()) return false;
  if (query.relay != HostId{} && row.relay != query.relay) return false;
  if (!query.tag.empty() && std::find(row.tags.begin(), row.tags.end(), query.tag) == row.tags.end())
    return false;
  if (!query.needs.empty() && !are_met(query.needs, speaker_of(model, host).capabilities)) return false;
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
    if (matches(tx_.model, host, query_)) page_.hosts.push_back(describe(tx_.model, host, tx_.now));
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

protocol::HostPage page_by_standing(const Transaction& tx, const HostQuery& query,
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
  standings_.look({query.order, query.descending}, [this, query = std::move(query), done = std::move(done)](
                                                       Result<std::shared_ptr<const Standings>> order) {
    if (!order.ok()) return done(order.error());
    fill(query, std::move(*order), done);
  });
}

void HostPages::fill(const HostQuery& query, std::shared_ptr<const Standings> order,
                     Done<protocol::HostPage> done) {
  kernel_.decide<protocol::HostPage>(
      [query, order = std::move(order)](const Transaction& tx, Result<protocol::HostPage>& page) -> Status {
        const bool by_number = query.order == HostOrder::number && !query.descending;
        auto filled = by_number ? page_by_number(tx, query) : page_by_standing(tx, query, order->hosts);
        filled.cost_accepted = order->cost;
        page = std::move(filled);
        return {};
      },
      std::move(done));
}

}  // namespace gleaner::service
