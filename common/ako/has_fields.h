// Which structs list their fields: those of ako/frame.h and what they are made of.
#pragma once

namespace ako {

template <class Value>
concept HasFields = requires(Value& value) {
    Value::fields(value, [](const char*, auto&&...) {});
};

}  // namespace ako
