#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/node.hpp"
#include "tenon/type.hpp"
#include "tenon/use.hpp"

namespace tenon {
class Component;
}

namespace tenon::manifest {

/// Builds the components that options ask for (Use<Kind>).
class TENON_CORE ComponentSource {
 public:
  virtual ~ComponentSource();
  /// `path` says where it is wanted ("registries.main.limiter"). A component's own errors carry its position.
  virtual Result<std::shared_ptr<void>> build(std::string_view kind, const Component& component,
                                              const std::string& path) = 0;
};

/// Reads one node of a manifest, strictly: unknown keys, wrong types, numbers out of range and nulls are mistakes. A
/// mistake goes to the Diagnostics with its position and reading goes on (the function returns true and leaves the
/// value alone), so that one run finds all of them. Whoever reads looks at the Diagnostics afterwards.
/// Threads: one at a time. Ownership: borrows `place`'s document (shared), the diagnostics and the source.
class TENON_CORE ManifestReader final : public Reader {
 public:
  /// `own_keys` of the node are passed over: they belong to someone else. `source` null: components stay unbuilt, which
  /// only core's own options (Component members) allow.
  ManifestReader(Place place, Diagnostics& diagnostics, ComponentSource* source = nullptr,
                 std::vector<std::string_view> own_keys = {});
  /// Reads an object of `type`. Everything wrong is in the diagnostics.
  void read(const MessageType& type, void* object);

  Kind peek() override;
  bool null() override;
  bool boolean(bool& value) override;
  bool integer(std::int64_t& value, Kind kind) override;
  bool unsigned_integer(std::uint64_t& value, Kind kind) override;
  bool floating(double& value, Kind kind) override;
  bool string(std::string& value) override;
  bool bytes(std::string& value) override;
  bool enumeration(std::int32_t& value, const EnumType& type) override;
  bool duration(std::chrono::nanoseconds& value) override;
  bool begin_list(const Type* element) override;
  bool next_element() override;
  bool begin_map(const Type* key, const Type* value) override;
  bool next_entry() override;
  bool begin_message(const MessageType& type) override;
  const Field* next_field(const MessageType& type) override;
  bool key(std::string& value) override;
  bool component(ComponentSlot& slot) override;

 private:
  struct Level {
    const Node* node;       // null: reads as empty, after a mistake or as an empty message
    std::size_t next = 0;   // index of the next element or entry
    std::size_t path_size;  // of path_ without this level's members
    const Type* element = nullptr;
    bool root = false;
    const Field* rest = nullptr;  // message: the member that takes the keys nobody else knows
    bool rest_taken = false;
    std::vector<std::string_view> known;  // keys that are not the rest's
  };

  const Node& take();
  const Node* scalar(std::string_view expected);
  void wrong(const Node& node, std::string text);
  void expect(const Node& node, std::string_view expected);
  void push(const Node* node);
  bool nothing_there(const Node& node, const Type* type);
  bool inline_component(const Node& node, ComponentSlot& slot);

  Place place_;
  Diagnostics& diagnostics_;
  ComponentSource* source_;
  std::vector<std::string_view> own_keys_;
  std::vector<Level> levels_;
  const Node* next_;              // what the next function reads
  const Entry* entry_ = nullptr;  // map: the entry whose key is next_
  Position last_;
  std::string path_;
};

}  // namespace tenon::manifest
