# fmt, spdlog and toml++ become part of the programs. Debian has them as shared libraries only, under another name in each release, and a
# package of Gleaner depends on nothing that only one release has (tests/lint/check_packages.py). Their targets stay what
# find_package() makes of them; only the file changes that is linked.
set(archive ${CMAKE_BINARY_DIR}/libraries/libgleaner_libraries.a)
add_library(gleaner_libraries STATIC
  ${CMAKE_CURRENT_LIST_DIR}/libraries/fmt.cpp ${CMAKE_CURRENT_LIST_DIR}/libraries/spdlog.cpp ${CMAKE_CURRENT_LIST_DIR}/libraries/toml.cpp)
set_target_properties(gleaner_libraries PROPERTIES UNITY_BUILD OFF ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/libraries)
target_link_libraries(gleaner_libraries PRIVATE gleaner_settings)  # the sanitizers' flags
foreach(library fmt::fmt spdlog::spdlog tomlplusplus::tomlplusplus)
  foreach(property DEFINITIONS OPTIONS)
    get_target_property(value ${library} INTERFACE_COMPILE_${property})
    if(value)
      set_property(TARGET gleaner_libraries APPEND PROPERTY COMPILE_${property} ${value})
    endif()
  endforeach()
  get_target_property(configurations ${library} IMPORTED_CONFIGURATIONS)
  if(configurations)
    foreach(configuration ${configurations})
      set_target_properties(${library} PROPERTIES IMPORTED_LOCATION_${configuration} ${archive})
    endforeach()
  else()
    set_target_properties(${library} PROPERTIES IMPORTED_LOCATION ${archive})
  endif()
  add_dependencies(${library} gleaner_libraries)
endforeach()
set(CMAKE_SKIP_BUILD_RPATH ON)  # the targets say that they are shared libraries
