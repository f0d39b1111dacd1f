# Where files are compiled in pieces (CMAKE_UNITY_BUILD: not in the preset `dev`, which so sees a missing include), the
# headers of libraries that most of them include are read once, in prefix.h: that is a quarter of the compile time. A
# directory whose flags differ sets GLEANER_PREFIX to OFF.
set(GLEANER_PREFIX ON)
set(GLEANER_PREFIX_HEADER ${CMAKE_CURRENT_LIST_DIR}/prefix.h)
if(CMAKE_UNITY_BUILD AND NOT CMAKE_CROSSCOMPILING)
  file(WRITE ${CMAKE_BINARY_DIR}/generated/prefix.cpp "// Exists to own the precompiled prefix.\n")
  add_library(gleaner_prefix OBJECT ${CMAKE_BINARY_DIR}/generated/prefix.cpp)
  target_link_libraries(gleaner_prefix PRIVATE fmt::fmt gleaner_settings gleaner_warnings)
  target_precompile_headers(gleaner_prefix PRIVATE ${GLEANER_PREFIX_HEADER})
endif()

# gleaner_library(NAME SOURCES a.cpp … LINKS module …): one module. It may include what it links. SEPARATE: files are
# never compiled as one piece, because they use the same local names on purpose.
function(gleaner_library name)
  cmake_parse_arguments(arg "SEPARATE" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  if(arg_SEPARATE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  target_link_libraries(${name} PUBLIC ${arg_LINKS} PRIVATE ${arg_PRIVATE_LINKS} gleaner_settings gleaner_warnings)
  if(TARGET gleaner_prefix AND GLEANER_PREFIX)
    target_precompile_headers(${name} REUSE_FROM gleaner_prefix)
  endif()
endfunction()

# gleaner_program(NAME SOURCES … LINKS … [INSTALL component]): an executable in build/bin.
function(gleaner_program name)
  cmake_parse_arguments(arg "" "INSTALL" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINKS} gleaner_settings gleaner_warnings)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
  if(arg_INSTALL)
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${arg_INSTALL})
  endif()
endfunction()

# Of a sanitizer build `tools/test` builds and runs only what GLEANER_CI_TESTS names (target and label "ci").
function(gleaner_ci_label name variable)
  if(name IN_LIST GLEANER_CI_TESTS)
    set(${variable} "${${variable}};ci" PARENT_SCOPE)
    if(TARGET ${name})
      add_dependencies(ci ${name})
    endif()
  endif()
endfunction()

# Most tests wait more than they compute: ctest runs twice as many at once as there are cores (CMakePresets.json), and those
# that compute say BUSY and count as two. COST: long ones begin first, so that no core waits at the end.
function(gleaner_test_schedule name busy cost)
  set_tests_properties(${name} PROPERTIES COST ${cost})
  if(busy)
    set_tests_properties(${name} PROPERTIES PROCESSORS 2)
  endif()
endfunction()

# gleaner_unit_test(NAME [BUSY] [COST SECONDS] SOURCES … LINKS …): Catch2 tests of one module, label "unit". SEPARATE as above.
function(gleaner_unit_test name)
  cmake_parse_arguments(arg "SEPARATE;BUSY" "LABEL;COST" "SOURCES;LINKS" ${ARGN})
  if(NOT arg_COST)
    set(arg_COST 5)
  endif()
  if(NOT arg_LABEL)
    set(arg_LABEL unit)
  endif()
  add_executable(${name} ${arg_SOURCES})
  if(arg_SEPARATE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  target_link_libraries(${name} PRIVATE ${arg_LINKS} gleaner_test_main gleaner_settings gleaner_warnings)
  target_precompile_headers(${name} REUSE_FROM gleaner_test_header)
  # Checks are called once: optimising them takes three times as long as compiling them.
  target_compile_options(${name} PRIVATE -O0)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  gleaner_ci_label(${name} arg_LABEL)
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABEL}" TIMEOUT 900)
  gleaner_test_schedule(${name} "${arg_BUSY}" ${arg_COST})
endfunction()
