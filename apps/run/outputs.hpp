#pragma once
// The files that a solve leaves behind.
#include "apps/run/report.hpp"

#include <span>
#include <string>
#include <vector>

namespace quarkstar::app {

/// The output folder of a run: made before the work starts, so that a wrong path costs no time; removed again if
/// nothing was written into it and it did not exist before.
class OutputFolder {
 public:
  /// Temporary files of its outputs that killed runs left there go: one run at a time owns a folder. path may be empty:
  /// no folder. Throws Error(input) naming --out if it cannot be made or written to.
  explicit OutputFolder(std::string path);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  /// A folder that another rank has made.
  struct MadeElsewhere {};
  OutputFolder(std::string path, MadeElsewhere) : path_(std::move(path)) {}

  bool wanted() const { return !path_.empty(); }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
  bool made_ = false;
};

/// The files that a run reads: its configuration or links, and the modes that it begins with.
std::vector<std::string> inputs_of(const RunConfig& config);

/// Throws Error if a file could not be written under that name, or is one of `used`: those that are read, or written for something else.
/// "" is accepted.
void check_writable(const std::string& file, std::span<const std::string> used = {});

/// std::complex<double> is two doubles in an array, by the standard.
std::span<const double> reals_of(const HostField& field);

/// Writes report_json() to a file.
void write_json_file(const std::string& path, const RunReport& report);

/// Writes correlators.h5, of all columns only, result.json, report.html and, as the report's settings ask for them, propagator.h5 and
/// propagator.lime (SciDAC, spinors of all columns only). Each file appears when it is complete. Returns their paths, the report last.
/// Collective: the propagators' files come from the parts of all ranks, the others from the root.
std::vector<std::string> write_outputs(const OutputFolder& folder, const RunReport& report, const Propagators& propagators);

}  // namespace quarkstar::app
