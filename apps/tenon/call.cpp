// tenon call: JSON in, JSON out, any method of any service.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>

#include "command.hpp"
#include "generic_call.hpp"
#include "interface_types.hpp"
#include "manifest/scalar.hpp"
#include "target.hpp"
#include "tenon/app.hpp"
#include "tenon/value.hpp"

namespace tenon::cli {
namespace {

struct CallCommand {
  std::string what;  // SERVICE/METHOD
  std::string json;
  TargetOptions target;
  std::vector<std::string> headers;
  std::string instance;
  std::string proto;
  std::vector<std::string> imports;
  bool each = false;
};

/// What is left of a CallCommand once it has been understood.
struct Question {
  std::string service;
  std::string method;
  std::string json;
  Headers headers;
};

constexpr const char* footer =
    "JSON is the request message, or a list of arguments for a service of plain functions; \"-\" reads it from stdin,\n"
    "@FILE from a file. The types come from the server itself, or from --proto. The answer goes to stdout.\n"
    "\n"
    "Examples:\n"
    "  tenon call demo.Greeter/SayHello '{\"name\":\"Ada\"}' --address tcp:127.0.0.1:4080\n"
    "  tenon call user.UserService/getUser '[7]' --manifest client.yaml --reference users --timeout 250ms\n"
    "  tenon call demo.Greeter/SayHello @request.json --address 127.0.0.1:4080 --proto greeter.proto --import protos\n"
    "  tenon call tenon.Descriptors/services --address tcp:127.0.0.1:4080\n"
    "\n"
    "Exit codes: 0 answered, 1 the call failed (code, who, what and where on stderr), 2 wrong command line, JSON,\n"
    ".proto or manifest";

Error wrong(std::string text) { return Error(Errc::config, "tenon call: " + std::move(text), Delivery::not_run); }

Result<std::string> json_text(const std::string& argument) {
  if (argument == "-") return std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  if (!argument.starts_with('@')) return argument;
  std::ifstream file(argument.substr(1), std::ios::binary);
  if (!file) return wrong(argument.substr(1) + ": cannot be read");
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

Result<Question> understand(const CallCommand& command) {
  Question question;
  const std::size_t slash = command.what.rfind('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == command.what.size())
    return wrong("\"" + command.what + "\" is no SERVICE/METHOD, such as demo.Greeter/SayHello");
  question.service = command.what.substr(0, slash);
  question.method = command.what.substr(slash + 1);
  Result<std::string> json = json_text(command.json);
  if (!json.ok()) return std::move(json).error();
  question.json = std::move(*json);
  for (const std::string& header : command.headers) {
    const std::size_t equals = header.find('=');
    if (equals == std::string::npos || equals == 0) return wrong("--header " + header + ": expected NAME=VALUE");
    question.headers.set(header.substr(0, equals), header.substr(equals + 1));
  }
  if (command.each && !command.instance.empty()) return wrong("--each and --instance exclude each other");
  return question;
}

// The reference that only tells instances and types: the callee without filters, so that nothing counts these calls.
constexpr const char* scout_name = "scout";

Result<AppOptions> app_options(const CallCommand& command, const Question& question) {
  Result<AppOptions> made = client_options(command.target, question.service);
  if (!made.ok()) return made;
  AppOptions options = std::move(*made);
  load_plugin(options, "serialize-json");
  if (command.each) {
    ReferenceOptions scout = options.client.references.at(target_name);
    scout.filters.clear();
    options.client.references.emplace(scout_name, std::move(scout));
  }
  return options;
}

Result<std::shared_ptr<Serializer>> json_serializer(App& app) {
  Executor& control = *app.executors().front();
  for (const CatalogEntry& entry : app.catalog()) {
    if (entry.kind != Serializer::kind || entry.name != "json") continue;
    const Object options(*entry.options);
    Result<std::shared_ptr<void>> made = entry.create(options.get(), Environment{control, app.log(), control.clock()});
    if (!made.ok()) return std::move(made).error();
    return std::static_pointer_cast<Serializer>(std::move(*made));
  }
  return wrong("no loaded plugin has serializer \"json\"; add serialize-json to plugins.load");
}

Result<std::unique_ptr<InterfaceTypes>> types_of(const CallCommand& command, const Question& question,
                                                 Reference& reference, Duration patience) {
  if (!command.proto.empty()) return InterfaceTypes::from_proto(command.proto, command.imports, question.service);
  CallOptions options;
  options.timeout = patience;
  options.instance = command.instance;
  Result<SchemaService> schema = describe_remote(reference, question.service, options);
  if (schema.ok()) return InterfaceTypes::from_schema(*schema);
  Error error = std::move(schema).error();
  if (error.code() == Errc::not_found) return error;
  return std::move(error).prefix("asking what " + question.service + " looks like");
}

// "first_name" and its JSON form "firstName" are the same member.
std::string folded(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (c != '_') text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// The path of the first member of `json` that `type` does not have; serializers skip those, but people mistype them.
std::string unknown_member(const Value& json, const MessageType& type) {
  const Value::Map* members = json.map();
  if (!members || type.form() != Form::message || type.name().starts_with("google.protobuf.")) return {};
  for (const auto& [key, value] : *members) {
    const std::string* name = key.string();
    if (!name) continue;
    const auto fields = type.fields();
    const auto field = std::find_if(fields.begin(), fields.end(),
                                    [&](const Field& candidate) { return folded(candidate.name) == folded(*name); });
    if (field == fields.end()) return *name;
    if (field->type->kind != Kind::message) continue;
    if (const std::string inner = unknown_member(value, *field->type->message); !inner.empty())
      return *name + "." + inner;
  }
  return {};
}

// Fills `request` from JSON. Fails with: what is wrong, for people.
Result<void> read_request(const Serializer& json, std::string_view text, const Object& request) {
  const std::string name(request.type().name());
  if (Result<void> read = json.decode(text, request.type(), request.get()); !read.ok())
    return wrong("the JSON is no " + name + ": " + read.error().text());
  Value value;
  if (Result<void> read = json.decode(text, message_type<Value>(), &value); !read.ok())
    return wrong("the JSON is no " + name + ": " + read.error().text());
  if (const std::string unknown = unknown_member(value, request.type()); !unknown.empty())
    return wrong("the JSON is no " + name + ": it has no member \"" + unknown + '"');
  return {};
}

Result<std::string> call_once(Reference& reference, const Method& method, const Object& request, const Serializer& json,
                              const CallOptions& options) {
  Object reply(*method.output);
  if (Result<void> done = call_method(reference, method, request, reply, options); !done.ok())
    return std::move(done).error();
  OutBuffer text;
  if (Result<void> encoded = json.encode(reply.type(), reply.get(), text); !encoded.ok())
    return std::move(encoded).error().prefix("the answer of " + std::string(method.name) + " as JSON");
  return std::string(text.view());
}

// Every instance in turn; one line "id<tab>answer" each.
int call_each(App& app, const Method& method, const Object& request, const Serializer& json, CallOptions options,
              Duration patience) {
  Result<std::vector<std::string>> instances = instances_of(*app.reference(scout_name), patience);
  if (!instances.ok()) return complain("call", instances.error());
  if (instances->empty())
    return complain("call", Error(Errc::unavailable, "nobody offers " + app.reference(target_name)->service().text()));
  int code = exit_ok;
  for (const std::string& instance : *instances) {
    options.instance = instance;
    Result<std::string> answer = call_once(*app.reference(target_name), method, request, json, options);
    if (answer.ok())
      std::printf("%s\t%s\n", instance.c_str(), answer->c_str());
    else
      code = complain("call " + instance, answer.error());
  }
  return code;
}

int call(const CallCommand& command) {
  Result<Question> question = understand(command);
  if (!question.ok()) return complain("call", question.error());
  Result<AppOptions> app_made = app_options(command, *question);
  if (!app_made.ok()) return complain("call", app_made.error());
  const Duration patience = app_made->client.references.at(target_name).timeout;
  CallOptions options;
  if (!command.target.timeout.empty()) options.timeout = patience;  // also over what the manifest says of the method
  options.headers = question->headers;
  options.instance = command.instance;
  std::unique_ptr<InterfaceTypes> types;  // outlives the App, whose reference binds its methods
  Result<std::unique_ptr<App>> app = App::create(std::move(*app_made));
  if (!app.ok()) return complain("call", app.error());
  if (Result<void> started = (*app)->start(); !started.ok()) return complain("call", started.error());
  Result<std::shared_ptr<Serializer>> json = json_serializer(**app);
  if (!json.ok()) return complain("call", json.error());

  const std::shared_ptr<Reference> reference = (*app)->reference(target_name);
  Result<std::unique_ptr<InterfaceTypes>> found = types_of(command, *question, *reference, patience);
  if (!found.ok()) return complain("call", found.error());
  types = std::move(*found);
  Result<const Method*> method = types->find(question->method);
  if (!method.ok()) return complain("call", method.error());
  const Object request(*(*method)->input);
  std::string text = question->json;
  if (text.empty()) text = request.type().form() == Form::arguments ? "[]" : "{}";
  if (Result<void> read = read_request(**json, text, request); !read.ok()) return complain("call", read.error());

  if (command.each) return call_each(**app, **method, request, **json, options, patience);
  Result<std::string> answer = call_once(*reference, **method, request, **json, options);
  if (!answer.ok()) return complain("call", answer.error());
  std::printf("%s\n", answer->c_str());
  return exit_ok;
}

}  // namespace

Subcommand add_call(CLI::App& tenon) {
  auto command = std::make_shared<CallCommand>();
  CLI::App* parser = tenon.add_subcommand("call", "call a method with JSON");
  parser->footer(footer);
  parser->add_option("SERVICE/METHOD", command->what, "demo.Greeter/SayHello")->required();
  parser->add_option("JSON", command->json, "the request; nothing means {} or []");
  add_target_options(*parser, command->target);
  parser->add_option("--header", command->headers, "sent along, NAME=VALUE")->type_name("HEADER")->take_all();
  parser->add_option("--instance", command->instance, "only the instance with this id or address")->type_name("ID");
  parser->add_flag("--each", command->each, "call every instance, one after the other");
  parser->add_option("--proto", command->proto, "take the types from this file instead of asking the server")
      ->type_name("FILE");
  parser->add_option("--import", command->imports, "where that file's imports are")
      ->type_name("DIR")
      ->take_all()
      ->needs("--proto");
  return {parser, [command] { return call(*command); }};
}

}  // namespace tenon::cli
