//===- Plan.td - the runtime's commands, with addresses ----*- tablegen -*-===//
//
// One to one with the plan file (runtime/include/gpucc_rt/plan.fbs): arenas, buffers at offsets,
// commands on streams, events between streams. The writer adds nothing.
//
// Beside the constraints of Commands.td, for every command: (S1) its stream is one of those that the
// program declares, counted in their order.
//
//   plan.program @stage0 attributes {...} {
//     plan.arena @scratch 1024
//     plan.buffer @t0 in @scratch at 0 512
//     plan.stream @compute "compute"
//     plan.segment @main { plan.launch @k0 [...] "rw" {name = "fc1", stream = 0} ... }
//     plan.script "main" [@main] [0]
//   }
//
//===----------------------------------------------------------------------===//
#ifndef GPUCC_PLAN
#define GPUCC_PLAN

include "dialects/Base/Commands.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::gpucc::plan";
  let summary = "per rank: commands with addresses, one to one with the runtime's";
  let dependentDialects = ["::gpucc::base::BaseDialect"];
}

def ArenaOp : Op<Plan_Dialect, "arena", [Symbol]> {
  let summary = "one allocation of a rank";
  let description = [{
    Constraints: (C1) bytes ≥ 0.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$bytes, UnitAttr:$persistent);
  let assemblyFormat = "$sym_name $bytes attr-dict";
  let hasVerifier = 1;
}

def BufferOp
    : Op<Plan_Dialect, "buffer", [Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a place in an arena";
  let description = [{
    Slot k begins at offset + (k mod slots) * slot_stride.

    Constraints: (C1) `arena` exists in the program. (C2) the buffer lies inside it. (C3) offset and
    slot_stride are multiples of 256.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$arena, I64Attr:$offset,
                       I64Attr:$bytes, DefaultValuedAttr<I64Attr, "1">:$slots,
                       DefaultValuedAttr<I64Attr, "0">:$slot_stride, UnitAttr:$bindable);
  let assemblyFormat = "$sym_name `in` $arena `at` $offset $bytes attr-dict";
  let hasVerifier = 1;
}

def StreamOp : Op<Plan_Dialect, "stream", [Symbol]> {
  let summary = "a stream; the first one of a program is the compute stream";
  let description = [{
    Constraints: (C1) `kind` is compute or communication.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$kind);
  let assemblyFormat = "$sym_name $kind attr-dict";
  let hasVerifier = 1;
}

def ProgramOp : ProgramEntry<Plan_Dialect> {
  let hasRegionVerifier = 1; // (S1) and (C2) of event_wait, in one pass over the commands
}
def SegmentOp : SegmentEntry<Plan_Dialect>;
def ScriptOp : ScriptEntry<Plan_Dialect>;
def TensorOp : TensorEntry<Plan_Dialect>;
def InitializeOp : InitializeEntry<Plan_Dialect>;
def RankConstantOp : RankConstantEntry<Plan_Dialect>;
defvar OnStream = (ins DefaultValuedAttr<I64Attr, "0">:$stream);
def LaunchOp : LaunchCommand<Plan_Dialect, OnStream>;
def LibraryCallOp : LibraryCommand<Plan_Dialect, OnStream>;
def CopyOp : CopyCommand<Plan_Dialect, OnStream>;
def FillOp : FillCommand<Plan_Dialect, OnStream>;
def CollectiveOp : CollectiveCommand<Plan_Dialect, OnStream>;

def EventRecordOp
    : Op<Plan_Dialect, "event_record", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "marks a point of a stream";
  let description = [{
    Constraints: (C1) `event` is at least 0 and below 2^20.
  }];
  let arguments = (ins I64Attr:$event, I64Attr:$stream);
  let assemblyFormat = "$event `on` $stream attr-dict";
  let hasVerifier = 1;
}
def EventWaitOp
    : Op<Plan_Dialect, "event_wait", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "makes a stream wait for the last record of an event";
  let description = [{
    Constraints: (C1) `event` is at least 0 and below 2^20. (C2) a command before it in the segment records
    the event.
  }];
  let arguments = (ins I64Attr:$event, I64Attr:$stream);
  let assemblyFormat = "$event `on` $stream attr-dict";
  let hasVerifier = 1;
}

#endif // GPUCC_PLAN
