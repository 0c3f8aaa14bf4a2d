#pragma once
// Links of a block from a field in double precision with 18 reals to one of another form, on CPUs and GPUs: they need not come from host
// memory again.
#include "codelets/field/word_place.hpp"
#include "codelets/field/write_link.hpp"
#include "codelets/lattice/block_shape.hpp"
#include "runtime/system/team.hpp"

namespace quarkstar::transfer {

/// Rows of a link.
struct RowsForm {
  int reals;  ///< 18 or 12

  template <class F>
  QUARKSTAR_HD void operator()(F* words, const double* link) const {
    write_rows(words, link, reals, 1);
  }
};

/// Form: writes the words of a link from its 18 reals, and knows how many `reals` they are for.
template <class Form>
struct LinkCopy {
  BlockShape to, from;
  bool to_chunked, from_chunked;
  Form form;

  /// The link of one direction; here and there: the site in both.
  template <class F>
  QUARKSTAR_HD void copy(F* to_links, const double* from_links, const SitePosition& here, const SitePosition& there, int d) const {
    const int words = NumberFormat<F>::link_words(form.reals), to_chunk = to_chunked ? site::chunk_words<F>(words) : 1,
              from_chunk = from_chunked ? site::chunk_words<double>(18) : 1;
    const double* source = from_links + (std::ptrdiff_t{there.outer} * 8 + d) * 18 * from.lanes;
    double link[18];
    for (int i = 0; i < 18; ++i) link[i] = source[site::word_place(i, there.lane, from.lanes, from_chunk)];
    F stored[18];
    form(stored, link);
    F* target = to_links + (std::ptrdiff_t{here.outer} * 8 + d) * words * to.lanes;
    for (int w = 0; w < words; ++w) target[site::word_place(w, here.lane, to.lanes, to_chunk)] = stored[w];
  }

  template <class F>
  void run(F* to_links, const double* from_links, int parity, const runtime::Team& team) const {
    team.for_range(to.outer_sites(), [&](std::int64_t begin, std::int64_t end, int) {
      for (auto outer = static_cast<int>(begin); outer < end; ++outer)
        for (int lane = 0; lane < to.lanes; ++lane) {
          const SitePosition here{parity, outer, lane}, there = from.locate(to.local_site(here));
          for (int d = 0; d < 8; ++d) copy(to_links, from_links, here, there, d);
        }
    });
  }
};

}  // namespace quarkstar::transfer
