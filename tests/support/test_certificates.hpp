#pragma once
// Certificates made while the test runs: authorities, and what they sign.

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace tenon::test {

/// A folder of the test's own, removed with it.
class CertificateFolder {
 public:
  explicit CertificateFolder(const std::string& below) : path_(below + "tenon-tls-XXXXXX") {
    if (!::mkdtemp(path_.data())) throw std::runtime_error("no folder for certificates");
  }
  CertificateFolder(const CertificateFolder&) = delete;
  CertificateFolder& operator=(const CertificateFolder&) = delete;
  ~CertificateFolder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Writes the file in one step, so that nobody reads half of it.
inline void write_file(const std::string& file, const std::string& text) {
  std::ofstream(file + ".new") << text;
  std::filesystem::rename(file + ".new", file);
}

/// A certificate and its key.
class Certificate {
 public:
  struct Of {
    std::string common_name;
    std::string alternatives;  ///< "DNS:localhost,IP:127.0.0.1"; empty: none
    long from_days = -1;
    long to_days = 30;
    bool authority = false;
  };

  /// Signed by `issuer`, or by itself.
  explicit Certificate(const Of& of, const Certificate* issuer = nullptr)
      : key_(EVP_EC_gen("P-256"), &EVP_PKEY_free), certificate_(X509_new(), &X509_free) {
    X509* made = certificate_.get();
    X509_set_version(made, X509_VERSION_3);
    static long serial = ::getpid() * 1000L;
    ASN1_INTEGER_set(X509_get_serialNumber(made), ++serial);
    constexpr long day = 24 * 3600;
    X509_gmtime_adj(X509_getm_notBefore(made), of.from_days * day);
    X509_gmtime_adj(X509_getm_notAfter(made), of.to_days * day);
    X509_set_pubkey(made, key_.get());
    X509_NAME* name = X509_get_subject_name(made);
    if (!of.common_name.empty())
      X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                 reinterpret_cast<const unsigned char*>(of.common_name.data()),
                                 static_cast<int>(of.common_name.size()), -1, 0);
    X509_set_issuer_name(made, issuer ? X509_get_subject_name(issuer->certificate_.get()) : name);
    add(NID_basic_constraints, of.authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
    if (!of.alternatives.empty()) add(NID_subject_alt_name, of.alternatives);
    if (X509_sign(made, issuer ? issuer->key_.get() : key_.get(), EVP_sha256()) == 0)
      throw std::runtime_error("cannot sign a certificate");
  }

  /// PEM.
  std::string text() const {
    return written([this](BIO* out) { PEM_write_bio_X509(out, certificate_.get()); });
  }
  std::string key_text(const char* passphrase = nullptr) const {
    return written([this, passphrase](BIO* out) {
      PEM_write_bio_PKCS8PrivateKey(out, key_.get(), passphrase ? EVP_aes_128_cbc() : nullptr, passphrase,
                                    passphrase ? 4 : 0, nullptr, nullptr);
    });
  }
  X509* get() const noexcept { return certificate_.get(); }
  EVP_PKEY* key() const noexcept { return key_.get(); }

 private:
  void add(int extension, const std::string& value) {
    X509_EXTENSION* made = X509V3_EXT_conf_nid(nullptr, nullptr, extension, value.c_str());
    if (!made) throw std::runtime_error("bad extension " + value);
    X509_add_ext(certificate_.get(), made, -1);
    X509_EXTENSION_free(made);
  }
  template <class F>
  static std::string written(F write) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), &BIO_free);
    write(out.get());
    char* text = nullptr;
    const long size = BIO_get_mem_data(out.get(), &text);
    return std::string(text, static_cast<std::size_t>(size));
  }
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_;
  std::unique_ptr<X509, decltype(&X509_free)> certificate_;
};

/// Certificates as files, for options.
class TestCertificates {
 public:
  explicit TestCertificates(const std::string& below)
      : folder(below), authority({"Test CA", "", -1, 30, true}), other({"Other CA", "", -1, 30, true}) {
    write_file(ca, authority.text());
    write_file(other_ca, other.text());
  }
  /// NAME.pem and NAME.key, signed by the authority (or `issuer`).
  void issue(const std::string& name, const Certificate::Of& of, const Certificate* issuer = nullptr) {
    write(name, Certificate(of, issuer ? issuer : &authority));
  }
  void write(const std::string& name, const Certificate& certificate) {
    write_file(key(name), certificate.key_text());
    write_file(pem(name), certificate.text());
  }
  std::string pem(const std::string& name) const { return folder.file(name + ".pem"); }
  std::string key(const std::string& name) const { return folder.file(name + ".key"); }

  CertificateFolder folder;
  Certificate authority;
  Certificate other;
  const std::string ca = folder.file("ca.pem");
  const std::string other_ca = folder.file("other-ca.pem");
};

}  // namespace tenon::test
