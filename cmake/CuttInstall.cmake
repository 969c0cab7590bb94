# Installation: headers, the libraries, man page, CMake package and pkg-config file. (cli/CMakeLists.txt installs the
# program, bindings/fortran/CMakeLists.txt the modules.) Used both ways by tests/install. Components, for packages
# (cmake/CuttPackages.cmake): runtime, devel and program; manual, license and fortran are in no package as they are.
include(CMakePackageConfigHelpers)

install(FILES "${PROJECT_SOURCE_DIR}/include/cutt.h" "${PROJECT_SOURCE_DIR}/include/cutt_contract.h"
        "${PROJECT_SOURCE_DIR}/include/cutt_dist.h"
        "${PROJECT_SOURCE_DIR}/include/cutt.hpp" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT devel)
install(FILES "${PROJECT_SOURCE_DIR}/bindings/mpi/cutt_dist_mpi.h" "${PROJECT_SOURCE_DIR}/bindings/mpi/cutt_dist_mpi.c"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/cutt/mpi" COMPONENT devel)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT license)
if(CUTT_BUILD_CLI)
  install(FILES "${PROJECT_SOURCE_DIR}/man/cutt.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT manual)
endif()

# What the archive needs from its user.
set(cutt_static_libraries m ${cutt_system_libraries})
target_link_libraries(cutt_static INTERFACE "$<INSTALL_INTERFACE:${cutt_static_libraries}>")

install(TARGETS cutt_shared cutt_static cutt_contract_shared cutt_contract_static cutt_dist_shared cutt_dist_static EXPORT cutt-targets
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT devel
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT devel)
set(cutt_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/cutt")
install(EXPORT cutt-targets NAMESPACE cutt:: DESTINATION "${cutt_package_dir}" COMPONENT devel)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/cutt-config.cmake.in"
                              "${PROJECT_BINARY_DIR}/cutt-config.cmake" INSTALL_DESTINATION "${cutt_package_dir}"
                              PATH_VARS CMAKE_INSTALL_DATADIR)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cutt-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cutt-config.cmake" "${PROJECT_BINARY_DIR}/cutt-config-version.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/cutt-fortran.cmake" "${PROJECT_SOURCE_DIR}/cmake/cutt-mpi.cmake" DESTINATION "${cutt_package_dir}" COMPONENT devel)

# The prefix of the .pc files is relative to the file, so that an installed tree can be moved.
set(cutt_pc_libs_private "")
foreach(library IN LISTS cutt_static_libraries)
  if(IS_ABSOLUTE "${library}")
    string(APPEND cutt_pc_libs_private " ${library}")
  else()
    string(APPEND cutt_pc_libs_private " -l${library}")
  endif()
endforeach()
string(STRIP "${cutt_pc_libs_private}" cutt_pc_libs_private)
foreach(kind INCLUDE LIB)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${kind}DIR}")
    set(cutt_pc_${kind}dir "${CMAKE_INSTALL_${kind}DIR}")
  else()
    set(cutt_pc_${kind}dir "\${prefix}/${CMAKE_INSTALL_${kind}DIR}")
  endif()
endforeach()
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(cutt_pc_prefix "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH cutt_pc_up "/root/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/root")
  string(REGEX REPLACE "/$" "" cutt_pc_up "${cutt_pc_up}")
  set(cutt_pc_prefix "\${pcfiledir}/${cutt_pc_up}")
endif()
foreach(name cutt cutt_contract cutt_dist)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in" "${PROJECT_BINARY_DIR}/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT devel)
endforeach()
