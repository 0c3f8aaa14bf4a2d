// Words in chunks: every word of every lane has a place of its own, and a chunk lies side by side where one aligned load reads it.
#include "codelets/field/word_place.hpp"

#include <doctest/doctest.h>

#include <set>

namespace word_place_test {

using namespace quarkstar;

namespace {

template <class F>
void check_record(int words, int head, int lanes) {
  const int chunk = site::chunk_words<F>(words - head);
  INFO(sizeof(F) << " bytes, half precision " << is_half<F> << ", words " << words << ", lanes " << lanes << ", chunk " << chunk);
  REQUIRE((words - head) % chunk == 0);
  CHECK(chunk * sizeof(F) <= 16);
  CHECK(((words - head) % (2 * chunk) != 0 || 2 * chunk * sizeof(F) > 16));
  std::set<int> places;
  bool aligned = true;
  for (int lane = 0; lane < lanes; ++lane)
    for (int w = 0; w < words; ++w) {
      const int place = site::word_place(w, lane, lanes, chunk, head);
      CHECK(place >= 0);
      CHECK(place < words * lanes);
      CHECK(site::word_place(w, lane, lanes, 1, head) == w * lanes + lane);
      places.insert(place);
      if (w < head) continue;
      const int first = site::word_place(head + (w - head) / chunk * chunk, lane, lanes, chunk, head);
      CHECK(place == first + (w - head) % chunk);
      aligned = aligned && first * static_cast<int>(sizeof(F)) % (chunk * static_cast<int>(sizeof(F))) == 0;
    }
  CHECK(static_cast<int>(places.size()) == words * lanes);
  CHECK(aligned);
}

template <class F>
void check_format(int full_lanes) {
  for (const int lanes : {full_lanes, 16, 12, 8}) {
    check_record<F>(spinor_words<F>, site::head_words<F>, lanes);
    for (const int reals : {18, 12, 8}) check_record<F>(NumberFormat<F>::link_words(reals), 0, lanes);
  }
}

}  // namespace

TEST_CASE("words in chunks have places of their own, a chunk side by side and aligned") {
  check_format<double>(8);
  check_format<float>(16);
  check_format<Half>(16);
  CHECK(site::chunk_words<float>(24) == 4);
  CHECK(site::chunk_words<float>(18) == 2);
  CHECK(site::chunk_words<double>(24) == 2);
  CHECK(site::chunk_words<Half>(9) == 1);
}

}  // namespace word_place_test
