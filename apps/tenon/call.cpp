// tenon call: JSON in, JSON out, any method of any service.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include "command.hpp"
#include "dynamic_request.hpp"
#include "generic_call.hpp"
#include "interface_types.hpp"
#include "request_json.hpp"
#include "target.hpp"
#include "tenon/app.hpp"
#include "tenon/value.hpp"
#include "types_option.hpp"

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
  std::optional<std::string> types;
  bool each = false;
  std::size_t limit = 0;
};

/// What is left of a CallCommand once it has been understood.
struct Question {
  std::string service;
  std::string method;
  std::string json;
  std::optional<std::vector<SchemaType>> types;  ///< of --types
  Headers headers;
};

/// The method's types, and the request where nothing but the JSON told them.
struct Answerable {
  std::unique_ptr<InterfaceTypes> types;
  std::optional<Value::List> arguments;
};

constexpr const char* footer =
    "JSON is the request message, or a list of arguments for a service of plain functions; \"-\" reads it from stdin,\n"
    "@FILE from a file. The answer goes to stdout, as JSON; of a stream one message a line, as they come; of a\n"
    "one-way method nothing.\n"
    "\n"
    "The types come from the server itself, from --proto, or from --types, which lists the parameters' types:\n"
    "  bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 string bytes (as base64) value (of any kind), list<T>, map<K,V>;\n"
    "  byte short int long float double are i8 i16 i32 i64 f32 f64; T? may be null: 'map<string,list<i32>>,int?'\n"
    "A server that does not describe itself gets what the JSON shows, if the serializer is not protobuf: a list is\n"
    "the arguments, anything else one argument; integers go as i32 where they fit, else as i64. Say --types where the\n"
    "method wants other kinds.\n"
    "\n"
    "Examples:\n"
    "  tenon call demo.Greeter/SayHello '{\"name\":\"Ada\"}' --address tcp:127.0.0.1:4080\n"
    "  tenon call user.UserService/getUser '[7]' --manifest client.yaml --reference users --timeout 250ms\n"
    "  tenon call demo.Greeter/SayHello @request.json --address 127.0.0.1:4080 --proto greeter.proto --import protos\n"
    "  tenon call --protocol motan2 --serializer simple com.x.Foo/hello '[\"Ray\"]' --address 127.0.0.1:8100\n"
    "  tenon call --protocol motan2 --serializer simple com.x.Foo/add '[-3,300]' --types int,long --address "
    "127.0.0.1:8100\n"
    "  tenon call tenon.Descriptors/services --address tcp:127.0.0.1:4080\n"
    "  tenon call demo.Greeter/Watch '{\"name\":\"Ada\"}' --address tcp:127.0.0.1:4080 --limit 10\n"
    "\n"
    "Exit codes: 0 answered, 1 the call failed (code, who, what and where on stderr), 2 wrong command line, JSON,\n"
    "--types, .proto or manifest";

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
  if (command.types) {
    Result<std::vector<SchemaType>> types = parse_types(*command.types);
    if (!types.ok()) return std::move(types).error().prefix("tenon call");
    question.types = std::move(*types);
  }
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

// A serializer of this App by the name that a manifest calls it, with default options.
Result<std::shared_ptr<Serializer>> serializer_named(App& app, std::string_view name) {
  Executor& control = *app.executors().front();
  for (const CatalogEntry& entry : app.catalog()) {
    if (entry.kind != Serializer::kind || entry.name != name) continue;
    const Object options(*entry.options);
    Result<std::shared_ptr<void>> made = entry.create(options.get(), Environment{control, app.log(), control.clock()});
    if (!made.ok()) return std::move(made).error();
    return std::static_pointer_cast<Serializer>(std::move(*made));
  }
  return wrong("no loaded plugin has serializer \"" + std::string(name) + "\"; add serialize-" + std::string(name) +
               " to plugins.load");
}

Error with_hint(const Error& error, const std::string& hint) {
  return Error(error.code(), error.text() + "; " + hint, error.delivery(), error.advice())
      .foreign(error.domain(), error.foreign_code());
}

// What a call's error says, and what people then overlook: peers that do not know a protocol just hang up.
int failed(std::string_view who, const Error& error, App& app) {
  if (error.code() != Errc::unavailable || error.delivery() != Delivery::maybe_run) return complain(who, error);
  const std::string_view protocol = app.options().client.references.at(target_name).protocol.use();
  return complain(who, with_hint(error, "does the server speak protocol " + std::string(protocol) + "?"));
}

// Where nobody tells the types: every argument as the JSON shows it.
Result<Answerable> untyped(const Question& question, const Serializer& json) {
  Value value = Value::of_list();
  if (!question.json.empty()) {
    if (Result<void> read = json.decode(question.json, message_type<Value>(), &value); !read.ok())
      return wrong("the JSON is no list of arguments: " + read.error().text());
  }
  Answerable made;
  made.arguments = untyped_arguments(std::move(value));
  SchemaType any;
  any.kind = Kind::value;
  const std::vector<SchemaType> types(made.arguments->size(), any);
  Result<std::unique_ptr<InterfaceTypes>> found =
      InterfaceTypes::from_parameters(question.service, question.method, types);
  if (!found.ok()) return std::move(found).error();
  made.types = std::move(*found);
  return made;
}

Result<std::unique_ptr<InterfaceTypes>> told_types(const CallCommand& command, const Question& question) {
  if (!question.types) return InterfaceTypes::from_proto(command.proto, command.imports, question.service);
  Result<std::unique_ptr<InterfaceTypes>> made =
      InterfaceTypes::from_parameters(question.service, question.method, *question.types);
  if (!made.ok()) return wrong("--types: " + made.error().text());
  return made;
}

Result<Answerable> types_of(const CallCommand& command, const Question& question, Reference& reference,
                            const Serializer& json, bool shows, Duration patience) {
  const auto answerable = [](Result<std::unique_ptr<InterfaceTypes>> made) -> Result<Answerable> {
    if (!made.ok()) return std::move(made).error();
    return Answerable{std::move(*made), std::nullopt};
  };
  if (question.types && !shows)
    return wrong(
        "--types needs a serializer that shows of which kind the answer is: say --serializer json, simple …; "
        "protobuf does not");
  if (question.types || !command.proto.empty()) return answerable(told_types(command, question));
  CallOptions options;
  options.timeout = patience;
  options.instance = command.instance;
  Result<SchemaService> schema = describe_remote(reference, question.service, options);
  if (schema.ok()) return answerable(InterfaceTypes::from_schema(*schema));
  Error error = std::move(schema).error();
  const bool silent = describes_nothing(error);
  if (silent && shows) return untyped(question, json);
  if (error.code() != Errc::not_found) error.prefix("asking what " + question.service + " looks like");
  if (!silent) return error;
  return with_hint(error,
                   "the server does not describe itself: give --proto, or a self-describing --serializer (json, "
                   "simple …), then also --types where the JSON does not tell which kinds are meant");
}

Result<std::string> as_json(const Object& reply, const Method& method, const Serializer& json) {
  OutBuffer text;
  if (Result<void> encoded = json.encode(reply.type(), reply.get(), text); !encoded.ok())
    return std::move(encoded).error().prefix("the answer of " + std::string(method.name) + " as JSON");
  return std::string(text.view());
}

/// How an answer is printed: each message behind `lead`, at most `limit` of a stream (0: all).
struct Print {
  const Serializer& json;
  std::string lead;
  std::size_t limit = 0;
};

Result<void> call_once(const std::shared_ptr<Reference>& reference, const Method& method, const Object& request,
                       const CallOptions& options, const Print& print) {
  Object reply(*method.output);
  std::size_t shown = 0;
  const auto show = [&]() -> Result<bool> {
    Result<std::string> text = as_json(reply, method, print.json);
    if (!text.ok()) return std::move(text).error();
    std::printf("%s%s\n", print.lead.c_str(), text->c_str());
    if (std::fflush(stdout) != 0) return wrong("the answer cannot be written to stdout");
    return ++shown != print.limit;
  };
  if (method.shape == Shape::server_stream) return read_stream(reference, method, request, reply, options, show);
  if (Result<void> done = call_method(*reference, method, request, reply, options); !done.ok()) return done;
  if (method.shape == Shape::one_way) return {};
  if (Result<bool> said = show(); !said.ok()) return std::move(said).error();
  return {};
}

// Every instance in turn; lines "id<tab>answer".
int call_each(App& app, const Method& method, const Object& request, Print print, CallOptions options,
              Duration patience) {
  Result<std::vector<std::string>> instances = instances_of(*app.reference(scout_name), patience);
  if (!instances.ok()) return complain("call", instances.error());
  if (instances->empty())
    return complain("call", Error(Errc::unavailable, "nobody offers " + app.reference(target_name)->service().text()));
  int code = exit_ok;
  for (const std::string& instance : *instances) {
    options.instance = instance;
    print.lead = instance + '\t';
    if (Result<void> done = call_once(app.reference(target_name), method, request, options, print); !done.ok())
      code = failed("call " + instance, done.error(), app);
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
  Answerable found;  // outlives the App, whose reference binds its methods
  Result<std::unique_ptr<App>> app = App::create(std::move(*app_made));
  if (!app.ok()) return complain("call", app.error());
  if (Result<void> started = (*app)->start(); !started.ok()) return complain("call", started.error());
  Result<std::shared_ptr<Serializer>> json = serializer_named(**app, "json");
  if (!json.ok()) return complain("call", json.error());
  const std::string_view chosen = (*app)->options().client.references.at(target_name).serializer.use();
  Result<std::shared_ptr<Serializer>> serializer = serializer_named(**app, chosen);
  const bool shows = shows_kinds(serializer.ok() ? (*serializer)->content_type() : chosen);

  const std::shared_ptr<Reference> reference = (*app)->reference(target_name);
  Result<Answerable> told = types_of(command, *question, *reference, **json, shows, patience);
  if (!told.ok()) return failed("call", told.error(), **app);
  found = std::move(*told);
  Result<const Method*> method = found.types->find(question->method);
  if (!method.ok()) return complain("call", method.error());
  const Object request(*(*method)->input);
  if (found.arguments) {
    *static_cast<Value*>(request.get()) = Value::of_list(std::move(*found.arguments));
  } else {
    std::string text = question->json;
    if (text.empty()) text = request.type().form() == Form::arguments ? "[]" : "{}";
    const std::vector<SchemaType>* types = question->types ? &*question->types : nullptr;
    if (Result<void> read = read_request(**json, text, types, request); !read.ok())
      return complain("call", std::move(read).error().prefix("tenon call"));
  }

  const Print print{**json, "", command.limit};
  if (command.each) return call_each(**app, **method, request, print, options, patience);
  if (Result<void> done = call_once(reference, **method, request, options, print); !done.ok())
    return failed("call", done.error(), **app);
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
  parser->add_option("--limit", command->limit, "of a stream: stop after so many messages")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  CLI::Option* types =
      parser->add_option("--types", command->types, "the parameters' types instead of asking the server");
  types->type_name("TYPES")->expected(1);
  parser->add_option("--proto", command->proto, "take the types from this file instead of asking the server")
      ->type_name("FILE")
      ->excludes(types);
  parser->add_option("--import", command->imports, "where that file's imports are")
      ->type_name("DIR")
      ->take_all()
      ->needs("--proto");
  return {parser, [command] { return call(*command); }};
}

}  // namespace tenon::cli
