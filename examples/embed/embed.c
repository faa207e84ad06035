/* embed PLAN: runs a plan once with zeros as inputs and prints the first values of its f32 outputs.
 * All that an embedding program needs: open, prepare, write, run, read. */
#include <gpucc_rt/gpucc_rt.h>

#include <stdio.h>
#include <stdlib.h>

static int fail(gpucc_rt_status *status) {
  fprintf(stderr, "embed: %s (%s)\n", gpucc_rt_status_message(status),
          gpucc_rt_status_place(status));
  gpucc_rt_status_free(status);
  return 1;
}

/* Bytes of the global array of a tensor under profile 0; only the element sizes this program meets.
 */
static uint64_t bytes_of(const gpucc_rt_plan *plan, uint32_t tensor,
                         const gpucc_rt_tensor_info *info) {
  int64_t dims[GPUCC_RT_MAX_RANK];
  uint64_t bytes = info->dtype == GPUCC_RT_F64 || info->dtype == GPUCC_RT_I64 ? 8 : 4;
  gpucc_rt_status *status = gpucc_rt_plan_profile_dims(plan, 0, tensor, dims);
  if (status)
    exit(fail(status));
  for (uint32_t d = 0; d < info->rank; ++d)
    bytes *= (uint64_t)dims[d];
  return bytes;
}

int main(int argc, char **argv) {
  gpucc_rt_plan *plan;
  gpucc_rt_session *session;
  gpucc_rt_plan_info about;
  gpucc_rt_status *status;
  if (argc != 2) {
    fprintf(stderr, "usage: embed PLAN\n");
    return 2;
  }
  if ((status = gpucc_rt_plan_open(argv[1], &plan)))
    return fail(status);
  if ((status = gpucc_rt_session_prepare(plan, NULL, &session)))
    return fail(status);
  gpucc_rt_plan_get_info(plan, &about);
  for (int running = 0; running < 2; ++running) { /* inputs, then run, then outputs */
    if (running && (status = gpucc_rt_session_run(session)))
      return fail(status);
    for (uint32_t t = 0; t < about.tensors; ++t) {
      gpucc_rt_tensor_info info;
      if ((status = gpucc_rt_plan_get_tensor(plan, t, &info)))
        return fail(status);
      if (info.role != (running ? GPUCC_RT_OUTPUT : GPUCC_RT_INPUT))
        continue;
      uint64_t bytes = bytes_of(plan, t, &info);
      float *data = calloc(bytes + 1, 1);
      status = running ? gpucc_rt_session_read(session, info.name, data, bytes)
                       : gpucc_rt_session_write(session, info.name, data, bytes);
      if (status)
        return fail(status);
      if (running && info.dtype == GPUCC_RT_F32)
        printf("%s: %g %g ...\n", info.name, data[0], bytes > 4 ? data[1] : 0);
      free(data);
    }
  }
  gpucc_rt_session_free(session);
  gpucc_rt_plan_free(plan);
  return 0;
}
