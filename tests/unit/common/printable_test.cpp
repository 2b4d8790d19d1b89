// Text of others, made safe to show.
#include "ako/printable.h"

#include <doctest/doctest.h>

namespace ako::printable_test {

namespace {

/// Left as it is, and called so.
void check_stays(const std::string& text) {
    CAPTURE(text);
    CHECK(printable(text) == text);
    CHECK(is_printable(text));
}

void check_becomes(const std::string& text, const std::string& shown) {
    CAPTURE(shown);
    CHECK(printable(text) == shown);
    CHECK_FALSE(is_printable(text));
    CHECK(is_printable(printable(text)));
}

}  // namespace

TEST_CASE("letters of every length stay as they are") {
    check_stays("");
    check_stays("a name with ~ and blanks");
    check_stays("M\u00fcller, \u00a0 \u20ac, \u7f51\u7edc, \U0001f642");
    check_stays("\U0010ffff");
}

TEST_CASE("control characters become question marks") {
    check_becomes("\033[31mred\r\n", "?[31mred??");
    check_becomes(std::string("a\0b", 3), "a?b");
    check_becomes("\x7f", "?");
}

TEST_CASE("C1 control characters do, as UTF-8 and as single bytes") {
    check_becomes("a\u009b31mred", "a?31mred");
    check_becomes("\u0080\u009f", "??");
    check_becomes(
        "a\x9b"
        "31mred",
        "a?31mred");
}

TEST_CASE("marks that turn the direction of writing do") {
    check_becomes("a\u202eb\u2066c\u200fd\u2028e\u061c", "a?b?c?d?e?");
}

TEST_CASE("bytes that are not UTF-8 do, one by one") {
    check_becomes("\xc0\x8a", "??");            // a line end, longer than it need be
    check_becomes("\xe0\x82\x9b", "???");       // U+009B, the same
    check_becomes("\xed\xa0\x80", "???");       // half of a pair of UTF-16
    check_becomes("\xf4\x90\x80\x80", "????");  // beyond Unicode
    check_becomes("\xe2\x82", "??");            // cut off
    check_becomes(
        "\xe2\x82"
        "a",
        "??a");
    check_becomes("\xff\xfe", "??");
}

TEST_CASE("a message of several lines keeps them") {
    CHECK(printable_lines("one\n  two\033\n") == "one\n  two?\n");
    CHECK(printable_lines("") == "");
    CHECK(printable_lines("\n\r\n") == "\n?\n");
}

}  // namespace ako::printable_test
