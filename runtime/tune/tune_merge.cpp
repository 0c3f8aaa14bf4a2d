#include "runtime/tune/tune_merge.hpp"

#include "runtime/system/atomic_file.hpp"
#include "runtime/system/error.hpp"
#include "runtime/tune/file_lock.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace quarkstar::runtime {
namespace {

namespace fs = std::filesystem;

TuneFile read_file(const std::string& path) {
  std::error_code ignored;
  std::ifstream file(path, std::ios::binary);
  if (!fs::is_regular_file(path, ignored) || !file)
    throw Error(ErrorKind::input, path, fs::exists(path, ignored) ? "it cannot be read" : "there is no such file",
                "name tune caches, e.g. another machine's tune.json");
  try {
    return TuneFile(std::string{std::istreambuf_iterator<char>(file), {}});
  } catch (const TuneFileDamage& damage) {
    throw Error(ErrorKind::input, fmt::format("{}, line {}", path, damage.line),
                fmt::format("the tune cache is damaged: {}", damage.what()),
                "nothing was merged: leave the file out, or delete it to measure anew");
  } catch (const TuneFileNewer& newer) {
    throw Error(ErrorKind::input, path, fmt::format("the tune cache has format {}, this version knows {}", newer.format, TuneFile::format),
                "nothing was merged: use the later version of quarkstar");
  }
}

}  // namespace

TuneMerge merge_tune_files(const std::string& into, const std::vector<std::string>& files) {
  TuneFile all;
  TuneMerge result;
  std::vector<TuneFile> others;
  for (const std::string& path : files) others.push_back(read_file(path));
  std::error_code failed;
  if (const fs::path folder = fs::path(into).parent_path(); !folder.empty()) fs::create_directories(folder, failed);
  const FileLock lock(into + ".lock");
  if (fs::exists(into, failed)) all = read_file(into);
  for (const TuneFile& other : others) {
    const TuneFile::Merged one = all.merge(other);
    result.of_files.added += one.added;
    result.of_files.faster += one.faster;
    result.of_files.kept += one.kept;
  }
  result.entries = all.size();
  AtomicFile file(into);
  file.append(all.text());
  file.commit();
  return result;
}

}  // namespace quarkstar::runtime
