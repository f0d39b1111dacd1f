#include "apps/passwords/engine.h"

#include "apps/passwords/rounds.h"
#include "shared/base/check.h"

namespace gleaner::passwords {
namespace {

bool big_endian(Algorithm algorithm) {
  return algorithm != Algorithm::md5;
}

unsigned byte_shift(Algorithm algorithm, std::size_t byte) {
  const auto place = static_cast<unsigned>(byte % 4);
  return 8 * (big_endian(algorithm) ? 3 - place : place);
}

std::string bytes_of(Algorithm algorithm, const std::uint32_t* state, const std::uint32_t* initial) {
  std::string digest(digest_bytes(algorithm), '\0');
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<char>((state[i / 4] + initial[i / 4]) >> byte_shift(algorithm, i) & 0xff);
  }
  return digest;
}

}  // namespace

std::string_view name_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::md5:
      return "MD5";
    case Algorithm::sha1:
      return "SHA-1";
    case Algorithm::sha256:
      return "SHA-256";
  }
  return "unknown";
}

std::size_t digest_bytes(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::md5:
      return 16;
    case Algorithm::sha1:
      return 20;
    case Algorithm::sha256:
      return 32;
  }
  return 0;
}

Block block_of(Algorithm algorithm, std::string_view text) {
  CHECK_TRUE(text.size() <= 55);
  Block block{};
  const auto put = [&](std::size_t at, unsigned char byte) {
    block[at / 4] |= std::uint32_t{byte} << byte_shift(algorithm, at);
  };
  for (std::size_t i = 0; i < text.size(); ++i) put(i, static_cast<unsigned char>(text[i]));
  put(text.size(), 0x80);
  block[big_endian(algorithm) ? 15 : 14] = static_cast<std::uint32_t>(8 * text.size());
  return block;
}

std::string digest_of(Algorithm algorithm, std::string_view text) {
  Block block = block_of(algorithm, text);
  if (algorithm == Algorithm::md5) {
    std::uint32_t state[4];
    md5_steps<64>(state, Md5BlockWords{}, block.data());
    return bytes_of(algorithm, state, md5_initial);
  }
  if (algorithm == Algorithm::sha1) {
    std::uint32_t state[5];
    sha1_steps<80>(state, Sha1BlockWords{}, block.data());
    return bytes_of(algorithm, state, sha1_initial);
  }
  std::uint32_t words[16];
  for (std::size_t i = 0; i < block.size(); ++i) words[i] = block[i];
  std::uint32_t state[8];
  sha256_steps<64>(state, words);
  return bytes_of(algorithm, state, sha256_initial);
}

std::uint32_t filter_word(Algorithm algorithm, std::string_view digest) {
  CHECK_TRUE(digest.size() == digest_bytes(algorithm));
  const std::size_t first = algorithm == Algorithm::md5 ? 0 : digest.size() - 4;
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    word |= std::uint32_t{static_cast<unsigned char>(digest[first + i])} << byte_shift(algorithm, i);
  }
  return word;
}

Engine engine(kit::CpuLevel level) {
#if defined(__x86_64__)
  if (level == kit::CpuLevel::avx512) return {avx512::search_heads, avx512::search_blocks};
  if (level == kit::CpuLevel::avx2) return {avx2::search_heads, avx2::search_blocks};
#endif
  CHECK_TRUE(level == kit::CpuLevel::baseline);
  return {baseline::search_heads, baseline::search_blocks};
}

}  // namespace gleaner::passwords
