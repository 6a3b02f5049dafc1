#pragma once
// Changing a group's traffic command, and looking at what that would do.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "registry_client.hpp"

namespace tenon::cli {

struct ChangeOptions {
  RegistryTarget target;
  std::string group;
  std::string source;                    ///< of the new command: see read_source()
  std::optional<std::uint64_t> version;  ///< what it must be now
  bool force = false;
  bool dry_run = false;
};

struct PreviewOptions {
  RegistryTarget target;
  std::string group;
  std::string source;  ///< empty: only what is now
  std::string service;
  std::vector<std::string> clients;
  bool json = false;
};

/// `tenon command set`, `delete` and `preview`. Each returns the exit code, and has printed everything.
int set_command(const ChangeOptions& options);
int delete_command(const ChangeOptions& options);
int preview_command(const PreviewOptions& options);

}  // namespace tenon::cli
