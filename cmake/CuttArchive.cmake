# Names for the members of an archive that are all different. Object files of several folders and of several instruction sets are
# called alike, and a build that takes an archive apart (`ar x`), to put it into its own, would lose all but one of those.
#
# As a module: cutt_name_members(TARGET OBJECT_FILE...) packs the archive of a target, which is of these object files, anew once
# it is linked. As a script it does that: cmake -D ARCHIVE= -D OBJECTS= -D AR= -D RANLIB= -P CuttArchive.cmake
# OBJECTS: a file with a path in each line.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(cutt_name_members target)
    set(list "${CMAKE_CURRENT_BINARY_DIR}/${target}$<$<BOOL:$<CONFIG>>:_>$<CONFIG>.txt")
    file(GENERATE OUTPUT "${list}" CONTENT "$<JOIN:${ARGN},\n>\n")
    add_custom_command(TARGET ${target} POST_BUILD VERBATIM
      COMMAND "${CMAKE_COMMAND}" -D "ARCHIVE=$<TARGET_FILE:${target}>" -D "OBJECTS=${list}" -D "AR=${CMAKE_AR}"
              -D "RANLIB=${CMAKE_RANLIB}" -P "${PROJECT_SOURCE_DIR}/cmake/CuttArchive.cmake")
  endfunction()
  return()
endif()

cmake_minimum_required(VERSION 3.22)
file(STRINGS "${OBJECTS}" objects)
set(folder "${ARCHIVE}.members")
file(REMOVE_RECURSE "${folder}")
file(MAKE_DIRECTORY "${folder}")
set(members "")
foreach(object IN LISTS objects)
  # .../CMakeFiles/cutt_kernels_avx2.dir/cpu/kernels/kernels.c.o: cutt_kernels_avx2_cpu_kernels_kernels.c.o
  if(NOT object MATCHES "/([^/]+)\\.dir/(.+)$")
    message(FATAL_ERROR "${object}: the name of its target is not in the path")
  endif()
  string(REPLACE "/" "_" member "${CMAKE_MATCH_1}_${CMAKE_MATCH_2}")
  if(member IN_LIST members)
    message(FATAL_ERROR "${ARCHIVE} would have two members ${member}")
  endif()
  list(APPEND members "${member}")
  file(CREATE_LINK "${object}" "${folder}/${member}" COPY_ON_ERROR SYMBOLIC)
endforeach()
file(REMOVE "${ARCHIVE}.new")
execute_process(COMMAND "${AR}" qc "${ARCHIVE}.new" ${members} WORKING_DIRECTORY "${folder}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${RANLIB}" "${ARCHIVE}.new" COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${ARCHIVE}.new" "${ARCHIVE}")
file(REMOVE_RECURSE "${folder}")
