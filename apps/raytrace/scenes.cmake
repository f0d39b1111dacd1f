# The bundled scenes become part of both programs: a kernel in its sandbox finds no files of its own.
set(scene_cpp ${CMAKE_CURRENT_BINARY_DIR}/bundled_scenes.cpp)
set(scene_files)
foreach(scene a b c d)
  list(APPEND scene_files ${CMAKE_CURRENT_SOURCE_DIR}/scenes/${scene}.json)
endforeach()
add_custom_command(
  OUTPUT ${scene_cpp}
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${scene_cpp} -DDIRECTORY=${CMAKE_CURRENT_SOURCE_DIR}/scenes
          -P ${CMAKE_CURRENT_SOURCE_DIR}/embed_scenes.cmake
  DEPENDS ${scene_files} ${CMAKE_CURRENT_SOURCE_DIR}/embed_scenes.cmake
  VERBATIM)
