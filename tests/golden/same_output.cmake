# Runs FIRST and SECOND and fails unless both succeed and print the same.
execute_process(COMMAND ${FIRST} OUTPUT_VARIABLE first COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${SECOND} OUTPUT_VARIABLE second COMMAND_ERROR_IS_FATAL ANY)
message("${FIRST}:\n${first}${SECOND}:\n${second}")
if(first STREQUAL "" OR NOT first STREQUAL second)
  message(FATAL_ERROR "they differ")
endif()
