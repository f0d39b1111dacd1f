#include "shared/transport/link_meter.h"

#include <algorithm>
#include <vector>

namespace gleaner::transport {
namespace {

class MeteredClient final : public io::HttpClient {
 public:
  MeteredClient(std::unique_ptr<io::HttpClient> client, std::shared_ptr<LinkMeter> meter)
      : client_(std::move(client)), meter_(std::move(meter)) {}

  Result<io::HttpReply> send(const io::HttpRequest& request) override {
    io::HttpRequest counted;
    const bool takes = static_cast<bool>(request.take);
    if (takes) {
      counted = request;
      counted.take = [this, &request](int status, std::string_view bytes) {
        meter_->add_moved(static_cast<std::int64_t>(bytes.size()));
        return request.take(status, bytes);
      };
    }
    auto reply = client_->send(takes ? counted : request);
    if (!reply.ok()) return reply;
    meter_->add_moved(static_cast<std::int64_t>(request.body.size() + reply->body.size()));
    const auto up = static_cast<std::int64_t>(request.body.size());
    const auto down = static_cast<std::int64_t>(reply->body.size()) + reply->taken;
    if (up > down)
      meter_->uploaded(up, reply->round_trip);
    else
      meter_->downloaded(down, reply->round_trip);
    return reply;
  }

 private:
  std::unique_ptr<io::HttpClient> client_;
  std::shared_ptr<LinkMeter> meter_;
};

}  // namespace

void LinkMeter::Rates::add(std::int64_t bytes, Duration took) {
  if (bytes < telling_bytes || took <= Duration{0}) return;
  const std::lock_guard lock(mutex_);
  rates_.push_back(static_cast<double>(bytes) / to_seconds(took));
  if (rates_.size() > kept) rates_.pop_front();
}

double LinkMeter::Rates::median() const {
  std::vector<double> sorted;
  {
    const std::lock_guard lock(mutex_);
    sorted.assign(rates_.begin(), rates_.end());
  }
  if (sorted.empty()) return 0;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

std::unique_ptr<io::HttpClient> metered(std::unique_ptr<io::HttpClient> client,
                                        std::shared_ptr<LinkMeter> meter) {
  return std::make_unique<MeteredClient>(std::move(client), std::move(meter));
}

}  // namespace gleaner::transport
