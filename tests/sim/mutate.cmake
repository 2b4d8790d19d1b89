# Writes the changed sources of one mutant of mutants.cmake to a folder, under their own names.
#     cmake -DMUTANT=name -DSOURCES=repository -DOUT=folder -P mutate.cmake
cmake_minimum_required(VERSION 3.25)

function(mutant name program arguments expected)
  set(current ${name} PARENT_SCOPE)
endfunction()

function(shrinks_to faults_max arguments)
endfunction()

function(mutation file from to)
  if(NOT current STREQUAL MUTANT)
    return()
  endif()
  get_filename_component(copy ${file} NAME)
  set(copy ${OUT}/${copy})
  # The second replacement in a file is made in the copy.
  if(file IN_LIST copied)
    file(READ ${copy} text)
  else()
    file(READ ${SOURCES}/${file} text)
    set(copied ${copied} ${file} PARENT_SCOPE)
  endif()
  string(FIND "${text}" "${from}" first)
  string(FIND "${text}" "${from}" last REVERSE)
  if(first EQUAL -1 OR NOT first EQUAL last)
    message(FATAL_ERROR "mutant ${MUTANT}: ${file} does not hold exactly once:\n${from}")
  endif()
  string(REPLACE "${from}" "${to}" text "${text}")
  file(WRITE ${copy} "${text}")
endfunction()

set(copied "")
include(${CMAKE_CURRENT_LIST_DIR}/mutants.cmake)
