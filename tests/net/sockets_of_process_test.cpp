// What a child made by fork must not keep open.
#include "net/sockets_of_process.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace ako::sockets_of_process_test {

TEST_CASE("sockets of the process: a child closes its copies, the process keeps its own") {
    std::array<int, 2> kept{}, closed{};
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, kept.data()) == 0);
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, closed.data()) == 0);
    const ListedSocket first(kept[0]);
    { const ListedSocket gone(closed[0]); }
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        close_listed_sockets();
        const bool let_go = fcntl(kept[0], F_GETFD) < 0;
        const bool others_stay = fcntl(closed[0], F_GETFD) >= 0 && fcntl(kept[1], F_GETFD) >= 0;
        _exit(let_go && others_stay ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(fcntl(kept[0], F_GETFD) >= 0);
    for (const int fd : {kept[0], kept[1], closed[0], closed[1]}) close(fd);
}

}  // namespace ako::sockets_of_process_test
