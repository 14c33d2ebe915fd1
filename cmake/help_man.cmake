# SPDX-License-Identifier: Apache-2.0
# Makes the man page of a program from its --help:
#   cmake -DPROGRAM=FILE -DNAME=saker-x -DTITLE=TEXT -DVERSION=V -DOUT=FILE -P help_man.cmake
execute_process(COMMAND ${PROGRAM} --help OUTPUT_VARIABLE help RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} --help: ${status}")
endif()
string(TOUPPER ${NAME} upper)
foreach(text help TITLE NAME)
  string(REPLACE "\\" "\\e" ${text} "${${text}}")
  string(REPLACE "-" "\\-" ${text} "${${text}}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" ${text} "${${text}}")
endforeach()
file(WRITE ${OUT} ".TH ${upper} 1 \"\" \"saker ${VERSION}\" \"User Commands\"
.SH NAME
${NAME} \\- ${TITLE}
.SH DESCRIPTION
.nf
${help}.fi
.SH SEE ALSO
.BR saker (1)
")
