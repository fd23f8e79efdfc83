/// The single passes: functions from graph to graph. Each computes what it was given; see optimize.cpp for the order.
#pragma once

#include "hone/graph/passes/rewriter.h"
#include "hone/graph/specialize.h"

namespace hone::graph {

// Passes over graphs.

/// Gives subgraphs constants of their own for those that they capture, so that they can be folded and packed there.
Graph pass_constants_down(Graph graph);

/// Computes nodes whose inputs are constants, unless that would make the model much bigger.
Graph fold_constants(Graph graph, const Evaluate& evaluate);

/// Removes nodes whose results nobody reads, and constants likewise. Subgraphs included.
Graph remove_dead_nodes(Graph graph);

// Passes that use types and shapes where they are known. They leave subgraphs alone.

/// Removes what copies its input: Identity, Dropout, conversions to the same type or shape, sums with 0, …
Draft remove_identities(Draft draft);

/// Computes once what several nodes compute from the same inputs, and keeps one of equal small constants.
Draft merge_common_nodes(Draft draft);

/// Lets a Reshape of a Reshape read what the first one reads. Squeeze, Unsqueeze and Flatten are such as well.
Draft merge_reshapes(Draft draft);

/// Computes products of tensors with one matrix as products of two matrices, whose rows are the rows of all the leading
/// axes: a kernel that takes few rows at a time wastes less on them, and reads the matrix less often.
Draft flatten_products(Draft draft);

/// Moves changes of shape behind the elementwise operators that follow them, so that these stand next to the product
/// whose kernel they can be a part of.
Draft sink_reshapes(Draft draft);

/// Makes one Transpose, or none, of two with nothing but elementwise operators between them, and a Reshape of one that
/// moves axes of extent 1 alone; lets matrix products read transposed matrices as they are, and picks single entries
/// before a Transpose, not after it.
Draft cancel_transposes(Draft draft);

/// Folds batch normalisations, and factors and sums per channel, into the weights of the Conv, ConvTranspose, Gemm or
/// MatMul before them. A batch normalisation with nothing before it becomes a product and a sum.
Draft fold_batch_norms(Draft draft);

/// Writes a transposed convolution with steps as one convolution without, whose channels are the results between two
/// steps, and puts these side by side: no element is multiplied by the zeros that a step stands for.
Draft interleave_transposed_convs(Draft draft);

/// Gives a convolution with many channels before a pooling over whole images as many that they fill vectors, and cuts
/// the result: SqueezeNet's last one has 1000. The same between two convolutions of images of one position, as in
/// squeeze-and-excitation.
Draft pad_channels(Draft draft);

/// Finds Gelu (by erf or tanh), Swish, HardSwish and Mish that exporters wrote in several nodes.
Draft recognize_activations(Draft draft);

/// Finds LayerNormalization and RMSNormalization that exporters wrote in several nodes, and takes in constant factors
/// and biases that follow a norm.
Draft recognize_norms(Draft draft);

/// Finds softmax(q · kᵀ · scale + mask) · v that exporters wrote in several nodes, heads that share keys included. Few
/// queries stay as they are.
Draft recognize_attention(Draft draft);

/// Lets a fused attention read heads and positions in the order in which they are, and write them in the order that is
/// wanted, in place of transposes around it.
Draft absorb_head_transposes(Draft draft);

/// Computes products of one value with several constant weights at once, and splits the result: query, key and value of
/// an attention, convolutions side by side.
Draft merge_parallel_products(Draft draft);

}  // namespace hone::graph
