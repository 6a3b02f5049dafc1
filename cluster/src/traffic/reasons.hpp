#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tenon/cluster.hpp"
#include "traffic/command.hpp"

namespace tenon::cluster::traffic {

/// Why the command in force lets an instance serve or does not, in words.
/// Threads: const and concurrent.
class Reasons {
 public:
  /// No command is in force: the own group serves.
  explicit Reasons(std::string own_group) : own_group_(std::move(own_group)) {}
  /// `groups[i]`: how instances have the i-th of its merge groups. `concerned`: places of the rules that are about this
  /// client. `name`: of the command.
  Reasons(std::string own_group, Command command, std::string name, std::vector<std::string> groups,
          std::vector<std::size_t> concerned)
      : own_group_(std::move(own_group)),
        command_(std::move(command)),
        name_(std::move(name)),
        groups_(std::move(groups)),
        concerned_(std::move(concerned)) {}
  /// `serves`: it is in one of the table's subsets.
  std::string of(const Instance& instance, bool serves) const;

 private:
  std::string listed(const Instance& instance, bool serves) const;

  std::string own_group_;
  std::optional<Command> command_;
  std::string name_;
  std::vector<std::string> groups_;
  std::vector<std::size_t> concerned_;
};

}  // namespace tenon::cluster::traffic
