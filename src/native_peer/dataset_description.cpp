#include "src/native_peer/dataset_description.h"

#include <span>

#include "src/numbers/checksum.h"

namespace ako {

DataPartDescription describe(const Dataset& dataset) {
    DataPartDescription part;
    part.count = dataset.size();
    const auto told = dataset.labels(0, labels_told(part.count));
    part.first_labels.assign(told.begin(), told.end());
    for (std::size_t k = 0; k < data_pieces(part.count); ++k) {
        const DataPiece piece = data_piece(part.count, k);
        const std::size_t count = piece.end - piece.first;
        part.labels.push_back(crc32c(std::as_bytes(dataset.labels(piece.first, count))));
        part.images.push_back(crc32c(dataset.image_bytes(piece.first, count)));
    }
    return part;
}

}  // namespace ako
