# Writes a source file with a text as a function. -D SOURCE=page.html -D OUTPUT=page.cpp
# -D HEADER=src/observe/page.h -D NAME=page
file(READ ${SOURCE} text)
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n
std::string_view ako::${NAME}() {
    return R\"text(${text})text\";
}
")
