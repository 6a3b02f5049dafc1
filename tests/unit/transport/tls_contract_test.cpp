#include "contract/transport_contract.hpp"

#include "contract/through_proxy.hpp"
#include "support/test_certificates.hpp"
#include "tls_transport.hpp"

namespace tenon::test {
namespace {

/// Both ends of the suite are one transport: it listens with a certificate and asks its peers for one.
std::unique_ptr<Transport> make_tls(Environment environment, tls::TlsOptions options) {
  static TestCertificates certificates(testing::TempDir());
  static const bool issued = [] {
    certificates.issue("both", {"both", "DNS:localhost,IP:127.0.0.1,IP:::1"});
    return true;
  }();
  EXPECT_TRUE(issued);
  options.certificate = certificates.pem("both");
  options.key = certificates.key("both");
  options.ca = certificates.ca;
  auto made = tls::TlsTransport::create(options, environment);
  EXPECT_TRUE(made.ok()) << made.error().text();
  return made.ok() ? std::move(*made) : nullptr;
}

std::unique_ptr<Transport> make_plain_tls(Environment environment) {
  tls::TlsOptions options;
  options.verify = tls::Verify::none;
  return make_tls(environment, options);
}
std::unique_ptr<Transport> make_mutual_tls(Environment environment) {
  tls::TlsOptions options;
  options.verify = tls::Verify::require;
  return make_tls(environment, options);
}
/// Small socket buffers: records are sent in pieces all the time.
std::unique_ptr<Transport> make_cramped_tls(Environment environment) {
  tls::TlsOptions options;
  options.send_buffer = ByteSize(4096);
  options.receive_buffer = ByteSize(4096);
  return make_tls(environment, options);
}

std::string as_it_is(const std::string& address) { return address; }
std::string by_name(const std::string& address) { return "localhost" + address.substr(address.rfind(':')); }

INSTANTIATE_TEST_SUITE_P(
    Tls, TransportContract,
    testing::Values(TransportCase{"v4", make_plain_tls, "127.0.0.1:0", "127.0.0.1:1", as_it_is, 24u << 20, true},
                    TransportCase{"v6", make_mutual_tls, "[::1]:0", "[::1]:1", as_it_is, 24u << 20, true},
                    TransportCase{"mutual", make_mutual_tls, "localhost:0", "localhost:1", by_name, 24u << 20, true},
                    TransportCase{"cramped", make_cramped_tls, "127.0.0.1:0", "127.0.0.1:1", as_it_is, 4u << 20, true}),
    name_of_case);

TransportCase cut_into_pieces() {
  TransportCase made{"sliced", make_mutual_tls, "127.0.0.1:0", "127.0.0.1:1", through_proxy(both(sliced())),
                     1u << 20, true};
  made.direct = false;
  return made;
}
INSTANTIATE_TEST_SUITE_P(TlsThroughProxy, TransportContract, testing::Values(cut_into_pieces()), name_of_case);

}  // namespace
}  // namespace tenon::test
