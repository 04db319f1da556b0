// nvcc -ptx -std=c++17 -arch=sm_90: dependent launches, sleeping, clocks, traps, profiler events, assertions of the compiler.
extern "C" __global__ void programmatic(long long *x, float *f) {
  cudaGridDependencySynchronize(); x[threadIdx.x] = clock64() + clock(); 
  if (x[1] > 5) __trap(); if (x[2] == 7) __brkpt(); __prof_trigger(3); __nanosleep(100); __builtin_assume(x[3] > 0); float *p = (float *)__builtin_assume_aligned(f, 16);
  f[0] = p[4] + p[5]; if (x[4] < 0) __builtin_unreachable(); cudaTriggerProgrammaticLaunchCompletion();
}
