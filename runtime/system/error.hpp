#pragma once
// The one exception type that reaches a user. Every other layer throws it, apps/ prints it.
#include <stdexcept>
#include <string>
#include <string_view>

namespace quarkstar {

/// What went wrong, seen from the shell: decides the exit code.
enum class ErrorKind {
  input = 2,        ///< a file, flag or value from outside is wrong: exit code 2
  environment = 3,  ///< the machine lacks something (device, memory, permission): exit code 3
  numerical = 4,    ///< a solve ended without an answer (breakdown, NaN, iteration limit): exit code 4
  internal = 70     ///< a broken invariant of ours: exit code 70
};

/// What an error is about, where it is a parameter: its key among the settings, such as "kappa" or "gpu-memory".
struct Parameter {
  explicit constexpr Parameter(std::string_view its_key) : key(its_key) {}
  std::string_view key;
};

/// A user-facing error in one line: `where: what (field = value); remedy`.
/// where: parameter, file (with line or byte offset) or flag; what: the fact; remedy: what to do about it.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string_view where, std::string_view what, std::string_view remedy)
      : std::runtime_error(compose(where, what, remedy)), kind_(kind) {}
  Error(ErrorKind kind, Parameter parameter, std::string_view what, std::string_view remedy)
      : std::runtime_error(compose(parameter.key, what, remedy)), kind_(kind), parameter_(parameter.key) {}

  ErrorKind kind() const noexcept { return kind_; }
  int exit_code() const noexcept { return static_cast<int>(kind_); }
  /// The key of the parameter that what() begins with, behind the name of a rank where there is one; empty where the error is about
  /// something else.
  const std::string& parameter() const noexcept { return parameter_; }

 protected:
  /// what() is message, about a parameter where there is one.
  Error(ErrorKind kind, std::string_view message, Parameter parameter)
      : std::runtime_error(std::string(message)), kind_(kind), parameter_(parameter.key) {}

 private:
  static std::string compose(std::string_view where, std::string_view what, std::string_view remedy) {
    std::string text;
    if (!where.empty()) text.append(where).append(": ");
    text.append(what);
    if (!remedy.empty()) text.append("; ").append(remedy);
    return text;
  }
  ErrorKind kind_;
  std::string parameter_;
};

/// Extents or shapes of two objects that must agree do not.
class ShapeError : public Error {
 public:
  ShapeError(std::string_view where, std::string_view what)
      : Error(ErrorKind::internal, where, what, "this is a defect: please report it with the command line") {}
};

}  // namespace quarkstar
