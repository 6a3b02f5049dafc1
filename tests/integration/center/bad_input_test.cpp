// What nobody should send, and clients that do not read or do not speak: clear errors, and nobody else feels it.
#include "../faults/measures.hpp"
#include "center_app.hpp"
#include "support/fault_proxy.hpp"
#include "support/raw_socket.hpp"

namespace tenon::center {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(TENON_UNDER_TSAN)
constexpr bool measures_memory = false;  // sanitizers keep what is freed
#else
constexpr bool measures_memory = true;
#endif

/// A center, and two clients who do nothing wrong: a provider of "good", and a consumer who watches it.
class CenterBadInput : public testing::Test {
 protected:
  explicit CenterBadInput(CenterOptions options = {}) : center(options) {
    EXPECT_TRUE(provider.open().ok());
    EXPECT_TRUE(consumer.open().ok());
    EXPECT_TRUE(provider.announce(instance("good")).ok());
    lists_.emplace(consumer.watch());
    EXPECT_TRUE(reads_ids(*lists_, {"good"}));
  }
  /// A change of the provider's reaches the consumer, whose lists have had nothing else in them; and both are known.
  void unharmed(const std::string& after) {
    ++weight_;
    const Result<void> updated = provider.update(instance("good", weight_));
    ASSERT_TRUE(updated.ok()) << "after " << after << ": " << updated.error().text();
    List list;
    ASSERT_TRUE(reads<List>(*lists_, list, [&](const List& now) {
      EXPECT_EQ(now.instances.size(), 1u) << "after " << after;
      EXPECT_EQ(now.instances.at(0).id, "good");
      EXPECT_TRUE(now.withdrawn.empty());
      return now.instances.at(0).weight == weight_;
    })) << "after "
        << after;
    const Result<Beaten> beaten = provider.beat();
    ASSERT_TRUE(beaten.ok()) << "after " << after << ": " << beaten.error().text();
    EXPECT_EQ(beaten->instances, 1u);
    EXPECT_TRUE(consumer.beat().ok());
  }
  /// Refused with that code, in a sentence that is no copy of what was sent.
  static void refused(const Error& error, Errc code, const std::string& what) {
    EXPECT_EQ(error.code(), code) << what << ": " << error.text();
    // What is no text at all does not get through the serializer.
    EXPECT_TRUE(error.text().starts_with("center: ") || error.text().find("is not UTF-8") != std::string::npos)
        << error.text();
    EXPECT_LT(error.text().size(), 400u) << what;
    EXPECT_EQ(error.text().find('\0'), std::string::npos) << what;
  }
  template <class T>
  static void refused(const Result<T>& result, Errc code, const std::string& what) {
    refused(result.ok() ? Error() : result.error(), code, what);
  }

  const CenterApp center;
  const Member provider{center.address(), "host/provider"};
  const Member consumer{center.address(), "host/consumer"};

 private:
  std::optional<Stream<List>> lists_;
  std::uint32_t weight_ = 100;
};

TEST_F(CenterBadInput, NamesInEveryPlaceOfEveryMethod) {
  const Member bad(center.address(), "host/bad");
  ASSERT_TRUE(bad.open().ok());
  const Calls& calls = bad.calls;
  const std::pair<const char*, std::string> names[] = {
      {"a slash", "a/b"},        {"..", ".."},
      {".", "."},                {"NUL", std::string("a\0b", 3)},
      {"an escape", "a\x1B[2J"}, {"no UTF-8", "a\xFF"},
      {"64 KiB", std::string(64 << 10, 'x')},
  };
  constexpr Errc invalid = Errc::invalid_argument;
  for (const auto& [what, name] : names) {
    for (const ServiceName& service :
         {ServiceName{name, "", ""}, ServiceName{"demo.Greeter", name, ""}, ServiceName{"demo.Greeter", "", name}}) {
      refused(bad.announce(instance("bad"), service), invalid, what);
      refused(bad.update(instance("bad"), service), invalid, what);
      refused(bad.withdraw("bad", service), invalid, what);
      refused(calls.set_weight(service, "bad", 1), invalid, what);
      refused(calls.set_serving(service, "bad", false), invalid, what);
      Stream<List> lists = bad.watch(service);
      refused(end_of(lists), invalid, what);
    }
    for (const auto& [kind, group] : {std::pair(name, std::string("blue")), std::pair(std::string("command"), name)}) {
      refused(calls.read(kind, group), invalid, what);
      refused(calls.write(Document{kind, group, "text", 0}), invalid, what);
      refused(calls.remove(Document{kind, group, "", 1}), invalid, what);
      Stream<Document> documents = bad.watch_document(kind, group);
      refused(end_of(documents), invalid, what);
    }
    Instance broken = instance("bad");
    broken.transport = name;
    refused(bad.announce(broken), invalid, what);
    broken = instance("bad");
    broken.protocols = {name};
    refused(bad.announce(broken), invalid, what);
    unharmed(what);
  }
  // Ids, addresses and applications are not part of a path: only what no text may be is refused.
  for (const auto& [what, name] : {names[3], names[4], names[5], names[6]}) {
    refused(bad.announce(instance(name)), invalid, what);
    refused(bad.withdraw(name), invalid, what);
    refused(calls.set_weight(greeter, name, 1), invalid, what);
    Instance broken = instance("bad");
    broken.address = name;
    refused(bad.announce(broken), invalid, what);
    Stream<List> lists = bad.watch(greeter, name);
    refused(end_of(lists), invalid, what);
    const Member unnameable(center.address(), name);
    refused(unnameable.open(), invalid, what);
    unharmed(what);
  }
  EXPECT_EQ(bad.beat()->instances, 0u) << "nothing of it is there, and who sent it goes on";
  const State state = provider.state();
  EXPECT_EQ(state.services, 1u);
  EXPECT_EQ(state.instances, 1u);
  EXPECT_EQ(state.clients, 3u);
  EXPECT_EQ(state.subscriptions, 1u);
  EXPECT_EQ(state.documents, 0u);
}

TEST_F(CenterBadInput, SomebodyElsesInstanceAndSomebodyElsesName) {
  const Member thief(center.address(), "host/thief");
  ASSERT_TRUE(thief.open().ok());
  Instance hostile = instance("good", 1);
  hostile.address = "10.6.6.6:666";
  constexpr Errc denied = Errc::permission_denied;
  refused(thief.announce(hostile), denied, "announce");
  refused(thief.update(hostile), denied, "update");
  refused(thief.withdraw("good"), denied, "withdraw");
  unharmed("a thief");
  // As the provider, but for its secret.
  const ClientKey forged{provider.key.id, thief.key.secret};
  refused(thief.calls.open(Opening{forged, "host/provider", ""}), denied, "open");
  refused(thief.calls.beat(forged), denied, "beat");
  refused(thief.calls.announce(forged, greeter, hostile), denied, "announce");
  refused(thief.calls.withdraw(forged, greeter, "good"), denied, "withdraw");
  refused(thief.calls.close(forged), denied, "close");
  unharmed("a forger");
  for (const std::string& line : center.log.lines()) EXPECT_EQ(line.find(provider.key.secret), std::string::npos);
  EXPECT_EQ(provider.calls.instances(greeter)->at(0).address, instance("good").address);
}

TEST_F(CenterBadInput, OversizedDocumentsAndInstances) {
  const Member bad(center.address(), "host/bad");
  ASSERT_TRUE(bad.open().ok());
  const Document whole{"command", "blue", std::string(1 << 20, 'x'), 0};
  ASSERT_TRUE(bad.calls.write(whole).ok()) << "1 MiB is allowed";
  Document next = *bad.calls.read("command", "blue");
  next.text += "x";
  refused(bad.calls.write(next), Errc::invalid_argument, "a byte more");
  EXPECT_EQ(bad.calls.read("command", "blue")->text, whole.text) << "nothing is lost";
  Instance large = instance("bad");
  large.metadata["k"] = std::string(9000, 'x');
  refused(bad.announce(large), Errc::invalid_argument, "metadata");
  large = instance("bad");
  large.protocols.assign(10000, "tenon");
  refused(bad.announce(large), Errc::invalid_argument, "protocols");
  unharmed("large texts");
  // What does not even fit into a frame: the sender's own limit says so, and one without such a limit is cut off.
  next.text.assign(20u << 20, 'x');
  const auto local = bad.calls.write(next);
  ASSERT_FALSE(local.ok());
  EXPECT_EQ(local.error().code(), Errc::too_large) << local.error().text();
  AppOptions unlimited = test::client_options(std::string(interface), center.address());
  unlimited.client.references["r"].limits.max_frame = 64u << 20;
  const auto app = test::start(std::move(unlimited));
  const auto remote = Calls(app->reference("r")).write(next);
  ASSERT_FALSE(remote.ok());
  EXPECT_LT(remote.error().text().size(), 400u);
  unharmed("a frame of 20 MiB");
  EXPECT_EQ(provider.calls.read("command", "blue")->text, whole.text);
}

struct CenterFewDocuments : CenterBadInput {
  static CenterOptions few() {
    CenterOptions options;
    options.max_documents = 2;
    options.max_document_bytes = ByteSize(3u << 20);
    return options;
  }
  CenterFewDocuments() : CenterBadInput(few()) {}
};

TEST_F(CenterFewDocuments, TooManyDocuments) {
  const std::string text(1000, 'x');
  ASSERT_TRUE(consumer.calls.write(Document{"command", "a", text, 0}).ok());
  ASSERT_TRUE(consumer.calls.write(Document{"command", "b", text, 0}).ok());
  refused(consumer.calls.write(Document{"command", "c", text, 0}), Errc::overloaded, "a third");
  EXPECT_EQ(provider.calls.read("command", "a")->text, text);
  unharmed("too many documents");
}

// Its connection takes nothing any more, while lists of 200 KB change and change.
TEST_F(CenterBadInput, AClientThatDoesNotReadItsPushes) {
  test::FaultProxy network(center.address());
  const Member slow(network.address(), "host/slow");
  ASSERT_TRUE(slow.open().ok());
  const ServiceName large_service{"demo.Large", "", ""};
  const auto large = [](const std::string& id, std::uint32_t weight = 100) {
    Instance made = instance(id, weight);
    made.metadata["large"] = std::string(4000, 'x');
    return made;
  };
  const Member busy(center.address(), "host/busy");
  ASSERT_TRUE(busy.open().ok());
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(busy.announce(large(i == 49 ? "last" : std::to_string(i)), large_service).ok());
  }
  std::vector<Stream<List>> unread;
  List list;
  for (int i = 0; i < 20; ++i) {
    unread.push_back(slow.watch(large_service));
    ASSERT_TRUE(*unread.back().next(list));
  }
  test::ConnectionFaults deaf;
  deaf.to_client.stall = true;
  network.set(deaf);
  const auto change = [&](std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t weight = from; weight < to; ++weight) {
      ASSERT_TRUE(busy.update(large("last", weight), large_service).ok());
      unharmed("list " + std::to_string(weight));
    }
  };
  change(1, 40);
  const std::size_t before = test::resident_kib();
  change(40, 120);  // 20 streams of 80 lists of 200 KB are 320 MB
  if (measures_memory) {
    EXPECT_LT(test::resident_kib(), before + (20u << 10));
  }
  EXPECT_EQ(provider.state().subscriptions, 21u);
  network.set(test::ConnectionFaults{});
  for (Stream<List>& stream : unread) {
    int messages = 0;
    EXPECT_TRUE(reads<List>(stream, list, [&](const List& now) {
      ++messages;
      return now.instances.back().weight == 119;
    })) << "the newest";
    EXPECT_LE(messages, 4) << "and what was under way";
  }
  unharmed("a slow client");
}

struct CenterShortLease : CenterBadInput {
  static CenterOptions of_a_second() {
    CenterOptions options;
    options.lease = seconds(1);
    return options;
  }
  CenterShortLease() : CenterBadInput(of_a_second()) {}
};

TEST_F(CenterShortLease, ClientsThatSayNothing) {
  // Connected, and not a byte; and half of one.
  std::vector<std::unique_ptr<test::RawSocket>> mute;
  for (int i = 0; i < 50; ++i) {
    mute.push_back(std::make_unique<test::RawSocket>(center.address()));
    ASSERT_TRUE(mute.back()->connected());
    if (i % 2) mute.back()->send("T");
  }
  // Opened, announced and watching, and then nothing, over connections that stay.
  std::vector<std::unique_ptr<Member>> silent;
  std::vector<Stream<List>> streams;
  const ServiceName other{"demo.Other", "", ""};
  for (int i = 0; i < 10; ++i) {
    silent.push_back(std::make_unique<Member>(center.address(), "host/silent-" + std::to_string(i)));
    ASSERT_TRUE(silent.back()->open().ok());
    if (i < 2) {
      ASSERT_TRUE(silent.back()->announce(instance(std::to_string(i)), other).ok());
    }
    streams.push_back(silent.back()->watch(other));
    List list;
    ASSERT_TRUE(*streams.back().next(list));
  }
  const auto begun = std::chrono::steady_clock::now();
  int rounds = 0;
  while (provider.state().clients > 2 && std::chrono::steady_clock::now() < begun + seconds(20)) {
    unharmed("silence, round " + std::to_string(++rounds));
    std::this_thread::sleep_for(milliseconds(50));
  }
  EXPECT_GT(rounds, 1);
  const State state = provider.state();
  EXPECT_EQ(state.clients, 2u);
  EXPECT_EQ(state.instances, 1u);
  EXPECT_EQ(state.subscriptions, 1u);
  EXPECT_EQ(state.services, 1u);
  for (Stream<List>& stream : streams) EXPECT_EQ(end_of(stream).code(), Errc::not_found) << "each is told";
  EXPECT_EQ(center.log.count("center-lost: client \"host/silent-"), 10u);
  unharmed("silence");
}

}  // namespace
}  // namespace tenon::center
