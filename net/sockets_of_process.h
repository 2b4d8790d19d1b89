// The sockets that a child made by fork must not keep open: as long as it does, a connection stays
// up and a port stays taken when the process itself is long gone. A process has one set of
// descriptors, so what is here is global. Any thread; in the child the one that there is.
#pragma once

namespace ako {

/// Lists a socket for as long as it lives: to be destroyed before the socket is closed. One that
/// finds no room is not listed.
class ListedSocket {
  public:
    explicit ListedSocket(int fd);
    ~ListedSocket();
    ListedSocket(const ListedSocket&) = delete;
    ListedSocket& operator=(const ListedSocket&) = delete;

  private:
    int place_ = -1;
};

/// Closes this process's copies of all that are listed. Only in a child that fork has made.
void close_listed_sockets();

}  // namespace ako
