/*===- gpucc_rt.h - C API of the gpucc runtime ------------------------------------------------===*
 *
 * Executes plan files that `gpucc compile` wrote. A whole program:
 *
 *   gpucc_rt_plan *plan;
 *   gpucc_rt_session *session;
 *   gpucc_rt_status *s;
 *   if ((s = gpucc_rt_plan_open("model.plan", &plan))) goto failed;
 *   if ((s = gpucc_rt_session_prepare(plan, NULL, &session))) goto failed;     // load, allocate
 *   if ((s = gpucc_rt_session_write(session, "x", x, sizeof x))) goto failed;  // bind inputs
 *   if ((s = gpucc_rt_session_run(session))) goto failed;                      // execute
 *   if ((s = gpucc_rt_session_read(session, "y", y, sizeof y))) goto failed;
 *   ...
 *   failed: fprintf(stderr, "%s\n", gpucc_rt_status_message(s)); gpucc_rt_status_free(s);
 *
 * Errors: functions that can fail return a status, null when all is well; the caller frees it.
 *   Errors of asynchronous work surface in gpucc_rt_session_wait. After an error of execution a
 *   session can only be freed.
 *
 * Memory: what a *_create, *_open or *_prepare function gives is freed by the function that its
 *   comment names. Strings belong to the object they were asked of and live as long as it.
 *
 * Threads: plans and worlds may be used by many threads at once. One session is used by one thread
 *   at a time; different sessions are independent (they share the plan's read-only pages).
 *
 * Names: tensors are addressed by the names of the model's inputs, outputs and initializers.
 *
 * Trust: a damaged plan is an error, never a crash. But a plan contains machine code, which is run:
 *   treat plans of strangers like programs of strangers.
 *===----------------------------------------------------------------------------------------------===*/
#ifndef GPUCC_RT_H
#define GPUCC_RT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define GPUCC_RT_EXPORT __attribute__((visibility("default")))
#else
#define GPUCC_RT_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*---------------------------------------------------------------------- status */

typedef enum {
  GPUCC_RT_OK = 0,
  GPUCC_RT_INVALID_ARGUMENT = 1, /* the caller's mistake: unknown name, wrong size or shape */
  GPUCC_RT_INVALID_PLAN = 2,     /* damaged, or written by an incompatible compiler */
  GPUCC_RT_UNSUPPORTED = 3,      /* this machine or build cannot run it */
  GPUCC_RT_OUT_OF_MEMORY = 4,
  GPUCC_RT_DEVICE_ERROR = 5,        /* the message names the failing driver call */
  GPUCC_RT_COMMUNICATION_ERROR = 6, /* the message names the operation and the missing ranks */
  GPUCC_RT_IO_ERROR = 7,
  GPUCC_RT_INTERNAL_ERROR = 8
} gpucc_rt_code;

typedef struct gpucc_rt_status gpucc_rt_status;

GPUCC_RT_EXPORT gpucc_rt_code gpucc_rt_status_code(const gpucc_rt_status *status);
GPUCC_RT_EXPORT const char *gpucc_rt_status_message(const gpucc_rt_status *status);
/* "HostDriver.cpp:120": where in the runtime the error was made. */
GPUCC_RT_EXPORT const char *gpucc_rt_status_place(const gpucc_rt_status *status);
GPUCC_RT_EXPORT void gpucc_rt_status_free(gpucc_rt_status *status);

/* "0.1.0" */
GPUCC_RT_EXPORT const char *gpucc_rt_version(void);

/*---------------------------------------------------------------------- plans */

/* Element types, numbered as in plan.fbs. Elements are stored whole bytes each, i1 as 0 or 1; i4
 * and u4 two per byte. */
typedef enum {
  GPUCC_RT_F64,
  GPUCC_RT_F32,
  GPUCC_RT_F16,
  GPUCC_RT_BF16,
  GPUCC_RT_F8E4M3,
  GPUCC_RT_F8E5M2,
  GPUCC_RT_I64,
  GPUCC_RT_I32,
  GPUCC_RT_I16,
  GPUCC_RT_I8,
  GPUCC_RT_U64,
  GPUCC_RT_U32,
  GPUCC_RT_U16,
  GPUCC_RT_U8,
  GPUCC_RT_I4,
  GPUCC_RT_U4,
  GPUCC_RT_I1
} gpucc_rt_dtype;

/* Numbered as in plan.fbs. */
typedef enum {
  GPUCC_RT_INPUT,
  GPUCC_RT_LABEL,
  GPUCC_RT_OUTPUT,
  GPUCC_RT_PARAMETER,
  GPUCC_RT_MOMENT,
  GPUCC_RT_MASTER,
  GPUCC_RT_STATISTIC,
  GPUCC_RT_COUNTER,
  GPUCC_RT_GRADIENT_ACCUMULATOR,
  GPUCC_RT_METRIC,
  GPUCC_RT_TAP,
  GPUCC_RT_COUNT /* how many entries outputs of varying size have; gpucc_rt_session_shape uses it */
} gpucc_rt_role;

typedef struct gpucc_rt_plan gpucc_rt_plan;

typedef struct {
  const char *producer; /* "gpucc 0.1.0" */
  const char *model;
  const char *target;        /* "host" or "cuda" */
  const char *architectures; /* "x86-64-v3", "sm_80,sm_90a" */
  const char *partition_hash; /* of the program before fusion and target, hexadecimal; or "" */
  const char *explanation; /* JSON, or "" */
  uint32_t ranks, stages, profiles, tensors;
  int32_t reproducible, training;
  uint64_t device_bytes; /* needed per rank */
} gpucc_rt_plan_info;

#define GPUCC_RT_MAX_RANK 16
typedef struct {
  const char *name;
  gpucc_rt_role role;
  gpucc_rt_dtype dtype;
  uint32_t rank;
  int64_t dims[GPUCC_RT_MAX_RANK];        /* -1 where the size is a symbol */
  const char *symbols[GPUCC_RT_MAX_RANK]; /* "" where the size is a number */
  int64_t limit; /* of an integer input: sensible values lie in 0 .. limit - 1; 0: unknown. Others are not refused */
} gpucc_rt_tensor_info;

/* State that is a piece of another tensor (a projection that was split for tensor parallelism): it
 * is saved inside `source` [dims], beginning at `base`. source is "" for a tensor that stands for
 * itself. */
typedef struct gpucc_rt_piece_info {
  const char *source;
  uint32_t rank;
  int64_t dims[GPUCC_RT_MAX_RANK];
  int64_t base[GPUCC_RT_MAX_RANK];
} gpucc_rt_piece_info;

/* Free with gpucc_rt_plan_free; sessions keep what they need of a freed plan. */
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_plan_open(const char *path, gpucc_rt_plan **plan);
/* Copies the bytes. `folder`: where external weight files are; null = the current folder. */
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_plan_from_memory(const void *bytes, uint64_t size,
                                                           const char *folder,
                                                           gpucc_rt_plan **plan);
/* Writes a host plan's file anew with the constant operands of its library calls packed for this CPU, so that sessions
   map them instead of packing. What was packed for another CPU or library is replaced. Plans of several ranks, of
   other targets or larger machines, and builds without oneDNN: they are left as they are. */
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_plan_pack(const char *path);
GPUCC_RT_EXPORT void gpucc_rt_plan_free(gpucc_rt_plan *plan);

GPUCC_RT_EXPORT void gpucc_rt_plan_get_info(const gpucc_rt_plan *plan, gpucc_rt_plan_info *info);
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_plan_get_tensor(const gpucc_rt_plan *plan, uint32_t index,
                                                          gpucc_rt_tensor_info *info);
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_plan_get_piece(const gpucc_rt_plan *plan, uint32_t index,
                                                         gpucc_rt_piece_info *info);
/* Which dimension of an output has a size that each step computes (the places of what is not zero,
 * the boxes that are left); -1: none. `dims` of gpucc_rt_plan_get_tensor and
 * gpucc_rt_plan_profile_dims is its bound, gpucc_rt_session_shape says what a step made of it. */
GPUCC_RT_EXPORT int32_t gpucc_rt_plan_varying_dim(const gpucc_rt_plan *plan, uint32_t index);
/* Index of a tensor by name; an unknown name is an error that lists some. */
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_plan_find_tensor(const gpucc_rt_plan *plan,
                                                           const char *name, uint32_t *index);
GPUCC_RT_EXPORT const char *gpucc_rt_plan_profile_name(const gpucc_rt_plan *plan, uint32_t profile);
/* Global extents of a tensor under a profile (GPUCC_RT_MAX_RANK entries of room). */
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_plan_profile_dims(const gpucc_rt_plan *plan,
                                                            uint32_t profile, uint32_t tensor,
                                                            int64_t *dims);
/* The profile that fits the shapes of these inputs; no fit is an error that lists the profiles.
 * `dims` holds the extents of all tensors one after the other. */
GPUCC_RT_EXPORT gpucc_rt_status *
gpucc_rt_plan_select_profile(const gpucc_rt_plan *plan, uint32_t count, const char *const *names,
                             const uint32_t *ranks, const int64_t *dims, uint32_t *profile);

/*---------------------------------------------------------------------- worlds */

/* What connects the ranks of one plan. kind: "threads" (host ranks of this process) or "nccl".
 * watchdog_seconds: a collective without progress for so long becomes an error on every rank; 0 =
 * 300. Free with gpucc_rt_world_free, after its sessions. */
typedef struct gpucc_rt_world gpucc_rt_world;
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_world_create(const char *kind, uint32_t ranks,
                                                       double watchdog_seconds,
                                                       gpucc_rt_world **world);
GPUCC_RT_EXPORT void gpucc_rt_world_free(gpucc_rt_world *world);

/*---------------------------------------------------------------------- sessions */

typedef struct gpucc_rt_session gpucc_rt_session;

/* Zero-initialize, set `size = sizeof(gpucc_rt_session_options)`, then what differs from the
 * defaults. */
typedef struct {
  size_t size;
  const char *driver; /* "host", "null", "cuda"; null = the plan's target */
  uint32_t rank;
  gpucc_rt_world *world;  /* needed by plans of more than one rank */
  uint32_t threads;       /* host threads of this rank; 0 = cores / ranks */
  uint32_t device;        /* device ordinal */
  int32_t no_graphs;      /* run captured segments command by command */
  int32_t verify_weights; /* compare weights with their hashes */
  uint32_t profile;       /* the first profile in use */
} gpucc_rt_session_options;

/* Loads, checks and allocates everything. Ranks of one world may wait for each other here: prepare
 * them concurrently. Free with gpucc_rt_session_free. */
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_session_prepare(const gpucc_rt_plan *plan,
                                                          const gpucc_rt_session_options *options,
                                                          gpucc_rt_session **session);
GPUCC_RT_EXPORT void gpucc_rt_session_free(gpucc_rt_session *session);

/* Things worth telling a person, one per line ("repacked 3 weights for avx2"), or "". */
GPUCC_RT_EXPORT const char *gpucc_rt_session_warnings(const gpucc_rt_session *session);

GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_session_use_profile(gpucc_rt_session *session,
                                                              uint32_t profile);

/* Is a part of this tensor on this rank (under the profile in use)? */
GPUCC_RT_EXPORT int gpucc_rt_session_has(const gpucc_rt_session *session, const char *name);

/* Copies between a *global* row-major array of the tensor's element type and this rank's part of
 * it. write takes what the rank holds out of the array; read fills that part in and leaves the rest
 * of the array as it is. `bytes` must be the size of the global array (of an output whose size
 * varies: of its real shape, see gpucc_rt_session_shape; the rows are dense). Both wait for
 * submitted work. */
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_session_write(gpucc_rt_session *session, const char *name,
                                                        const void *data, uint64_t bytes);
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_session_read(gpucc_rt_session *session, const char *name,
                                                       void *data, uint64_t bytes);

/* Global extents of a tensor (GPUCC_RT_MAX_RANK entries of room) under the profile in use. Of an
 * output whose size varies: the real extents, those of the last step; it waits for submitted work.
 *
 *   int64_t dims[GPUCC_RT_MAX_RANK];                                    // "nz" is i64 [2, up to 6]
 *   if ((s = gpucc_rt_session_shape(session, "nz", dims))) goto failed; // [2, 4]
 *   int64_t *nz = malloc(dims[0] * dims[1] * sizeof *nz);
 *   if ((s = gpucc_rt_session_read(session, "nz", nz, dims[0] * dims[1] * sizeof *nz))) ...
 *
 * Errors: INVALID_ARGUMENT for an unknown name, and for such an output before the first step (a
 * change of profile begins anew); INVALID_PLAN when the step's count is outside 0 ... bound.
 * The driver "null" computes no count: it reports the bound. */
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_session_shape(gpucc_rt_session *session, const char *name,
                                                        int64_t *dims);

/* The whole tensor from all ranks (their sessions, in any order): parts are put together, partial
 * sums are added. */
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_gather(gpucc_rt_session *const *sessions, uint32_t count,
                                                 const char *name, void *data, uint64_t bytes);

/* Without a copy: `pointer` takes the place of an input's or output's own buffer (null: back to the own one) under
 * the profile in use, which cannot be changed until then. It must hold the rank's part and be 256-byte aligned. An output
 * whose size varies is written with rows of its bound; what follows the real entries of a row is
 * padding of any value. */
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_session_bind(gpucc_rt_session *session, const char *name,
                                                       void *pointer, uint64_t bytes);
/* The place of the rank's own part, slot 0: a device address for cuda. */
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_session_address(gpucc_rt_session *session,
                                                          const char *name, void **pointer,
                                                          uint64_t *bytes);

/* Which script of the plan a step runs: "main" (the default) is the whole step; training plans also
 * have "accumulate" (all micro-batches, no update) and "apply" (the update only), so that gradients
 * can be read between the two. */
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_session_use_script(gpucc_rt_session *session,
                                                             const char *name);

/* One step. execute returns at once and runs in the background, run = execute + wait in the calling
 * thread (faster for small models). */
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_session_execute(gpucc_rt_session *session);
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_session_wait(gpucc_rt_session *session);
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_session_run(gpucc_rt_session *session);

/* Intermediate values (tensors of role tap): from the next step on, keep copies that read and
 * gather return. */
GPUCC_RT_EXPORT gpucc_rt_status *
gpucc_rt_session_enable_taps(gpucc_rt_session *session, const char *const *names, uint32_t count);

/*---------------------------------------------------------------------- state */

/* Writes all state of a step's end to one safetensors file under the names of the model's
 * initializers, atomically (temporary file, fsync, rename). `sessions`: all ranks. `metadata`: a
 * JSON object of strings, or null. */
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_state_save(gpucc_rt_session *const *sessions,
                                                     uint32_t count, const char *path,
                                                     const char *metadata);
/* Takes this rank's parts out of a file that any layout of the same model wrote. */
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_state_load(gpucc_rt_session *session, const char *path);

/*---------------------------------------------------------------------- trace */

/* Records begin and duration of every command from now on (1) or not (0). */
GPUCC_RT_EXPORT void gpucc_rt_session_set_trace(gpucc_rt_session *session, int on);
/* Chrome / Perfetto JSON of all ranks. */
GPUCC_RT_EXPORT gpucc_rt_status *gpucc_rt_trace_save(gpucc_rt_session *const *sessions,
                                                     uint32_t count, const char *path);

#ifdef __cplusplus
}
#endif

#endif /* GPUCC_RT_H */
