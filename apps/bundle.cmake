# gleaner_bundle(NAME KERNEL … MANAGER …): an application ready to sign at build/bundles/NAME, with the manifest
# from bundle/manifest.toml. Kernels run in a bare sandbox: they link nothing beyond the C library and LIBRARIES, shared ones
# that are copied into the bundle's lib/.
set(GLEANER_BUNDLES ${CMAKE_BINARY_DIR}/bundles CACHE INTERNAL "where bundles are assembled")

function(gleaner_bundle name)
  cmake_parse_arguments(arg "" "" "KERNEL;KERNEL_LINKS;MANAGER;MANAGER_LINKS;LIBRARIES" ${ARGN})
  set(directory ${GLEANER_BUNDLES}/${name})
  gleaner_program(${name}-kernel SOURCES ${arg_KERNEL} LINKS ${arg_KERNEL_LINKS})
  gleaner_program(${name}-manager SOURCES ${arg_MANAGER} LINKS ${arg_MANAGER_LINKS})
  set_target_properties(${name}-kernel ${name}-manager PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${directory}/bin)
  target_link_options(${name}-kernel PRIVATE -Wl,--as-needed)
  if(NOT GLEANER_SANITIZE)  # the sanitizers bring the shared C++ library
    target_link_options(${name}-kernel PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  set(libraries)
  foreach(library ${arg_LIBRARIES})
    # Under the name that the loader asks for: libx.so.8, a link to libx.so.8.1.0.
    file(REAL_PATH ${library} file)
    string(REGEX REPLACE "(\\.so\\.[0-9]+)[.0-9]*$" "\\1" wanted ${file})
    get_filename_component(wanted ${wanted} NAME)
    add_custom_command(
      OUTPUT ${directory}/lib/${wanted}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${directory}/lib
      COMMAND ${CMAKE_COMMAND} -E copy ${file} ${directory}/lib/${wanted}
      DEPENDS ${file}
      VERBATIM)
    list(APPEND libraries ${directory}/lib/${wanted})
    # BUILD_RPATH would add the build's own directories.
    set_property(TARGET ${name}-kernel ${name}-manager APPEND_STRING PROPERTY LINK_FLAGS " -Wl,-rpath,'$ORIGIN/../lib'")
  endforeach()
  add_custom_command(
    OUTPUT ${directory}/manifest.toml
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_SOURCE_DIR}/bundle/manifest.toml ${directory}/manifest.toml
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/bundle/manifest.toml
    VERBATIM)
  add_custom_target(${name}-bundle ALL
    DEPENDS ${directory}/manifest.toml ${libraries} ${name}-kernel ${name}-manager)
  add_dependencies(bundles ${name}-bundle)
endfunction()

# Numerical code is compiled with optimisation in every build: a picture at -O0 would take ten times as long. The
# results are the same bits (no contraction, no relaxed rules).
function(gleaner_optimise)
  foreach(target ${ARGN})
    target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Release>>:-O2>)
  endforeach()
endfunction()

# gleaner_variant(TARGET avx2|avx512 files …): sources of a kernel that are compiled for processors of that level (kit/
# cpu_features.h) and called only there. Not on other architectures.
function(gleaner_variant target level)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    return()
  endif()
  set(avx2 -mavx2 -mbmi -mbmi2)
  set(avx512 ${avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
  target_sources(${target} PRIVATE ${ARGN})
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "${${level}}")
endfunction()

# gleaner_bench(NAME SOURCES … LINKS …): a program in build/bench that tools/bench builds when it needs it.
function(gleaner_bench name)
  gleaner_program(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench EXCLUDE_FROM_ALL ON)
endfunction()
