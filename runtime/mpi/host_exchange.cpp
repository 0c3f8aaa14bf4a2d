#include "runtime/mpi/host_exchange.hpp"

#include "runtime/mpi/proxy.hpp"

#include <cstring>

namespace quarkstar::runtime::mpi {
namespace {

constexpr GpuFlag half = 0xffffffffu;

SumExchange sizes() {
  SumExchange exchange{};
  exchange.devices = HostExchange::devices;
  exchange.most_sums = HostExchange::most_sums;
  return exchange;
}

}  // namespace

std::size_t HostExchange::words() { return 2 * 2 * sizes().turn_words(); }

SumExchange HostExchange::for_gpu(GpuFlag* memory) {
  SumExchange exchange = sizes();
  exchange.self = 0;
  exchange.to[1] = memory;
  exchange.from = memory + 2 * exchange.turn_words();
  return exchange;
}

bool HostExchange::take(const std::function<void(std::int64_t, const BinnedSum*, BinnedSum*, int)>& give) {
  const SumExchange exchange = sizes();
  const GpuFlag number = taken_ + 1;
  const GpuFlag* place = memory_ + number % 2 * exchange.turn_words();
  const auto has_come = [number](GpuFlag word) { return word >> 32 == (number & half); };
  const GpuFlag counted = load_flag(place + exchange.place_words() - 1);
  if (!has_come(counted)) return false;
  const auto count = static_cast<int>(counted & half);
  auto* words = reinterpret_cast<unsigned char*>(mine_);
  for (int i = 0; i < count * SumExchange::words_a_sum; ++i) {
    const GpuFlag word = load_flag(place + i);
    if (!has_come(word)) return false;  // on its way
    const auto data = static_cast<std::uint32_t>(word);
    std::memcpy(words + static_cast<std::size_t>(i) * sizeof data, &data, sizeof data);
  }
  taken_ = number;
  count_ = count;
  give(static_cast<std::int64_t>(number - 1), mine_, total_, count);
  return true;
}

void HostExchange::answer() {
  const SumExchange exchange = sizes();
  GpuFlag* place = memory_ + (2 + taken_ % 2) * exchange.turn_words() + exchange.place_words();  // of device 1
  for (int s = 0; s < count_; ++s) {
    const BinnedSum others = difference(total_[s], mine_[s]);
    std::uint32_t data[SumExchange::words_a_sum];
    std::memcpy(data, &others, sizeof data);
    for (int i = 0; i < SumExchange::words_a_sum; ++i)
      store_flag(place + s * SumExchange::words_a_sum + i, (taken_ & half) << 32 | data[i]);
  }
}

BinnedSum difference(const BinnedSum& total, BinnedSum mine) {
  BinnedSum others = total;
  if (mine.window == BinnedSum::empty_window) return others;
  mine.raise(total.window);
  for (int i = 0; i < 3; ++i) others.limb[i] -= mine.limb[i];
  return others;
}

}  // namespace quarkstar::runtime::mpi
