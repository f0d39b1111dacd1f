# find_package(GleanerKit): gleaner_kit (kernels and managers) and, where libpng is, gleaner_kit_png (managers of pictures)
# as targets, and gleaner_bundle(), gleaner_variant(), gleaner_optimise() as in Gleaner's own tree. Installed it is found by
# itself; from a build tree with -DGleanerKit_DIR=BUILD/kit.
include(${CMAKE_CURRENT_LIST_DIR}/GleanerKitPlaces.cmake)

if(NOT TARGET gleaner_kit)
  add_library(gleaner_settings INTERFACE)
  # Results must be the same bits on every host: never contract a*b+c, never relax IEEE rules.
  target_compile_options(gleaner_settings INTERFACE -ffp-contract=off)
  target_compile_features(gleaner_settings INTERFACE cxx_std_20)

  function(gleaner_imported name file)
    add_library(${name} STATIC IMPORTED)
    set_target_properties(${name} PROPERTIES
      IMPORTED_LOCATION ${file} INTERFACE_INCLUDE_DIRECTORIES ${GLEANER_KIT_INCLUDE} INTERFACE_COMPILE_FEATURES cxx_std_20)
    set_property(TARGET ${name} PROPERTY INTERFACE_LINK_LIBRARIES ${ARGN})
  endfunction()
  gleaner_imported(gleaner_base ${GLEANER_KIT_BASE})
  gleaner_imported(gleaner_json ${GLEANER_KIT_JSON} gleaner_base)
  gleaner_imported(gleaner_kit ${GLEANER_KIT_KIT} gleaner_json gleaner_base)
  find_package(PNG QUIET)
  find_package(ZLIB QUIET)
  if(PNG_FOUND AND ZLIB_FOUND)
    gleaner_imported(gleaner_kit_png ${GLEANER_KIT_PNG} gleaner_kit PNG::PNG ZLIB::ZLIB)
  endif()

  if(NOT TARGET bundles)
    add_custom_target(bundles ALL)
  endif()
  function(gleaner_program name)
    cmake_parse_arguments(arg "" "" "SOURCES;LINKS" ${ARGN})
    add_executable(${name} ${arg_SOURCES})
    target_link_libraries(${name} PRIVATE ${arg_LINKS} gleaner_settings)
  endfunction()
  include(${CMAKE_CURRENT_LIST_DIR}/bundle.cmake)
endif()
