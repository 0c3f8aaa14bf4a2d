#pragma once
// Fat and long links in SciDAC files.
#include "codelets/gauge/smear/staggered_links.hpp"
#include "codelets/io/gauge_writer.hpp"

#include <array>
#include <optional>
#include <string>

namespace quarkstar::smear {

struct LinksFileOptions {
  int real_bytes = 8;                              ///< 4 (IEEE single) or 8 (IEEE double)
  std::string action;                              ///< "hisq", "asqtad": for the header
  BoundaryAngles boundary = antiperiodic_in_time;  ///< of the fermions, as folded into the links
  std::optional<double> u0 = {};                   ///< asqtad's tadpole factor
  std::optional<format::GaugePart> part = {};      ///< on many ranks, which each write theirs; none: the links are all of the lattice
};

/// Writes PREFIX.fat and PREFIX.long (where there are long links), phases and coefficients included, as MILC saves
/// them. Both appear once both are complete. Collective. scidac-file-xml says in <staggeredLinks> how the links were made, in
/// round-trip precision. Throws what format::write_link_field and SharedOutput throw.
void write_links(const std::string& prefix, const StaggeredLinks& links, const LinksFileOptions& options);

/// Names of the files, for messages.
std::string fat_path(const std::string& prefix);
std::string long_path(const std::string& prefix);

/// What a file of links says about itself in <staggeredLinks>; MILC's files say nothing of it.
struct LinksHeader {
  std::string path;
  Coord extents{};
  std::optional<std::string> field;   ///< "fat" or "long"
  std::optional<std::string> action;  ///< "hisq", "asqtad"
  std::optional<std::string> phases;  ///< "MILC": eta of docs/conventions.md, section 4
  std::optional<BoundaryAngles> boundary;
  std::optional<double> naik_epsilon, u0;
};

/// Reads no data. Throws Error(input) naming the file where it is none of links, and the element that is not what it
/// should be.
LinksHeader read_links_header(const std::string& path);

/// Reads links from two files of ours or of MILC's; without a second file there are no long links. Epsilon is what the
/// long file's header says, 0 where it says none. The scale of the long links is measured, with a negative sign as all
/// actions have it: they must be one number times unitary matrices to 1e-5. Throws Error(input) where they are not, or
/// where the extents differ.
StaggeredLinks read_links(const std::string& fat_file, const std::optional<std::string>& long_file);

/// What a rank's part needs of fat, then of long links from files: the hops_box()es, and for signs_of() two layers of
/// fat links behind the part.
std::array<Box, 2> boxes_from_files(const runtime::Decomposition& decomposition);

/// Collective. read_links() of boxes_from_files(). Every rank checks its part. Throws the same on all ranks, and
/// Error(input) where the lattice is another.
StaggeredLinks read_links_part(const std::string& fat_file, const std::string& long_file, const runtime::Decomposition& decomposition);

}  // namespace quarkstar::smear
