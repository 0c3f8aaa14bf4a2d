#include "codelets/io/checksum.hpp"

#include "runtime/system/error.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <bit>

namespace quarkstar::format {
namespace {

constexpr std::uint64_t word_bytes = sizeof(std::uint32_t);

/// zlib's crc32 takes its length as 32-bit unsigned; records are a few hundred bytes.
std::uint32_t crc32_of(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(::crc32(0L, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

}  // namespace

std::vector<std::string> checksum_names(ChecksumKind kind) {
  switch (kind) {
    case ChecksumKind::none:
      return {};
    case ChecksumKind::nersc:
      return {"CHECKSUM"};
    case ChecksumKind::scidac:
      return {"suma", "sumb"};
    case ChecksumKind::milc:
      return {"sum29", "sum31"};
  }
  return {};
}

void PayloadChecksum::add(std::int64_t first_record, std::span<const std::byte> bytes) {
  switch (kind_) {
    case ChecksumKind::none:
      return;
    case ChecksumKind::nersc:
      return add_nersc(bytes);
    case ChecksumKind::scidac:
      return add_scidac(first_record, bytes);
    case ChecksumKind::milc:
      return add_milc(first_record, bytes);
  }
}

void PayloadChecksum::merge(const std::array<std::uint32_t, 2>& sums) {
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (kind_ == ChecksumKind::nersc) {
      sums_[i] += sums[i];
    } else {
      sums_[i] ^= sums[i];
    }
  }
}

void PayloadChecksum::add_nersc(std::span<const std::byte> bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + word_bytes <= bytes.size(); i += word_bytes) sum += load<std::uint32_t>(bytes.data() + i, order_);
  sums_[0] += sum;
}

void PayloadChecksum::add_scidac(std::int64_t first_record, std::span<const std::byte> bytes) {
  auto rank = static_cast<std::uint64_t>(first_record);
  for (std::size_t i = 0; i + record_bytes_ <= bytes.size(); i += record_bytes_, ++rank) {
    const std::uint32_t crc = crc32_of(bytes.subspan(i, record_bytes_));
    sums_[0] ^= std::rotl(crc, static_cast<int>(rank % 29));
    sums_[1] ^= std::rotl(crc, static_cast<int>(rank % 31));
  }
}

void PayloadChecksum::add_milc(std::int64_t first_record, std::span<const std::byte> bytes) {
  const std::uint64_t first_word = static_cast<std::uint64_t>(first_record) * (record_bytes_ / word_bytes);
  int rotation29 = static_cast<int>(first_word % 29);
  int rotation31 = static_cast<int>(first_word % 31);
  for (std::size_t i = 0; i + word_bytes <= bytes.size(); i += word_bytes) {
    const auto word = load<std::uint32_t>(bytes.data() + i, order_);
    sums_[0] ^= std::rotl(word, rotation29);
    sums_[1] ^= std::rotl(word, rotation31);
    if (++rotation29 == 29) rotation29 = 0;
    if (++rotation31 == 31) rotation31 = 0;
  }
}

void settle_checksums(std::string_view where, const PayloadChecksum& computed, bool must_exist, ChecksumPolicy policy,
                      std::vector<ChecksumVerdict>& verdicts) {
  for (std::size_t i = 0; i < verdicts.size(); ++i) verdicts[i].computed = computed.sums()[i];
  if (policy == ChecksumPolicy::report) return;
  for (const ChecksumVerdict& verdict : verdicts) {
    if (verdict.status() == ChecksumStatus::mismatch) {
      throw Error(ErrorKind::input, where,
                  fmt::format("the data do not match the stored checksum ({}: stored {:08x}, computed {:08x})", verdict.name,
                              *verdict.stored, *verdict.computed),
                  "the file is damaged: copy it again from its origin");
    }
    if (verdict.status() == ChecksumStatus::absent && must_exist) {
      throw Error(ErrorKind::input, where, fmt::format("the checksum that this format always stores is missing ({})", verdict.name),
                  "the file is damaged or incomplete: copy it again from its origin");
    }
  }
}

}  // namespace quarkstar::format
