#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tenon/component.hpp"
#include "tenon/core_export.hpp"
#include "tenon/type.hpp"

namespace tenon {

/// A value that has no parts, or none left ("[]"), of some options.
struct Leaf {
  std::string path;     ///< as in a manifest: "server.listen[0].address"
  std::string text;     ///< as a manifest would write it; empty: none
  bool secret = false;  ///< text that must not be shown, by the rule of is_secret_name()
};

/// True for the name of an option whose text is nobody's business: it contains password, passwd, passphrase, secret,
/// token or credential, or one of its words (apart by case or what is no letter) is key, apikey or auth. In any case.
TENON_CORE bool is_secret_name(std::string_view name) noexcept;
/// What may be shown of a leaf: "***" for a secret, and in place of the password in a URL ("http://user:***@host").
TENON_CORE std::string shown_text(const Leaf& leaf);

/// Receives what a LeafWriter finds, in the order of the members.
class LeafVisitor {
 public:
  virtual void leaf(Leaf leaf) = 0;
  /// A choice of a component, empty or not. `path` is that of its name, `holder` that of the map its options stand in;
  /// `kind` is empty when the place does not tell it.
  virtual void component(const std::string& path, const std::string& holder, std::string_view kind,
                         const Component& component) = 0;
  /// Before a message that is the root or stands in a list or map: its members have defaults of their own.
  virtual void message(const std::string& path, const MessageType& type) = 0;

 protected:
  ~LeafVisitor() = default;
};

/// Takes options apart: `type.write(object, writer)`. Absent members are leaves without text.
/// Ownership: borrows the visitor. Threads: one.
class TENON_CORE LeafWriter final : public ComponentWriter {
 public:
  /// `path`: where the object stands; empty: the root of a manifest.
  LeafWriter(std::string path, LeafVisitor& visitor) : path_(std::move(path)), visitor_(visitor) {}

  void null() override { text({}, false); }
  void boolean(bool value) override { text(value ? "true" : "false", false); }
  void integer(std::int64_t value, Kind kind) override;
  void unsigned_integer(std::uint64_t value, Kind kind) override;
  void floating(double value, Kind kind) override;
  void string(std::string_view value) override;
  void bytes(std::string_view value) override;
  void enumeration(std::int32_t value, const EnumType& type) override;
  void duration(std::chrono::nanoseconds value) override;
  void begin_list(std::size_t size, const Type* element) override;
  void end_list() override { pop(); }
  void begin_map(std::size_t size, const Type* key, const Type* value) override;
  void end_map() override { pop(); }
  void begin_message(const MessageType& type) override;
  void field(const Field& field) override;
  void end_message() override;
  void component(const Component& component) override;

 private:
  struct Level {
    enum class Form : std::uint8_t { list, map, message } form;
    std::size_t path_size;   // of path_ without this level's members
    bool secret;             // everything below is
    bool keys_tell = false;  // map: of values that are no components or messages
    bool at_key = false;     // map: the next text is a key
    bool at_secret = false;  // the current member is
    std::size_t next = 0;    // list: index; message: the first member not announced yet
    const MessageType* message = nullptr;
    const Field* field = nullptr;  // message: the current member
    std::string key;               // map: the current one
  };

  void text(std::string value, bool may_be_secret);
  void push(Level::Form form);
  void pop();
  void step();  // to a list's next element
  void absent(const Field& field);
  bool is_key() const noexcept { return !levels_.empty() && levels_.back().at_key; }
  void key(std::string_view key);
  bool below_secret() const noexcept;
  std::string_view component_kind() const noexcept;
  std::string member_path(const Field& field) const;

  std::string path_;
  LeafVisitor& visitor_;
  std::vector<Level> levels_;
};

}  // namespace tenon
