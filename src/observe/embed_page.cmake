# Writes a source file with the page as a string. -D SOURCE=page.html -D OUTPUT=page.cpp
file(READ ${SOURCE} page)
file(WRITE ${OUTPUT} "#include \"src/observe/page.h\"\n
std::string_view ako::page() {
    return R\"page(${page})page\";
}
")
