// The confusion matrix: its counts, and that people can read it at 80 columns.
#include "src/screen/confusion_matrix.h"

#include <doctest/doctest.h>

#include <sstream>
#include <string>

namespace ako::confusion_matrix_test {

namespace {

void check_columns(const std::string& text, std::size_t columns) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= columns);
}

}  // namespace

TEST_CASE("a few classes are a matrix") {
    ConfusionMatrix confusion(3);
    for (int k = 0; k < 99; ++k) confusion.add(0, 0);
    confusion.add(0, 2);
    confusion.add(1, 1);
    confusion.add(1, 0);
    CHECK(confusion.count(0, 0) == 99);
    CHECK(confusion.text(80) ==
          "        answer\n"
          " label   0   1   2  right %\n"
          "     0  99   .   1    99.00\n"
          "     1   1   1   .    50.00\n"
          "     2   .   .   .        -\n");
}

TEST_CASE("ten classes of thousands fit into 80 columns") {
    ConfusionMatrix confusion(10);
    for (int k = 0; k < 9999; ++k) confusion.add(9, 9);
    const std::string text = confusion.text(80);
    CHECK(text.find("answer") != std::string::npos);
    check_columns(text, 80);
}

TEST_CASE("more classes than columns are a table with the largest confusions") {
    ConfusionMatrix confusion(100);
    for (int k = 0; k < 6; ++k) confusion.add(3, 3);
    for (int k = 0; k < 2; ++k) confusion.add(3, 98);
    for (const std::size_t answer : {5, 7, 8}) confusion.add(3, answer);
    confusion.add(98, 98);
    const std::string text = confusion.text(80);
    check_columns(text, 80);
    CHECK(text.find(" label   samples   right %   answers right %   most often taken for\n") == 0);
    CHECK(text.find("     3        11     54.55            100.00   98 (2), 5 (1), 7 (1)\n") !=
          std::string::npos);
    CHECK(text.find("    98         1    100.00             33.33   -\n") != std::string::npos);
    CHECK(text.find("    99         0         -                 -   -\n") != std::string::npos);
}

TEST_CASE("samples without an answer are wrong and said") {
    ConfusionMatrix confusion(2);
    confusion.add(0, 0);
    confusion.add_unanswered(0);
    const std::string text = confusion.text(80);
    CHECK(text.find("50.00") != std::string::npos);
    CHECK(text.ends_with("samples without an answer (scores that are not finite): 1\n"));
}

}  // namespace ako::confusion_matrix_test
