#pragma once
// The file of a laboratory's runs.
#include "apps/lab/record.hpp"
#include "apps/run/json_lines.hpp"

#include <map>
#include <string>
#include <vector>

namespace quarkstar::app::lab {

/// What is known of the memory of a set of devices.
struct Bandwidth {
  Settings devices;             ///< the settings that choose them
  std::optional<double> triad;  ///< GB/s
  std::string unavailable;      ///< why there is none
  Settings inputs;              ///< what it depended on (inputs.hpp)
  std::string built_with;
};

class Journal {
 public:
  /// Throws what JsonLines does.
  explicit Journal(std::string path);

  void append(Record record);
  void append(const Bandwidth& bandwidth);
  /// The order's seed, asked for at every start; the last one counts.
  void append_seed(std::uint64_t seed);

  const std::vector<Record>& records() const { return records_; }
  const std::vector<Bandwidth>& bandwidths() const { return bandwidths_; }
  std::optional<std::uint64_t> seed() const { return seed_; }

  /// The run that ended well as planned, by the program and of the inputs of the cell, or nullptr. Failed runs are to be repeated.
  const Record* find_done(const Cell& cell, const PlannedRun& run) const;
  const Bandwidth* find_bandwidth(const Settings& devices, const Settings& inputs, const std::string& built_with) const;
  int last_number() const;

 private:
  std::vector<Record> records_;
  std::vector<Bandwidth> bandwidths_;
  std::optional<std::uint64_t> seed_;
  JsonLines lines_;  ///< the last one: what it reads goes into the others
};

}  // namespace quarkstar::app::lab
