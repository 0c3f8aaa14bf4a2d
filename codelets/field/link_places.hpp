#pragma once
// Links of a block on their way to where a LinkField stores them, on CPUs and GPUs. A Form says what is stored:
//   Form::on_cpus_alone
//   form.reals                                    of a link
//   form.write(words, link, int mu, bool forward) from 18 reals in host order, for the site where the link begins (forward) or ends
//   form.copy(words, stored)                      from the 18 reals that it stores in double precision; not on CPUs alone
#include "codelets/field/word_place.hpp"
#include "codelets/gauge/host_gauge.hpp"
#include "codelets/lattice/block_shape.hpp"
#include "codelets/lattice/boxes.hpp"
#include "runtime/system/team.hpp"

namespace quarkstar::transfer {

/// Calls body(lane, global coordinates of the site) for the sites of an outer site. origin: of the block.
template <class Body>
void for_lanes(const BlockShape& shape, const Coord& origin, int parity, int outer, Body&& body) {
  const Coord first = shape.local_site({parity, outer, 0});  // once for all lanes: its divisions take as long as copying a site
  for (int lane = 0; lane < shape.lanes; ++lane) {
    Coord site = first;
    for (int mu = 0; mu < 4; ++mu) site[mu] += origin[mu] + ((lane & shape.stride[mu]) != 0 ? shape.outer[mu] : 0);
    body(lane, site);
  }
}

/// Where the links of a block are: [outer site][direction][word][lane], words in chunks or not.
struct LinkPlaces {
  BlockShape shape;
  bool chunked;

  /// Stores the words of one link that put(words) writes.
  template <class F, class Put>
  QUARKSTAR_HD void store(F* links, const SitePosition& site, int direction, int reals, Put&& put) const {
    const int words = NumberFormat<F>::link_words(reals), chunk = chunked ? site::chunk_words<F>(words) : 1;
    F link[18];
    put(link);
    F* to = links + (std::ptrdiff_t{site.outer} * 8 + direction) * words * shape.lanes;
    for (int w = 0; w < words; ++w) to[site::word_place(w, site.lane, shape.lanes, chunk)] = link[w];
  }
  /// One link of 18 reals in double precision.
  QUARKSTAR_HD void read(double (&link)[18], const double* links, const SitePosition& site, int direction) const {
    const int chunk = chunked ? site::chunk_words<double>(18) : 1;
    const double* from = links + (std::ptrdiff_t{site.outer} * 8 + direction) * 18 * shape.lanes;
    for (int i = 0; i < 18; ++i) link[i] = from[site::word_place(i, site.lane, shape.lanes, chunk)];
  }
};

/// From host order.
template <class Form>
struct LinkLoad {
  LinkPlaces places;
  Box block;
  Coord lattice;
  int hops;  ///< sites that a link spans
  Form form;

  /// All links of one parity's sites.
  template <class F>
  void run(F* links, const HostGauge& host, int parity, const runtime::Team& team) const {
    const Box box = host.box();
    team.for_range(places.shape.outer_sites(), [&](std::int64_t begin, std::int64_t end, int) {
      for (auto outer = static_cast<int>(begin); outer < end; ++outer)
        for_lanes(places.shape, block.origin, parity, outer, [&](int lane, const Coord& site) {
          for (int d = 0; d < 8; ++d) {
            const int mu = d / 2;
            const bool forward = d % 2 == 0;
            Coord from = site;
            if (!forward) from[mu] = ((site[mu] - hops) % lattice[mu] + lattice[mu]) % lattice[mu];
            const double* link = host.link(index_in(box, from, lattice), mu).data();
            places.store(links, {parity, outer, lane}, d, form.reals, [&](F* words) { form.write(words, link, mu, forward); });
          }
        });
    });
  }

  /// The link of one site of the host's, at both of its ends, where they are in the block.
  template <class F>
  QUARKSTAR_HD void scatter(F* even, F* odd, const double* link, const Coord& site, int mu) const {
    for (int end = 0; end < 2; ++end) {
      Coord at = site, local{};
      at[mu] += end * hops;
      if (!find_in(block, at, lattice, local)) continue;
      const SitePosition place = places.shape.locate(local);
      places.store(place.parity == 0 ? even : odd, place, 2 * mu + end, form.reals,
                   [&](F* words) { form.write(words, link, mu, end == 0); });
    }
  }
};

/// From the same form in double precision with 18 reals, of the same block.
template <class Form>
struct LinkCopy {
  LinkPlaces to, from;
  Form form;

  template <class F>
  QUARKSTAR_HD void copy(F* links, const double* wide, const SitePosition& site, const SitePosition& there, int direction) const {
    double link[18];
    from.read(link, wide, there, direction);
    to.store(links, site, direction, form.reals, [&](F* words) { form.copy(words, link); });
  }
  QUARKSTAR_HD SitePosition find(const SitePosition& site) const { return from.shape.locate(to.shape.local_site(site)); }

  template <class F>
  void run(F* links, const double* wide, int parity, const runtime::Team& team) const {
    team.for_range(to.shape.outer_sites(), [&](std::int64_t begin, std::int64_t end, int) {
      for (auto outer = static_cast<int>(begin); outer < end; ++outer)
        for (int lane = 0; lane < to.shape.lanes; ++lane) {
          const SitePosition site{parity, outer, lane}, there = find(site);
          for (int d = 0; d < 8; ++d) copy(links, wide, site, there, d);
        }
    });
  }
};

}  // namespace quarkstar::transfer
