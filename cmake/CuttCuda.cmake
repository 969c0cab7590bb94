# The GPU kernels: *.cu of src, compiled by nvcc for each architecture by itself, so that the build is parallel,
# and put together into one file of code ("fatbin") for each source, which src/runtime/cuda/embed.c carries in the library.
#
# CMake's own CUDA language is not used: it would link the CUDA run time, and nothing of CUDA is linked here.
#
# From the user:
#   CUTT_CUDA        AUTO: with nvcc, if it is found and works. ON: it must. OFF: no kernels, a library for CPUs only.
#   CUTT_CUDA_ARCHS  such as "90" or "80;90": only these, for a build that is quick. Empty: all that are known.
#   CUTT_CUDA_CUBINS the folder src/kernels of another build of the same sources: what it has is taken and not compiled again.
#   CUTT_NVCC        the compiler, if it isn't the one of CUDACXX, on PATH, or below /usr/local/cuda.
#   CUTT_NVCC_FLAGS  anything else for it, such as -ccbin=/usr/bin/g++-12
set(CUTT_CUDA AUTO CACHE STRING "GPU kernels: AUTO (when nvcc is found), ON or OFF")
set_property(CACHE CUTT_CUDA PROPERTY STRINGS AUTO ON OFF)
set(CUTT_CUDA_ARCHS "" CACHE STRING "GPU architectures to compile kernels for, such as 80;90; empty: all")
set(CUTT_CUDA_CUBINS "" CACHE PATH "Compiled GPU kernels of another build of the same sources, to take from")
set(CUTT_NVCC_FLAGS "" CACHE STRING "Further flags of nvcc")

# All that there is reason to have code for. An sm_86 and an sm_89 run that of sm_80: their own is of the same PTX, and has its
# instructions in another order at most. PTX of the newest generation is for what comes after it.
set(cutt_cuda_all_archs 70 75 80 90 100 120)
# The architectures that device code asks __CUDA_ARCH__ for, and the oldest (tests/install/generations.sh holds it to this). From one
# that a source asks for to the next it has the same PTX, and to make that takes three times as long as to assemble it for an
# architecture. From 100 on nvcc compiles by another compiler, which takes twice as long for code of more instructions than what
# ptxas makes for these from the PTX of 90 (docs/log.md): a source asks for 100 only where that would spill on an
# sm_120, or ask for more threads than its SMs have.
set(cutt_cuda_generations 70 75 80 90 100)
set(cutt_cuda_oldest_nvcc 11.7) # kernels take their arguments in place (__grid_constant__)

# cutt_cuda_find(WHY): sets cutt_nvcc, cutt_nvcc_version, cutt_nvcc_flags, cutt_fatbinary, cutt_cuda_archs and
# cutt_cuda_ptx; or WHY to the reason why there will be no kernels.
function(cutt_cuda_find why)
  set(${why} "" PARENT_SCOPE)
  if(DEFINED ENV{CUDACXX} AND NOT CUTT_NVCC)
    set(CUTT_NVCC "$ENV{CUDACXX}" CACHE FILEPATH "NVIDIA's compiler nvcc" FORCE)
  endif()
  find_program(CUTT_NVCC nvcc PATHS /usr/local/cuda/bin DOC "NVIDIA's compiler nvcc")
  mark_as_advanced(CUTT_NVCC)
  if(NOT CUTT_NVCC)
    set(${why} "no nvcc was found" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND "${CUTT_NVCC}" --version OUTPUT_VARIABLE said ERROR_QUIET RESULT_VARIABLE failed)
  if(failed OR NOT said MATCHES "release ([0-9]+)\\.([0-9]+)")
    set(${why} "${CUTT_NVCC} does not run" PARENT_SCOPE)
    return()
  endif()
  set(version "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
  math(EXPR number "${CMAKE_MATCH_1} * 1000 + ${CMAKE_MATCH_2} * 10")
  if(version VERSION_LESS cutt_cuda_oldest_nvcc)
    set(${why} "${CUTT_NVCC} is of CUDA ${version}, and ${cutt_cuda_oldest_nvcc} is the oldest that will do" PARENT_SCOPE)
    return()
  endif()

  execute_process(COMMAND "${CUTT_NVCC}" --list-gpu-code OUTPUT_VARIABLE known ERROR_QUIET)
  set(archs)
  foreach(arch IN LISTS cutt_cuda_all_archs)
    if(known MATCHES "sm_${arch}[\r\n]")
      list(APPEND archs ${arch})
    endif()
  endforeach()
  if(NOT archs)
    set(${why} "${CUTT_NVCC} knows none of the architectures ${cutt_cuda_all_archs}" PARENT_SCOPE)
    return()
  endif()
  list(GET archs -1 newest)
  cutt_cuda_generation(ptx ${newest})
  if(CUTT_CUDA_ARCHS)
    foreach(arch IN LISTS CUTT_CUDA_ARCHS)
      if(NOT known MATCHES "sm_${arch}[\r\n]")
        message(FATAL_ERROR "CUTT_CUDA_ARCHS names ${arch}, which ${CUTT_NVCC} (CUDA ${version}) does not know; it knows ${archs}")
      endif()
    endforeach()
    set(archs ${CUTT_CUDA_ARCHS})
    list(SORT archs COMPARE NATURAL)
    set(ptx 0)
  endif()

  if(NOT cutt_fatbinary_of STREQUAL CUTT_NVCC) # another nvcc's would be of another version
    unset(CUTT_FATBINARY CACHE)
    set(cutt_fatbinary_of "${CUTT_NVCC}" CACHE INTERNAL "The nvcc that CUTT_FATBINARY was found for")
  endif()
  get_filename_component(folder "${CUTT_NVCC}" REALPATH)
  get_filename_component(folder "${folder}" DIRECTORY)
  get_filename_component(plain_folder "${CUTT_NVCC}" DIRECTORY)
  find_program(CUTT_FATBINARY fatbinary HINTS "${folder}" "${plain_folder}" PATHS /usr/local/cuda/bin
               DOC "NVIDIA's tool fatbinary, of the same CUDA as nvcc")
  mark_as_advanced(CUTT_FATBINARY)
  if(NOT CUTT_FATBINARY)
    set(${why} "no fatbinary was found beside ${CUTT_NVCC}" PARENT_SCOPE)
    return()
  endif()

  # nvcc preprocesses with a C++ compiler of the host, and not every one will do. Each is tried, once per build folder.
  separate_arguments(given UNIX_COMMAND "${CUTT_NVCC_FLAGS}")
  set(question "${CUTT_NVCC};${version};${CUTT_NVCC_FLAGS};${CMAKE_C_COMPILER}")
  if(NOT cutt_nvcc_question STREQUAL question OR NOT DEFINED cutt_nvcc_header)
    set(probe "${PROJECT_BINARY_DIR}/CMakeFiles/cutt_nvcc")
    file(WRITE "${probe}.cu" "#include <cstdint>\nextern \"C\" __global__ void probe(uint32_t *p) { *p = threadIdx.x; }\n")
    list(GET archs -1 arch)
    set(answer "")
    set(complaint "") # the first attempt's, which is what the user would have met
    foreach(attempt "" "-ccbin=${CMAKE_C_COMPILER}" -ccbin=g++ -ccbin=clang++ -allow-unsupported-compiler)
      set(answer ${given} ${attempt})
      execute_process(COMMAND "${CUTT_NVCC}" -cubin -arch=sm_${arch} ${answer} "${probe}.cu" -o "${probe}.cubin"
                      RESULT_VARIABLE failed OUTPUT_VARIABLE text ERROR_VARIABLE text)
      if(NOT failed)
        break()
      elseif(NOT complaint)
        string(REGEX MATCH "[^\r\n]+" complaint "${text} ")
        string(SUBSTRING "${complaint}" 0 200 complaint)
        string(STRIP "${complaint}" complaint)
      endif()
    endforeach()
    if(failed)
      set(${why} "${CUTT_NVCC} does not compile: ${complaint}" PARENT_SCOPE)
      return()
    endif()
    # Can the short cuda_runtime.h of kernels/nvcc, which is made of parts of CUDA's, stand for it? With all that kernels include.
    set(header "-I${PROJECT_SOURCE_DIR}/src/runtime/cuda/kernels/nvcc")
    file(WRITE "${probe}_header.cu" "#include \"async.h\"\n#include \"bulk.h\"\n#include \"early.h\"\n#include \"extreme.h\"\n"
                                    "#include \"matrix.h\"\nKERNEL(probe, 32, 1)(uint32_t *p) { *p = thread_index(); }\n")
    foreach(arch ${archs})
      execute_process(COMMAND "${CUTT_NVCC}" -ptx -arch=compute_${arch} ${answer} ${header} "-I${PROJECT_SOURCE_DIR}/src/runtime/cuda/kernels"
                              "-I${PROJECT_SOURCE_DIR}/src" -Werror all-warnings "${probe}_header.cu" -o "${probe}_header.ptx"
                      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
      if(failed)
        set(header "")
        break()
      endif()
    endforeach()
    set(cutt_nvcc_header "${header}" CACHE INTERNAL "Where nvcc finds a short cuda_runtime.h, if that works")
    set(cutt_nvcc_question "${question}" CACHE INTERNAL "What was asked to find cutt_nvcc_answer")
    set(cutt_nvcc_answer "${answer}" CACHE INTERNAL "Flags with which nvcc works here")
  endif()

  set(cutt_nvcc "${CUTT_NVCC}" PARENT_SCOPE)
  set(cutt_nvcc_version "${version}" PARENT_SCOPE)
  set(cutt_nvcc_number "${number}" PARENT_SCOPE)
  set(cutt_nvcc_flags ${cutt_nvcc_answer} PARENT_SCOPE)
  set(cutt_fatbinary "${CUTT_FATBINARY}" PARENT_SCOPE)
  set(cutt_cuda_archs ${archs} PARENT_SCOPE)
  set(cutt_cuda_ptx ${ptx} PARENT_SCOPE)
endfunction()

# cutt_cuda_generation(GENERATION ARCH [GENERATIONS]): of an architecture; itself, if it is older than all.
function(cutt_cuda_generation generation arch)
  set(generations ${cutt_cuda_generations})
  if(ARGC GREATER 2)
    set(generations ${ARGV2})
  endif()
  set(${generation} ${arch} PARENT_SCOPE)
  foreach(each IN LISTS generations)
    if(NOT each GREATER arch)
      set(${generation} ${each} PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

# cutt_cuda_asked(GENERATIONS SOURCE FOLDER...): which a source has PTX of its own for: those that it asks for, or a header that it
# includes does, found beside the includer or in one of the folders; and the oldest.
function(cutt_cuda_asked generations source)
  list(GET cutt_cuda_generations 0 asked)
  set(files "${source}")
  set(next 0)
  list(LENGTH files count)
  while(next LESS count)
    list(GET files ${next} file)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
    file(STRINGS "${file}" lines REGEX "__CUDA_ARCH__|^#include \"|^#define [A-Z]+_BODY \"") # a body is included by that name
    foreach(line IN LISTS lines)
      if(line MATCHES "^#[^\"]*\"([^\"]*)\"")
        get_filename_component(beside "${file}" DIRECTORY)
        foreach(folder "${beside}" ${ARGN})
          if(EXISTS "${folder}/${CMAKE_MATCH_1}")
            list(APPEND files "${folder}/${CMAKE_MATCH_1}")
            break()
          endif()
        endforeach()
      else()
        string(REGEX MATCHALL "[0-9]+0" numbers "${line}")
        list(TRANSFORM numbers REPLACE "0$" "")
        list(APPEND asked ${numbers})
      endif()
    endforeach()
    list(REMOVE_DUPLICATES files)
    list(LENGTH files count)
    math(EXPR next "${next} + 1")
  endwhile()
  list(REMOVE_DUPLICATES asked)
  list(SORT asked COMPARE NATURAL)
  set(${generations} ${asked} PARENT_SCOPE)
endfunction()

# cutt_cuda_kernels(FILE... PROBE FILE LARGE NAME...): compiles FOLDER/NAME.cu of the calling folder, src, and has runtime/cuda/embed.c
# carry them, each by its NAME; that of PROBE, which measures a device, apart from the rest; those of LARGE as small as can be. The
# compiler's report on each stays in kernels/NAME.ARCH.txt of the build folder, for tests/install/no_spills.sh.
function(cutt_cuda_kernels)
  cmake_parse_arguments(PARSE_ARGV 0 of "" "PROBE" "LARGE")
  set(reason "it was configured with CUTT_CUDA=OFF")
  if(CUTT_CUDA)
    cutt_cuda_find(reason)
    if(reason AND NOT CUTT_CUDA STREQUAL "AUTO")
      message(FATAL_ERROR "CUTT_CUDA is ${CUTT_CUDA}, and there can be no GPU kernels: ${reason}")
    endif()
  endif()
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/generated")
  set(cutt_cuda_report_dir "" PARENT_SCOPE)
  if(reason)
    message(STATUS "GPU kernels: none, because ${reason}. The library will be for CPUs only.")
    string(REPLACE "\\" "\\\\" reason "${reason}")
    string(REPLACE "\"" "\\\"" reason "${reason}")
    file(CONFIGURE OUTPUT "${generated}/cutt_cuda_kernels.h" @ONLY
         CONTENT "#define CUTT_CUDA_NONE \"this build has no GPU kernels: @reason@\"\n")
    set_property(SOURCE runtime/cuda/embed.c APPEND PROPERTY INCLUDE_DIRECTORIES "${generated}")
    return()
  endif()

  set(dir "${CMAKE_CURRENT_BINARY_DIR}/kernels")
  file(MAKE_DIRECTORY "${dir}")
  set(flags ${cutt_nvcc_flags} -O3 --fmad=false # as the CPU computes: alpha and beta give the same bits
            ${cutt_nvcc_header}
            "-I${CMAKE_CURRENT_SOURCE_DIR}" "-I${CMAKE_CURRENT_SOURCE_DIR}/runtime/cuda/kernels" # device.h
            $<$<CONFIG:Debug,RelWithDebInfo>:-lineinfo>)
  if(CUTT_WERROR)
    list(APPEND flags -Werror all-warnings)
  endif()
  # Lists of addresses are passed as parameters of kernels; see CUTT_PARAMETER_BYTES in gpu/kernels/args.h.
  set(parameter_bytes 32764)
  if(cutt_nvcc_version VERSION_LESS 12.1)
    set(parameter_bytes 4096)
  endif()
  list(APPEND flags -DCUTT_PARAMETER_BYTES=${parameter_bytes})
  set(fatbins)
  set(list "")
  foreach(path IN LISTS of_UNPARSED_ARGUMENTS of_PROBE)
    set(source "${CMAKE_CURRENT_SOURCE_DIR}/${path}")
    get_filename_component(name "${path}" NAME_WE)
    set(images)
    set(files)
    # PTX of a source's generation is of the oldest architecture that it is assembled for.
    cutt_cuda_asked(asked "${source}" "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/runtime/cuda/kernels")
    set(generations)
    set(last "")
    foreach(arch IN LISTS cutt_cuda_archs)
      cutt_cuda_generation(own ${arch} "${asked}")
      if(NOT own STREQUAL last)
        cutt_cuda_generation(generation ${arch})
        list(APPEND generations ${generation})
        set(last ${own})
      endif()
      set(ptx_of_${arch} ${generation})
    endforeach()
    foreach(generation IN LISTS generations)
      set(ptx "${dir}/${name}.compute_${generation}.ptx")
      add_custom_command(
        OUTPUT "${ptx}"
        COMMAND sh "${PROJECT_SOURCE_DIR}/scripts/nvcc.sh" "${ptx}.log" "${cutt_nvcc}" -ptx -arch=compute_${generation} ${flags}
                -MD -MF "${ptx}.d" -MT "${ptx}" "${source}" -o "${ptx}"
        DEPENDS "${source}" "${PROJECT_SOURCE_DIR}/scripts/nvcc.sh"
        DEPFILE "${ptx}.d"
        COMMENT "Compiling GPU kernels ${name}.cu to PTX of compute_${generation}"
        COMMAND_EXPAND_LISTS VERBATIM)
    endforeach()
    foreach(arch IN LISTS cutt_cuda_archs)
      set(file "${CUTT_CUDA_CUBINS}/${name}.sm_${arch}.cubin")
      if(CUTT_CUDA_CUBINS AND EXISTS "${file}")
        list(APPEND images "--image3=kind=elf,sm=${arch},file=${file}")
        list(APPEND files "${file}")
        continue()
      endif()
      set(file "${dir}/${name}.sm_${arch}.cubin")
      set(ptx "${dir}/${name}.compute_${ptx_of_${arch}}.ptx")
      add_custom_command(
        OUTPUT "${file}"
        BYPRODUCTS "${dir}/${name}.sm_${arch}.txt"
        COMMAND sh "${PROJECT_SOURCE_DIR}/scripts/nvcc.sh" "${dir}/${name}.sm_${arch}.txt"
                "${cutt_nvcc}" -cubin -arch=sm_${arch} ${flags} -Xptxas=-v "${ptx}" -o "${file}"
        DEPENDS "${ptx}" "${PROJECT_SOURCE_DIR}/scripts/nvcc.sh"
        COMMENT "Assembling GPU kernels ${name} for sm_${arch}"
        COMMAND_EXPAND_LISTS VERBATIM)
      list(APPEND images "--image3=kind=elf,sm=${arch},file=${file}")
      list(APPEND files "${file}")
    endforeach()
    if(cutt_cuda_ptx)
      list(GET generations -1 generation)
      set(file "${dir}/${name}.compute_${generation}.ptx")
      list(APPEND images "--image3=kind=ptx,sm=${generation},file=${file}")
      list(APPEND files "${file}")
    endif()
    # From CUDA 13 on all modes but "speed" are one format (zstd), which its drivers read. "size" takes some three quarters of the bytes of
    # "balance", and a second to write for each 110 KB that it saves, 40 times as long: so it is for the largest.
    set(compress --compress-all)
    if(cutt_nvcc_version VERSION_GREATER_EQUAL 13.0)
      if(name IN_LIST of_LARGE)
        list(APPEND compress --compress-mode=size)
      else()
        list(APPEND compress --compress-mode=balance)
      endif()
    endif()
    add_custom_command(
      OUTPUT "${dir}/${name}.fatbin"
      COMMAND "${cutt_fatbinary}" "--create=${dir}/${name}.fatbin" -64 ${compress} ${images}
      DEPENDS ${files}
      COMMENT "Packing GPU kernels ${name}"
      VERBATIM)
    list(APPEND fatbins "${dir}/${name}.fatbin")
    if(NOT path STREQUAL of_PROBE)
      string(APPEND list " X(${name})")
    endif()
  endforeach()

  list(JOIN cutt_cuda_archs ", " archs)
  file(CONFIGURE OUTPUT "${generated}/cutt_cuda_kernels.h" @ONLY CONTENT "#define CUTT_CUDA_IMAGES@list@
#define CUTT_CUDA_IMAGE_DIR \"@dir@\"
#define CUTT_CUDA_ARCH_LIST @archs@
#define CUTT_CUDA_PTX @cutt_cuda_ptx@
#define CUTT_CUDA_TOOLKIT @cutt_nvcc_number@
#define CUTT_CUDA_PARAMETER_BYTES @parameter_bytes@
")
  set_property(SOURCE runtime/cuda/embed.c APPEND PROPERTY OBJECT_DEPENDS ${fatbins})
  set_property(SOURCE runtime/cuda/embed.c APPEND PROPERTY INCLUDE_DIRECTORIES "${generated}")
  set(ptx "")
  if(cutt_cuda_ptx)
    set(ptx ", PTX of compute_${cutt_cuda_ptx}")
  endif()
  list(JOIN cutt_cuda_archs " sm_" archs)
  message(STATUS "GPU kernels: nvcc ${cutt_nvcc_version}, sm_${archs}${ptx}")
  if(NOT CUTT_CUDA_CUBINS) # else the reports are there
    set(cutt_cuda_report_dir "${dir}" PARENT_SCOPE)
  endif()
endfunction()
