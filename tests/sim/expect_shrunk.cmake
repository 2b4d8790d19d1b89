# Passes if a program that must report a violation makes its schedule short: to at most so many faults, with
# which the command that it prints shows the same violation again.
#     cmake -DPROGRAM=path -DARGUMENTS=list -DFAULTS_MAX=count -P expect_shrunk.cmake
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} RESULT_VARIABLE status OUTPUT_VARIABLE output
  ERROR_VARIABLE output)
message("${output}")
if(NOT status STREQUAL "1")
  message(FATAL_ERROR "exit status ${status}; expected 1")
endif()
if(NOT output MATCHES "with [0-9]+ of ([0-9]+) faults, after [0-9]+ runs: ([^\n]*)\n")
  message(FATAL_ERROR "no schedule was made short")
endif()
set(drawn ${CMAKE_MATCH_1})
set(violation "${CMAKE_MATCH_2}")
if(NOT output MATCHES "replay: simulate --seed ([0-9]+) --faults \"([^\"]*)\"")
  message(FATAL_ERROR "no command to replay it")
endif()
set(seed ${CMAKE_MATCH_1})
set(faults "${CMAKE_MATCH_2}")
list(LENGTH faults count)  # they are parted as lists are
if(count GREATER FAULTS_MAX OR NOT count LESS drawn)
  message(FATAL_ERROR "${count} faults are left of ${drawn}; expected at most ${FAULTS_MAX}, and fewer")
endif()

execute_process(COMMAND ${PROGRAM} --seed ${seed} --faults "${faults}" --no-shrink
  RESULT_VARIABLE status OUTPUT_VARIABLE again)
string(FIND "${again}" "violated: ${violation}\n" found)
if(NOT status STREQUAL "1" OR found EQUAL -1)
  message(FATAL_ERROR "the command does not show it again, but exit status ${status} and:\n${again}")
endif()
