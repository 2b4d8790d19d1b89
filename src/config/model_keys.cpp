// The rows of `model` and `data`; see key_rows.h.
#include "src/config/key_rows.h"
#include "src/config/layer_fields.h"

namespace ako {

namespace {

bool is_listed(const Settings& settings) { return settings.model.kind == ModelKind::layers; }
bool may_be_named(const Settings& settings) {
    const ModelSettings& model = settings.model;
    return !is_listed(settings) || (model.layers.empty() && model.input.height == 0);
}

Field of_synthetic(Field row) {
    return std::move(row).only_with("model.name: synthetic", is_synthetic);
}

}  // namespace

void add_model_keys(std::vector<Field>& rows) {
    // A model is a list of layers unless it has a name, so the list is read first.
    rows.push_back(input_shape_field()
                       .means("height, width, channels of an image", "required with model.layers")
                       .only_with("model.layers", is_listed));
    rows.push_back(layers_field()
                       .means("from the image to the scores; softmax and its loss follow",
                              "required unless the model has a name")
                       .only_with("model.input", is_listed));
    rows.push_back(choice_field<ModelKind>("model.name", Scope::shared, AKO_MEMBER(model.kind),
                                           {{"mlp", ModelKind::mlp},
                                            {"lenet", ModelKind::lenet},
                                            {"cifar-quick", ModelKind::cifar_quick},
                                            {"resnet20", ModelKind::resnet20},
                                            {"synthetic", ModelKind::synthetic},
                                            {"external", ModelKind::external}})
                       .means("the network, by a name that needs no more (`model: lenet`), "
                              "or as a list of layers",
                              "required unless it is a list of layers")
                       .only_with("neither model.input nor model.layers", may_be_named)
                       .shown_as("synthetic")
                       .told());
    rows.push_back(of_synthetic(whole_field("model.parameters", Scope::shared,
                                            AKO_MEMBER(model.parameters), 1, 4'000'000'000)
                                    .means("how many parameters")));
    rows.push_back(
        of_synthetic(number_field("model.compute_ms", Scope::shared, AKO_MEMBER(model.compute_ms),
                                  {.low = 0, .high = 60'000})
                         .means("how long one gradient takes, in milliseconds")));
    rows.push_back(of_synthetic(
        whole_field("model.samples", Scope::shared, AKO_MEMBER(model.samples), 1, samples_max)
            .means("the size of the data set it stands for (of which `epochs` "
                   "counts)")));
    rows.push_back(of_synthetic(
        number_field("model.noise", Scope::shared, AKO_MEMBER(model.noise), {.low = 0, .high = 1e6})
            .means("standard deviation of the noise on every element of a gradient")));
    // Not shared: Hello carries the digest of the parameters themselves.
    rows.push_back(as_path(optional_text_field("model.initial", Scope::own,
                                               AKO_MEMBER(model.initial), "a safetensors file"))
                       .means("a saved model (.safetensors) of the same network to start "
                              "from, instead of the seed; relative to this file; null: none"));
}

void add_data_keys(std::vector<Field>& rows) {
    rows.push_back(
        choice_field<DataFormat>(
            "data.format", Scope::shared, AKO_MEMBER(data.format),
            {{"idx", DataFormat::idx}, {"cifar10", DataFormat::cifar10}, {"npy", DataFormat::npy}})
            .means("idx: MNIST's four files, plain or gzipped | cifar10: "
                   "data_batch_1.bin to data_batch_5.bin and test_batch.bin, as "
                   "published | npy: train_images.npy, train_labels.npy, "
                   "test_images.npy and test_labels.npy, written by numpy.save, "
                   "or train.npz and test.npz with images and labels: images [n, "
                   "height, width] or [n, height, width, channels] of uint8, "
                   "float32 or what float32 holds, labels [n] of whole numbers "
                   "from 0 to the number of classes less 1"));
    rows.push_back(as_path(optional_text_field("data.path", Scope::own, AKO_MEMBER(data.path),
                                               "the folder with the data set"))
                       .means("the folder, with the same data at all peers; relative to this "
                              "file",
                              "required but for models synthetic and external")
                       .shown_as("mnist/data"));
    rows.push_back(channel_numbers_field("data.normalisation.mean", Scope::shared,
                                         AKO_MEMBER(data.mean), {.low = -1e6, .high = 1e6})
                       .means("a pixel becomes (value - mean) / deviation; bytes are divided "
                              "by 255 before.",
                              "idx 0.1307, cifar10 [0.4914, 0.4822, 0.4465], npy 0")
                       .shown_as("0.1307"));
    rows.push_back(channel_numbers_field("data.normalisation.deviation", Scope::shared,
                                         AKO_MEMBER(data.deviation),
                                         {.low = 0, .high = 1e6, .low_open = true})
                       .means("a pixel becomes (value - mean) / deviation; bytes are divided "
                              "by 255 before.",
                              "idx 0.3081, cifar10 [0.247, 0.2435, 0.2616], npy 1")
                       .shown_as("0.3081"));
    rows.push_back(whole_field("data.augmentation.crop", Scope::shared,
                               AKO_MEMBER(data.augmentation.crop), 0, 256)
                       .means("pixels of zeros (the mean colour) around a training image, "
                              "out of which it is cut at random in its old size; below its "
                              "sides"));
    rows.push_back(
        flag_field("data.augmentation.flip", Scope::shared, AKO_MEMBER(data.augmentation.flip))
            .means("true: half of them are mirrored left to right, at random"));
    rows.push_back(number_field("data.validation", Scope::shared, AKO_MEMBER(data.validation),
                                {.low = 0, .high = 1, .high_open = true})
                       .means("this share of the training set is kept back and takes the place "
                              "of the test set: to choose by, so that the test set still tells "
                              "something; 0: none"));
    rows.push_back(number_field("data.subset", Scope::shared, AKO_MEMBER(data.subset),
                                {.low = 0, .high = 1, .low_open = true})
                       .means("this share of the training set is trained on, the same at all "
                              "peers; epochs count it alone"));
    rows.push_back(choice_field<Sharding>("data.sharding", Scope::shared, AKO_MEMBER(data.sharding),
                                          {{"disjoint", Sharding::disjoint},
                                           {"shuffled", Sharding::shuffled},
                                           {"elastic", Sharding::elastic},
                                           {"own", Sharding::own}})
                       .means("disjoint: every peer has its own share | shuffled: every peer "
                              "draws from all of it, in an order of its own | elastic: with "
                              "ako, shares follow the peers that are there and how fast they "
                              "are, so that all of it is seen about equally often | own: "
                              "every peer has another training set and passes over all of "
                              "that (federated); `peers` says of how many samples")
                       .told());
}

}  // namespace ako
