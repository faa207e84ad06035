//===- MicrosoftSchemas.cpp - operators of ONNX Runtime -------------------===//
//
// Only those that gpucc converts; test/tools/test_schemas.py compares the rows
// with what ONNX Runtime itself says of them. A rule refuses what it does not do.
//
//===----------------------------------------------------------------------===//
#include "lib/Conversion/FrontendToGraph/Schemas.h"

using namespace gpucc::frontend_to_graph;

llvm::ArrayRef<NodeSchema> gpucc::frontend_to_graph::microsoftSchemas() {
  static constexpr NodeSchema rows[] = {
      {"SimplifiedLayerNormalization", 1, 2, 2, 1, 2, "i:axis f:epsilon i:stash_type"},
      {"com.microsoft.BiasGelu", 1, 2, 2, 1, 1, ""},
      {"com.microsoft.DequantizeLinear", 1, 2, 3, 1, 1, "i:axis"},
      {"com.microsoft.FastGelu", 1, 1, 2, 1, 1, ""},
      {"com.microsoft.FusedMatMul", 1, 2, 2, 1, 1,
       "f:alpha i:transA i:transB i:transBatchA i:transBatchB"},
      {"com.microsoft.Gelu", 1, 1, 1, 1, 1, ""},
      {"com.microsoft.GroupQueryAttention", 1, 7, 17, 1, 4,
       "i:causal i:do_rotary f:k_norm_epsilon s:k_quant_type i:kv_cache_bit_width i!kv_num_heads "
       "i:local_window_size i!num_heads f:q_norm_epsilon f:qk_norm_epsilon i:qk_output "
       "i:rotary_interleaved f:scale i:sliding_window_cache i:smooth_softmax f:softcap "
       "s:v_quant_type"},
      {"com.microsoft.MatMulNBits", 1, 3, 6, 1, 1,
       "i!K i!N i:accuracy_level i:bits i!block_size i:weight_prepacked"},
      {"com.microsoft.MultiHeadAttention", 1, 1, 10, 1, 4,
       "f:mask_filter_value i!num_heads f:scale i:unidirectional"},
      {"com.microsoft.QLinearAdd", 1, 7, 8, 1, 1, ""},
      {"com.microsoft.QLinearConcat", 1, 3, -1, 1, 1, "i!axis"},
      {"com.microsoft.QLinearGlobalAveragePool", 1, 5, 5, 1, 1, "i:channels_last"},
      {"com.microsoft.QLinearLeakyRelu", 1, 4, 5, 1, 1, "f:alpha"},
      {"com.microsoft.QLinearMul", 1, 7, 8, 1, 1, ""},
      {"com.microsoft.QLinearSigmoid", 1, 4, 5, 1, 1, ""},
      {"com.microsoft.QuantizeLinear", 1, 2, 3, 1, 1, "i:axis"},
      {"com.microsoft.QuickGelu", 1, 1, 1, 1, 1, "f:alpha"},
      {"com.microsoft.RotaryEmbedding", 1, 4, 4, 1, 1,
       "i:interleaved i:is_packed_batching i:num_heads i:rotary_embedding_dim f:scale"},
      {"com.microsoft.SkipLayerNormalization", 1, 3, 5, 1, 4, "f:epsilon"},
      {"com.microsoft.SkipSimplifiedLayerNormalization", 1, 3, 4, 1, 4, "f:epsilon"},
  };
  return rows;
}
