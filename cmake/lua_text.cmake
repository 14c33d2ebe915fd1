# SPDX-License-Identifier: Apache-2.0
# Writes Lua files into a C file as arrays of bytes:
#   cmake -DOUT=F -DHEADER=H -DARRAY=NAME "-DFILES=A;B" -P lua_text.cmake
# HEADER declares ARRAY, which gets a row for each file, named lib/NAME for a file of a folder lib.
# compat.lua, the prelude of each state, is no row of it.
set(text "#include \"${HEADER}\"\n\n")
set(rows "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  string(APPEND text "static const char ${name}_text[] = {\n${bytes}};\n\n")
  get_filename_component(folder ${file} DIRECTORY)
  get_filename_component(folder ${folder} NAME)
  set(row_name ${name})
  if(folder STREQUAL "lib")
    set(row_name "lib/${name}")
  endif()
  set(row "{\"${row_name}\", ${name}_text, sizeof(${name}_text)}")
  if(name STREQUAL "compat")
    string(APPEND text "const struct sinsp_chisel_file chisel_lua_compat = ${row};\n\n")
  else()
    string(APPEND rows "\t${row},\n")
  endif()
endforeach()
string(APPEND text "const struct sinsp_chisel_file ${ARRAY}[] = {\n${rows}\t{0},\n};\n")
file(WRITE ${OUT} "${text}")
