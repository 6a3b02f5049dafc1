// Reads the input as a conversation with a registry center that keeps everything in memory: who opens, announces,
// watches, operates, what arrives as bytes of the serializer "simple", and how time goes on. Checked after each step:
// what the center counts is what there is, and revisions only grow; at the end, after a while of silence, nothing is
// left.
//
//   input = step*                step = code, then by code:
//     0x00 … 0x7F   method number code % methods with u16 length + that many bytes: its arguments as they were sent
//     0x80 … 0xFE   method number code % methods with arguments made of the following three bytes
//     0xFF          one byte: so many tenths of a lease pass
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "center.hpp"
#include "simple_serializer.hpp"
#include "support/direct_calls.hpp"

namespace {

using namespace tenon;          // NOLINT
using namespace tenon::center;  // NOLINT

void require(bool holds) {
  if (!holds) std::abort();
}

class Silence final : public Log {
 public:
  bool enabled(Level) const noexcept override { return false; }
  void write(Level, std::string_view, std::string_view) noexcept override {}
};

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : bytes_(reinterpret_cast<const char*>(data), size) {}
  bool empty() const noexcept { return bytes_.empty(); }
  unsigned byte() { return bytes_.empty() ? 0 : static_cast<unsigned char>(take(1)[0]); }
  std::string_view take(std::size_t n) {
    const std::string_view taken = bytes_.substr(0, n);
    bytes_.remove_prefix(taken.size());
    return taken;
  }

 private:
  std::string_view bytes_;
};

/// Arguments out of few, so that steps meet each other.
struct Few {
  unsigned a, b, c;

  ClientKey key() const {
    std::string id(32, '0');
    id.back() = static_cast<char>('0' + a % 4);
    return {id, std::string(32, static_cast<char>('a' + (a % 64 == 63 ? 5 : a % 4)))};
  }
  ServiceName service() const { return {"s" + std::to_string(b % 3), b % 16 == 15 ? "a/b" : "", ""}; }
  std::string id() const { return std::to_string(c % 4); }
  Instance instance() const {
    Instance made;
    made.id = id();
    made.transport = "tcp";
    made.address = "h:1";
    made.weight = c;
    if (c % 32 == 31) made.metadata["large"] = std::string(3000, 'x');
    return made;
  }
  Document document() const {
    return {"kind" + std::to_string(a % 2), std::to_string(b % 2), std::string(c, 't'), c % 8};
  }
};

class Conversation {
 public:
  Conversation() {
    CenterOptions options;
    options.lease = std::chrono::seconds(1);
    options.preserve_limit = 2;
    options.max_clients = 3;
    options.max_instances = 8;
    options.max_subscriptions = 6;
    options.max_list = 8192;
    options.max_documents = 3;
    options.max_document_bytes = 1000;
    auto made = Center::create(options, Environment{executor_, log_, executor_.clock()});
    require(made.ok());
    center_ = std::move(*made);
    auto serializer = simple::SimpleSerializer::create({}, Environment{executor_, log_, executor_.clock()});
    require(serializer.ok());
    serializer_ = std::move(*serializer);
    encoding_.serializer = serializer_.get();
    executor_.run();
  }

  void step(Input& input) {
    const unsigned code = input.byte();
    if (code == 0xFF) {
      executor_.go(std::chrono::milliseconds(100) * static_cast<int>(input.byte() % 40));
    } else if (code >= 0x80) {
      few(code, {input.byte(), input.byte(), input.byte()});
    } else {
      const unsigned low = input.byte();
      sent(code, input.take(low | input.byte() << 8));
    }
    executor_.run();
    for (auto& stream : streams_) read(*stream);
    check();
  }

  void finish() {
    for (auto& stream : streams_) stream->end();
    streams_.clear();
    executor_.go(std::chrono::seconds(6));
    const State state = ask_state();
    require(state.clients == 0 && state.instances == 0 && state.services == 0 && state.subscriptions == 0);
    require(state.whole && !state.preserving);
    center_.reset();
    executor_.run();
    require(executor_.clock().next() == never);
  }

 private:
  const Method& method(unsigned code) const { return center_->methods()[code % center_->methods().size()]; }

  // What arrives from the network.
  void sent(unsigned code, std::string_view bytes) {
    auto call = std::make_unique<test::DirectCall>(*center_, method(code).name, executor_);
    call->request().payload = Payload::borrow_encoded(encoding_, bytes);
    run(std::move(call));
  }
  template <class... A>
  void send(std::string_view name, const A&... arguments) {
    auto call = std::make_unique<test::DirectCall>(*center_, name, executor_);
    const Arguments<A...> in{{arguments...}};
    call->request().payload = Payload::borrow(message_type<Arguments<A...>>(), &in);
    run(std::move(call));
  }
  void run(std::unique_ptr<test::DirectCall> call) {
    call->start();
    executor_.run();
    require(call->answered_yet());  // there is no store to wait for
    if (call->method().shape == Shape::server_stream && !call->over()) streams_.push_back(std::move(call));
  }
  void few(unsigned code, const Few& few) {
    const std::string_view name = method(code).name;
    if (name == "open") return send(name, Opening{few.key(), "app" + few.id(), ""});
    if (name == "beat" || name == "close") return send(name, few.key());
    if (name == "announce" || name == "update") return send(name, few.key(), few.service(), few.instance());
    if (name == "withdraw") return send(name, few.key(), few.service(), few.id());
    if (name == "watch") return send(name, few.key(), few.service(), few.id());
    if (name == "watch_document") return send(name, few.key(), few.document().kind, few.document().group);
    if (name == "instances" || name == "subscribers") return send(name, few.service());
    if (name == "read") return send(name, few.document().kind, few.document().group);
    if (name == "write" || name == "remove") return send(name, few.document());
    if (name == "set_weight") return send(name, few.service(), few.id(), static_cast<std::uint32_t>(few.a));
    if (name == "set_serving") return send(name, few.service(), few.id(), few.a % 2 == 0);
    // Somebody gives a stream up.
    if (streams_.empty()) return;
    const auto at = streams_.begin() + static_cast<std::ptrdiff_t>(few.a % streams_.size());
    (*at)->end();
    streams_.erase(at);
  }
  void read(test::DirectCall& stream) {
    stream.ask();
    executor_.run();
    if (stream.method().name == "watch") {
      if (const auto list = stream.take<List>()) require(list->revision <= ask_state().revision);
    } else {
      (void)stream.take<Document>();
    }
  }
  State ask_state() {
    const Result<State> state = test::call_directly<State>(*center_, executor_, "state");
    require(state.ok());
    return *state;
  }
  void check() {
    std::erase_if(streams_, [](const auto& stream) { return stream->over(); });
    const State state = ask_state();
    require(state.revision >= revision_);
    revision_ = state.revision;
    require(state.subscriptions <= streams_.size());  // some have ended and their last list is unread
    const auto services = test::call_directly<std::vector<ServiceName>>(*center_, executor_, "services");
    require(services.ok());
    std::size_t instances = 0;
    for (const ServiceName& service : *services)
      instances += test::call_directly<std::vector<Instance>>(*center_, executor_, "instances", service)->size();
    require(instances == state.instances && instances <= 8 && state.clients <= 3 && state.documents <= 3);
  }

  test::ManualExecutor executor_;
  Silence log_;
  std::unique_ptr<Center> center_;
  std::unique_ptr<simple::SimpleSerializer> serializer_;
  Encoding encoding_;
  std::vector<std::unique_ptr<test::DirectCall>> streams_;
  std::uint64_t revision_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Conversation conversation;
  Input input(data, size);
  for (int steps = 0; steps < 200 && !input.empty(); ++steps) conversation.step(input);
  conversation.finish();
  return 0;
}
