#include "server/service/upkeep/vitals.h"

#include "server/policy/readiness.h"
#include "shared/base/limits.h"

namespace gleaner::service {

Status Vitals::readiness() const {
  const WriterFigures writer = kernel_.writer().figures();
  policy::ReadinessFacts facts;
  facts.stopping = stopping_;
  facts.store_failing = writer.failing;
  facts.writer_waits = writer.idle;
  facts.requests_under_way = load_.under_way();
  facts.requests_under_way_max = limits::requests_under_way_max;
  facts.disk_full = !kernel_.has_room().ok();
  facts.blobs_away = !kernel_.blobs().health().ok();
  return policy::readiness(facts);
}

void Vitals::figures(Done<Figures> done) {
  overview_.look([this, done = std::move(done)](Result<Overview::Snapshot> snapshot) {
    if (!snapshot.ok()) return done(snapshot.error());
    const Settings& settings = kernel_.settings();
    const io::Path root = settings.directory.root();
    Figures figures;
    figures.snapshot = std::move(*snapshot);
    figures.sample = views_.newest();
    figures.writer = kernel_.writer().figures();
    figures.requests_under_way = load_.under_way();
    figures.overloads = load_.refused();
    figures.ready = readiness().ok();
    if (const auto free = kernel_.files().free_bytes(root); free.ok()) figures.disk_free_bytes = *free;
    figures.disk_reserve_bytes = settings.configuration.disk_reserve_megabytes * (1 << 20);
    if (const auto bytes = kernel_.store().disk_bytes(); bytes.ok()) figures.store_bytes = *bytes;
    figures.blobs = kernel_.blobs().figures();
    figures.blobs_away = !kernel_.blobs().health().ok();
    done(std::move(figures));
  });
}

}  // namespace gleaner::service
