#include "plugin_host/elf_file.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "tenon/plugin.hpp"

namespace tenon::plugin_host {

namespace {

constexpr std::string_view symbol_prefix = "tenon_plugin_abi";

Error refuse(const std::string& path, const std::string& what) {
  return Error(Errc::config, path + " " + what, Delivery::not_run);
}

class Mapping {
 public:
  static Result<Mapping> open(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return refuse(path, std::string("cannot be opened: ") + std::strerror(errno));
    struct stat facts {};
    Mapping mapping;
    if (::fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size > 0) {
      mapping.size_ = static_cast<std::size_t>(facts.st_size);
      void* const at = ::mmap(nullptr, mapping.size_, PROT_READ, MAP_PRIVATE, fd, 0);
      mapping.data_ = at == MAP_FAILED ? nullptr : static_cast<const char*>(at);
    }
    ::close(fd);
    if (!mapping.data_) mapping.size_ = 0;
    return mapping;
  }
  Mapping() = default;
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping() {
    if (data_) ::munmap(const_cast<char*>(data_), size_);
  }

  std::size_t size() const noexcept { return size_; }
  bool starts_with(std::string_view bytes) const noexcept {
    return size_ >= bytes.size() && std::memcmp(data_, bytes.data(), bytes.size()) == 0;
  }
  bool holds(std::uint64_t offset, std::uint64_t length) const noexcept {
    return offset <= size_ && length <= size_ - offset;
  }
  template <class T>
  std::optional<T> read(std::uint64_t offset) const noexcept {
    if (!holds(offset, sizeof(T))) return std::nullopt;
    T value;
    std::memcpy(&value, data_ + offset, sizeof(T));
    return value;
  }
  // The zero-terminated text at `offset`, which must end before `end`.
  std::optional<std::string_view> text(std::uint64_t offset, std::uint64_t end) const noexcept {
    if (offset >= end || !holds(offset, end - offset)) return std::nullopt;
    const void* const zero = std::memchr(data_ + offset, 0, end - offset);
    if (!zero) return std::nullopt;
    return std::string_view(data_ + offset, static_cast<std::size_t>(static_cast<const char*>(zero) - data_ - offset));
  }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

constexpr std::uint16_t host_machine() noexcept {
#if defined(__x86_64__)
  return EM_X86_64;
#elif defined(__aarch64__)
  return EM_AARCH64;
#elif defined(__riscv)
  return EM_RISCV;
#else
  return EM_NONE;
#endif
}

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
    case EM_X86_64: return "x86-64";
    case EM_386: return "i386";
    case EM_AARCH64: return "aarch64";
    case EM_ARM: return "arm";
    case EM_RISCV: return "riscv";
    default: return "machine " + std::to_string(machine);
  }
}

// What the dynamic symbol table says about plugin constants.
struct Exports {
  bool ours = false;
  std::string other;  // the ABI number of another host's
};

// Reads one dynamic symbol table; false: it leaves the file.
bool scan(const Mapping& file, const Elf64_Shdr& symbols, const Elf64_Shdr& strings, Exports& exports) {
  if (symbols.sh_entsize != sizeof(Elf64_Sym) || !file.holds(symbols.sh_offset, symbols.sh_size) ||
      !file.holds(strings.sh_offset, strings.sh_size))
    return false;
  const std::string ours = std::string(symbol_prefix) + std::to_string(TENON_ABI);
  const std::uint64_t end = strings.sh_offset + strings.sh_size;
  for (std::uint64_t i = 0; i < symbols.sh_size / sizeof(Elf64_Sym); ++i) {
    const auto symbol = file.read<Elf64_Sym>(symbols.sh_offset + i * sizeof(Elf64_Sym));
    if (!symbol || symbol->st_shndx == SHN_UNDEF || symbol->st_name == 0) continue;
    const auto name = file.text(strings.sh_offset + symbol->st_name, end);
    if (!name) return false;
    if (*name == ours) {
      exports.ours = true;
    } else if (name->starts_with(symbol_prefix)) {
      exports.other = name->substr(symbol_prefix.size());
    }
  }
  return true;
}

}  // namespace

Result<void> check_elf(const std::string& path) {
  Result<Mapping> opened = Mapping::open(path);
  if (!opened.ok()) return std::move(opened).error();
  const Mapping& file = *opened;
  if (file.size() == 0) return refuse(path, "is not an ELF file: it is empty");
  if (!file.starts_with(std::string_view(ELFMAG, SELFMAG))) return refuse(path, "is not an ELF file");
  const Error cut = refuse(path, "is truncated or damaged: its ELF headers name bytes it does not have");
  const auto header = file.read<Elf64_Ehdr>(0);
  if (!header) return cut;
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return refuse(path, "is not a 64-bit little-endian library, which this host needs");
  if (header->e_machine != host_machine())
    return refuse(path,
                  "is built for " + machine_name(header->e_machine) + ", this host is " + machine_name(host_machine()));
  if (header->e_type != ET_DYN) return refuse(path, "is not a shared library");
  if (header->e_phentsize != sizeof(Elf64_Phdr)) return cut;
  for (std::uint16_t i = 0; i < header->e_phnum; ++i) {
    const auto segment = file.read<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment || (segment->p_type == PT_LOAD && !file.holds(segment->p_offset, segment->p_filesz))) return cut;
  }
  Exports exports;
  if (header->e_shnum != 0 && header->e_shentsize != sizeof(Elf64_Shdr)) return cut;
  for (std::uint16_t i = 0; i < header->e_shnum; ++i) {
    const auto section = file.read<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return cut;
    if (section->sh_type != SHT_DYNSYM) continue;
    if (section->sh_link >= header->e_shnum) return cut;
    const auto strings = file.read<Elf64_Shdr>(header->e_shoff + section->sh_link * sizeof(Elf64_Shdr));
    if (!strings || !scan(file, *section, *strings, exports)) return cut;
  }
  const std::string abi = std::to_string(TENON_ABI);
  if (exports.ours) return {};
  if (!exports.other.empty())
    return refuse(path, "is built for ABI " + exports.other + ", this host has ABI " + abi +
                            "; rebuild it with this host's headers");
  return refuse(path, "is not a Tenon plugin: it exports no " + std::string(symbol_prefix) + abi);
}

}  // namespace tenon::plugin_host
