# SPDX-License-Identifier: Apache-2.0
# bpf_skeleton(NAME SOURCE FILE [INCLUDES DIRS...] [PACKED]): compiles one BPF translation unit and
# makes the INTERFACE target NAME_skel, which gives its users NAME.skel.h. PACKED: the header has not
# the object; it is compressed in the static library NAME_object, for PACKED_OBJECT_OPEN. Nothing is
# written to the source tree. Headers are followed by a depfile, by generators that can.

find_program(BPF_CLANG NAMES clang-19 clang-20 clang-18 clang-17 clang-16 clang)
find_program(BPFTOOL NAMES bpftool HINTS /usr/sbin /sbin)

function(bpf_skeleton name)
  cmake_parse_arguments(B "PACKED" "SOURCE" "INCLUDES" ${ARGN})
  if(NOT BPF_CLANG)
    message(FATAL_ERROR "clang is missing, which compiles the driver: run scripts/setup")
  endif()
  if(NOT BPFTOOL)
    message(FATAL_ERROR "bpftool is missing, which makes the driver's skeleton: run scripts/setup")
  endif()
  set(src ${CMAKE_CURRENT_SOURCE_DIR}/${B_SOURCE})
  set(obj ${CMAKE_CURRENT_BINARY_DIR}/${name}.bpf.o)
  set(bare ${CMAKE_CURRENT_BINARY_DIR}/${name}.bare.o)
  set(skel ${CMAKE_CURRENT_BINARY_DIR}/${name}.skel.h)
  list(TRANSFORM B_INCLUDES PREPEND -I)
  set(dep)
  if(CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
    set(dep DEPFILE ${obj}.d)
  endif()
  # Line information is part of the program: without the path of the folder, builds are the same
  # wherever they are. -mcpu=v3: what Linux 6.1 loads. The multiarch path has asm/types.h.
  add_custom_command(
    OUTPUT ${obj}
    COMMAND ${CMAKE_C_COMPILER_LAUNCHER} ${BPF_CLANG} -g -O2 -mcpu=v3 -target bpf -std=gnu11 -Wall -Wextra -Werror
      -Wno-missing-field-initializers -Wno-initializer-overrides
      -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -fdebug-compilation-dir=.
      -isystem /usr/include/${CMAKE_LIBRARY_ARCHITECTURE} ${B_INCLUDES}
      -MD -MF ${obj}.d -MT ${obj} -c ${src} -o ${obj}
    DEPENDS ${src}
    ${dep}
    COMMENT "BPF ${B_SOURCE}"
    VERBATIM)
  # Linking leaves out what only debuggers read: DWARF, and relocations that are done.
  add_custom_command(
    OUTPUT ${bare}
    COMMAND ${BPFTOOL} gen object ${bare} ${obj}
    DEPENDS ${obj}
    COMMENT "BPF object ${name}"
    VERBATIM)
  set(edit)
  if(B_PACKED)
    set(edit | sed -f ${CMAKE_SOURCE_DIR}/cmake/skeleton_without_object.sed)
    add_custom_command(
      OUTPUT ${name}_object.c
      COMMAND pack_object ${bare} ${name} > ${name}_object.c
      DEPENDS ${bare} pack_object
      COMMENT "Packed object ${name}"
      VERBATIM)
    add_library(${name}_object STATIC ${name}_object.c)
    target_include_directories(${name}_object PRIVATE ${CMAKE_SOURCE_DIR}/userspace/libscap)
    saker_target(${name}_object)
  endif()
  add_custom_command(
    OUTPUT ${skel}
    COMMAND ${BPFTOOL} gen skeleton ${bare} name ${name} ${edit} > ${skel}
    DEPENDS ${bare}
    COMMENT "Skeleton of ${name}"
    VERBATIM)
  add_custom_target(${name}_skel_h DEPENDS ${skel})
  add_library(${name}_skel INTERFACE)
  target_include_directories(${name}_skel SYSTEM INTERFACE ${CMAKE_CURRENT_BINARY_DIR})
  add_dependencies(${name}_skel ${name}_skel_h)
  if(B_PACKED)
    target_link_libraries(${name}_skel INTERFACE ${name}_object)
  endif()
endfunction()
