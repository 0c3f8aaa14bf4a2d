#include "runtime/mpi/transports.hpp"

#include <utility>

namespace quarkstar::runtime::mpi {

Transports::Transports(Job& job, HostGroups its_groups) : groups(std::move(its_groups)), job_(job) {
  for (int rank = 0; rank < job.size(); ++rank) direct.push_back(groups.together(rank, job.rank()));
}

Proxy& Transports::proxy() {
  if (proxy_ == nullptr) proxy_ = std::make_unique<Proxy>(job_);
  return *proxy_;
}

void Transports::exchange_by(GpuFlag* memory) {
  exchange_.reset();
  sums_.reset();
  if (memory == nullptr) return;
  sums_ = std::make_unique<TwoStepSums>(job_);
  exchange_ = std::make_unique<HostExchange>(memory);
}

bool Transports::advance() {
  bool moved = proxy_ != nullptr && proxy_->advance();
  if (exchange_ == nullptr) return moved;
  moved = exchange_->take([this](std::int64_t number, const BinnedSum* mine, BinnedSum* total, int count) {
    sums_->add(number, mine, total, count, exchange_.get());
  }) || moved;
  if (sums_->idle()) return moved;
  for (const void* token : sums_->advance()) {
    static_cast<void>(token);  // one at a time: a GPU waits for each answer
    exchange_->answer();
    moved = true;
  }
  return moved;
}

}  // namespace quarkstar::runtime::mpi
