#pragma once
// Codelets made of lambdas, whose parameters say what a task reads and writes.
#include "runtime/graph/array.hpp"
#include "runtime/graph/codelet.hpp"
#include "runtime/system/error.hpp"

#include <cstring>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace quarkstar::runtime {

/// Parameters of a codelet's lambda that are data, and how the task uses them: read, written whole (what was there is lost), or both. D =
/// 0: one element, such as the state of an algorithm.
template <class T, int D = 0>
struct In : View<const T, D> {};
template <class T, int D = 0>
struct Out : View<T, D> {};
template <class T, int D = 0>
struct InOut : View<T, D> {};

namespace detail {

/// What a parameter is: a number or structure, copied at submission; data; or a list of data.
template <class Parameter>
struct ParameterTraits {
  static constexpr bool is_data = false, is_list = false;
};
template <class View_, class T, int D, Access::Mode Mode>
struct DataTraits {
  static constexpr bool is_data = true, is_list = false;
  static constexpr int dimensions = D;
  static constexpr Access::Mode mode = Mode;
  using View = View_;
  using Element = T;
};
template <class T, int D>
struct ParameterTraits<In<T, D>> : DataTraits<In<T, D>, T, D, Access::Mode::in> {};
template <class T, int D>
struct ParameterTraits<Out<T, D>> : DataTraits<Out<T, D>, T, D, Access::Mode::out> {};
template <class T, int D>
struct ParameterTraits<InOut<T, D>> : DataTraits<InOut<T, D>, T, D, Access::Mode::inout> {};
template <class Data>
requires(ParameterTraits<Data>::is_data) struct ParameterTraits<std::vector<Data>> : ParameterTraits<Data> {
  static constexpr bool is_list = true;
};

/// Values behind each other, without gaps: the bytes of a task's arguments follow from the values alone (Batch tells tasks apart by them).
class Packer {
 public:
  template <class T>
  void put(const T& value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Takes them out again, and the task's buffers in turn.
class Unpacker {
 public:
  explicit Unpacker(Call& call) : call_(call), next_(&call.arguments<std::byte>()) {}

  template <class Parameter>
  Parameter take() {
    using Traits = ParameterTraits<Parameter>;
    if constexpr (Traits::is_list) {
      Parameter list(take_value<std::size_t>());
      for (auto& data : list) data = take_data<typename Traits::View>();
      return list;
    } else if constexpr (Traits::is_data) {
      return take_data<Parameter>();
    } else {
      return take_value<Parameter>();
    }
  }

 private:
  template <class T>
  T take_value() {
    T value;
    std::memcpy(static_cast<void*>(&value), next_, sizeof value);
    next_ += sizeof value;
    return value;
  }
  template <class Data>
  Data take_data() {
    Data data;
    if constexpr (ParameterTraits<Data>::dimensions > 0) data.extents = take_value<decltype(data.extents)>();
    data.data = call_.buffer<std::remove_pointer_t<decltype(data.data)>>(buffers_++);
    return data;
  }
  Call& call_;
  const std::byte* next_;
  int buffers_ = 0;
};

/// Calls a lambda without captures with what was submitted.
template <class Lambda, class... Parameters>
void run_lambda(Call& call) {
  Unpacker unpacker(call);
  std::tuple<Parameters...> values{unpacker.template take<Parameters>()...};  // braces: from left to right
  std::apply([&call](auto&... value) { Lambda{}(call, value...); }, values);
}

/// void(Parameters...) of a lambda void(Call&, Parameters...), without references.
template <class Function>
struct SignatureTraits;
template <class Lambda, class... Parameters>
struct SignatureTraits<void (Lambda::*)(Call&, Parameters...) const> {
  using type = void(std::remove_cvref_t<Parameters>...);
};
template <class Lambda>
using Signature = typename SignatureTraits<decltype(&Lambda::operator())>::type;

template <class Lambda>
concept CodeletLambda = std::is_empty_v<Lambda> && std::is_default_constructible_v<Lambda> && requires {
  &Lambda::operator();
};

}  // namespace detail

/// A task with its data and numbers, ready to be submitted.
struct TypedTask {
  const Codelet* codelet;
  std::vector<std::byte> arguments;
  AccessList accesses;
};

/// A codelet of which the compiler knows what its tasks use:
///
///     const TypedCodelet scale("scale", CodeletKind::vector, [](Call& call, InOut<double, 1> x, double a) {
///       call.team().for_range(x.size(), [&](std::int64_t begin, std::int64_t end, int) {
///         for (std::int64_t i = begin; i < end; ++i) x[i] *= a;
///       });
///     });
///     submit(scale.on(x, 2.0), {.flops = n, .bytes = 16 * n}, {.owner = 1});     // x: Array<double, 1>
///
/// The lambda returns nothing and captures nothing (what it needs are parameters). Parameters behind the call: In, Out and InOut with
/// element type and dimensions; std::vector of one of them, for any number of data; trivially copyable numbers and structures without gaps
/// between their members. An optional second lambda with the same parameters is the CUDA version: data are then device pointers, and it
/// enqueues on call.stream() and returns, without waiting. It is a Codelet in every other respect; like one it lives as long as the
/// program.
template <class Signature>
class TypedCodelet;
template <class... Parameters>
class TypedCodelet<void(Parameters...)> {
 public:
  template <detail::CodeletLambda Cpu>
  TypedCodelet(std::string name, CodeletKind kind, Cpu) : codelet_(std::move(name), kind, detail::run_lambda<Cpu, Parameters...>) {}
  template <detail::CodeletLambda Cpu, detail::CodeletLambda Cuda>
  TypedCodelet(std::string name, CodeletKind kind, Cpu, Cuda)
      : codelet_(std::move(name), kind, detail::run_lambda<Cpu, Parameters...>, detail::run_lambda<Cuda, Parameters...>) {}

  /// A task on data and numbers in the order of the lambda's parameters: for In, Out and InOut an Array of that type and shape, or a
  /// Handle, which for D = 0 has one element at least and for D = 1 is taken whole; for lists a vector of pointers to them. Throws
  /// Error(internal) naming the codelet where a handle is smaller than an element, or is used twice by a task that writes it.
  template <class... Given>
  TypedTask on(const Given&... given) const {
    static_assert(sizeof...(Given) == sizeof...(Parameters), "the task does not have as many data and numbers as its codelet");
    detail::Packer packer;
    AccessList accesses;
    (bind<Parameters>(packer, accesses, given), ...);
    if (packer.bytes().empty()) packer.put(std::byte{});  // a task of no bytes would have no place for them
    for (std::size_t i = 0; i < accesses.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (accesses[i].handle->state() == accesses[j].handle->state() &&
            (accesses[i].mode != Access::Mode::in || accesses[j].mode != Access::Mode::in))
          throw Error(ErrorKind::internal, codelet_.name(), "a task is to write data that it uses for another parameter too",
                      "use one InOut parameter");
    return {&codelet_, packer.bytes(), std::move(accesses)};
  }

  const Codelet& codelet() const { return codelet_; }

 private:
  template <class Parameter, class Given>
  void bind(detail::Packer& packer, AccessList& accesses, const Given& given) const {
    using Traits = detail::ParameterTraits<Parameter>;
    if constexpr (Traits::is_list) {
      packer.put(given.size());
      for (const auto* data : given) bind_data<Traits>(packer, accesses, *data);
    } else if constexpr (Traits::is_data) {
      bind_data<Traits>(packer, accesses, given);
    } else {
      static_assert(std::is_trivially_copyable_v<Parameter> && !std::is_pointer_v<Parameter>,
                    "numbers of a task are copied, maybe to another memory");
      packer.put(static_cast<Parameter>(given));
    }
  }
  template <class Traits, class Element>
  void bind_data(detail::Packer& packer, AccessList& accesses, const Array<Element, Traits::dimensions>& array) const {
    static_assert(std::is_same_v<Element, typename Traits::Element>, "the array has elements of another type");
    packer.put(array.extents());
    accesses.push_back({&array.handle(), Traits::mode});
  }
  template <class Traits>
  void bind_data(detail::Packer& packer, AccessList& accesses, const Handle& handle) const {
    static_assert(Traits::dimensions <= 1, "a handle has no shape: give an array");
    if (handle.bytes() < sizeof(typename Traits::Element))
      throw ShapeError(codelet_.name(), "a handle of " + std::to_string(handle.bytes()) + " bytes is smaller than an element");
    if constexpr (Traits::dimensions == 1) packer.put(static_cast<std::int64_t>(handle.bytes() / sizeof(typename Traits::Element)));
    accesses.push_back({&handle, Traits::mode});
  }

  Codelet codelet_;
};

template <class Cpu>
TypedCodelet(std::string, CodeletKind, Cpu) -> TypedCodelet<detail::Signature<Cpu>>;
template <class Cpu, class Cuda>
TypedCodelet(std::string, CodeletKind, Cpu, Cuda) -> TypedCodelet<detail::Signature<Cpu>>;

/// Submits one task, as submit() of codelet.hpp does.
inline void submit(const TypedTask& task, Cost cost = {}, Placement placement = {}) {
  detail::submit(*task.codelet, task.arguments.data(), task.arguments.size(), task.accesses, cost, placement);
}

}  // namespace quarkstar::runtime
