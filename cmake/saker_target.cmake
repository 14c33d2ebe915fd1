# SPDX-License-Identifier: Apache-2.0
# One place for how our own C is compiled, and for tests beside their sources.

# Release, gcc: in saker the layers are inlined into one another, which takes a twelfth off the
# time of replay, and so they are in the program that measures the reader. The objects are whole
# without that: other programs link as fast as ever.
function(saker_target name)
  get_target_property(type ${name} TYPE)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wno-missing-field-initializers)
  target_compile_definitions(${name} PRIVATE _GNU_SOURCE)
  target_compile_options(${name} PRIVATE "-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.")
  if(CMAKE_C_COMPILER_ID STREQUAL GNU AND CMAKE_BUILD_TYPE STREQUAL Release)
    if(type STREQUAL EXECUTABLE AND NOT name MATCHES "^(saker|overhead)$")
      target_link_options(${name} PRIVATE -fno-lto)
    else()
      # Calls of libraries are bound at the start in any case, and where a loop begins no longer
      # depends on what else changed: 5 % of the time of replay.
      set(code -flto=auto -fno-plt -falign-functions=64 -falign-loops=32)
      target_compile_options(${name} PRIVATE ${code} -ffat-lto-objects)
      target_link_options(${name} PRIVATE ${code})
    endif()
  endif()
  # scripts/check-hardening requires these of each executable that is installed.
  if(NOT SAKER_SANITIZE)
    target_compile_options(${name} PRIVATE -fPIE -fstack-protector-strong)
    target_link_options(${name} PRIVATE -pie -Wl,-z,relro,-z,now,-z,pack-relative-relocs)
    if(CMAKE_BUILD_TYPE STREQUAL Release)
      target_compile_options(${name} PRIVATE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
    endif()
  endif()
  if(SAKER_WERROR)
    target_compile_options(${name} PRIVATE -Werror)
  endif()
  if(SAKER_SANITIZE STREQUAL thread)
    target_compile_options(${name} PUBLIC -fsanitize=thread -fno-omit-frame-pointer)
    target_link_options(${name} PUBLIC -fsanitize=thread)
  elseif(SAKER_SANITIZE)
    target_compile_definitions(${name} PRIVATE SAKER_SANITIZE)
    target_compile_options(${name} PUBLIC -fsanitize=address,undefined -fno-sanitize-recover=all
      -fno-omit-frame-pointer $<$<C_COMPILER_ID:Clang>:-fsanitize=fuzzer-no-link>)
    target_link_options(${name} PUBLIC -fsanitize=address,undefined)
  endif()
endfunction()

# saker_test(NAME SOURCES... LIBS ...): a cmocka binary, one ctest. Exit status 77 is a skip.
function(saker_test name)
  cmake_parse_arguments(T "" "" "SOURCES;LIBS" ${ARGN})
  if(NOT BUILD_TESTING)
    return()
  endif()
  if(NOT CMOCKA_FOUND)
    message(FATAL_ERROR "cmocka is missing: run scripts/setup --tests, or configure with -DBUILD_TESTING=OFF")
  endif()
  add_executable(${name} ${T_SOURCES})
  saker_target(${name})
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>) # of its own sources: compiles faster
  target_link_libraries(${name} PRIVATE ${T_LIBS} scap_testing PkgConfig::CMOCKA)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77
    ENVIRONMENT "SAKER_SOURCE_DIR=${CMAKE_SOURCE_DIR};SAKER_BUILD_DIR=${CMAKE_BINARY_DIR}")
endfunction()

# saker_man(TARGET TITLE): the man page of a program beside saker, from its --help.
function(saker_man name title)
  set(page ${CMAKE_CURRENT_BINARY_DIR}/${name}.1)
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${name}> -DNAME=${name} "-DTITLE=${title}"
      -DVERSION=${PROJECT_VERSION} -DOUT=${page} -P ${CMAKE_SOURCE_DIR}/cmake/help_man.cmake
    DEPENDS ${name} ${CMAKE_SOURCE_DIR}/cmake/help_man.cmake VERBATIM)
  add_custom_target(${name}_man ALL DEPENDS ${page})
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
endfunction()

# saker_fail_alloc(NAME): under sanitizers an allocation of the program can be made to fail, for tests/e2e/alloc_test.py.
function(saker_fail_alloc name)
  if(SAKER_SANITIZE STREQUAL address)
    target_sources(${name} PRIVATE ${CMAKE_SOURCE_DIR}/userspace/libscap/testing/fail_alloc_testing.c)
    foreach(function malloc calloc realloc reallocarray aligned_alloc strdup strndup open_memstream asprintf vasprintf)
      target_link_options(${name} PRIVATE -Wl,--wrap=${function})
    endforeach()
  endif()
endfunction()
