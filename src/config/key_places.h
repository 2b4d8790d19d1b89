// Where each key of a cluster file was said, kept beside the settings for what can only be
// complained of later: data that is missing, memory, addresses. Values; any thread.
#pragma once

#include <map>
#include <string>

#include "ako/error.h"

namespace ako {

struct Settings;

class KeyPlaces {
  public:
    void put(const std::string& key, const std::string& where) { places_[key] = where; }

    /// "cluster.yaml:12:16" or "--set key=value", of the key or else of the list element it is in;
    /// empty if neither was given.
    std::string of(const std::string& key) const;
    /// Was this very key given?
    bool has(const std::string& key) const { return places_.contains(key); }

    /// Places say nothing of what stands there, so any two are equal.
    bool operator==(const KeyPlaces&) const { return true; }

  private:
    std::map<std::string, std::string> places_;
};

/// The same complaint with the place and the name of the key that decides: "cluster.yaml:3:14:
/// data.path: ...", or with the file alone if the key was left out. One that begins with the name
/// of a key keeps that one.
StartupError at_key(const Settings& settings, const std::string& key, const StartupError& error);

/// What `action` gives; a StartupError of it leaves with the key's place.
template <class Action>
auto naming_key(const Settings& settings, const std::string& key, const Action& action) {
    try {
        return action();
    } catch (const StartupError& error) {
        throw at_key(settings, key, error);
    }
}

}  // namespace ako
