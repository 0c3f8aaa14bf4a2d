#pragma once
// The checksums of the gauge formats, each a sum over parts of the payload that may be visited in any order.
#include "codelets/io/byteorder.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quarkstar::format {

enum class ChecksumKind {
  none,
  nersc,   ///< sum mod 2^32 of all 32-bit words in the payload's byte order (64-bit reals are two words)
  scidac,  ///< suma ^= rotl(w, rank mod 29), sumb ^= rotl(w, rank mod 31), w = crc32 of the record's bytes as stored
  milc     ///< sum29 ^= rotl(word k, k mod 29), sum31 ^= rotl(word k, k mod 31), 32-bit words in the payload's byte order
};

/// Names of the numbers that a kind consists of (none, one or two).
std::vector<std::string> checksum_names(ChecksumKind kind);

/// Running checksum of a payload cut into records (sites) of equal length.
///
/// add() takes any run of whole records; merge() combines the results of disjoint runs. Order does not matter, so each
/// task or rank may sum its own share. Cost: one pass over the bytes.
class PayloadChecksum {
 public:
  PayloadChecksum(ChecksumKind kind, ByteOrder order, std::size_t record_bytes) : kind_(kind), order_(order), record_bytes_(record_bytes) {}

  /// Records first_record, first_record + 1, ... as stored; bytes.size() must be a multiple of the record length.
  void add(std::int64_t first_record, std::span<const std::byte> bytes);
  void merge(const PayloadChecksum& other) { merge(other.sums_); }
  /// The sums() of a disjoint run of records of the same payload.
  void merge(const std::array<std::uint32_t, 2>& sums);

  /// Of the same payload, before anything has been added.
  PayloadChecksum none() const { return {kind_, order_, record_bytes_}; }

  ChecksumKind kind() const noexcept { return kind_; }
  /// The sums, in the order of checksum_names(); only the first checksum_names().size() of them mean anything.
  std::array<std::uint32_t, 2> sums() const noexcept { return sums_; }

 private:
  void add_nersc(std::span<const std::byte> bytes);
  void add_scidac(std::int64_t first_record, std::span<const std::byte> bytes);
  void add_milc(std::int64_t first_record, std::span<const std::byte> bytes);

  ChecksumKind kind_;
  ByteOrder order_;
  std::size_t record_bytes_;
  std::array<std::uint32_t, 2> sums_{};
};

enum class ChecksumStatus {
  unchecked,  ///< the payload has not been read yet
  ok,
  mismatch,
  absent  ///< the file stores none
};

constexpr const char* to_string(ChecksumStatus status) {
  switch (status) {
    case ChecksumStatus::unchecked:
      return "unchecked";
    case ChecksumStatus::ok:
      return "ok";
    case ChecksumStatus::mismatch:
      return "mismatch";
    case ChecksumStatus::absent:
      return "absent";
  }
  return "";
}

/// One checksum of a file: what the file says, what the payload gives.
struct ChecksumVerdict {
  std::string name;
  std::optional<std::uint32_t> stored;
  std::optional<std::uint32_t> computed;

  ChecksumStatus status() const {
    if (!computed) return ChecksumStatus::unchecked;
    if (!stored) return ChecksumStatus::absent;
    return *stored == *computed ? ChecksumStatus::ok : ChecksumStatus::mismatch;
  }
};

enum class ChecksumPolicy {
  enforce,  ///< a wrong checksum, or a missing one where the format always has one, is an Error(input)
  report    ///< only noted in the verdicts
};

/// Enters the computed sums into the verdicts (same order) and applies the policy.
/// must_exist: the format always stores them. where: the file, for the message.
void settle_checksums(std::string_view where, const PayloadChecksum& computed, bool must_exist, ChecksumPolicy policy,
                      std::vector<ChecksumVerdict>& verdicts);

}  // namespace quarkstar::format
