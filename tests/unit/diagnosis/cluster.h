// Clusters as they are seen by find_bottleneck: all peers alike, until a test changes one.
#pragma once

#include <string>
#include <vector>

#include "src/diagnosis/find_bottleneck.h"

namespace ako {

struct Cluster {
    std::vector<std::string> names;
    std::vector<MetricsLine> lines;
    std::vector<bool> serves;
    bool lockstep = false;

    LinkUsage& way(std::size_t from, std::size_t to) {
        return lines[from].links[to < from ? to : to - 1].usage;
    }
    void set_all_ways(const LinkUsage& usage) {
        for (MetricsLine& line : lines)
            for (LinkLine& link : line.links) link.usage = usage;
    }
    LinkLine& seen(std::size_t by, std::size_t peer) {
        return lines[by].links[peer < by ? peer : peer - 1];
    }
    Bottleneck find() const {
        std::vector<SeenPeer> peers;
        for (std::size_t k = 0; k < names.size(); ++k)
            peers.push_back({names[k], serves[k], &lines[k]});
        return find_bottleneck(peers, lockstep);
    }
};

/// Peers a, b, c .. with sessions to all, 20 rounds a second of 40 ms of gradient each, of a third
/// of a processor, and nothing on the links.
inline Cluster idle_links(std::size_t count) {
    Cluster cluster;
    for (std::size_t k = 0; k < count; ++k) {
        cluster.names.push_back(std::string(1, static_cast<char>('a' + k)));
        cluster.serves.push_back(false);
        MetricsLine line;
        line.usage = {10, 20, 0.8, 0.01, 0.1, 0.3, 0.6, 0.02, 0.01, 0, 0};
        cluster.lines.push_back(line);
    }
    for (std::size_t k = 0; k < count; ++k) {
        for (std::size_t other = 0; other < count; ++other) {
            if (other == k) continue;
            LinkLine link;
            link.peer = cluster.names[other];
            link.presence = Presence::up;
            link.usage.staleness_rounds = 6;
            link.usage.round_trip_ms = 0.5;
            cluster.lines[k].links.push_back(link);
        }
    }
    return cluster;
}

/// The mode ako: every peer sends to every other as much as the links take, 18 Mbit/s in all.
inline Cluster free_cluster(std::size_t count = 4) {
    Cluster cluster = idle_links(count);
    cluster.set_all_ways({0.97, 18.0 / static_cast<double>(count - 1), 30, 6});
    return cluster;
}

/// A ring in which rounds wait half the time: every peer sends to the next alone.
inline Cluster ring_cluster(std::size_t count = 4) {
    Cluster cluster = idle_links(count);
    cluster.lockstep = true;
    for (std::size_t from = 0; from < count; ++from) {
        cluster.lines[from].usage.wait = 0.5;
        cluster.lines[from].usage.gradient = 0.45;
        cluster.way(from, (from + 1) % count) = {0.45, 9, 2, 0};
    }
    return cluster;
}

}  // namespace ako
