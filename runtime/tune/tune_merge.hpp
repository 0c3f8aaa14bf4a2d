#pragma once
// Tune caches of several machines, or of several users, become one.
#include "runtime/tune/tune_file.hpp"

#include <string>
#include <vector>

namespace quarkstar::runtime {

/// What a merge did, and how many entries the file has now.
struct TuneMerge {
  TuneFile::Merged of_files;
  std::size_t entries = 0;
};

/// Takes the entries of `files` into the tune cache `into`, which is made where it is not there, under the lock of TuneCache and by
/// renaming a complete file. Of two entries with one key the faster stays. Keys of devices and kernel versions that this program does not
/// know, and members that it does not know, are kept. Throws Error(input), naming file and line, where a file or `into` cannot be read, is
/// damaged or has a format of a later version, and what AtomicFile throws; nothing has been written then.
TuneMerge merge_tune_files(const std::string& into, const std::vector<std::string>& files);

}  // namespace quarkstar::runtime
