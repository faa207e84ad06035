//===- Sched.td - order and buffers, no addresses ----------*- tablegen -*-===//
//
// One `sched.program` per stage and profile: buffers with a size and a purpose, segments (lists of
// commands in execution order), and scripts. Nothing here knows addresses, streams or events; the
// conversion to `plan` decides those.
//
//   sched.program @stage0 attributes {stage = 0, mesh = [], mesh_shape = array<i64>} {
//     sched.buffer @x io 512
//     sched.buffer @t0 scratch 512
//     sched.buffer @y io 512
//     sched.tensor "x" "input" #base.view<@x, 0, 512> {...}
//     sched.segment @main {
//       sched.launch @k0 [#base.view<@x, 0, 512>, #base.view<@t0, 0, 512>] "rw" {name = "fc1"}
//       sched.launch @k1 [#base.view<@t0, 0, 512>, #base.view<@y, 0, 512>] "rw" {name = "fc2"}
//     }
//     sched.script "main" [@main] [0]
//   }
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_SCHED
#define GPUCC_SCHED

include "dialects/Base/Commands.td"

def Sched_Dialect : Dialect {
  let name = "sched";
  let cppNamespace = "::gpucc::sched";
  let summary = "per rank: order of commands and lifetime of buffers";
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::gpucc::base::BaseDialect"];
}

def BufferKind : I32EnumAttr<"BufferKind", "purpose of a buffer", [
    I32EnumAttrCase<"Io", 0, "io">,           // inputs and outputs, bound by the caller
    I32EnumAttrCase<"State", 1, "state">,     // persists between executions
    I32EnumAttrCase<"Weight", 2, "weight">,   // written at prepare, then read only
    I32EnumAttrCase<"Saved", 3, "saved">,     // from forward to backward, one slot per micro-batch in flight
    I32EnumAttrCase<"Scratch", 4, "scratch">]> { // lives inside one segment
  let genSpecializedAttr = 0;
  let cppNamespace = "::gpucc::sched";
}
def BufferKindAttr : EnumAttr<Sched_Dialect, BufferKind, "buffer_kind"> { let assemblyFormat = "$value"; }

def BufferOp : Op<Sched_Dialect, "buffer", [Symbol]> {
  let summary = "memory with a size and a purpose, no address";
  let description = [{
    `bytes` is the size of one slot.

    Constraints: (C1) bytes ≥ 0 and slots ≥ 1, together less than 2^63 bytes. (C2) only io and saved buffers have several slots.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, BufferKindAttr:$kind, I64Attr:$bytes,
                       DefaultValuedAttr<I64Attr, "1">:$slots);
  let assemblyFormat = "$sym_name $kind $bytes attr-dict";
  let hasVerifier = 1;
}

def ProgramOp : ProgramEntry<Sched_Dialect>;
def SegmentOp : SegmentEntry<Sched_Dialect>;
def ScriptOp : ScriptEntry<Sched_Dialect>;
def TensorOp : TensorEntry<Sched_Dialect>;
def InitializeOp : InitializeEntry<Sched_Dialect>;
def RankConstantOp : RankConstantEntry<Sched_Dialect>;
def LaunchOp : LaunchCommand<Sched_Dialect, (ins)>;
def LibraryCallOp : LibraryCommand<Sched_Dialect, (ins)>;
def CopyOp : CopyCommand<Sched_Dialect, (ins)>;
def FillOp : FillCommand<Sched_Dialect, (ins)>;
def CollectiveOp : CollectiveCommand<Sched_Dialect, (ins)>;

#endif // GPUCC_SCHED
