#include "runtime/system/error.hpp"

#include <quarkstar_version.hpp>

#include <cstdio>

int main() {
  try {
    throw quarkstar::Error(quarkstar::ErrorKind::input, "package test", "an error was thrown", "catch it");
  } catch (const quarkstar::Error& error) {
    std::printf("quarkstar %s %s\n", quarkstar::version, error.what());
  }
}
