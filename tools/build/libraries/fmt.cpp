// libfmt, compiled from its headers: what they declare for a library to define.
#include <fmt/format-inl.h>

#include <locale>

template fmt::detail::locale_ref::locale_ref(const std::locale& locale);
template std::locale fmt::detail::locale_ref::get<std::locale>() const;
template fmt::detail::thousands_sep_result<char> fmt::detail::thousands_sep_impl<char>(locale_ref);
template fmt::detail::thousands_sep_result<wchar_t> fmt::detail::thousands_sep_impl<wchar_t>(locale_ref);
template char fmt::detail::decimal_point_impl(locale_ref);
template wchar_t fmt::detail::decimal_point_impl(locale_ref);
template void fmt::detail::buffer<char>::append(const char*, const char*);
template void fmt::detail::vformat_to(buffer<char>&, string_view, basic_format_args<FMT_BUFFER_CONTEXT(char)>,
                                      locale_ref);
