# Passes if a program reports the violation that it must report: exit status 1 (not an abort, which would
# mean that something else noticed) and a given text in what it prints.
#     cmake -DPROGRAM=path -DARGUMENTS=list -DEXPECTED=regex -P expect_violation.cmake
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} RESULT_VARIABLE status OUTPUT_VARIABLE output
  ERROR_VARIABLE output)
message("${output}")
if(NOT status STREQUAL "1" OR NOT output MATCHES "${EXPECTED}")
  message(FATAL_ERROR "exit status ${status}; expected 1, and in the output: ${EXPECTED}")
endif()
