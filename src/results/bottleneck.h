// What limits a cluster, as src/diagnosis/ finds it. A value; any thread.
#pragma once

#include <string>

namespace ako {

struct Bottleneck {
    enum class Kind {
        unknown,           ///< too little has been seen
        none,              ///< no peer and no link holds the others back
        processor,         ///< of `peer`: others have it, or its quota is spent
        straggler,         ///< `peer` takes longer for a round although it has its processor
        memory,            ///< of `peer`: pages have to be read again
        input,             ///< of `peer`: its batches come late
        egress,            ///< what `peer` can send to all
        ingress,           ///< what `peer` can receive from all
        link,              ///< the path from `peer` to `other`
        server_processor,  ///< of `peer`, which only serves
        server_network,    ///< the same
    };
    Kind kind = Kind::unknown;
    std::string peer;
    std::string other;     ///< of a link: where it leads
    std::string evidence;  ///< what was seen, a sentence for people
    std::string remedy;    ///< what would help, likewise; empty: nothing is known to

    /// "egress of c", "link a -> b", "none".
    std::string label() const;
    /// Label, evidence and remedy as one sentence.
    std::string text() const;
};

/// {"label": "egress of c", "evidence": "..", "remedy": ".."}, without a line break.
std::string to_json_text(const Bottleneck& bottleneck);

}  // namespace ako
