#include "apps/run/parse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

namespace quarkstar::app {
namespace {

constexpr std::string_view directions = "xyzt";

/// The whole of `text` as a number; false if anything is left over.
template <class Number>
bool read_whole(std::string_view text, Number& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

double parse_angle(std::string_view text) {
  if (text == "periodic") return 0;
  if (text == "antiperiodic") return 1;
  double angle = 0;
  if (!read_whole(text, angle) || !(std::abs(angle) <= 2))
    throw BadValue(fmt::format("'{}' is no boundary condition", text),
                   "use periodic, antiperiodic, or an angle between -2 and 2 in units of pi, such as z=0.5");
  return angle;
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == text.size()) return parts;
    begin = end + 1;
  }
}

std::string nearest_name(std::string_view word, const std::vector<std::string>& names) {
  std::string nearest;
  std::size_t least = word.size() / 2 + 1;
  for (const std::string& name : names) {
    // changes[j]: from the letters of the word so far to the first j of the name
    std::vector<std::size_t> changes(name.size() + 1);
    std::iota(changes.begin(), changes.end(), std::size_t{0});
    for (const char letter : word) {
      std::size_t before = changes[0]++;
      for (std::size_t j = 1; j <= name.size(); ++j) {
        const std::size_t replaced = before + (letter == name[j - 1] ? 0 : 1);
        before = changes[j];
        changes[j] = std::min({replaced, changes[j] + 1, changes[j - 1] + 1});
      }
    }
    if (changes.back() >= least) continue;
    least = changes.back();
    nearest = name;
  }
  return nearest;
}

std::string use_one_of(std::string_view word, const std::vector<std::string>& names) {
  const std::string nearest = nearest_name(word, names);
  return fmt::format("{}use one of {}", nearest.empty() ? "" : fmt::format("did you mean {}? ", nearest), fmt::join(names, ", "));
}

double parse_real(std::string_view text) {
  double value = 0;
  if (!read_whole(text, value) || !std::isfinite(value))
    throw BadValue(fmt::format("'{}' is no number", text), "use a decimal number, such as 0.125 or 1e-10");
  return value;
}

double parse_between(std::string_view text, double above, double below) {
  const double value = parse_real(text);
  const bool limited = std::isfinite(below), positive = above == 0;
  const std::string allowed =
      limited ? fmt::format("use a number between {:g} and {:g}", above, below) : fmt::format("use a number above {:g}", above);
  if (!(value > above))
    throw BadValue(positive ? fmt::format("{} is not positive", text) : fmt::format("{} is not above {:g}", text, above), allowed);
  if (limited && !(value < below)) throw BadValue(fmt::format("{} is not below {:g}", text, below), allowed);
  return value;
}

int parse_integer(std::string_view text, int least, int most) {
  int value = 0;
  if (!read_whole(text, value) || value < least || value > most)
    throw BadValue(fmt::format("'{}' is no integer in range", text), most == 2147483647
                                                                         ? fmt::format("use an integer of at least {}", least)
                                                                         : fmt::format("use an integer from {} to {}", least, most));
  return value;
}

bool parse_switch(std::string_view text) { return parse_name(text, {"true", "false"}) == "true"; }

std::string parse_name(std::string_view text, const std::vector<std::string>& names) {
  if (std::find(names.begin(), names.end(), text) == names.end())
    throw BadValue(fmt::format("'{}' is unknown", text), fmt::format("use one of {}", fmt::join(names, ", ")));
  return std::string(text);
}

Precision parse_precision(std::string_view text) {
  const std::string name = parse_name(text, {"half", "single", "double"});
  return name == "half" ? Precision::half : name == "single" ? Precision::single : Precision::double_;
}

Coord parse_coord(std::string_view text, int least) {
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() != 4)
    throw BadValue(fmt::format("'{}' has {} numbers, not 4", text, parts.size()), "use X,Y,Z,T or X Y Z T, such as 4,4,4,8");
  Coord coord{};
  for (std::size_t mu = 0; mu < 4; ++mu) coord[mu] = parse_integer(parts[mu], least);
  return coord;
}

std::vector<std::string> join_coordinates(const std::vector<std::string>& arguments) {
  constexpr std::size_t numbers = 4;
  std::vector<std::string> joined;
  bool after_flag = false;
  std::size_t open = 0;  // numbers in the last argument that may be followed by more
  for (const std::string& argument : arguments) {
    int number = 0;
    const bool is_number = after_flag && read_whole(argument, number);
    if (is_number && open > 0) {
      joined.back() += "," + argument;
    } else {
      joined.push_back(argument);
    }
    open = is_number ? (open + 1) % numbers : 0;
    after_flag =
        is_number || argument == "--lattice" || argument == "--blocks" || argument == "--schwarz-block" || argument == "--aggregate";
  }
  return joined;
}

BoundaryAngles parse_boundary(std::string_view text, BoundaryAngles angles) {
  for (const std::string& part : split(text, ',')) {
    const std::size_t mu = part.size() >= 3 && part[1] == '=' ? directions.find(part[0]) : std::string_view::npos;
    if (mu == std::string_view::npos)
      throw BadValue(fmt::format("'{}' is no boundary condition", part),
                     "use DIRECTION=CONDITION with direction x, y, z or t, such as t=antiperiodic or z=0.5 (units of pi)");
    angles[mu] = parse_angle(std::string_view(part).substr(2));
  }
  return angles;
}

std::size_t parse_bytes(std::string_view text) {
  const std::string allowed = "use a number of bytes of at least 1 MiB, such as 4GiB, 512MiB or 2e9";
  const std::size_t end = std::min(text.find_first_not_of("0123456789.+eE"), text.size());
  const std::string_view number = text.substr(0, end);
  std::string_view unit = text.substr(end);
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  static constexpr std::pair<std::string_view, double> units[] = {
      {"", 1},      {"B", 1},        {"kB", 1e3},        {"MB", 1e6},           {"GB", 1e9},
      {"TB", 1e12}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0}};
  const auto known = std::find_if(std::begin(units), std::end(units), [unit](const auto& u) { return u.first == unit; });
  double value = 0;
  if (known == std::end(units) || !read_whole(number, value)) throw BadValue(fmt::format("'{}' is no size", text), allowed);
  const double bytes = value * known->second;
  if (!(bytes >= 1048576) || bytes > 1e18) throw BadValue(fmt::format("'{}' is out of range", text), allowed);
  return static_cast<std::size_t>(bytes);
}

double parse_share(std::string_view text) {
  const std::string allowed = "use auto, 0, or a percentage such as 25%";
  if (text == "0") return 0;
  double percent = 0;
  if (!text.ends_with('%') || !read_whole(text.substr(0, text.size() - 1), percent) || !(percent >= 0) || percent > 100)
    throw BadValue(fmt::format("'{}' is no share", text), allowed);
  return percent / 100;
}

std::vector<int> parse_numbers(std::string_view text) {
  std::vector<int> numbers;
  for (const std::string& part : split(text, ',')) numbers.push_back(parse_integer(part, 0));
  return numbers;
}

std::vector<runtime::Throttle> parse_throttles(std::string_view text) {
  std::vector<runtime::Throttle> throttles;
  for (const std::string& one : split(text, ',')) {
    const std::vector<std::string> ends = split(one, '@');
    const std::vector<std::string> parts = split(ends.front(), ':');
    if (ends.size() > 2 || (parts.size() != 2 && parts.size() != 4 && parts.size() != 5))
      throw BadValue(fmt::format("'{}' is no throttle", one),
                     "give WORKER:FACTOR or WORKER:FACTOR:CHANCE:MILLISECONDS[:SEED], and @SECONDS behind it for a later start, e.g. 1:2, "
                     "1:1:0.01:5 or 1:3@10; or WORKER:fails@SECONDS");
    runtime::Throttle throttle;
    throttle.worker = parse_integer(parts[0], 0);
    if (std::any_of(throttles.begin(), throttles.end(), [&](const runtime::Throttle& t) { return t.worker == throttle.worker; }))
      throw BadValue(fmt::format("worker {} is throttled twice", throttle.worker), "give each worker once");
    const bool fails = parts.size() == 2 && parts[1] == "fails";  // takes for ever
    throttle.factor = fails ? std::numeric_limits<double>::infinity() : parse_real(parts[1]);
    if (parts.size() > 2) {
      throttle.chance = parse_real(parts[2]);
      throttle.hiccup_us = 1e3 * parse_real(parts[3]);
    }
    if (parts.size() > 4) throttle.seed = static_cast<std::uint64_t>(parse_integer(parts[4], 0));
    if (ends.size() > 1) throttle.from_s = parse_real(ends.back());
    throttles.push_back(throttle);
  }
  return throttles;
}

std::string text_of(const std::vector<runtime::Throttle>& throttles) {
  std::vector<std::string> parts;
  for (const runtime::Throttle& t : throttles)
    parts.push_back((std::isinf(t.factor) ? fmt::format("{}:fails", t.worker)
                     : t.chance > 0       ? fmt::format("{}:{}:{}:{}:{}", t.worker, t.factor, t.chance, t.hiccup_us / 1e3, t.seed)
                                          : fmt::format("{}:{}", t.worker, t.factor)) +
                    (t.from_s > 0 ? fmt::format("@{}", t.from_s) : ""));
  return fmt::format("{}", fmt::join(parts, ","));
}

std::vector<int> parse_columns(std::string_view text) {
  std::vector<int> columns;
  for (const std::string& part : split(text, ',')) {
    const std::vector<std::string> ends = split(part, '-');
    if (ends.size() > 2) throw BadValue(fmt::format("'{}' is no range", part), "use column numbers 0 to 11, such as 0-11 or 0,3,5");
    const int first = parse_integer(ends.front(), 0, 11);
    const int last = parse_integer(ends.back(), first, 11);
    for (int column = first; column <= last; ++column) columns.push_back(column);
  }
  if (std::adjacent_find(columns.begin(), columns.end(), std::greater_equal<>()) != columns.end())
    throw BadValue(fmt::format("'{}' is not in ascending order without repetition", text), "such as 0-11 or 0,3,5");
  return columns;
}

std::vector<std::array<int, 3>> parse_momenta(std::string_view text) {
  constexpr int most = 1 << 20;
  std::vector<std::array<int, 3>> momenta;
  for (const std::string& one : split(text, '+')) {
    const std::vector<std::string> parts = split(one, ',');
    if (parts.size() != 3) throw BadValue(fmt::format("'{}' has {} numbers, not 3", one, parts.size()), "use X,Y,Z, such as 0,0,0+1,0,0");
    std::array<int, 3> momentum{};
    for (std::size_t mu = 0; mu < 3; ++mu) momentum[mu] = parse_integer(parts[mu], -most, most);
    if (std::find(momenta.begin(), momenta.end(), momentum) != momenta.end())
      throw BadValue(fmt::format("{} is given twice", one), "give each momentum once");
    momenta.push_back(momentum);
  }
  return momenta;
}

std::vector<contract::HadronSink> parse_hadron_sinks(std::string_view text) {
  std::vector<contract::HadronSink> sinks;
  for (const std::string& one : split(text, '+')) {
    const std::size_t colon = one.find(':');
    std::vector<std::string> names;
    const contract::Hadron* hadron = nullptr;
    for (const contract::Hadron& known : contract::hadrons()) {
      names.emplace_back(known.name);
      if (known.name == one.substr(0, colon)) hadron = &known;
    }
    if (hadron == nullptr)
      throw BadValue(fmt::format("'{}' is none of the hadrons", one.substr(0, colon)),
                     fmt::format("use some of {}", fmt::join(names, ", ")));
    const std::string place = colon == std::string::npos ? "" : one.substr(colon + 1);
    const std::vector<std::string> parts = split(place, ',');
    if (parts.size() != 1 && parts.size() != 4)
      throw BadValue(fmt::format("'{}' is no sink", one), fmt::format("use {0}:DT or {0}:DT,nx,ny,nz", hadron->name));
    contract::HadronSink sink{hadron, parse_integer(parts[0], 1)};
    if (parts.size() == 4) sink.momentum = parse_momenta(place.substr(place.find(',') + 1)).front();
    if (std::find(sinks.begin(), sinks.end(), sink) != sinks.end())
      throw BadValue(fmt::format("{} is given twice", one), "give each sink once");
    sinks.push_back(sink);
  }
  return sinks;
}

namespace {

/// "t", where there is a seed "t,seed", where there is a momentum "t,nx,ny,nz".
Source parse_slice(const SliceSource& kind, std::string_view place) {
  const std::vector<std::string> parts = split(place, ',');
  const bool seed = kind.has_seed && parts.size() == 2, momentum = kind.has_momentum && parts.size() == 4;
  if (parts.size() != 1 && !seed && !momentum)
    throw BadValue(fmt::format("'{}' is no time slice", place),
                   fmt::format("use {}:t{}{}", kind.name, kind.has_seed ? "[,seed]" : "", kind.has_momentum ? "[,nx,ny,nz]" : ""));
  Source source{kind.kind, {0, 0, 0, parse_integer(parts[0], 0)}};
  if (seed) source.seed = static_cast<std::uint64_t>(parse_integer(parts[1], 0));
  if (momentum) source.momentum = parse_momenta(place.substr(place.find(',') + 1)).front();
  return source;
}

constexpr QuarkSmearing::Form smearing_forms[] = {QuarkSmearing::Form::gaussian, QuarkSmearing::Form::wuppertal};

/// "sigma,steps" or "alpha,steps", and ",alpha,steps" of the links.
QuarkSmearing parse_smearing(QuarkSmearing::Form form, std::string_view text) {
  constexpr int most_steps = 10000, most_ape_steps = 1000;
  const bool gaussian = form == QuarkSmearing::Form::gaussian;
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() != 2 && parts.size() != 4)
    throw BadValue(fmt::format("'{}' is no smearing", text),
                   fmt::format("give {},STEPS, and for APE-smeared links ,ALPHA,STEPS behind them, such as {},20,0.6,3",
                               gaussian ? "SIGMA" : "ALPHA", gaussian ? "2" : "0.15"));
  QuarkSmearing smearing{form, parse_positive(parts[0], 1000), parse_integer(parts[1], 1, most_steps)};
  // 1 + w Lap has eigenvalues from 1 - 12 w to 1.
  if (12 * smearing.weight() >= 2)
    throw BadValue(fmt::format("{} steps of a width {} would enlarge what varies from site to site", smearing.steps, smearing.number),
                   fmt::format("use more than {:.0f} steps", std::floor(1.5 * smearing.number * smearing.number)));
  if (parts.size() == 2) return smearing;
  smearing.ape = parse_between(parts[2], 0, 1);
  smearing.ape_steps = parse_integer(parts[3], 1, most_ape_steps);
  return smearing;
}

/// The text behind "gaussian:", and the form; nothing for others.
std::optional<std::pair<QuarkSmearing::Form, std::string_view>> smearing_in(std::string_view text) {
  for (const QuarkSmearing::Form form : smearing_forms)
    if (const std::string_view name = name_of(form); text.starts_with(name) && text.substr(name.size()).starts_with(':'))
      return std::pair(form, text.substr(name.size() + 1));
  return {};
}

}  // namespace

Source parse_source(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view place = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  if (kind == "point" && !place.empty()) return {Source::Kind::point, parse_coord(place, 0)};
  for (const SliceSource& slice : slice_sources)
    if (kind == slice.name && !place.empty()) return parse_slice(slice, place);
  if (const auto smearing = smearing_in(text)) {
    std::size_t end = 0;
    for (int comma = 0; comma < 4 && end != std::string_view::npos; ++comma) end = place.find(',', comma == 0 ? 0 : end + 1);
    if (end == std::string_view::npos)
      throw BadValue(fmt::format("'{}' is no smeared point", text),
                     fmt::format("use {}:x,y,z,t,{},STEPS", kind, kind == "gaussian" ? "SIGMA" : "ALPHA"));
    Source source{Source::Kind::point, parse_coord(place.substr(0, end), 0)};
    source.smearing = parse_smearing(smearing->first, place.substr(end + 1));
    return source;
  }
  throw BadValue(fmt::format("'{}' is no source", text),
                 "use point:x,y,z,t, wall:t[,nx,ny,nz], corner-wall:t, z2:t[,seed], random:t[,seed], gaussian:x,y,z,t,sigma,steps or "
                 "wuppertal:x,y,z,t,alpha,steps, such as point:0,0,0,0");
}

Sink parse_sink(std::string_view text) {
  if (text == "point") return {};
  if (const auto smearing = smearing_in(text)) return parse_smearing(smearing->first, smearing->second);
  throw BadValue(fmt::format("'{}' is no sink", text), "use point, gaussian:sigma,steps or wuppertal:alpha,steps, such as gaussian:2,20");
}

std::vector<std::string> parse_propagator_files(std::string_view text) {
  std::vector<std::string> formats = split(text, ',');
  for (const std::string& format : formats)
    if (format != "hdf5" && format != "scidac")
      throw BadValue(fmt::format("'{}' is no format of propagators", format), "use hdf5, scidac or hdf5,scidac");
  return formats;
}

std::string text_of(const Coord& coord) { return fmt::format("{}", fmt::join(coord, ",")); }

std::string bytes_text(double bytes) {
  constexpr double mebibyte = 1048576;
  return bytes < 1024 * mebibyte ? fmt::format("{:.1f} MiB", bytes / mebibyte) : fmt::format("{:.2f} GiB", bytes / mebibyte / 1024);
}

}  // namespace quarkstar::app
