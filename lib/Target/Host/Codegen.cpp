//===- Codegen.cpp - LLVM IR to object code -------------------------------===//
#include "lib/Target/Host/Pieces.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

using namespace llvm;
using namespace gpucc;

std::unique_ptr<TargetMachine> host::createMachine(StringRef cpuLevel, std::string &error) {
  InitializeNativeTarget();
  InitializeNativeTargetAsmPrinter();
  Triple triple(sys::getDefaultTargetTriple());
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  TargetOptions options;
  options.AllowFPOpFusion = FPOpFusion::Strict;
  return std::unique_ptr<TargetMachine>(
      target->createTargetMachine(triple, cpuLevel, /*Features=*/"", options, Reloc::PIC_,
                                  std::nullopt, CodeGenOptLevel::Default));
}

/// `void k(void **args, int64_t begin, int64_t end)` around the function of bare pointers, which is
/// inlined into it.
static void addEntryPoint(Module &module, Function &body, StringRef vectorBits) {
  LLVMContext &context = module.getContext();
  std::string name = body.getName().str();
  body.setName(name + ".body");
  body.setLinkage(GlobalValue::InternalLinkage);
  body.addFnAttr(Attribute::AlwaysInline);
  Type *pointer = PointerType::get(context, 0), *i64 = Type::getInt64Ty(context);
  auto *type = FunctionType::get(Type::getVoidTy(context), {pointer, i64, i64}, false);
  Function *entry = Function::Create(type, GlobalValue::ExternalLinkage, name, module);
  for (Function *f : {&body, entry}) {
    f->addFnAttr("prefer-vector-width", vectorBits);
    f->addFnAttr(Attribute::NoUnwind);
  }
  IRBuilder<> b(BasicBlock::Create(context, "", entry));
  SmallVector<Value *> args;
  unsigned views = body.arg_size() - 2;
  for (unsigned i = 0; i < views; ++i)
    args.push_back(b.CreateLoad(pointer, b.CreateConstGEP1_64(pointer, entry->getArg(0), i)));
  args.push_back(entry->getArg(1));
  args.push_back(entry->getArg(2));
  b.CreateCall(&body, args);
  b.CreateRetVoid();
}

Error host::optimize(Module &module, TargetMachine &machine, int64_t width) {
  module.setDataLayout(machine.createDataLayout());
  module.setTargetTriple(machine.getTargetTriple());
  SmallVector<Function *> bodies;
  for (Function &f : module)
    if (!f.isDeclaration())
      bodies.push_back(&f);
  for (Function *f : bodies)
    addEntryPoint(module, *f, std::to_string(width * 32));

  // The code is vectorised and unrolled already.
  PipelineTuningOptions tuning;
  tuning.LoopUnrolling = tuning.LoopVectorization = tuning.SLPVectorization =
      tuning.LoopInterleaving = false;
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager graph;
  ModuleAnalysisManager modules;
  PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  ModulePassManager passes;
  if (Error error = builder.parsePassPipeline(
          passes,
          "always-inline,function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,"
          "loop-mssa(licm),gvn,instcombine<no-verify-fixpoint>,simplifycfg),globaldce"))
    return error;
  passes.run(module, modules);
  return Error::success();
}

Expected<std::string> host::emitObject(Module &module, TargetMachine &machine) {
  addBf16Rounding(module);
  SmallString<0> object;
  raw_svector_ostream stream(object);
  legacy::PassManager codegen;
  if (machine.addPassesToEmitFile(codegen, stream, nullptr, CodeGenFileType::ObjectFile))
    return createStringError("the target cannot emit object files");
  codegen.run(module);
  return object.str().str();
}
