// The generated code of wire.capnp, for the files of the codec only.
#pragma once

#include <capnp/message.h>
#include <capnp/serialize.h>

// The generated header is not a system header, and its conversions are not ours to mend.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#include "net/wire.capnp.h"
#pragma GCC diagnostic pop
