#pragma once
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/method.hpp"
#include "tenon/protobuf.hpp"
#include "tenon/result.hpp"
#include "tenon/schema.hpp"

namespace tenon::cli {

/// The methods of one interface, with message types made at run time: protobuf messages where a file descriptor set is
/// known (so that JSON is the canonical mapping), dynamic values otherwise.
/// Threads: const functions from any. Ownership: owns types and methods; must outlive calls and objects of them.
class InterfaceTypes {
 public:
  /// From what a server says of itself (tenon.Descriptors). Fails with: malformed, invalid_argument, too_large.
  static Result<std::unique_ptr<InterfaceTypes>> from_schema(const SchemaService& schema);
  /// From a .proto file; `imports` are searched for what it imports, then its own folder. Blocking: reads files.
  /// Fails with: config (the text has "file:line:col: text" lines), not_found (no such service in the file).
  static Result<std::unique_ptr<InterfaceTypes>> from_proto(const std::string& file,
                                                            const std::vector<std::string>& imports,
                                                            std::string_view interface);

  /// One method with these parameters (arg0, arg1 …), whose answer is a value of any kind; objects of its input are
  /// Values, lists in order or maps by name. Fails with: invalid_argument, too_large (types that cannot be sent).
  static Result<std::unique_ptr<InterfaceTypes>> from_parameters(std::string_view interface, std::string_view method,
                                                                 std::span<const SchemaType> types);

  /// Fails with: not_found, with the name that may be meant or all there are.
  Result<const Method*> find(std::string_view method) const;

 private:
  explicit InterfaceTypes(std::string_view interface) : interface_(interface) {}
  Result<void> add_protobuf_methods(std::string_view file_descriptor_set);
  Result<void> add_dynamic_methods(const SchemaService& schema);
  void add(std::string_view name, Shape shape, const MessageType& input, const MessageType& output, bool idempotent);

  std::string interface_;
  ProtobufTypes protobuf_;
  std::unique_ptr<DynamicTypes> dynamic_;
  std::deque<std::string> names_;
  std::vector<Method> methods_;
};

}  // namespace tenon::cli
