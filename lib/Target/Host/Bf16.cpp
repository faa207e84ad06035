//===- Bf16.cpp - the rounding function that code generation may call -----===//
//
// Conversions to bf16 are integer arithmetic long before (Lower.cpp). But a
// machine without bf16 registers carries a bf16 value that is selected, or
// passes through a loop, as f32, and rounds it back by calling __truncsfbf2.
// That value fits bf16 already, so nothing is lost; the function only must
// exist, and images need no library:
//
//   nan ? (bits >> 16) | quiet : (bits + 0x7fff + ((bits >> 16) & 1)) >> 16
//
//===----------------------------------------------------------------------===//
#include "lib/Target/Host/Pieces.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;
using namespace gpucc;

void host::addBf16Rounding(Module &module) {
  LLVMContext &context = module.getContext();
  auto *type = FunctionType::get(Type::getBFloatTy(context), {Type::getFloatTy(context)},
                                 /*isVarArg=*/false);
  Function *f = Function::Create(type, GlobalValue::ExternalLinkage, "__truncsfbf2", module);
  f->setVisibility(GlobalValue::HiddenVisibility);
  f->addFnAttr(Attribute::NoUnwind);
  IRBuilder<> b(BasicBlock::Create(context, "", f));
  Value *bits = b.CreateBitCast(f->getArg(0), b.getInt32Ty());
  Value *upper = b.CreateLShr(bits, 16);
  Value *isNan = b.CreateICmpUGT(b.CreateAnd(bits, 0x7fffffff), b.getInt32(0x7f800000));
  Value *odd = b.CreateAnd(upper, 1);
  Value *rounded = b.CreateLShr(b.CreateAdd(b.CreateAdd(bits, b.getInt32(0x7fff)), odd), 16);
  Value *result = b.CreateSelect(isNan, b.CreateOr(upper, 0x40), rounded);
  b.CreateRet(b.CreateBitCast(b.CreateTrunc(result, b.getInt16Ty()), Type::getBFloatTy(context)));
}
