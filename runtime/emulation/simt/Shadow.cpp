//===- Shadow.cpp - Record accesses and order them ------------------------===//

#include "Shadow.h"

using namespace gpucc::rt::simt;

/// Pages kept between launches; beyond, everything is dropped (a page of words costs about 45 KiB).
static constexpr size_t maxPagesKept = 8192;

void Shadow::beginLaunch(uint32_t firstBlock) {
  first = firstBlock;
  if (pages.size() > maxPagesKept) {
    pages.clear();
    lastKey = ~uintptr_t(0);
  }
}

void Shadow::Page::split() {
  std::vector<Cell> fine(pageBytes);
  for (size_t i = 0; i < pageBytes; ++i)
    fine[i] = cells[i >> shift];
  cells = std::move(fine);
  shift = 0;
}

Shadow::Page &Shadow::pageOf(uintptr_t address) {
  const uintptr_t key = address / pageBytes;
  if (key != lastKey) {
    std::unique_ptr<Page> &slot = pages[key];
    if (!slot)
      slot = std::make_unique<Page>();
    lastKey = key;
    lastPage = slot.get();
  }
  return *lastPage;
}

template <class Visit> void Shadow::cells(uintptr_t address, size_t bytes, Visit &&visit) {
  for (uintptr_t at = address, end = address + bytes; at < end;) {
    Page &page = pageOf(at);
    if (page.shift && ((at | (end - at)) & 3))
      page.split();
    const uintptr_t pageEnd = (at / pageBytes + 1) * pageBytes,
                    stop = end < pageEnd ? end : pageEnd;
    for (const uintptr_t step = uintptr_t(1) << page.shift; at < stop; at += step)
      if (!visit(page.cells[at % pageBytes >> page.shift], at))
        return;
  }
}

bool Shadow::ordered(const Record &write, const Moment &now) {
  return write.block == now.block &&
         (write.thread == now.thread || write.barrier < now.barrier ||
          (write.thread / 32 == now.thread / 32 && write.warp < now.warp));
}

bool Shadow::readersOrdered(const Record &read, const Moment &now) {
  if ((read.flags & ManyBlocks) || read.block != now.block)
    return false;
  if (read.barrier < now.barrier)
    return true;
  if ((read.flags & ManyWarps) || read.thread / 32 != now.thread / 32)
    return false;
  return read.warp < now.warp || (!(read.flags & ManyLanes) && read.thread == now.thread);
}

bool Shadow::judge(Cell &cell, uintptr_t address, bool write, bool atomic, bool shared,
                   const Moment &now, Conflict &out) const {
  const bool written = live(cell.write, shared, now);
  out.address = address;
  if (written && (cell.write.flags & PendingBit))
    out.verdict = Pending;
  else if (written && !(atomic && (cell.write.flags & Atomic)) && !ordered(cell.write, now))
    out.verdict = Race;
  if (out.verdict != Fine) {
    out.other = cell.write;
    out.otherWrites = true;
  } else if (write && live(cell.read, shared, now) && !(atomic && (cell.read.flags & Atomic)) &&
             !readersOrdered(cell.read, now)) {
    out.verdict = Race;
    out.other = cell.read;
  } else if (!write && shared && !written)
    out.verdict = Unwritten;
  out.otherBlock = out.verdict == Race && out.other.block != now.block;
  return out.verdict == Fine;
}

void Shadow::noteRead(Record &read, bool atomic, bool shared, const Moment &now) const {
  const uint16_t mark = atomic ? Atomic : 0;
  if (!live(read, shared, now) ||
      (!(read.flags & ManyBlocks) && read.block == now.block && read.barrier < now.barrier)) {
    static_cast<Moment &>(read) = now;
    read.flags = mark;
    return;
  }
  read.flags &= static_cast<uint16_t>(~Atomic | mark);
  if (read.block != now.block)
    read.flags |= ManyBlocks;
  else if (read.thread / 32 != now.thread / 32)
    read.flags |= ManyWarps;
  else if (read.thread != now.thread) {
    if (read.warp < now.warp)
      read.flags &= static_cast<uint16_t>(~ManyLanes);
    else
      read.flags |= ManyLanes;
    read.thread = now.thread;
  }
  read.warp = now.warp;
  read.pc = now.pc;
}

Shadow::Conflict Shadow::access(uintptr_t address, size_t bytes, bool write, bool atomic,
                                bool shared, const Moment &now) {
  Conflict conflict;
  cells(address, bytes, [&](Cell &cell, uintptr_t at) {
    const bool fine = judge(cell, at, write, atomic, shared, now, conflict);
    if (write) {
      static_cast<Moment &>(cell.write) = now;
      cell.write.flags = atomic ? Atomic : 0;
      cell.read.block = 0;
    } else if (conflict.verdict != Unwritten)
      noteRead(cell.read, atomic, shared, now);
    return fine;
  });
  return conflict;
}

Shadow::Conflict Shadow::beginCopy(uintptr_t address, size_t bytes, const Moment &now) {
  Conflict conflict;
  cells(address, bytes, [&](Cell &cell, uintptr_t at) {
    const bool fine =
        judge(cell, at, /*write=*/true, /*atomic=*/false, /*shared=*/true, now, conflict);
    static_cast<Moment &>(cell.write) = now;
    cell.write.flags = PendingBit;
    cell.read.block = 0;
    return fine;
  });
  return conflict;
}

void Shadow::finishCopy(uintptr_t address, size_t bytes, const Moment &now) {
  cells(address, bytes, [&](Cell &cell, uintptr_t) {
    if (cell.write.block == now.block && cell.write.thread == now.thread &&
        (cell.write.flags & PendingBit)) {
      const uint32_t pc = cell.write.pc;
      static_cast<Moment &>(cell.write) = now;
      cell.write.pc = pc;
      cell.write.flags = 0;
    }
    return true;
  });
}
