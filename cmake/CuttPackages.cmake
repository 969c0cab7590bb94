# Debian packages by CPack (`make deb`): libcutt0 (the libraries), libcutt-dev (headers, archives, CMake package, pkg-config
# files, sources of the Fortran modules) and cutt (the program, its manual). One for each group of install components; what
# only a package needs (copyright, changelog, the compressed manual) are components that a plain install leaves out.
if(NOT PROJECT_IS_TOP_LEVEL OR SKBUILD)
  return()
endif()
find_program(CUTT_GZIP gzip)
mark_as_advanced(CUTT_GZIP)
if(NOT CUTT_GZIP)
  return()
endif()
set(CUTT_MAINTAINER "The cuTT developers <developers@cutt.invalid>" CACHE STRING "Maintainer, as Debian packages name one")

set(folder "${PROJECT_BINARY_DIR}/debian")
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # of SOURCE_DATE_EPOCH, where that is set
file(WRITE "${folder}/changelog" "cutt (${PROJECT_VERSION}) unstable; urgency=medium\n\n"
     "  * CHANGELOG.md of the sources says what is new.\n\n"
     " -- ${CUTT_MAINTAINER}  ${date}\n")
file(READ "${PROJECT_SOURCE_DIR}/LICENSE" licence)
file(WRITE "${folder}/copyright" "cuTT ${PROJECT_VERSION}, packaged from its own sources.\n\n${licence}")
configure_file("${PROJECT_SOURCE_DIR}/man/cutt.1" "${folder}/cutt.1" COPYONLY)
foreach(file changelog cutt.1)
  execute_process(COMMAND "${CUTT_GZIP}" -9nf "${folder}/${file}" COMMAND_ERROR_IS_FATAL ANY)
endforeach()

set(cutt_package_runtime libcutt${PROJECT_VERSION_MAJOR})
set(cutt_package_devel libcutt-dev)
set(cutt_package_program cutt)
set(groups runtime devel)
if(CUTT_BUILD_CLI)
  list(APPEND groups program)
  install(FILES "${folder}/cutt.1.gz" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT debian_program EXCLUDE_FROM_ALL)
endif()
set(CPACK_COMPONENTS_ALL "")
foreach(group IN LISTS groups)
  install(FILES "${folder}/copyright" "${folder}/changelog.gz"
          DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/doc/${cutt_package_${group}}" COMPONENT debian_${group} EXCLUDE_FROM_ALL)
  string(TOUPPER "${group}" GROUP)
  foreach(component ${group} debian_${group})
    list(APPEND CPACK_COMPONENTS_ALL ${component})
    string(TOUPPER "${component}" COMPONENT)
    set(CPACK_COMPONENT_${COMPONENT}_GROUP ${group})
  endforeach()
  set(CPACK_DEBIAN_${GROUP}_PACKAGE_NAME "${cutt_package_${group}}")
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME cutt)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own, below
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                                WORLD_READ WORLD_EXECUTE) # whatever the umask
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SOURCE cutt)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${CUTT_MAINTAINER}")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# A BLAS is found at run time, and only contraction needs one: it is recommended and not required.
set(blas "libopenblas0 | libblis4 | libmkl-rt")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
file(WRITE "${folder}/shlibs" "")
foreach(library libcutt libcutt_contract libcutt_dist)
  file(APPEND "${folder}/shlibs" "${library} ${PROJECT_VERSION_MAJOR} ${cutt_package_runtime} (>= ${PROJECT_VERSION})\n")
endforeach()
file(WRITE "${folder}/triggers" "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${folder}/shlibs" "${folder}/triggers")
file(WRITE "${folder}/overrides" "# CPack writes such scripts by itself; beside the trigger they do no harm.\n"
     "${cutt_package_runtime}: maintscript-calls-ldconfig *\n")
install(FILES "${folder}/overrides" DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/lintian/overrides" COMPONENT debian_runtime
        EXCLUDE_FROM_ALL RENAME ${cutt_package_runtime})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "${blas}")
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "tensor permutation and contraction, shared libraries
cuTT permutes dense tensors of any rank at close to the speed at which memory
is copied, and contracts them by permutation and matrix products, on CPUs and
on NVIDIA GPUs. The GPU's driver and a BLAS are found at run time.")
set(CPACK_DEBIAN_DEVEL_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVEL_PACKAGE_DEPENDS "${cutt_package_runtime} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVEL_DESCRIPTION "tensor permutation and contraction, development files
Headers for C and C++, archives, the CMake package, pkg-config files and the
sources of the Fortran modules of cuTT.")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "${blas}")
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "tensor permutation and contraction, the program cutt
Permutes and contracts tensors in NumPy's .npy files, shows how a permutation
would be done and what it costs, here or on another device, and measures.")
include(CPack)
