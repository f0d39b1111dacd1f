# Two interface targets carry every flag; own targets link them PRIVATE, third-party code never does.
add_library(gleaner_settings INTERFACE)
add_library(gleaner_warnings INTERFACE)

target_include_directories(gleaner_settings INTERFACE ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
# Results must be the same bytes on every host: never contract a*b+c, never relax IEEE rules.
target_compile_options(gleaner_settings INTERFACE -ffp-contract=off -fno-omit-frame-pointer)
# Assertions stay on in every build; the C++ library's own cheap checks too.
target_compile_definitions(gleaner_settings INTERFACE _GLIBCXX_ASSERTIONS)
if(GLEANER_SANITIZE)
  # Null and wild pointers are the address sanitizer's; checking every access again costs a third of the compile time.
  target_compile_options(gleaner_settings INTERFACE -fsanitize=${GLEANER_SANITIZE} -fno-sanitize-recover=all
    -fno-sanitize=null,alignment,object-size,vptr)
  target_link_options(gleaner_settings INTERFACE -fsanitize=${GLEANER_SANITIZE})
  target_compile_definitions(gleaner_settings INTERFACE GLEANER_SANITIZED)
endif()

target_compile_options(gleaner_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wcast-qual -Woverloaded-virtual
  -Wimplicit-fallthrough -Wvla -Wformat=2 -Wundef -Wmissing-declarations)
# False alarms of g++ 12 in optimised builds: overlapping or overlong copies in `"text" + string` (GCC bugs 105651,
# 105329) and every std::variant or std::optional that is moved (80635, 105562). Debug builds keep these warnings.
target_compile_options(gleaner_warnings INTERFACE
  "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<NOT:$<CONFIG:Debug>>>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-maybe-uninitialized>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libseccomp's macros are C, and clang takes them for ours.
  target_compile_options(gleaner_warnings INTERFACE -Wno-c99-extensions -Wno-missing-field-initializers)
endif()
if(CMAKE_UNITY_BUILD)
  # Files compiled as one piece: what a class of one file holds of that file's unnamed namespace is fine there, and a name
  # in it does not hide another file's.
  target_compile_options(gleaner_warnings INTERFACE
    $<IF:$<CXX_COMPILER_ID:GNU>,-Wno-subobject-linkage,-Wno-shadow>)
endif()
cmake_host_system_information(RESULT memory QUERY TOTAL_PHYSICAL_MEMORY)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND memory GREATER_EQUAL 7000)
  # Below so much g++ looks for memory to free, again and again: 7 % of its time.
  target_compile_options(gleaner_settings INTERFACE --param=ggc-min-heapsize=1048576)
endif()
if(GLEANER_WERROR)
  target_compile_options(gleaner_warnings INTERFACE -Werror)
endif()

find_program(GLEANER_MOLD mold)
if(GLEANER_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
find_program(GLEANER_CCACHE ccache)
if(GLEANER_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${GLEANER_CCACHE})
endif()
