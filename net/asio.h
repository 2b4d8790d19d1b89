// All of Asio that Ako uses, set up the same way in every file. Included by the files of net/ only,
// and by no header that others include.
#pragma once

// The standalone library, without Boost.
#define ASIO_STANDALONE 1
// Asio puts memory fences around handlers. All handlers of a transport run on its one thread, and
// what other threads post goes through a mutex, so nothing is lost without them; and
// ThreadSanitizer does not know fences.
#define ASIO_DISABLE_FENCED_BLOCK 1

#include <asio/buffer.hpp>
#include <asio/connect.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
