#include "codelets/io/date.hpp"
#include "codelets/io/milc.hpp"
#include "codelets/io/payload_writer.hpp"
#include "runtime/system/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace quarkstar::format {
namespace {

class HeaderBytes {
 public:
  template <class Number>
  void add(Number value) {
    bytes_.resize(bytes_.size() + sizeof value);
    store(bytes_.data() + bytes_.size() - sizeof value, value, ByteOrder::little);
  }

  void add_text(std::string_view text, std::size_t length) {
    text = text.substr(0, length - 1);
    for (const char c : text) bytes_.push_back(std::byte(c));
    bytes_.insert(bytes_.end(), length - text.size(), std::byte(0));
  }

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

void write_milc(const std::string& path, const HostGauge& gauge, const GaugeWriteOptions& options) {
  if (options.real_bytes != 4) {
    throw Error(ErrorKind::input, path, "MILC version 5 files hold single precision only",
                "choose single precision, or the ILDG or NERSC format");
  }
  Job& job = Job::current();
  PayloadLayout layout;
  const std::string date = options.date.empty() ? utc_date() : options.date;
  job.together([&] {
    layout = writer_layout(path, gauge, options, ByteOrder::little);
    check_header_text(path, "date", date);
  });
  const Box sites = sites_to_write(gauge, options);
  SharedOutput file(job, path);
  const PayloadChecksum checksum = encoded_checksum(path, ChecksumKind::milc, layout, gauge, sites);
  file.on_root([&] {
    HeaderBytes header;
    header.add(milc_v5_magic);
    for (const int extent : layout.extents) header.add(std::int32_t{extent});
    header.add_text(date, milc_time_stamp_bytes);
    header.add(std::int32_t{0});  // site order: lexicographic
    for (const std::uint32_t sum : checksum.sums()) header.add(sum);
    file.root()->append(header.bytes());
    layout.offset = file.root()->leave_room(layout.payload_bytes());
  });
  write_links(file, path, layout, gauge, sites);
  file.commit();
}

}  // namespace quarkstar::format
