// PKCS#11 2.40 and 3.0 through p11-kit, which finds modules and reads URIs. Ed25519 is the mechanism
// CKM_EDDSA without parameters; a public key is the point as an ASN.1 OCTET STRING.
#include <p11-kit/p11-kit.h>
#include <p11-kit/uri.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "shared/crypto/keys.h"
#include "shared/io/secret_file.h"
#include "shared/token/root_key.h"

namespace gleaner::token {
namespace {

constexpr std::size_t key_bytes = 32;
constexpr std::size_t signature_bytes = 64;
constexpr std::int64_t pin_bytes_max = 1024;
constexpr CK_ULONG slots_max = 64;

struct FreeUri {
  void operator()(P11KitUri* uri) const { p11_kit_uri_free(uri); }
};
using UriOwner = std::unique_ptr<P11KitUri, FreeUri>;

// The modules that p11-kit is set up for, or the one that a URI names; finalized with the last copy.
class Modules {
 public:
  Modules() = default;
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;
  ~Modules() {
    if (own_ != nullptr) {
      p11_kit_module_finalize(own_);
      p11_kit_module_release(own_);
    }
    if (all_ != nullptr) p11_kit_modules_finalize_and_release(all_);
  }

  Status load(const char* path) {
    if (path == nullptr) {
      all_ = p11_kit_modules_load_and_initialize(0);
      if (all_ != nullptr) return {};
      return Error{ErrorKind::not_found, "no PKCS#11 module can be loaded: see `p11-kit list-modules`"};
    }
    CK_FUNCTION_LIST* const module = p11_kit_module_load(path, 0);
    if (module == nullptr || p11_kit_module_initialize(module) != CKR_OK) {
      if (module != nullptr) p11_kit_module_release(module);
      return Error{ErrorKind::not_found,
                   std::string("the PKCS#11 module ") + path + " cannot be loaded: check module-path"};
    }
    own_ = module;
    return {};
  }

  [[nodiscard]] std::vector<CK_FUNCTION_LIST*> list() const {
    if (own_ != nullptr) return {own_};
    std::vector<CK_FUNCTION_LIST*> modules;
    for (CK_FUNCTION_LIST** module = all_; *module != nullptr; ++module) modules.push_back(*module);
    return modules;
  }

 private:
  CK_FUNCTION_LIST* own_ = nullptr;
  CK_FUNCTION_LIST** all_ = nullptr;
};

Error refused(const std::string& what, CK_RV reason) {
  const ErrorKind kind =
      reason == CKR_PIN_INCORRECT || reason == CKR_PIN_LOCKED ? ErrorKind::forbidden : ErrorKind::invalid;
  return {kind, "the token " + what + ": " + p11_kit_strerror(reason)};
}

// A session with one token, logged in.
class Session {
 public:
  Session(std::unique_ptr<Modules> modules, CK_FUNCTION_LIST* module, CK_SESSION_HANDLE handle)
      : modules_(std::move(modules)), module_(module), handle_(handle) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { module_->C_CloseSession(handle_); }

  Status log_in(std::string pin) {
    const CK_RV done =
        module_->C_Login(handle_, CKU_USER, reinterpret_cast<CK_BYTE*>(pin.data()), pin.size());
    if (done == CKR_OK || done == CKR_USER_ALREADY_LOGGED_IN) return {};
    return refused("does not take the PIN", done);
  }

  // The one object of this class with the URI's label and id.
  Result<CK_OBJECT_HANDLE> find(P11KitUri* uri, CK_OBJECT_CLASS kind) {
    std::vector<CK_ATTRIBUTE> wanted = {{CKA_CLASS, &kind, sizeof kind}};
    for (const CK_ATTRIBUTE_TYPE type : {CKA_LABEL, CKA_ID})
      if (const CK_ATTRIBUTE* const one = p11_kit_uri_get_attribute(uri, type)) wanted.push_back(*one);
    if (wanted.size() == 1)
      return Error{ErrorKind::invalid, "the URI names no key: add object=LABEL or id=%XX"};
    CK_OBJECT_HANDLE found[2] = {};
    CK_ULONG count = 0;
    CK_RV done = module_->C_FindObjectsInit(handle_, wanted.data(), wanted.size());
    if (done == CKR_OK) done = module_->C_FindObjects(handle_, found, 2, &count);
    module_->C_FindObjectsFinal(handle_);
    if (done != CKR_OK) return refused("cannot be searched", done);
    const std::string what = kind == CKO_PRIVATE_KEY ? "private" : "public";
    if (count == 0)
      return Error{ErrorKind::not_found, "the token has no such " + what + " key: see `pkcs11-tool -O`"};
    if (count > 1)
      return Error{ErrorKind::conflict, "the token has several such " + what + " keys: name one by its id"};
    return found[0];
  }

  // 32 raw bytes.
  Result<Bytes> public_key(CK_OBJECT_HANDLE object) {
    CK_BYTE point[256] = {};
    CK_ATTRIBUTE attribute = {CKA_EC_POINT, point, sizeof point};
    const CK_RV done = module_->C_GetAttributeValue(handle_, object, &attribute, 1);
    const Bytes value(reinterpret_cast<const char*>(point), done == CKR_OK ? attribute.ulValueLen : 0);
    if (value.size() == key_bytes) return value;  // some tokens leave the octet string out
    if (value.size() == key_bytes + 2 && value.starts_with("\x04\x20")) return value.substr(2);
    return Error{ErrorKind::invalid,
                 "this is not an Ed25519 key: make one with `pkcs11-tool --keypairgen --key-type "
                 "EC:edwards25519`, if your token can"};
  }

  Result<Bytes> sign(CK_OBJECT_HANDLE key, std::string message) {
    const std::lock_guard lock(mutex_);
    CK_MECHANISM mechanism = {CKM_EDDSA, nullptr, 0};
    Bytes signature(signature_bytes, '\0');
    CK_ULONG size = signature.size();
    CK_RV done = module_->C_SignInit(handle_, &mechanism, key);
    if (done == CKR_OK)
      done = module_->C_Sign(handle_, reinterpret_cast<CK_BYTE*>(message.data()), message.size(),
                             reinterpret_cast<CK_BYTE*>(signature.data()), &size);
    if (done != CKR_OK) return refused("does not sign (Ed25519)", done);
    signature.resize(size);
    return signature;
  }

 private:
  std::unique_ptr<Modules> modules_;
  CK_FUNCTION_LIST* module_;
  CK_SESSION_HANDLE handle_;
  std::mutex mutex_;
};

Result<std::string> pin_of(const io::Files& files, P11KitUri* uri) {
  if (const char* const value = p11_kit_uri_get_pin_value(uri)) return std::string(value);
  const char* const source = p11_kit_uri_get_pin_source(uri);
  if (source == nullptr)
    return Error{ErrorKind::invalid,
                 "the URI names no PIN: add ?pin-source=FILE, a file of mode 0600 with it"};
  std::string path = source;
  if (path.starts_with("file:")) path.erase(0, 5);
  TRY_ASSIGN(std::string pin, io::read_secret_file(files, path, pin_bytes_max));
  while (!pin.empty() && (pin.back() == '\n' || pin.back() == '\r')) pin.pop_back();
  return pin;
}

Result<std::shared_ptr<Session>> open_session(P11KitUri* uri) {
  auto modules = std::make_unique<Modules>();
  TRY(modules->load(p11_kit_uri_get_module_path(uri)));
  for (CK_FUNCTION_LIST* const module : modules->list()) {
    CK_SLOT_ID slots[slots_max] = {};
    CK_ULONG count = slots_max;
    if (module->C_GetSlotList(CK_TRUE, slots, &count) != CKR_OK) continue;
    for (CK_ULONG i = 0; i < count; ++i) {
      CK_TOKEN_INFO info = {};
      CK_SESSION_HANDLE handle = 0;
      if (module->C_GetTokenInfo(slots[i], &info) != CKR_OK || p11_kit_uri_match_token_info(uri, &info) != 1)
        continue;
      if (const CK_RV done = module->C_OpenSession(slots[i], CKF_SERIAL_SESSION, nullptr, nullptr, &handle);
          done != CKR_OK)
        return refused("cannot be opened", done);
      return std::make_shared<Session>(std::move(modules), module, handle);
    }
  }
  return Error{ErrorKind::not_found, "no token fits the URI: is it plugged in? See `p11-kit list-modules`"};
}

}  // namespace

Result<crypto::RootKey> open_token_key(const io::Files& files, const std::string& text) {
  const UriOwner uri(p11_kit_uri_new());
  if (uri == nullptr || p11_kit_uri_parse(text.c_str(), P11_KIT_URI_FOR_ANY, uri.get()) != P11_KIT_URI_OK)
    return Error{ErrorKind::invalid, "\"" + text.substr(0, text.find('?')) +
                                         "\" is not a PKCS#11 URI, for example "
                                         "pkcs11:token=lab;object=root?pin-source=/root/pin"};
  TRY_ASSIGN(std::string pin, pin_of(files, uri.get()));
  TRY_ASSIGN(const auto session, open_session(uri.get()));
  TRY(session->log_in(std::move(pin)));
  TRY_ASSIGN(const CK_OBJECT_HANDLE key, session->find(uri.get(), CKO_PRIVATE_KEY));
  TRY_ASSIGN(const CK_OBJECT_HANDLE public_half, session->find(uri.get(), CKO_PUBLIC_KEY));
  TRY_ASSIGN(const Bytes public_key, session->public_key(public_half));
  return crypto::RootKey(public_key, [session, key, public_key](std::string_view message) -> Result<Bytes> {
    TRY_ASSIGN(Bytes signature, session->sign(key, std::string(message)));
    if (crypto::verify(public_key, message, signature)) return signature;
    return Error{
        ErrorKind::untrusted,
        "the token's signature is not by the public key beside the private one: name the key by its id"};
  });
}

}  // namespace gleaner::token
