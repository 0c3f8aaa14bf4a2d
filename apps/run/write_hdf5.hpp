#pragma once
// HDF5 outputs. Each file appears under its name only once it is complete.
#include "apps/run/report.hpp"

#include <string>
#include <vector>

namespace quarkstar::app {

class Hdf5File;

/// The correlators, and their effective masses, as below. group: "", or a group with "/" behind it.
void write_correlators(Hdf5File& file, const std::string& group, const std::vector<Correlator>& correlators);

/// /correlators/NAME (T doubles, or complex numbers: numpy's complex128), /effective_masses/NAME/{log,cosh} (T-1 doubles, not a number
/// where undefined); the run's parameters as string attributes of the root. Throws Error(environment) naming the file when it cannot be
/// written.
void write_correlators_hdf5(const std::string& path, const RunReport& report);

/// /propagator [column][t][z][y][x][spin][colour] of complex numbers (compound r, i: numpy's complex128), DeGrand-Rossi
/// basis, each rank its part of it (collective); /columns: which 3 spin + colour of the source each is; parameters as above. Of staggered
/// actions [mass][column][t][z][y][x][colour], /masses, /naik_epsilons, /columns (colours). Throws like the other.
void write_propagator_hdf5(const std::string& path, const RunReport& report, const Propagators& propagators);

}  // namespace quarkstar::app
