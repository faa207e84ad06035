//===- LaunchOps.td - the call of a kernel from a tensor program *- tablegen -*-===//
#ifndef GPUCC_KERNEL_LAUNCH_OPS
#define GPUCC_KERNEL_LAUNCH_OPS

include "dialects/Kernel/KernelBase.td"

def LaunchOp : Kernel_Op<"launch", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs a kernel on tensors; its results are new tensors";
  let description = [{
    Stands in function bodies between outlining and `sched`. The kernel's views are the inputs, then
    the outputs. `inplace` lists pairs (input, output): the output may take the input's memory,
    because each point reads that input only where it writes that output.

    Example: `%y = kernel.launch @gelu(%x) {inplace = array<i64: 0, 0>} : (tensor<8xf32>) -> tensor<8xf32>`

    Constraints: (C1) `kernel` names a kernel.func. (C2) it has one view per input and output, with
    as many elements of the same size (a kernel may see a contiguous tensor under another shape). (C3) inplace pairs are in range and of equal types.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Tile>:$inputs,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$inplace);
  let results = (outs Variadic<Tile>:$outputs);
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
  let hasVerifier = 1;
}

#endif // GPUCC_KERNEL_LAUNCH_OPS
