#pragma once
// What a gauge file says about itself, whatever its format.
#include "codelets/io/byte_source.hpp"
#include "codelets/io/checksum.hpp"
#include "codelets/io/layout.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace quarkstar::format {

enum class GaugeFormat { nersc, scidac, ildg, milc_v5, milc_v1, openqcd, ddalphaamg };

constexpr const char* to_string(GaugeFormat format) {
  switch (format) {
    case GaugeFormat::nersc:
      return "NERSC";
    case GaugeFormat::scidac:
      return "SciDAC (LIME)";
    case GaugeFormat::ildg:
      return "ILDG (LIME)";
    case GaugeFormat::milc_v5:
      return "MILC version 5";
    case GaugeFormat::milc_v1:
      return "MILC version 1";
    case GaugeFormat::openqcd:
      return "openQCD";
    case GaugeFormat::ddalphaamg:
      return "DDalphaAMG";
  }
  return "";
}

/// A number that the header states about the links, for the caller to compare with what it computes.
struct StoredObservable {
  double value;      ///< normalised to mean Re tr / 3
  double tolerance;  ///< largest absolute difference that rounding in the header explains
};

/// Header of a gauge file, checked against the length of the file; checksums are filled in by reading the payload.
struct GaugeFileInfo {
  std::string path;
  GaugeFormat format = GaugeFormat::nersc;
  PayloadLayout layout;
  std::vector<std::pair<std::string, std::string>> header;  ///< keys and values in file order, plain ASCII
  std::optional<StoredObservable> plaquette;                ///< average over all planes
  std::optional<StoredObservable> link_trace;
  ChecksumKind checksum_kind = ChecksumKind::none;
  bool checksum_expected = false;  ///< files of this kind always carry one, so a missing one means damage
  std::vector<ChecksumVerdict> checksums;
  std::vector<std::string> notes;  ///< what had to be assumed or overlooked
};

/// Verdicts of a kind with nothing stored yet.
inline std::vector<ChecksumVerdict> unchecked_verdicts(ChecksumKind kind) {
  std::vector<ChecksumVerdict> verdicts;
  for (std::string& name : checksum_names(kind)) verdicts.push_back({std::move(name), {}, {}});
  return verdicts;
}

}  // namespace quarkstar::format
