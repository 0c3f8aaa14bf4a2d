#pragma once
// Files of eigenvectors in SciDAC's format, which QIO and its users read: write_eigen_file() and EigenFile choose.
#include "apps/run/eigen_file.hpp"
#include "codelets/io/scidac_field.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace quarkstar::app {

// A record for each mode: a colour vector or Dirac fermion on all sites, zero on those of the other parity, big-endian, in single or double
// precision (USQCD_D3_ColorVector and so on; spinors in the DeGrand-Rossi basis), with SciDAC's checksum and, as scidac-record-xml,
// quarkstarEigenvector: number, eigenvalue, residual. scidac-file-xml is quarkstarEigenvectors: problem, parity, modes, precision,
// checksum, which is header_checksum() of these checksums. The same modes are the same bytes: the date is that of no file.

/// As write_eigen_file(), of modes that are complete. Throws Error(input) for half precision.
void write_scidac_modes(const std::string& path, const EigenHeader& header, int block, const Box& part, const EigenVectorsOf& of);

/// Such a file that is read. Collective.
class ScidacModes {
 public:
  /// Reads all but the vectors. Throws Error(input) naming the file where it is none, or damaged.
  ScidacModes(const std::string& path, const std::string& remedy);
  const EigenHeader& header() const { return header_; }
  const std::vector<std::uint32_t>& checksums() const { return checksums_; }
  /// This rank's part of a mode. Throws Error(input) naming the file where it does not match its checksums.
  HostField read(int number, const Box& part) const;

 private:
  format::ScidacFieldFile file_;
  EigenHeader header_;
  std::vector<std::uint32_t> checksums_;  ///< two for each mode
};

}  // namespace quarkstar::app
