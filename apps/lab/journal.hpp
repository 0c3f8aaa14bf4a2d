#pragma once
// The file of a laboratory's runs: one JSON object per line, only ever appended to, on disk after every run.
#include "apps/lab/record.hpp"

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
  /// Reads the file if it exists. A last line without an end, left by a crash, is cut off. Throws Error(input) naming file and line for
  /// any other line that cannot be read, Error(environment) while another process has it open, and the errors of throw_write_error().
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
  /// An open file, closed at the end.
  struct Descriptor {
    int value = -1;
    explicit Descriptor(int opened) : value(opened) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor();
  };
  void write(const Json& line);

  std::string path_;
  Descriptor file_;
  std::vector<Record> records_;
  std::vector<Bandwidth> bandwidths_;
  std::optional<std::uint64_t> seed_;
};

}  // namespace quarkstar::app::lab
